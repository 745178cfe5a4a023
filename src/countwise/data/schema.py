"""The first pass over the data: kinds, categories, value distributions and classes, frozen into a codec.

In memory the cut points come from all values; from a scan they come from mergeable sketches
(:mod:`countwise.data.sketch`), whose rank error is stated in :class:`Schema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.data.codec import CategoryCodec, Codec, NumberCodec, infinite_value
from countwise.data.columns import Kind, Measure, RawColumn, as_categories, as_numbers, kind_of, measure_of
from countwise.data.discretise import Discretiser
from countwise.data.discretise.base import distinct_values
from countwise.data.sketch import ClassSketch, sketch_capacity
from countwise.data.source import RawBatch, Source
from countwise.dtypes import MAX_ARITY, FloatArray
from countwise.errors import ColumnTypeError, DataError
from countwise.parallel import thread_map
from countwise.progress import progress_bar

if TYPE_CHECKING:
    import pyarrow as pa

CategoricalSpec = str | Sequence[Any] | None
SKETCH_BYTES = 64 * 2**20  # of a scan's schema pass, for all columns and classes together
BLOCK_PER_CAPACITY = 16  # rows that go into a sketch at a time, for each distinct value that it holds
GUESSED_CLASSES = 8  # a scan learns the classes while it fills the sketches
MOST_WEIGHT = 1e12  # of all rows: logarithms of counts are made for less


@dataclass(frozen=True, eq=False)
class Schema:
    """What one pass found: the codec, the class dictionary of a scan, and the size of the data."""

    codec: Codec
    target: CategoryCodec
    n_rows: int
    rank_error: float  # of the sketches, as a fraction of a class's weight; 0 when cut points are exact


def column_kinds(names: list[str], columns: list[RawColumn], categorical: CategoricalSpec) -> list[Kind]:
    """Kinds by type, overridden by names, positions or a mask of the categorical columns."""
    kinds = [kind_of(column, name) for column, name in zip(columns, names, strict=True)]
    if categorical is None or (isinstance(categorical, str) and categorical == "from_dtype"):
        return kinds
    chosen = _chosen_columns(names, categorical)
    for i, column in enumerate(columns):
        if i in chosen:
            kinds[i] = "category"
        elif kinds[i] == "category" and _holds_numbers(column):
            kinds[i] = "number"
    return kinds


def _both_numbers(a: pa.DataType, b: pa.DataType) -> bool:
    import pyarrow.types as t

    return all(t.is_integer(dtype) or t.is_floating(dtype) for dtype in (a, b))


def _holds_numbers(column: RawColumn) -> bool:
    import pyarrow.types as t

    dtype = column.type.value_type if t.is_dictionary(column.type) else column.type
    return bool(t.is_integer(dtype) or t.is_floating(dtype))


def _chosen_columns(names: list[str], categorical: CategoricalSpec) -> set[int]:
    if isinstance(categorical, str) or categorical is None:
        raise DataError(
            f"categorical_features={categorical!r}: expected 'from_dtype' or a list of names, positions or booleans"
        )
    if not isinstance(categorical, (Sequence, np.ndarray, set, frozenset)) and not hasattr(categorical, "to_list"):
        raise DataError(f"categorical_features={categorical!r}: expected a list of names, positions or booleans")
    chosen = [item.item() if isinstance(item, np.generic) else item for item in categorical]
    if chosen and all(isinstance(item, bool) for item in chosen):
        if len(chosen) != len(names):
            raise DataError(f"categorical_features has {len(chosen)} booleans for {len(names)} columns")
        return {i for i, flag in enumerate(chosen) if flag}
    position = {name: i for i, name in enumerate(names)}
    result = set()
    for item in chosen:
        if isinstance(item, str):
            if item not in position:
                raise DataError(f"categorical_features names {item!r}, which is not a column; columns: {names[:20]}")
            result.add(position[item])
        elif isinstance(item, int) and 0 <= item < len(names):
            result.add(item)
        else:
            raise DataError(f"categorical_features holds {item!r}: not a column of the {len(names)} there are")
    return result


class CategoryStats:
    """The distinct values of a column so far."""

    kind: Kind = "category"

    def __init__(self, name: str) -> None:
        self.name, self.has_missing = name, False
        self.values: Any = None

    @property
    def is_empty(self) -> bool:
        """Whether there was no value so far."""
        return self.values is None or len(self.values) == 0

    def update(self, column: RawColumn) -> None:
        """Add a batch."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.types as t

        column = as_categories(column, self.name)
        self.has_missing |= column.null_count > 0
        if t.is_dictionary(column.type):
            used = pc.unique(column.indices).drop_null()
            values = column.dictionary.take(used).unique()
        else:
            values = pc.unique(column).drop_null()
        if self.is_empty:
            self.values = values
        elif not t.is_null(values.type):
            if values.type != self.values.type and _both_numbers(values.type, self.values.type):
                values, self.values = values.cast(pa.float64()), self.values.cast(pa.float64())
            if values.type != self.values.type:
                raise ColumnTypeError(
                    f"column {self.name!r} changes its type between batches: {self.values.type}, then {values.type}"
                )
            self.values = pa.concat_arrays([self.values, values]).unique()

    def codec(self) -> CategoryCodec:
        """Categories in sorted order, so that neither the order of rows nor of batches matters."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.types as t

        values: pa.Array = pa.array([], pa.null()) if self.values is None else self.values
        if len(values) > MAX_ARITY:
            raise DataError(f"column {self.name!r}: {len(values)} values, limit {MAX_ARITY}; bin it")
        if not t.is_null(values.type):
            sortable = values.cast(pa.uint8()) if t.is_boolean(values.type) else values
            values = values.take(pc.sort_indices(sortable))
        return CategoryCodec(self.name, values, bool(self.has_missing))


class NumberStats:
    """The values of a numeric column so far: themselves when ``capacity`` is None, else in a sketch."""

    kind: Kind = "number"

    def __init__(self, name: str, capacity: int | None) -> None:
        self.name, self.has_missing, self.is_empty = name, False, True
        self.measure: Measure = "number"
        self.items: tuple[FloatArray, Any, FloatArray | None] | None = None
        self.sketch = None if capacity is None else ClassSketch(capacity)
        self.waiting: list[tuple[FloatArray, Any, FloatArray | None]] = []

    def update(self, column: RawColumn, classes: Any, weights: FloatArray | None) -> None:
        """Add a batch."""
        values = as_numbers(column, self.name)
        present = ~np.isnan(values)
        if not present.all():
            self.has_missing = True
            values, classes = values[present], classes[present]
            weights = None if weights is None else weights[present]
        if not np.isfinite(values).all():
            raise infinite_value(self.name)
        if len(values):
            if not self.is_empty and measure_of(column) != self.measure:
                raise ColumnTypeError(
                    f"column {self.name!r} changes between batches: {self.measure}s, then {measure_of(column)}s"
                )
            self.is_empty, self.measure = False, measure_of(column)
        if self.sketch is None:
            self.items = (np.ascontiguousarray(values), np.ascontiguousarray(classes), weights)
        else:
            self.waiting.append((values, classes, weights))
            self._feed(self.sketch)

    def _feed(self, sketch: ClassSketch, last: bool = False) -> None:
        """Rows go into the sketch in blocks of a fixed size, so that it does not depend on the source's batches."""
        block, held = BLOCK_PER_CAPACITY * sketch.capacity, sum(len(values) for values, _, _ in self.waiting)
        if held == 0 or (held < block and not last):
            return
        values, classes = (np.concatenate([part[i] for part in self.waiting]) for i in (0, 1))
        given = [weights for _, _, weights in self.waiting if weights is not None]
        weights = np.concatenate(given) if given else None
        end = held if last else held - held % block
        for start in range(0, end, block):
            rows = slice(start, min(start + block, end))
            sketch.update(values[rows], classes[rows], None if weights is None else weights[rows])
        self.waiting = [(values[end:], classes[end:], None if weights is None else weights[end:])]

    def close(self) -> None:
        """No more batches will come."""
        if self.sketch is not None:
            self._feed(self.sketch, last=True)
            self.items = self.sketch.items()

    @cached_property
    def distinct(self) -> tuple[FloatArray, FloatArray]:
        """The values, ascending, and the weight of each."""
        assert self.items is not None
        values, _, weights = self.items
        return distinct_values(values, weights)

    def sort(self) -> None:
        """Put what was seen in the order of the values: worth it where the column is cut more than once."""
        assert self.items is not None
        values, classes, weights = self.items
        order = np.argsort(values)
        self.items = (values[order], classes[order], None if weights is None else weights[order])

    def codec(self, discretiser: Discretiser, n_classes: int) -> NumberCodec:
        """Cut points from what was seen."""
        assert self.items is not None
        values, classes, weights = self.items
        if not discretiser._supervised:  # many draw cuts of one column: it is sorted once
            values, weights = self.distinct
            classes = np.zeros(len(values), np.int32)
        cuts = np.asarray(discretiser.cuts(values, classes.astype(np.int32), weights, n_classes), np.float64)
        return NumberCodec(self.name, cuts, len(cuts) + 1 if len(values) else 0, self.has_missing, self.measure)


