"""A :class:`Source`: a table that can be read again, batch by batch, once for each pass over the data.

In memory there is one batch. Files and streams are in :mod:`countwise.data.files`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from countwise.data.columns import RawColumn, raw_column
from countwise.dtypes import FloatArray
from countwise.errors import DataError


@dataclass(frozen=True, eq=False)
class RawBatch:
    """Some rows of a table as they came: one raw column per attribute, the target and the weights if any."""

    columns: list[RawColumn]
    target: RawColumn | None
    weights: FloatArray | None
    n_rows: int

    def without_zero_weights(self) -> RawBatch:
        """The same without rows of weight 0, which must leave no trace: not even a category."""
        if self.weights is None or (self.weights > 0).all():
            return self
        keep = self.weights > 0
        target = None if self.target is None else take_rows(self.target, keep)
        columns = [take_rows(column, keep) for column in self.columns]
        return RawBatch(columns, target, self.weights[keep], int(keep.sum()))


def take_rows(column: RawColumn, keep: Any) -> RawColumn:
    """The rows where the boolean mask ``keep`` holds."""
    return column[keep] if isinstance(column, np.ndarray) else column.filter(keep)


class Source(ABC):
    """A re-readable table. ``names`` are the attributes' names; ``batches()`` starts from the beginning."""

    names: list[str]
    in_memory = False

    @abstractmethod
    def batches(self) -> Iterator[RawBatch]:
        """All rows, from the first, in batches."""

    @property
    def has_target(self) -> bool:
        """Whether batches carry a target."""
        return True

    @property
    def weighted(self) -> bool:
        """Whether batches carry weights."""
        return False


class MemorySource(Source):
    """A table in memory with its target and weights."""

    in_memory = True

    def __init__(self, X: Any, target: RawColumn | None = None, weights: FloatArray | None = None) -> None:
        self.names, columns, n_rows = table_columns(X)
        self.batch = RawBatch(columns, target, weights, n_rows)

    def batches(self) -> Iterator[RawBatch]:
        """The whole table at once."""
        yield self.batch

    @property
    def has_target(self) -> bool:
        """Whether a target was given."""
        return self.batch.target is not None

    @property
    def weighted(self) -> bool:
        """Whether weights were given."""
        return self.batch.weights is not None


def table_columns(X: Any) -> tuple[list[str], list[RawColumn], int]:
    """Names, raw columns and number of rows of an array, a frame or an Arrow table.

    Columns of an array are named ``x0, x1, ...``, as scikit-learn does.
    """
    if not isinstance(X, np.ndarray) and is_frame(X):
        return _frame_columns(X)
    array = np.asarray(X)
    if array.dtype.kind in "iuf" and array.dtype != np.float64:
        array = array.astype(np.float64)
    names = [f"x{i}" for i in range(array.shape[1])]
    if array.dtype == np.float64:
        return names, list(array.T), len(array)
    return names, [raw_column(array[:, i], name) for i, name in enumerate(names)], len(array)


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns: pandas, polars, Arrow and what else narwhals knows."""
    return hasattr(X, "columns") or hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__")


def _frame_columns(X: Any) -> tuple[list[str], list[RawColumn], int]:
    import narwhals as nw
    import pyarrow as pa

    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    check_unique(_native_names(X))
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        frame = nw.from_native(pa.table(X), eager_only=True)
    columns = []
    for name in frame.columns:
        series = frame.get_column(name)
        if isinstance(series.to_native(), pa.ChunkedArray):
            values: Any = series.to_native()
        elif series.dtype.is_numeric() and series.null_count() == 0:
            values = series.to_numpy()
        else:
            values = _series_to_arrow(series, name)
        columns.append(raw_column(values, name))
    return [str(name) for name in frame.columns], columns, len(frame)


def _native_names(X: Any) -> list[Any]:
    names = X.column_names if hasattr(X, "column_names") else getattr(X, "columns", [])
    return list(names() if callable(names) else names)


def _series_to_arrow(series: Any, name: object) -> Any:
    import pyarrow as pa

    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError):
        return series.to_numpy()  # raw_column() finds out what is in it, and names the column if it must


def check_unique(names: Sequence[Any]) -> None:
    """Two columns of one name cannot be told apart."""
    twice = [str(name) for name, count in Counter(map(str, names)).items() if count > 1]
    if twice:
        raise DataError(f"duplicate column name(s): {', '.join(map(repr, twice))}; rename or drop one of each")
