"""k-dependence Bayes (Sahami 1996; paper 004, Algorithm 3)."""

from collections.abc import Sequence

import numpy as np

from countwise.dtypes import FloatArray
from countwise.structure.structure import Structure


def information_order(mi: FloatArray) -> list[int]:
    """Attributes by decreasing I(X_i; Y); ties keep the order of the table."""
    return [int(i) for i in np.argsort(-mi, kind="stable")]


def kdb(names: Sequence[str], order: Sequence[int], cmi: FloatArray, k: int) -> Structure:
    """Each attribute's parents are the k earlier ones with the greatest I(X_i; X_j | Y), the greatest first.

    Ties go to the attribute that comes earlier in ``order``.
    """
    parents: list[tuple[int, ...]] = [()] * len(names)
    for position, child in enumerate(order):
        earlier = list(order[:position])
        strongest = np.argsort(-cmi[child, earlier], kind="stable")[:k]
        parents[child] = tuple(earlier[s] for s in strongest)
    return Structure(tuple(names), tuple(order), tuple(parents))
