"""Mergeable quantile sketches: a numeric column read in batches, in bounded memory, with its class counts."""

from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np

from countwise.data.curve import EMPTY_CURVE, Curve, added, steps
from countwise.data.discretise.base import distinct_values, midpoints
from countwise.dtypes import INT, AnyArray, FloatArray, IntArray

MIN_CAPACITY: Final = 64
MAX_CAPACITY: Final = 4096
ITEM_BYTES: Final = 16  # a value and a weight, or a knot
FULL_LEVELS: Final = 16  # a class of 65,536 * capacity rows fills no more levels than this
RANK_GRID: Final = 2.0**-32  # of the total: class weights below are rounding of sums, not rows


@dataclass(frozen=True, eq=False)
class _Summary:
    """Stands for ``n_rows`` rows: ascending distinct values with exact weights, and a curve for the rest.

    The lowest and the highest value are exact. The weight at or below any x, whether along the curve or with
    an equal mass at each inner knot of it, differs from that of the rows by at most ``error``.
    """

    values: FloatArray
    weights: FloatArray
    n_rows: int
    curve: Curve = field(default=EMPTY_CURVE)
    error: float = 0.0

    def curves(self) -> list[Curve]:
        return [steps(self.values, self.weights), self.curve]

    def items(self) -> tuple[FloatArray, FloatArray]:
        points = self.curve.x[1:-1]
        masses = np.full(len(points), self.curve.total / max(1, len(points)))
        return np.concatenate((self.values, points)), np.concatenate((self.weights, masses))

    def nbytes(self) -> int:
        return ITEM_BYTES * (len(self.values) + len(self.curve.x))


_EMPTY: Final = _Summary(np.empty(0), np.empty(0), 0)


def _exact_union(a: _Summary, b: _Summary) -> _Summary:
    """The exact parts of both together."""
    if a.n_rows == 0 or b.n_rows == 0:
        return a if b.n_rows == 0 else b
    values, weights = distinct_values(np.concatenate((a.values, b.values)), np.concatenate((a.weights, b.weights)))
    return _Summary(values, weights, a.n_rows + b.n_rows)


def _resampled(a: _Summary, b: _Summary, capacity: int) -> _Summary:
    """Both in one summary of about ``capacity`` items; ranks are off by at most ``W / capacity`` more.

    The lowest value, the highest one and exact values heavier than ``W / capacity`` stay as they are. ``h``
    heavy ones leave ``n = capacity - h`` knots for the rest, of weight at most ``W * n / capacity``. Knot j
    is where the rest reaches ``(j + 1/2) / n`` of its weight, so old and new curve meet there and are
    between the same two ranks elsewhere.
    """
    both = _exact_union(a, b)
    curves = [a.curve, b.curve]
    total = float(both.weights.sum()) + a.curve.total + b.curve.total
    heavy = both.weights > total / capacity
    n_knots = capacity - int(heavy.sum())  # at least 1: fewer than `capacity` values can be that heavy
    heavy[[0, -1]] = True
    rest = added([steps(both.values[~heavy], both.weights[~heavy]), *curves])
    curve, mass = EMPTY_CURVE, 0.0
    if rest.total > 0:
        mass = rest.total / n_knots
        ranks = (np.arange(n_knots, dtype=np.float64) + 0.5) * mass
        curve = Curve(
            np.concatenate((rest.x[:1], rest.inverse(ranks), rest.x[-1:])),
            np.concatenate(([0.0], ranks, [rest.total])),
        )
    return _Summary(both.values[heavy], both.weights[heavy], both.n_rows, curve, a.error + b.error + mass)


