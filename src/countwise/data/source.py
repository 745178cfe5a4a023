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
    target: str | None = None  # columns' names, where there are names
    weight: str | None = None
    in_memory = False

    def count_rows(self) -> int | None:
        """Number of rows where it is known before they are read."""
        return None

    @abstractmethod
    def batches(self) -> Iterator[RawBatch]:
        """All rows, from the first, in batches."""

    @property
    def has_target(self) -> bool:
        """Whether batches carry a target."""
        return self.target is not None

    @property
    def weighted(self) -> bool:
        """Whether batches carry weights."""
        return self.weight is not None


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
    if is_frame(X):
        return _frame_columns(X)
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.dtype.kind in "iuf" and array.dtype != np.float64:
        array = array.astype(np.float64)
    names = [f"x{i}" for i in range(array.shape[1])]
    if array.dtype == np.float64:
        return names, list(array.T), len(array)
    return names, [raw_column(array[:, i], name) for i, name in enumerate(names)], len(array)


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns: pandas, polars, Arrow and what else narwhals knows."""
    if isinstance(X, np.ndarray):
        return False
    return hasattr(X, "columns") or hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__")


def _frame_columns(X: Any) -> tuple[list[str], list[RawColumn], int]:
    import narwhals as nw
    import pyarrow as pa

    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    check_unique(native_names(X))
    if nw.dependencies.is_pandas_dataframe(X):
        names, series, n_rows = list(X.columns), [s for _, s in X.items()], len(X)
    else:
        try:
            frame = nw.from_native(X, eager_only=True)
        except TypeError:
            frame = nw.from_native(pa.table(X), eager_only=True)
        names, series, n_rows = frame.columns, list(frame.iter_columns()), len(frame)
    columns = [raw_column(_series_values(s, name), name) for s, name in zip(series, names, strict=True)]
    return [str(name) for name in names], columns, n_rows


def _series_values(series: Any, name: object) -> Any:
    """A NumPy or Arrow array of a series, of pandas or narwhals."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(series.dtype, np.dtype):
        if series.dtype.kind in "iuf":  # at once: a row of a pandas frame is not worth a detour
            return series.to_numpy()
        series = nw.from_native(series, series_only=True)
    elif not isinstance(series, nw.Series):
        series = nw.from_native(_plain_categories(series), series_only=True)
    if isinstance(series.to_native(), pa.ChunkedArray):
        return series.to_native()
    if series.dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64)
    if series.dtype.is_numeric() and series.null_count() == 0:
        return series.to_numpy()
    return _series_to_arrow(series, name)


def _plain_categories(series: Any) -> Any:
    """A pandas series whose categories, if they are objects such as the intervals of ``pandas.cut``, are text."""
    if not hasattr(series, "cat") or getattr(series.cat.categories.dtype, "kind", "O") in "iufbmM":
        return series
    categories = series.cat.categories
    if all(isinstance(value, (str, bytes, bool, int, float)) for value in categories):
        return series
    return series.cat.rename_categories([str(value) for value in categories])


def native_names(X: Any) -> list[Any]:
    """The column names of a frame or an Arrow table."""
    names = X.column_names if hasattr(X, "column_names") else getattr(X, "columns", [])
    return list(names() if callable(names) else names)


def _series_to_arrow(series: Any, name: object) -> Any:
    import pyarrow as pa

    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, UnicodeEncodeError):
        return series.to_numpy()  # raw_column() finds out what is in it, and names the column if it must


def check_unique(names: Sequence[Any]) -> None:
    """Two columns of one name cannot be told apart."""
    twice = [str(name) for name, count in Counter(map(str, names)).items() if count > 1]
    if twice:
        raise DataError(f"duplicate column name(s): {', '.join(map(repr, twice))}; rename or drop one of each")