@dataclass(frozen=True, eq=False)
class Summary:
    """What one pass found of every column: enough for any number of codecs."""

    columns: list[CategoryStats | NumberStats]
    target: CategoryCodec
    classes: Any
    n_rows: int
    rank_error: float

    def codecs(self, discretisers: Sequence[Discretiser], threads: int) -> list[Codec]:
        """A codec for each discretiser; they share those of the categories."""
        numbers = [(i, column) for i, column in enumerate(self.columns) if isinstance(column, NumberStats)]
        categories = [column.codec() if isinstance(column, CategoryStats) else None for column in self.columns]
        if len(discretisers) > 1:
            thread_map(lambda number: number[1].sort(), numbers, threads)

        def number_codec(job: tuple[Discretiser, int, NumberStats]) -> NumberCodec:
            discretiser, position, column = job
            return column.codec(discretiser.for_column(position), len(self.classes))

        jobs = [(discretiser, *number) for discretiser in discretisers for number in numbers]
        made = iter(thread_map(number_codec, jobs, threads))
        return [Codec(tuple(known or next(made) for known in categories), self.classes) for _ in discretisers]


def learn_schema(
    source: Source, discretiser: Discretiser, categorical: CategoricalSpec = "from_dtype", threads: int = 1
) -> Schema:
    """One pass over a source that has a target. In memory the target is codes already, see ``MemorySource``."""
    summary = summarise(source, categorical, threads)
    (codec,) = summary.codecs([discretiser], threads)
    return Schema(codec, summary.target, summary.n_rows, summary.rank_error)


