"""Cumulative weight as a piecewise linear curve: what a quantile sketch keeps of rows it no longer has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from countwise.dtypes import AnyArray, FloatArray


@dataclass(frozen=True, eq=False)
class Curve:
    """Ascending knots ``x`` and the weight ``rank`` at or below each, linear between them.

    Two knots at the same ``x`` are a jump. The first rank is 0, the last one the whole weight.
    """

    x: FloatArray
    rank: FloatArray

    @property
    def total(self) -> float:
        """The whole weight."""
        return float(self.rank[-1]) if len(self.rank) else 0.0

    def at(self, x: FloatArray, upto: AnyArray | bool = True) -> FloatArray:
        """Weight ``<= x`` where ``upto`` holds, else weight ``< x``.

        >>> curve = Curve(np.array([0.0, 2.0, 2.0]), np.array([0.0, 1.0, 5.0]))
        >>> curve.at(np.array([-1.0, 1.0, 2.0])), curve.at(np.array([2.0]), upto=False)
        (array([0. , 0.5, 5. ]), array([1.]))
        """
        if not len(self.x):
            return np.zeros(len(x))
        above = np.where(upto, np.searchsorted(self.x, x, "right"), np.searchsorted(self.x, x, "left"))
        hi = np.clip(above, 1, len(self.x) - 1)
        lo = hi - 1
        rise = (self.rank[hi] - self.rank[lo]) * _fraction(x, self.x[lo], self.x[hi])
        inside = self.rank[lo] + rise
        return np.where(above == 0, 0.0, np.where(above == len(self.x), self.rank[-1], inside))

    def inverse(self, rank: FloatArray) -> FloatArray:
        """The ``x`` at which the curve reaches ``rank``.

        >>> Curve(np.array([0.0, 2.0, 2.0]), np.array([0.0, 1.0, 5.0])).inverse(np.array([0.5, 1.0, 4.0]))
        array([1., 2., 2.])
        """
        hi = np.clip(np.searchsorted(self.rank, rank, side="left"), 1, len(self.x) - 1)
        lo = hi - 1
        t = _fraction(rank, self.rank[lo], self.rank[hi])
        return np.clip(self.x[lo] * (1 - t) + self.x[hi] * t, self.x[lo], self.x[hi])


EMPTY_CURVE: Final = Curve(np.empty(0), np.empty(0))


def _fraction(x: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """``(x - lo) / (hi - lo)`` in [0, 1], ascending in x even where the differences overflow or vanish."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return np.clip(np.nan_to_num((x - lo) / (hi - lo), nan=1.0), 0.0, 1.0)


def steps(values: FloatArray, weights: FloatArray) -> Curve:
    """The curve that jumps by a weight at each of the ascending distinct values.

    >>> steps(np.array([1.0, 3.0]), np.array([2.0, 1.0]))
    Curve(x=array([1., 1., 3., 3.]), rank=array([0., 2., 2., 3.]))
    """
    ranks = np.concatenate(([0.0], np.repeat(np.cumsum(weights), 2)))[:-1] if len(weights) else weights
    return Curve(np.repeat(values, 2), ranks)


def added(curves: Sequence[Curve]) -> Curve:
    """The sum of curves, which is again such a curve: its knots are all of theirs.

    >>> added([steps(np.array([1.0]), np.array([2.0])), Curve(np.array([0.0, 2.0]), np.array([0.0, 1.0]))])
    Curve(x=array([0., 0., 1., 1., 2., 2.]), rank=array([0. , 0. , 0.5, 2.5, 3. , 3. ]))
    """
    curves = [curve for curve in curves if len(curve.x)]
    if len(curves) < 2:
        return curves[0] if curves else EMPTY_CURVE
    if len(curves) > 4:  # in halves: many curves would cost the square of their number at once
        half = len(curves) // 2
        return added([added(curves[:half]), added(curves[half:])])
    x = np.unique(np.concatenate([curve.x for curve in curves]))
    rank = np.zeros(2 * len(x))
    for curve in curves:
        rank[0::2] += curve.at(x, upto=False)
        rank[1::2] += curve.at(x, upto=True)
    return Curve(np.repeat(x, 2), np.maximum.accumulate(rank))
