"""Mergeable quantile sketches: a numeric column read in batches, in bounded memory, with its class counts."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from countwise.data.discretise.base import distinct_values
from countwise.dtypes import INT, FloatArray, IntArray

MIN_CAPACITY: Final = 64
MAX_CAPACITY: Final = 4096
ITEM_BYTES: Final = 16  # a value and a weight
FULL_LEVELS: Final = 16  # a class of 65,536 * capacity rows fills no more levels than this


@dataclass(frozen=True, eq=False)
class _Summary:
    """Ascending distinct values with weights that stand for ``n_rows`` rows.

    The weight at or below any x differs from that of the rows by at most ``error``.
    """

    values: FloatArray
    weights: FloatArray
    n_rows: int
    error: float = 0.0


_EMPTY: Final = _Summary(np.empty(0), np.empty(0), 0)


def _joined(a: _Summary, b: _Summary) -> _Summary:
    """Both together, nothing lost: ranks add up, and so do their errors."""
    values, weights = distinct_values(
        np.concatenate((a.values, b.values)), np.concatenate((a.weights, b.weights))
    )
    return _Summary(values, weights, a.n_rows + b.n_rows, a.error + b.error)


def _resampled(full: _Summary, capacity: int) -> _Summary:
    """At most ``capacity + 2`` items whose ranks are off by at most ``W / (2 * capacity)`` more.

    The lowest value, the highest one and all values heavier than ``W / capacity`` stay as they are. Of
    ``capacity`` items, ``h`` heavy ones leave ``capacity - h`` for the rest, of weight at most ``W *
    (capacity - h) / capacity``: each stands for an equal mass, at the middle of it.
    """
    if len(full.values) <= capacity:
        return full
    heavy = full.weights > full.weights.sum() / capacity
    n_points = capacity - int(heavy.sum())  # at least 1: fewer than `capacity` values can be that heavy
    kept = heavy.copy()
    kept[[0, -1]] = True
    light, cumulative = full.values[~kept], np.cumsum(full.weights[~kept])
    mass = float(cumulative[-1]) / n_points
    ranks = (np.arange(n_points) + 0.5) * mass
    points = light[np.minimum(np.searchsorted(cumulative, ranks), len(light) - 1)]
    values, weights = distinct_values(
        np.concatenate((full.values[kept], points)),
        np.concatenate((full.weights[kept], np.full(n_points, mass))),
    )
    return _Summary(values, weights, full.n_rows, full.error + 0.5 * mass)


class QuantileSketch:
    r"""The distribution of a stream of weighted numbers, from batches, in bounded memory.

    Exact while there are at most ``capacity`` distinct values. After that, summaries of ``capacity`` items
    (the extreme values and heavy ones are kept as they are on top) live in levels, level :math:`l` standing
    for :math:`2^l` to :math:`2^{l+1}` times ``capacity`` rows. Two summaries of one level are joined and
    resampled to equal masses, which adds at most :math:`W / (2\,capacity)` to the rank error of the weight
    :math:`W` they cover and moves them up a level. With :math:`N` rows a row is resampled at most :math:`1
    + \log_2(N / capacity)` times, so the total error stays below :math:`W (1 + \log_2(N / capacity)) /
    (2\,capacity)`; :attr:`rank_error` is the sum that really arose. Sketches merge in any order; each order
    keeps the bound.

    Parameters
    ----------
    capacity : int
        Items in a summary.

    Examples
    --------
    >>> import numpy as np
    >>> sketch = QuantileSketch(capacity=100)
    >>> for batch in np.split(np.arange(10_000.0), 10):
    ...     sketch.update(batch)
    >>> values, weights = sketch.items()
    >>> values[0], values[-1], round(float(weights.sum()))
    (np.float64(0.0), np.float64(9999.0), 10000)
    >>> rank = float(weights[values <= 2500].sum())
    >>> abs(rank - 2501) <= sketch.rank_error < 200
    True

    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.total = 0.0
        self._pending = _EMPTY  # exact
        self._levels: dict[int, _Summary] = {}

    def update(self, values: FloatArray, weights: FloatArray | None = None) -> None:
        """Add rows: finite values, weights that are not negative (None: every row counts once)."""
        found, mass = distinct_values(values, weights)
        self.total += float(mass.sum())
        self._take_exact(_Summary(found, mass, len(values)))

    def merge(self, other: "QuantileSketch") -> Self:
        """Add the rows of another sketch, which is left as it was."""
        self.total += other.total
        pending, levels = other._pending, list(other._levels.values())
        self._take_exact(pending)
        for summary in levels:
            self._insert(summary)
        return self

    def items(self) -> tuple[FloatArray, FloatArray]:
        """Ascending distinct values and their weights, which add up to :attr:`total`."""
        everything = self._pending
        for summary in self._levels.values():
            everything = _joined(everything, summary)
        return everything.values, everything.weights

    @property
    def rank_error(self) -> float:
        """The weight of the items ``<= x`` is at most this far from that of the rows ``<= x``, for any ``x``."""
        return sum(summary.error for summary in self._levels.values())

    @property
    def nbytes(self) -> int:
        """Bytes of the stored items."""
        return ITEM_BYTES * sum(len(s.values) for s in (self._pending, *self._levels.values()))

    def _take_exact(self, summary: _Summary) -> None:
        self._pending = _joined(self._pending, summary)
        if len(self._pending.values) > self.capacity:
            full, self._pending = self._pending, _EMPTY
            self._insert(_resampled(full, self.capacity))

    def _insert(self, summary: _Summary) -> None:
        while (other := self._levels.pop(self._level(summary), None)) is not None:
            summary = _resampled(_joined(summary, other), self.capacity)
        self._levels[self._level(summary)] = summary

    def _level(self, summary: _Summary) -> int:
        return (max(summary.n_rows // self.capacity, 1)).bit_length() - 1


class ClassSketch:
    """One :class:`QuantileSketch` for each class of a column; classes may turn up at any time.

    Its :meth:`items` are weighted (value, class) rows as a discretiser takes them.

    Examples
    --------
    >>> import numpy as np
    >>> sketch = ClassSketch(capacity=64)
    >>> sketch.update(np.array([1.0, 2.0, 1.0]), np.array([0, 2, 0], dtype=np.int32))
    >>> sketch.items()
    (array([1., 2.]), array([0, 2], dtype=int32), array([2., 1.]))

    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._sketches: list[QuantileSketch] = []

    def update(self, values: FloatArray, classes: IntArray, weights: FloatArray | None = None) -> None:
        """Add rows: finite values, class indices from 0, weights that are not negative."""
        if len(values) == 0:
            return
        order = np.argsort(classes, kind="stable")
        sizes = np.bincount(classes)
        ends = np.cumsum(sizes)
        self._grow(len(sizes))
        for c in np.flatnonzero(sizes):
            rows = order[ends[c] - sizes[c] : ends[c]]
            self._sketches[c].update(values[rows], None if weights is None else weights[rows])

    def merge(self, other: "ClassSketch") -> Self:
        """Add the rows of another sketch, which is left as it was."""
        self._grow(len(other._sketches))
        for own, theirs in zip(self._sketches, list(other._sketches), strict=False):
            own.merge(theirs)
        return self

    def items(self) -> tuple[FloatArray, IntArray, FloatArray]:
        """Values, class indices and weights: class by class, values ascending within each."""
        parts = [sketch.items() for sketch in self._sketches]
        if not parts:
            return np.empty(0), np.empty(0, dtype=INT), np.empty(0)
        classes = np.repeat(np.arange(len(parts), dtype=INT), [len(values) for values, _ in parts])
        return np.concatenate([v for v, _ in parts]), classes, np.concatenate([w for _, w in parts])

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return sum(sketch.total for sketch in self._sketches)

    @property
    def rank_error(self) -> float:
        """Bound on the rank error over all classes together."""
        return sum(sketch.rank_error for sketch in self._sketches)

    @property
    def nbytes(self) -> int:
        """Bytes of the stored items."""
        return sum(sketch.nbytes for sketch in self._sketches)

    def _grow(self, n_classes: int) -> None:
        while len(self._sketches) < n_classes:
            self._sketches.append(QuantileSketch(self.capacity))


def sketch_capacity(n_columns: int, n_classes: int, budget_bytes: int) -> int:
    """The capacity at which the sketches of all columns and classes stay within a memory budget.

    Counts one exact part and :data:`FULL_LEVELS` levels for each, all full. Between 64, below which cut
    points would be poor, budget or not, and 4096, above which they hardly get better.

    >>> sketch_capacity(n_columns=100, n_classes=2, budget_bytes=2**28)
    4096
    >>> sketch_capacity(n_columns=1000, n_classes=10, budget_bytes=2**30)
    394
    """
    one_item = max(1, n_columns) * max(1, n_classes) * (FULL_LEVELS + 1) * ITEM_BYTES
    return int(min(max(budget_bytes // one_item, MIN_CAPACITY), MAX_CAPACITY))
