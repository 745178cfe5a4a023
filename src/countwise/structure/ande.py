"""Averaged n-dependence: every attribute, or every pair, is the parent of all others once (paper 004, 3.1.3.5)."""

from __future__ import annotations

from collections.abc import Sequence

from countwise.dtypes import FloatArray
from countwise.structure.structure import Structure


def one_super_parent(names: Sequence[str], parent: int) -> Structure:
    """The super-parent depends on the class, all others on the class and on it.

    >>> print(one_super_parent(["a", "b", "c"], 1))
    b <- class
    a <- class, b
    c <- class, b
    """
    others = [i for i in range(len(names)) if i != parent]
    parents = tuple(() if i == parent else (parent,) for i in range(len(names)))
    return Structure(tuple(names), (parent, *others), parents)


def two_super_parents(names: Sequence[str], pair: tuple[int, int], cmi: FloatArray) -> Structure:
    """The second of a pair depends on the first, all others on both.

    The first parent of an attribute is the one of the two with the greater I(X_i; X_j | Y): it is what smoothing
    backs off to. Ties go to the first of the pair.

    >>> import numpy as np
    >>> cmi = np.array([[0, 0.1, 0.2, 0.0], [0.1, 0, 0.3, 0.0], [0.2, 0.3, 0, 0.0], [0, 0, 0, 0]])
    >>> print(two_super_parents(["a", "b", "c", "d"], (0, 1), cmi))
    a <- class
    b <- class, a
    c <- class, b, a
    d <- class, a, b
    """
    first, second = pair
    others = [i for i in range(len(names)) if i not in pair]
    parents: list[tuple[int, ...]] = [()] * len(names)
    parents[second] = (first,)
    for i in others:
        parents[i] = (second, first) if cmi[i, second] > cmi[i, first] else (first, second)
    return Structure(tuple(names), (first, second, *others), tuple(parents))
