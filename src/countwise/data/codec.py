"""A frozen :class:`Codec`: the only state that is needed to read new data.

Each column has codes ``0 .. arity - 1``: first its categories or bins, then, if training met a missing value,
one code for *missing*. Code ``arity`` means *unseen*: a category, or a missing value, that training never met.
Counting never sees it; prediction backs off.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise import _kernels
from countwise.data.columns import Kind, Measure, RawColumn, as_categories, as_numbers, measure_of
from countwise.dtypes import CodeArray, FloatArray, code_dtype
from countwise.errors import ColumnTypeError, DataError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class CategoryCodec:
    """A dictionary of sorted categories (an Arrow array without nulls)."""

    name: str
    categories: pa.Array
    has_missing: bool
    kind: Kind = "category"

    @property
    def arity(self) -> int:
        """Number of codes, *missing* included."""
        return len(self.categories) + self.has_missing

    @property
    def labels(self) -> list[str]:
        """A name for every code."""
        return [str(value) for value in self.categories.to_pylist()] + ["(missing)"] * self.has_missing

    def encode(self, column: RawColumn) -> CodeArray:
        """Codes of a raw column."""
        import pyarrow as pa
        import pyarrow.types as t

        column = as_categories(column, self.name)
        dtype = code_dtype(self.arity)
        if t.is_dictionary(column.type):
            code_of = np.append(self._find(column.dictionary), len(self.categories)).astype(dtype)
            indices = column.indices
            if indices.null_count:
                indices = indices.cast(pa.int64()).fill_null(len(code_of) - 1)
            return code_of[indices.to_numpy(zero_copy_only=False)]
        return self._find(column).astype(dtype)

    def _find(self, values: pa.Array) -> Any:
        """The code of each value: its category, *missing* for null, *unseen* for the rest."""
        import pyarrow.compute as pc

        known = self.categories
        if values.type != known.type:
            values, known = self._same_type(values, known)
        codes = pc.index_in(values, value_set=known).fill_null(self.arity).to_numpy(zero_copy_only=False)
        if values.null_count:
            codes = np.where(values.is_null().to_numpy(zero_copy_only=False), len(known), codes)
        return codes

    def _same_type(self, values: pa.Array, known: pa.Array) -> tuple[pa.Array, pa.Array]:
        import pyarrow as pa
        import pyarrow.types as t

        def is_number(dtype: pa.DataType) -> bool:
            return bool(t.is_integer(dtype) or t.is_floating(dtype) or t.is_boolean(dtype))

        if t.is_null(known.type):  # training had no value at all here
            return values, pa.array([], values.type)
        try:
            if is_number(values.type) and is_number(known.type):
                return _to_float(values), _to_float(known)
            return values.cast(known.type), known
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ColumnTypeError(
                f"column {self.name!r} held {known.type} categories in training and holds {values.type} now; "
                "convert it to the type it had"
            ) from error


def _to_float(values: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.types as t

    return (values.cast(pa.uint8()) if t.is_boolean(values.type) else values).cast(pa.float64())


@dataclass(frozen=True, eq=False)
class NumberCodec:
    """Ascending cut points; bin ``b`` is ``(cuts[b - 1], cuts[b]]``. ``n_bins`` is 0 when all were missing."""

    name: str
    cuts: FloatArray
    n_bins: int
    has_missing: bool
    measure: Measure = "number"
    kind: Kind = "number"

    @property
    def arity(self) -> int:
        """Number of codes, *missing* included."""
        return self.n_bins + self.has_missing

    @property
    def labels(self) -> list[str]:
        """A name for every code."""
        edges = self.edges
        bins = []
        if self.n_bins == 1:
            bins = ["(any number)"]
        elif self.n_bins > 1:
            inner = [f"({low}, {high}]" for low, high in pairwise(edges)]
            bins = [f"<= {edges[0]}", *inner, f"> {edges[-1]}"]
        return bins + ["(missing)"] * self.has_missing

    @property
    def edges(self) -> list[str]:
        """The cut points as text, times as times."""
        return [self._edge(cut) for cut in self.cuts]

    def _edge(self, cut: float) -> str:
        if self.measure == "number":
            return f"{cut:.6g}"
        if self.measure == "timestamp":
            return str(np.datetime64(round(cut), "us").astype("datetime64[s]"))
        return str(timedelta(microseconds=round(cut)))

    def encode(self, column: RawColumn) -> CodeArray:
        """Codes of a raw column; an infinite number is an error, and so are times for numbers or the reverse."""
        values = as_numbers(column, self.name, self.measure)
        if measure_of(column) != self.measure and not np.isnan(values).all():
            raise ColumnTypeError(
                f"column {self.name!r} held {self.measure}s in training and holds {measure_of(column)}s now; "
                "convert it to the type it had"
            )
        codes: CodeArray = np.empty(len(values), code_dtype(self.arity))
        if not _kernels.bin_codes(values, self.cuts, self.n_bins, codes):
            raise infinite_value(self.name)
        if self.n_bins == 0:
            codes[~np.isnan(values)] = self.arity
        return codes


def infinite_value(name: object) -> DataError:
    """The error for an infinite number, here and in the schema pass."""
    return DataError(
        f"column {name!r} contains infinity; replace infinite values by NaN (missing) or by a large finite number"
    )


ColumnCodec = CategoryCodec | NumberCodec


@dataclass(frozen=True, eq=False)
class Codec:
    """The codecs of all columns, in the order of the training table, and the classes of the target."""

    columns: tuple[ColumnCodec, ...]
    classes: np.ndarray[Any, np.dtype[Any]]

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [column.name for column in self.columns]

    @property
    def arity(self) -> list[int]:
        """Number of codes per column."""
        return [column.arity for column in self.columns]

    def same_as(self, other: Codec) -> bool:
        """Whether both read every table alike."""
        if self.names != other.names or not np.array_equal(self.classes, other.classes):
            return False
        return all(same_column(a, b) for a, b in zip(self.columns, other.columns, strict=True))


def same_column(a: ColumnCodec, b: ColumnCodec) -> bool:
    """Whether both read a column alike."""
    if isinstance(a, NumberCodec) and isinstance(b, NumberCodec):
        return (
            a.n_bins == b.n_bins
            and a.measure == b.measure
            and a.has_missing == b.has_missing
            and np.array_equal(a.cuts, b.cuts)
        )
    if isinstance(a, CategoryCodec) and isinstance(b, CategoryCodec):
        return a.has_missing == b.has_missing and bool(a.categories.equals(b.categories))
    return False
