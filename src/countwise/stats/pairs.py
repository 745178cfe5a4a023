"""Joint counts of every pair of attributes with the class, in one pass or as few as memory allows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedBatch, CodedData
from countwise.data.passes import Steps, run
from countwise.dtypes import FloatArray
from countwise.errors import MemoryLimitError, size_text
from countwise.parallel import thread_map

WIDE = 1024  # values; the joint of two such columns is mostly empty, so it is counted sparsely
UINT32_ROWS = 2**32 - 1  # more rows could overflow a uint32 cell; they are counted in float64
SPARSE_BYTES = 12  # of a distinct combination: its key and its count


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """Sums of ``c log c`` over counts: all that mutual information needs.

    ``single[i]`` over (x_i, y), ``joint[i, j]`` over (x_i, x_j, y), symmetric; ``target`` over y.
    """

    single: FloatArray
    marginal: FloatArray  # over x_i alone
    joint: FloatArray
    target: float
    total: float


def xlogx_sum(counts: FloatArray) -> float:
    """Sum of ``c log c``; cells of count 0 add nothing."""
    positive = counts[counts > 0]
    return float(positive @ np.log(positive))


@dataclass(frozen=True)
class PairPlan:
    """Passes over the data; each counts the dense pairs of first attributes [begin, end) of ``narrow``."""

    narrow: list[int]
    passes: list[tuple[int, int]]
    sparse: list[tuple[int, int]]  # pairs with a wide attribute


def plan_pairs(
    arity: list[int], n_classes: int, weighted: bool, max_memory: int, names: list[str] | None = None
) -> PairPlan:
    """Split the first attributes so that the tables of one pass stay within ``max_memory`` bytes.

    >>> plan_pairs([10] * 4, 2, False, 2**30).passes
    [(0, 4)]
    >>> plan_pairs([10] * 4, 2, False, 2_500).passes
    [(0, 1), (1, 4)]
    """
    narrow = [i for i, values in enumerate(arity) if values <= WIDE]
    wide = [i for i, values in enumerate(arity) if values > WIDE]
    sparse = [(min(i, w), max(i, w)) for w in wide for i in range(len(arity)) if i < w or (i > w and i not in wide)]
    size = 8 if weighted else 4
    after = np.concatenate([np.cumsum([arity[i] for i in narrow][::-1])[::-1], [0]]) if narrow else np.zeros(1)
    passes, begin, used = [], 0, 0
    for position, i in enumerate(narrow):
        need = int(arity[i] * n_classes * after[position + 1]) * size
        if need > max_memory:
            raise MemoryLimitError(
                f"counting pairs with column {names[i] if names else i!r} ({arity[i]} values) takes {size_text(need)}, "
                f"more than max_memory = {size_text(max_memory)}; raise max_memory or use fewer columns"
            )
        if used + need > max_memory:
            passes.append((begin, position))
            begin, used = position, 0
        used += need
    if narrow:
        passes.append((begin, len(narrow)))
    return PairPlan(narrow, passes, sorted(set(sparse)))


def pair_statistics(data: CodedData, threads: int, max_memory: int) -> PairStatistics:
    """Count all pairs. A second pass is taken only where the tables would not fit, and is announced."""
    return run(data, pair_steps(data, threads, max_memory), threads)


def pair_steps(data: CodedData, threads: int, max_memory: int) -> Steps[PairStatistics]:
    """The passes of :func:`pair_statistics`."""
    weighted = data.weighted or data.n_rows > UINT32_ROWS
    n = len(data.arity)
    plan = plan_pairs(data.arity, data.n_classes, weighted, max_memory, data.names)
    groups = _sparse_groups(plan, data, max_memory)
    n_passes = max(len(plan.passes), len(groups), 1)
    if n_passes > 1:
        warnings.warn(
            f"pair counts need {n_passes} passes over the data to stay within max_memory = {size_text(max_memory)}",
            ResourceWarning,
            stacklevel=3,
        )
    singles = _Singles(data)
    joint = np.zeros((n, n))
    # One pass over narrow attributes alone: their own counts are margins of the pairs'.
    margins = len(plan.narrow) == n > 1 and len(plan.passes) == 1
    for number in range(n_passes):
        tables: list[_DensePairs | _SparsePairs] = []
        if number < len(plan.passes):
            tables.append(_DensePairs(data, plan, plan.passes[number], weighted))
        if number < len(groups):
            tables.append(_SparsePairs(data, groups[number]))
        yield _PairCounter([*tables, singles] if number == 0 and not margins else tables)
        for table in tables:
            table.finish(joint, threads)
            if margins and isinstance(table, _DensePairs):
                singles.tables = table.margins(data)
    return _statistics(singles.tables, joint + joint.T)


def _statistics(singles: list[FloatArray], joint: FloatArray) -> PairStatistics:
    classes = singles[0].sum(axis=0)
    return PairStatistics(
        single=np.array([xlogx_sum(table.ravel()) for table in singles]),
        marginal=np.array([xlogx_sum(table.sum(axis=1)) for table in singles]),
        joint=joint,
        target=xlogx_sum(classes),
        total=float(classes.sum()),
    )


class _PairCounter:
    """All tables of one pass."""

    label = "counting pairs"

    def __init__(self, tables: Sequence[_DensePairs | _SparsePairs | _Singles]) -> None:
        self.tables = tables

    def add(self, batch: CodedBatch, threads: int) -> None:
        for table in self.tables:
            table.add(batch, threads)

    def clear(self) -> None:
        for table in self.tables:
            table.clear()

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self.tables)


def add_singles(batch: CodedBatch, tables: Sequence[FloatArray]) -> None:
    """Add the counts of (x_i, y) to the table of each attribute, values x classes."""
    assert batch.target is not None
    for codes, table in zip(batch.codes, tables, strict=True):
        key = codes.astype(np.int64) * table.shape[1] + batch.target
        np.add(table, np.bincount(key, batch.weights, minlength=table.size).reshape(table.shape), out=table)


class _Singles:
    """Counts of (x_i, y) of every attribute."""

    nbytes = 0  # nothing beside those of the pairs

    def __init__(self, data: CodedData) -> None:
        self.tables = [np.zeros((arity, data.n_classes)) for arity in data.arity]

    def add(self, batch: CodedBatch, threads: int) -> None:
        add_singles(batch, self.tables)

    def clear(self) -> None:
        for table in self.tables:
            table.fill(0)


class _DensePairs:
    """Tables of the pairs whose first attribute lies in one range of the narrow attributes."""

    def __init__(self, data: CodedData, plan: PairPlan, span: tuple[int, int], weighted: bool) -> None:
        self.columns = plan.narrow
        self.layout = _kernels.PairLayout([data.arity[i] for i in plan.narrow], data.n_classes, *span)
        self.counts = np.zeros(self.layout.size, np.float64 if weighted else np.uint32)

    def add(self, batch: CodedBatch, threads: int) -> None:
        codes = [batch.codes[i] for i in self.columns]
        if self.counts.dtype == np.uint32:
            _kernels.count_pairs(self.layout, codes, batch.target, threads, self.counts)
        else:
            weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
            _kernels.count_pairs_weighted(self.layout, codes, batch.target, weights, threads, self.counts)

    def clear(self) -> None:
        self.counts.fill(0)

    @property
    def nbytes(self) -> int:
        return self.counts.nbytes

    def finish(self, joint: FloatArray, threads: int) -> None:
        part = np.zeros((len(self.columns), len(self.columns)))
        _kernels.pair_entropies(self.layout, self.counts, threads, part.ravel())
        joint[np.ix_(self.columns, self.columns)] += part

    def margins(self, data: CodedData) -> list[FloatArray]:
        """Counts of (x_i, y) of every attribute."""
        flat = np.empty(sum(data.arity) * data.n_classes)
        _kernels.pair_margins(self.layout, self.counts, flat)
        ends = np.cumsum(data.arity)[:-1] * data.n_classes
        return [part.reshape(-1, data.n_classes) for part in np.split(flat, ends)]


class _SparsePairs:
    """Counts of pairs with a wide attribute: only the combinations that occur, sorted by key."""

    def __init__(self, data: CodedData, pairs: list[tuple[int, int]]) -> None:
        self.data, self.pairs = data, pairs
        self.clear()

    def clear(self) -> None:
        self.keys = [np.zeros(0, np.uint64) for _ in self.pairs]
        self.counts = [np.zeros(0) for _ in self.pairs]

    @property
    def nbytes(self) -> int:
        return sum(keys.nbytes + counts.nbytes for keys, counts in zip(self.keys, self.counts, strict=True))

    def add(self, batch: CodedBatch, threads: int) -> None:
        def one(position: int) -> None:
            i, j = self.pairs[position]
            assert batch.target is not None
            key = batch.codes[i].astype(np.uint64) * np.uint64(self.data.arity[j]) + batch.codes[j]
            key = key * np.uint64(self.data.n_classes) + batch.target
            keys = np.concatenate([self.keys[position], key])
            weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
            counts = np.concatenate([self.counts[position], weights])
            self.keys[position], where = np.unique(keys, return_inverse=True)
            self.counts[position] = np.bincount(where, counts).astype(np.float64, copy=False)

        thread_map(one, range(len(self.pairs)), threads)

    def finish(self, joint: FloatArray, threads: int) -> None:
        for (i, j), counts in zip(self.pairs, self.counts, strict=True):
            joint[i, j] += xlogx_sum(counts)


def _sparse_groups(plan: PairPlan, data: CodedData, max_memory: int) -> list[list[tuple[int, int]]]:
    """Sparse pairs in groups that stay within ``max_memory`` even if every row is a new combination."""
    each = max(1, data.n_rows * SPARSE_BYTES)
    size = max(1, max_memory // each)
    return [plan.sparse[k : k + size] for k in range(0, len(plan.sparse), size)]