def summarise(source: Source, categorical: CategoricalSpec = "from_dtype", threads: int = 1) -> Summary:
    """The pass of :func:`learn_schema`."""
    target, n_rows, total_weight = CategoryStats(source.target or "y"), 0, 0.0
    stats: list[CategoryStats | NumberStats] = []
    seen: dict[Any, int] = {}  # classes by first appearance: sketches number them so
    for raw in _shown(source):
        batch = raw.without_zero_weights()
        if batch.n_rows == 0:
            continue
        check_target_complete(batch.target, target.name)
        if not stats:
            stats = _new_stats(source, batch, categorical)
        elif not source.in_memory:
            _settle_kinds(stats, batch, column_kinds(source.names, batch.columns, categorical))
        target.update(batch.target)
        classes = _appearance_codes(as_categories(batch.target, target.name), seen)
        _update_all(stats, batch, classes, threads)
        n_rows += batch.n_rows
        total_weight += float(batch.n_rows if batch.weights is None else batch.weights.sum())
    if n_rows == 0:
        raise DataError("the table has no rows (with a positive weight)")
    if total_weight > MOST_WEIGHT:
        raise DataError(
            f"the weights add up to {total_weight:.3g}, more than {MOST_WEIGHT:.0e}: a weight says how many rows a row "
            "stands for; divide the weights by a constant"
        )
    target_codec = target.codec()
    classes_array = _class_labels(target_codec)
    numbers = [stat for stat in stats if isinstance(stat, NumberStats)]
    thread_map(lambda stat: stat.close(), numbers, threads)
    errors = [stat.sketch.rank_error / max(total_weight, 1) for stat in numbers if stat.sketch]
    return Summary(stats, target_codec, classes_array, n_rows, max(errors, default=0.0))