class QuantileSketch:
    r"""The distribution of a stream of weighted numbers, from batches, in bounded memory.

    Exact while there are at most ``capacity`` distinct values. After that, summaries live in levels, level
    :math:`l` standing for :math:`2^l` to :math:`2^{l+1}` times ``capacity`` rows. A summary holds the extreme
    values and the heavy ones exactly and the others as a piecewise linear curve of cumulative weight with
    knots at equal masses. Two summaries of one level are added and resampled to one of the next level, which
    adds at most :math:`W / capacity` to the rank error of the weight :math:`W` they cover. A row among
    :math:`N` is resampled at most :math:`1 + \log_2(N / capacity)` times, so the error stays below
    :math:`W (1 + \log_2(N / capacity)) / capacity`, whatever the data and their order; :attr:`rank_error` is
    the sum of the bounds that really arose, and on smooth data the error is much smaller. Sketches merge in
    any order; each order keeps the bound.

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
    >>> abs(rank - 2501) <= sketch.rank_error < 500
    True

    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.total = 0.0
        self.whole = True  # all weights so far are integers
        self._pending = _EMPTY  # exact
        self._levels: dict[int, _Summary] = {}

    def update(self, values: FloatArray, weights: FloatArray | None = None) -> None:
        """Add rows: finite values, weights that are not negative (None: every row counts once)."""
        found, mass = distinct_values(values, weights)
        self.total += float(mass.sum())
        n_rows = len(values) if weights is None else int((weights > 0).sum())
        self.whole = self.whole and bool(np.all(mass == np.floor(mass)))
        self._take_exact(_Summary(found, mass, n_rows))

    def merge(self, other: "QuantileSketch") -> Self:
        """Add the rows of another sketch, which is left as it was."""
        self.total += other.total
        self.whole = self.whole and other.whole
        pending, levels = other._pending, list(other._levels.values())
        self._take_exact(pending)
        for summary in levels:
            self._insert(summary)
        return self

    def items(self) -> tuple[FloatArray, FloatArray]:
        """Ascending distinct values and their weights, which add up to :attr:`total`."""
        parts = [summary.items() for summary in self._summaries()]
        return distinct_values(np.concatenate([v for v, _ in parts]), np.concatenate([w for _, w in parts]))

    def curve(self) -> Curve:
        """Cumulative weight, linear where rows are no longer known one by one."""
        return added([curve for summary in self._summaries() for curve in summary.curves()])

    def exact_values(self) -> tuple[FloatArray, FloatArray]:
        """Values, repeated across levels, whose weights are known exactly within their level."""
        parts = self._summaries()
        return np.concatenate([s.values for s in parts]), np.concatenate([s.weights for s in parts])

    @property
    def is_exact(self) -> bool:
        """Whether nothing has been resampled yet."""
        return not self._levels

    @property
    def rank_error(self) -> float:
        """For any ``x``, the weight of the items ``<= x`` is at most this far from that of the rows."""
        return sum(summary.error for summary in self._levels.values())

    @property
    def nbytes(self) -> int:
        """Bytes of the stored items."""
        return sum(summary.nbytes() for summary in self._summaries())

    def _summaries(self) -> list[_Summary]:
        return [self._pending, *self._levels.values()]

    def _take_exact(self, summary: _Summary) -> None:
        self._pending = _exact_union(self._pending, summary)
        if len(self._pending.values) > self.capacity:
            full, self._pending = self._pending, _EMPTY
            self._insert(_resampled(full, _EMPTY, self.capacity))

    def _insert(self, summary: _Summary) -> None:
        while (other := self._levels.pop(self._level(summary), None)) is not None:
            summary = _resampled(summary, other, self.capacity)
        self._levels[self._level(summary)] = summary

    def _level(self, summary: _Summary) -> int:
        return max(summary.n_rows // self.capacity, 1).bit_length() - 1


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
        """Values, class indices and weights: class by class, values ascending within each.

        The rows themselves, equal ones summed, while that is known. After that about ``capacity`` cells of
        equal weight (and one for each heavy value), *the same for all classes*: a cell's value is its
        weighted middle, and a class's weight there is the rise of its own curve. Items at the knots of each
        class would look like runs of hundreds of rows of one class, and a supervised discretiser would cut
        between them.
        """
        if all(sketch.is_exact for sketch in self._sketches):
            parts = [sketch.items() for sketch in self._sketches]
        else:
            parts = _cells(self._sketches, self.capacity)
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
        """Bound on the rank error of :meth:`items`, classes together: of the curves, and within a cell."""
        if all(sketch.is_exact for sketch in self._sketches):
            return 0.0
        grid = 0.5 * sum(_rank_grid(sketch) for sketch in self._sketches)
        return sum(sketch.rank_error for sketch in self._sketches) + 3 * self.total / self.capacity + grid

    @property
    def nbytes(self) -> int:
        """Bytes of the stored items."""
        return sum(sketch.nbytes for sketch in self._sketches)

    def _grow(self, n_classes: int) -> None:
        while len(self._sketches) < n_classes:
            self._sketches.append(QuantileSketch(self.capacity))


def _cells(sketches: list[QuantileSketch], n_cells: int) -> list[tuple[FloatArray, FloatArray]]:
    """Values and weights of each class on common cells."""
    curves = [sketch.curve() for sketch in sketches]
    pooled = added(curves)
    exact = [sketch.exact_values() for sketch in sketches]
    values, weights = distinct_values(np.concatenate([v for v, _ in exact]), np.concatenate([w for _, w in exact]))
    heavy = weights > pooled.total / n_cells
    heavy[[0, -1]] = True
    x, upto = _edges(pooled, values[heavy], n_cells)
    middles = _middles(pooled, x, upto)
    parts = []
    for sketch, curve in zip(sketches, curves, strict=True):
        grid = _rank_grid(sketch)
        mass = np.diff(np.rint(curve.at(x, upto) / grid) * grid) if grid else np.zeros(len(middles))
        filled = mass > 0
        parts.append((middles[filled], mass[filled]))
    return parts


def _rank_grid(sketch: QuantileSketch) -> float:
    """Class ranks are rounded to multiples of this: to whole rows where weights are whole."""
    return 1.0 if sketch.whole else sketch.total * RANK_GRID


def _edges(pooled: Curve, heavy: FloatArray, n_cells: int) -> tuple[FloatArray, AnyArray]:
    """Ascending edges between cells: x, and whether the lower cell includes x; a heavy value is a cell."""
    inner = pooled.inverse(np.arange(1, n_cells, dtype=np.float64) * (pooled.total / n_cells))
    x = np.concatenate((inner, heavy, heavy))
    upto = np.repeat([True, False, True], [len(inner), len(heavy), len(heavy)])
    order = np.lexsort((upto, x))
    x, upto = x[order], upto[order]
    new = np.concatenate(([True], (x[1:] != x[:-1]) | (upto[1:] != upto[:-1])))
    return x[new], upto[new]


def _middles(pooled: Curve, x: FloatArray, upto: AnyArray) -> FloatArray:
    """The value of each cell between neighbouring edges: where half of its weight is reached."""
    ranks = pooled.at(x, upto)
    lo, hi = x[:-1], x[1:]
    middles = np.clip(pooled.inverse(0.5 * (ranks[:-1] + ranks[1:])), lo, hi)
    open_above = ~upto[1:] & (middles == hi)
    middles[open_above] = midpoints(lo[open_above], hi[open_above])
    return np.where(lo == hi, lo, middles)


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
