"""Mergeable quantile sketches: a numeric column read in batches, in bounded memory, with its class counts."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from countwise.data.curve import Curve, added, empty_curve, steps
from countwise.dtypes import FLOAT, INT, AnyArray, FloatArray, IntArray

MIN_CAPACITY: Final = 64
MAX_CAPACITY: Final = 4096
FULL_LEVELS: Final = 16  # a column of 65,536 * capacity rows fills no more levels than this
RANK_GRID: Final = 2.0**-32  # of the total: real weights below are rounding of sums, not rows


@dataclass(frozen=True, eq=False)
class _Summary:
    """Stands for ``n_rows`` rows: ascending values with their exact class weights, and a curve for the rest.

    The lowest and the highest value are exact. The weight at or below any x differs from that of the rows by
    at most ``error``, all classes together.
    """

    values: FloatArray  # (m,)
    weights: FloatArray  # (m, n_classes)
    n_rows: int
    curve: Curve
    error: float = 0.0

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (self.values, self.weights, self.curve.x, self.curve.rank))


def _exact(values: FloatArray, weights: FloatArray, n_rows: int) -> _Summary:
    return _Summary(values, weights, n_rows, empty_curve(weights.shape[1]))


def _widened(summary: _Summary, n_classes: int) -> _Summary:
    """With zeros for classes that turned up later."""
    more = ((0, 0), (0, n_classes - summary.weights.shape[1]))
    curve = Curve(summary.curve.x, np.pad(summary.curve.rank, more))
    return _Summary(summary.values, np.pad(summary.weights, more), summary.n_rows, curve, summary.error)


def _exact_union(a: _Summary, b: _Summary) -> tuple[FloatArray, FloatArray]:
    """The exact values of both and their weights."""
    values, place = np.unique(np.concatenate((a.values, b.values)), return_inverse=True)
    weights = np.zeros((len(values), a.weights.shape[1]))
    weights[place[: len(a.values)]] = a.weights
    weights[place[len(a.values) :]] += b.weights
    return values, weights


def _kept(weights: FloatArray, total: float, capacity: int) -> tuple[AnyArray, int]:
    """Which exact values stay so, and how many curve pieces ``capacity`` leaves for the rest.

    The extremes stay, and values heavier than ``total / capacity``, of which there are fewer than
    ``capacity``. With ``h`` of them the rest weighs at most ``total * (capacity - h) / capacity``: a piece
    never stands for more than ``total / capacity``.
    """
    kept = weights > total / capacity
    n_pieces = capacity - int(kept.sum())
    kept[[0, -1]] = True
    return kept, n_pieces


def _equal_pieces(curve: Curve, n_pieces: int) -> tuple[Curve, float]:
    """``n_pieces`` pieces of equal pooled weight, and that weight.

    The new knots are points of the old curve, so both meet there, and between two knots both are between the
    same two ranks: they differ by at most one piece.
    """
    mass = curve.total / n_pieces
    if mass == 0:
        return curve, 0.0
    x, rank = curve.along(np.arange(1, n_pieces, dtype=FLOAT) * mass)
    x = np.concatenate((curve.x[:1], x, curve.x[-1:]))
    return Curve(x, np.concatenate((curve.rank[:1], rank, curve.rank[-1:]))), mass


def _resampled(a: _Summary, b: _Summary, capacity: int) -> _Summary:
    """Both in one summary; ranks are off by at most ``W / capacity`` more."""
    values, weights = _exact_union(a, b)
    total = float(weights.sum()) + a.curve.total + b.curve.total
    kept, n_pieces = _kept(weights.sum(axis=1), total, capacity)
    rest = added([steps(values[~kept], weights[~kept]), a.curve, b.curve])
    curve, mass = _equal_pieces(rest, n_pieces)
    return _Summary(values[kept], weights[kept], a.n_rows + b.n_rows, curve, a.error + b.error + mass)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Rows in the order of their values; row i has the distinct value ``values[place[i]]``."""

    values: FloatArray
    place: AnyArray
    classes: AnyArray
    weights: FloatArray

    def table(self, n_classes: int) -> FloatArray:
        """Weight of each class at each distinct value."""
        cells = self.place * n_classes + self.classes
        shape = len(self.values), n_classes
        return np.bincount(cells, self.weights, shape[0] * shape[1]).astype(FLOAT, copy=False).reshape(shape)


