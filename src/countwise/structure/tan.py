"""Tree-augmented naive Bayes (Friedman, Geiger and Goldszmidt 1997; paper 000, section 2.2)."""

from collections.abc import Sequence

import numpy as np

from countwise.dtypes import FloatArray
from countwise.structure.structure import Structure


def tan(names: Sequence[str], mi: FloatArray, cmi: FloatArray) -> Structure:
    """The spanning tree of greatest I(X_i; X_j | Y), directed away from its root.

    The root is the attribute with the greatest I(X_i; Y). The tree grows from it (Prim): of all edges from the
    tree to the rest the greatest is taken; ties go to the attribute that comes first in the table, then to the
    parent that joined the tree first.
    """
    n = len(names)
    root = int(np.argmax(mi))
    order = [root]
    parents: list[tuple[int, ...]] = [()] * n
    best, best_from = cmi[root].copy(), np.full(n, root)
    best[root] = -1.0
    for _ in range(n - 1):
        child = int(np.argmax(best))
        parents[child] = (int(best_from[child]),)
        order.append(child)
        best[child] = -1.0
        better = (cmi[child] > best) & (best >= 0)
        best[better], best_from[better] = cmi[child][better], child
    return Structure(tuple(names), tuple(order), tuple(parents))