def _shown(source: Source) -> Iterator[RawBatch]:
    with progress_bar("reading columns", source.count_rows()) as bar:
        for batch in source.batches():
            yield batch
            bar.advance(batch.n_rows)


def _new_stats(source: Source, batch: RawBatch, categorical: CategoricalSpec) -> list[CategoryStats | NumberStats]:
    kinds = column_kinds(source.names, batch.columns, categorical)
    n_numbers = sum(kind == "number" for kind in kinds)
    capacity = None if source.in_memory else sketch_capacity(max(n_numbers, 1), GUESSED_CLASSES, SKETCH_BYTES)
    return [
        CategoryStats(name) if kind == "category" else NumberStats(name, capacity)
        for name, kind in zip(source.names, kinds, strict=True)
    ]


def _settle_kinds(stats: list[CategoryStats | NumberStats], batch: RawBatch, kinds: list[Kind]) -> None:
    """A column without any value so far is of the kind that its first values are."""
    for i, (stat, column, kind) in enumerate(zip(stats, batch.columns, kinds, strict=True)):
        if stat.is_empty and kind != stat.kind and not _all_missing(column):
            n_numbers = 1 + sum(isinstance(s, NumberStats) for s in stats)
            capacity = sketch_capacity(n_numbers, GUESSED_CLASSES, SKETCH_BYTES)
            stats[i] = CategoryStats(stat.name) if kind == "category" else NumberStats(stat.name, capacity)
            stats[i].has_missing = True


def _all_missing(column: RawColumn) -> bool:
    missing = np.isnan(column).sum() if isinstance(column, np.ndarray) else column.null_count
    return bool(missing == len(column))


def _update_all(stats: Iterable[CategoryStats | NumberStats], batch: RawBatch, classes: Any, threads: int) -> None:
    def update(pair: tuple[CategoryStats | NumberStats, RawColumn]) -> None:
        stat, column = pair
        if isinstance(stat, CategoryStats):
            stat.update(column)
        else:
            stat.update(column, classes, batch.weights)

    thread_map(update, zip(stats, batch.columns, strict=True), threads)


def check_target_complete(target: RawColumn, name: str) -> None:
    """A row without a class teaches nothing about it."""
    missing = int(np.isnan(target).sum()) if isinstance(target, np.ndarray) else as_categories(target, name).null_count
    if missing:
        raise DataError(f"the target {name!r} is missing (NaN) in {missing} row(s); drop these rows before fitting")


def _appearance_codes(target: pa.Array, seen: dict[Any, int]) -> Any:
    """Class numbers in the order of first appearance, stable over batches; labels that no row has get none."""
    import pyarrow.types as t

    column = target if t.is_dictionary(target.type) else target.dictionary_encode()
    indices, labels = column.indices.to_numpy(zero_copy_only=False), column.dictionary.to_pylist()
    number = np.full(len(labels), -1, np.int32)
    for i in np.unique(indices):
        number[i] = seen.setdefault(labels[i], len(seen))
    return number[indices]


def _class_labels(codec: CategoryCodec) -> Any:
    import pyarrow.types as t

    values = codec.categories
    if t.is_string(values.type):
        return np.asarray(values.to_pylist(), dtype=object)
    labels = values.to_numpy(zero_copy_only=False)
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise DataError(
            f"the target {codec.name!r} holds continuous values, for example {labels[labels != np.floor(labels)][0]}; "
            "a classifier needs classes: bin it or make it text"
        )
    return labels