def _sorted_batch(values: FloatArray, classes: AnyArray, weights: FloatArray | None) -> _Batch:
    if weights is None:
        weights = np.ones(len(values))
    elif not np.all(weights > 0):
        rows = weights > 0
        values, classes, weights = values[rows], classes[rows], weights[rows]
    order = np.argsort(values)
    ascending = values[order] + 0.0  # -0.0 becomes 0.0
    new = np.ones(len(values), dtype=bool)
    new[1:] = ascending[1:] != ascending[:-1]
    return _Batch(ascending[new], np.cumsum(new) - 1, classes[order], weights[order])


def _summary_of_batch(batch: _Batch, n_classes: int, capacity: int) -> _Summary:
    """As :func:`_resampled`, for more distinct values than would fit into a table of values by classes.

    Values between two stops are joined first, to the highest of them. A stop is a value that stays exact or
    in which a knot falls, so the curve is the same as without joining.
    """
    mass = np.bincount(batch.place, batch.weights).astype(FLOAT, copy=False)
    kept, n_pieces = _kept(mass, float(mass.sum()), capacity)
    below = np.cumsum(np.where(kept, 0.0, mass))
    knots = np.arange(1, n_pieces, dtype=FLOAT) * (below[-1] / n_pieces)
    stop = kept.copy()
    stop[np.searchsorted(below, knots, side="left")] = True
    stop[[np.argmin(kept), len(kept) - 1 - np.argmin(kept[::-1])]] = True  # both ends of the curve
    starts = stop.copy()
    starts[1:] |= stop[:-1]
    ends = np.append(starts[1:], True)
    joined = _Batch(batch.values[ends], (np.cumsum(starts) - 1)[batch.place], batch.classes, batch.weights)
    table, kept = joined.table(n_classes), kept[ends]
    curve, piece = _equal_pieces(steps(joined.values[~kept], table[~kept]), n_pieces)
    return _Summary(joined.values[kept], table[kept], len(batch.place), curve, piece)


