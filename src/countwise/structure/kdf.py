"""kDB forest: one network per attribute, which is its root (Duan and Wang 2017; paper 004, Algorithms 6 and 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from countwise.dtypes import FloatArray
from countwise.structure.structure import Structure


def forest_order(root: int, cmi: FloatArray) -> list[int]:
    """From the root on, the attribute of the greatest sum of I(X_i; X_j | Y) over those already there (Algorithm 6).

    Ties go to the column that comes first.
    """
    order, total = [root], cmi[root].astype(np.float64)
    total[root] = -np.inf
    while len(order) < len(cmi):
        best = int(np.argmax(np.round(total, 12)))  # sums of rounded numbers: their last digits are no difference
        order.append(best)
        total += cmi[best]
        total[best] = -np.inf
    return order


def kdf(names: Sequence[str], root: int, cmi: FloatArray, k: int) -> Structure:
    """The network of one root (Algorithm 7).

    An attribute's first parent is the earlier attribute of the greatest I(X_i; X_j | Y). The others are taken from the
    d ancestors of the first, by the same measure, b - 1 of them with b = min(d, k), as the algorithm is written: an
    attribute has at most k parents, and fewer than its first parent has ancestors. Ties go to the attribute that is
    earlier in the order.
    """
    order = forest_order(root, cmi)
    parents: list[tuple[int, ...]] = [()] * len(names)
    ancestors: list[set[int]] = [set() for _ in names]
    for position, child in enumerate(order[1:], start=1):
        first = _strongest(cmi[child], order[:position])[0]
        above = [i for i in order[:position] if i in ancestors[first]]
        others = _strongest(cmi[child], above)[: max(min(len(above), k) - 1, 0)]
        parents[child] = (first, *others)
        ancestors[child] = ancestors[first] | {first}  # the others are ancestors of the first
    return Structure(tuple(names), tuple(order), tuple(parents))


def _strongest(cmi: FloatArray, attributes: list[int]) -> list[int]:
    """By decreasing information; ties keep the order."""
    return [attributes[i] for i in np.argsort(-cmi[attributes], kind="stable")]
