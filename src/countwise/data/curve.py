"""Cumulative class weights along a column: what a sketch keeps of rows it no longer has one by one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from countwise.dtypes import AnyArray, FloatArray


@dataclass(frozen=True, eq=False)
class Curve:
    """Ascending knots ``x`` (n,) and the weight of each class at or below them, ``rank`` (n, n_classes).

    Linear between knots; two knots at the same ``x`` are a jump. The first rank is 0 (or there are no knots).
    """

    x: FloatArray
    rank: FloatArray

    @property
    def pooled(self) -> FloatArray:
        """Weight of all classes at or below each knot."""
        return np.maximum.accumulate(self.rank.sum(axis=1))

    @property
    def total(self) -> float:
        """The whole weight."""
        return float(self.rank[-1].sum()) if len(self.x) else 0.0

    def at(self, x: FloatArray, upto: AnyArray | bool = True) -> FloatArray:
        """Class weights ``<= x`` where ``upto`` holds, else ``< x``.

        >>> curve = Curve(np.array([0.0, 2.0, 2.0]), np.array([[0.0], [1.0], [5.0]]))
        >>> curve.at(np.array([-1.0, 1.0, 2.0])).ravel(), curve.at(np.array([2.0]), upto=False).ravel()
        (array([0. , 0.5, 5. ]), array([1.]))
        """
        if not len(self.x):
            return np.zeros((len(x), self.rank.shape[1]))
        above = np.where(upto, np.searchsorted(self.x, x, "right"), np.searchsorted(self.x, x, "left"))
        hi = np.clip(above, 1, len(self.x) - 1)
        t = np.where(above == 0, 0.0, _fraction(x, self.x[hi - 1], self.x[hi]))
        t[above == len(self.x)] = 1.0
        return _between(self.rank[hi - 1], self.rank[hi], t[:, None])

    def along(self, pooled: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``x`` and class weights where the weight of all classes reaches ``pooled``.

        >>> curve = Curve(np.array([0.0, 2.0, 2.0]), np.array([[0.0], [1.0], [5.0]]))
        >>> curve.along(np.array([0.5, 1.0, 4.0]))[0]
        array([1., 2., 2.])
        """
        own = self.pooled
        hi = np.clip(np.searchsorted(own, pooled, side="left"), 1, len(self.x) - 1)
        t = _fraction(pooled, own[hi - 1], own[hi])
        return _between(self.x[hi - 1], self.x[hi], t), _between(self.rank[hi - 1], self.rank[hi], t[:, None])


def _between(lo: FloatArray, hi: FloatArray, t: FloatArray) -> FloatArray:
    """Linear interpolation that neither overflows nor leaves the interval."""
    return np.clip(lo * (1 - t) + hi * t, lo, hi)


def _fraction(x: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """``(x - lo) / (hi - lo)`` in [0, 1], ascending in x even where the differences overflow or vanish."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return np.clip(np.nan_to_num((x - lo) / (hi - lo), nan=1.0), 0.0, 1.0)


def empty_curve(n_classes: int) -> Curve:
    """No weight anywhere."""
    return Curve(np.empty(0), np.empty((0, n_classes)))


def steps(values: FloatArray, weights: FloatArray) -> Curve:
    """The curve that jumps by ``weights`` (n, n_classes) at each of the ascending distinct ``values``.

    >>> steps(np.array([1.0, 3.0]), np.array([[2.0], [1.0]])).rank.ravel()
    array([0., 2., 2., 3.])
    """
    after = np.cumsum(weights, axis=0)
    rank = np.empty((2 * len(values), weights.shape[1]))
    rank[1::2] = after
    rank[2::2] = after[:-1]
    rank[:1] = 0.0
    return Curve(np.repeat(values, 2), rank)


def added(curves: Sequence[Curve]) -> Curve:
    """The sum of curves of the same classes, which is again such a curve: its knots are all of theirs.

    >>> ramp = Curve(np.array([0.0, 2.0]), np.array([[0.0], [1.0]]))
    >>> added([steps(np.array([1.0]), np.array([[2.0]])), ramp]).rank.ravel()
    array([0. , 0. , 0.5, 2.5, 3. , 3. ])
    """
    if len(curves) > 4:  # in halves: many curves would cost the square of their number at once
        half = len(curves) // 2
        return added([added(curves[:half]), added(curves[half:])])
    filled = [curve for curve in curves if len(curve.x)]
    if len(filled) < 2:
        return filled[0] if filled else curves[0]
    x = np.unique(np.concatenate([curve.x for curve in filled]))
    rank = np.zeros((2 * len(x), filled[0].rank.shape[1]))
    for curve in filled:
        rank[0::2] += curve.at(x, upto=False)
        rank[1::2] += curve.at(x, upto=True)
    return Curve(np.repeat(x, 2), np.maximum.accumulate(rank, axis=0))