class ClassSketch:
    r"""Where the rows of each class are along a column: from batches, in bounded memory.

    Exact while there are at most ``capacity`` distinct values. After that, summaries live in levels, level
    :math:`l` standing for :math:`2^l` to :math:`2^{l+1}` times ``capacity`` rows. A summary holds the extreme
    values and the heavy ones with their exact class weights, and for the others the cumulative weight of each
    class, piecewise linear, with knots at equal steps of the weight of all classes. (Knots of its own for
    each class would blur a class most where it is rare, and a supervised discretiser would cut around the
    blur.) Two summaries of one level are added and resampled to one of the next, which adds at most :math:`W
    / capacity` to the rank error of the weight :math:`W` they cover. A row among :math:`N` is resampled at
    most :math:`1 + \log_2(N / capacity)` times, whatever the data and their order. Sketches merge in any
    order.

    Classes may turn up at any time. A class that never had a row costs as much as the others.

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
        self.total = 0.0
        self.n_classes = 0
        self._whole = True  # all weights so far are integers
        self._pending = _exact(np.empty(0), np.empty((0, 0)), 0)
        self._levels: dict[int, _Summary] = {}

    def update(self, values: FloatArray, classes: IntArray, weights: FloatArray | None = None) -> None:
        """Add rows: finite values, class indices from 0, weights that are not negative (None: all 1)."""
        batch = _sorted_batch(values, classes, weights)
        if len(batch.place) == 0:
            return
        self._grow(int(batch.classes.max()) + 1)
        self.total += float(batch.weights.sum())
        self._whole = self._whole and bool(np.all(batch.weights == np.floor(batch.weights)))
        if len(batch.values) > self.capacity:
            self._insert(_summary_of_batch(batch, self.n_classes, self.capacity))
        else:
            self._take_exact(_exact(batch.values, batch.table(self.n_classes), len(batch.place)))

    def merge(self, other: "ClassSketch") -> Self:
        """Add the rows of another sketch, which is left as it was."""
        n_classes = max(self.n_classes, other.n_classes)
        theirs = [_widened(summary, n_classes) for summary in other._summaries()]
        self._grow(n_classes)
        self.total += other.total
        self._whole = self._whole and other._whole
        self._take_exact(theirs[0])
        for summary in theirs[1:]:
            self._insert(summary)
        return self

    def items(self) -> tuple[FloatArray, IntArray, FloatArray]:
        """Weighted rows as a discretiser takes them: values ascending, and classes within each value.

        The rows themselves, equal ones summed, as long as the sketch is exact. After that, about ``capacity``
        cells of equal weight, and a cell for each heavy value: a cell's value is its weighted middle.
        """
        values, table = self._pending.values, self._pending.weights
        if not self.is_exact:
            values, table = _cells(self._summaries(), self.capacity, 1.0 if self._whole else self.total * RANK_GRID)
        cell, classes = np.nonzero(table)
        return values[cell], classes.astype(INT), table[cell, classes]

    @property
    def is_exact(self) -> bool:
        """Whether nothing has been resampled yet."""
        return not self._levels

    @property
    def rank_error(self) -> float:
        """For any ``x``, the weight of the items ``<= x`` is at most this far from that of the rows.

        What resampling added, and the weight of a cell of :meth:`items`, whose rows are all put at its
        middle.
        """
        if self.is_exact:
            return 0.0
        grid = self.n_classes * (1.0 if self._whole else self.total * RANK_GRID)
        return sum(s.error for s in self._levels.values()) + 3 * self.total / self.capacity + grid

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return sum(summary.nbytes for summary in self._summaries())

    def _summaries(self) -> list[_Summary]:
        return [self._pending, *self._levels.values()]

    def _take_exact(self, summary: _Summary) -> None:
        values, weights = _exact_union(self._pending, summary)
        self._pending = _exact(values, weights, self._pending.n_rows + summary.n_rows)
        if len(values) > self.capacity:
            full, self._pending = self._pending, _exact(np.empty(0), np.empty((0, self.n_classes)), 0)
            self._insert(_resampled(full, self._pending, self.capacity))

    def _insert(self, summary: _Summary) -> None:
        while (other := self._levels.pop(self._level(summary), None)) is not None:
            summary = _resampled(summary, other, self.capacity)
        self._levels[self._level(summary)] = summary

    def _level(self, summary: _Summary) -> int:
        return max(summary.n_rows // self.capacity, 1).bit_length() - 1

    def _grow(self, n_classes: int) -> None:
        if n_classes > self.n_classes:
            self.n_classes = n_classes
            self._pending = _widened(self._pending, n_classes)
            self._levels = {level: _widened(summary, n_classes) for level, summary in self._levels.items()}


def _cells(summaries: list[_Summary], n_cells: int, grid: float) -> tuple[FloatArray, FloatArray]:
    """Values (n,) and class weights (n, n_classes) of cells; cumulative weights are multiples of ``grid``.

    That is whole rows where weights are whole, and elsewhere too coarse for the rounding of sums to look like
    a row.
    """
    exact = summaries[0]
    for summary in summaries[1:]:
        exact = _exact(*_exact_union(exact, summary), 0)
    everything = added([steps(exact.values, exact.weights), *(s.curve for s in summaries)])
    kept, n_pieces = _kept(exact.weights.sum(axis=1), everything.total, n_cells)
    light = added([steps(exact.values[~kept], exact.weights[~kept]), *(s.curve for s in summaries)])
    x, upto = _edges(_equal_pieces(light, n_pieces)[0].x[1:-1], exact.values[kept])
    table = np.diff(np.rint(everything.at(x, upto) / grid) * grid, axis=0)
    return _middles(everything, x, upto), table


def _edges(inner: FloatArray, kept: FloatArray) -> tuple[FloatArray, AnyArray]:
    """Ascending edges between cells: x, and whether the lower cell includes x; a kept value is a cell."""
    x = np.concatenate((inner, kept, kept))
    upto = np.repeat([True, False, True], [len(inner), len(kept), len(kept)])
    order = np.lexsort((upto, x))
    x, upto = x[order], upto[order]
    new = np.ones(len(x), dtype=bool)
    new[1:] = (x[1:] != x[:-1]) | (upto[1:] != upto[:-1])
    return x[new], upto[new]


def _middles(curve: Curve, x: FloatArray, upto: AnyArray) -> FloatArray:
    """The value of each cell between neighbouring edges: where half of its weight is reached."""
    ranks = curve.at(x, upto).sum(axis=1)
    return np.clip(curve.along(0.5 * (ranks[:-1] + ranks[1:]))[0], x[:-1], x[1:])


def sketch_capacity(n_columns: int, n_classes: int, budget_bytes: int) -> int:
    """The capacity at which the sketches of all columns stay within a memory budget.

    Counts an exact part and :data:`FULL_LEVELS` levels for each column, all full, with a float for the value
    and one for each class. Between 64, below which cut points would be poor, budget or not, and 4096, above
    which they hardly get better.

    >>> sketch_capacity(n_columns=100, n_classes=2, budget_bytes=2**28)
    4096
    >>> sketch_capacity(n_columns=1000, n_classes=10, budget_bytes=2**30)
    717
    """
    one_item = max(1, n_columns) * (max(1, n_classes) + 1) * (FULL_LEVELS + 1) * FLOAT.itemsize
    return int(min(max(budget_bytes // one_item, MIN_CAPACITY), MAX_CAPACITY))
