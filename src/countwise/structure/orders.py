"""Orders by chance: what makes the members of an ensemble differ."""

from __future__ import annotations

import numpy as np

from countwise.dtypes import FloatArray
from countwise.structure.structure import Structure


def sampled_order(mi: FloatArray, rng: np.random.Generator) -> list[int]:
    """Attributes drawn one after the other, in proportion to I(X_i; Y), without replacement (paper 004, Algorithm 12).

    Attributes that tell nothing about the class come last, in random order.

    One draw does it: of exponential waiting times with rates MI, the first to end is attribute i with probability
    MI_i / sum, and the rest goes on as if it began anew.

    >>> sampled_order(np.array([0.0, 0.3, 0.0]), np.random.default_rng(0))[0]
    1
    """
    waiting = -np.log1p(-rng.random(len(mi)))
    tells = mi > 0
    times = np.divide(waiting, mi, out=waiting.copy(), where=tells)
    return [int(i) for i in np.lexsort((times, ~tells))]


def shuffled_parents(structure: Structure, rng: np.random.Generator) -> Structure:
    """The same arcs, each attribute's parents in random order (paper 004, section 4.2.3).

    The order decides which parent is nearest to the class in a tree of counts, and so what smoothing backs off to.
    """
    parents = tuple(tuple(p[i] for i in np.argsort(rng.random(len(p)))) for p in structure.parents)
    return Structure(structure.names, structure.order, parents)
