"""One column of a user's table, as it comes: a NumPy array or an Arrow array, and what can be read from it.

Two kinds exist. A *number* is discretised later; a *category* is looked up in a dictionary. Missing values are
NaN in the first and null in the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import ColumnTypeError, DataError

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["category", "number"]
Measure = Literal["number", "timestamp", "time", "duration"]  # times are in microseconds
RawColumn = Any  # numpy.ndarray of one dimension, or pyarrow.Array
ARROW_UNITS = ("s", "ms", "us", "ns")  # of NumPy's times that Arrow takes as they are


def raw_column(values: Any, name: object) -> RawColumn:
    """A column in the form that the rest of the library reads: numeric NumPy arrays stay, others become Arrow."""
    import pyarrow as pa

    if isinstance(values, np.ndarray):
        if values.dtype.kind in "iuf":
            return values
        if values.dtype.kind == "c":
            raise DataError(f"column {name!r}: Complex data not supported")
        if values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] not in ARROW_UNITS:
            values = values.astype(f"{values.dtype.kind}8[us]")
        return _arrow_of_objects(values, name)
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    return values


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas.NA.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - only NaN and NaT differ from themselves
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True


def _arrow_of_objects(values: AnyArray, name: object) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        pass
    except UnicodeEncodeError as error:
        raise DataError(f"column {name!r} holds text that is not valid Unicode ({error.object!r}); clean it") from None
    # Arrow found more than one type: numbers of several types are numbers, anything else with text is text.
    present = [value for value in values.tolist() if not is_missing(value)]
    strangers = [v for v in present if not isinstance(v, (str, bytes, bool, int, float, np.generic))]
    if strangers:
        raise ColumnTypeError(
            f"column {name!r}: argument must be a string or a number, got {type(strangers[0]).__name__} "
            f"({strangers[0]!r}); convert the column or leave it out"
        )
    if any(isinstance(value, (str, bytes)) for value in present):
        kinds = sorted({type(value).__name__ for value in present})
        raise ColumnTypeError(
            f"column {name!r} mixes text with other types ({', '.join(kinds)}); make it all text, "
            f"for example df[{name!r}].astype(str)"
        )
    return pa.array([None if is_missing(v) else float(v) for v in values.tolist()], pa.float64())


def kind_of(column: RawColumn, name: object) -> Kind:
    """The kind that a column has by its type alone."""
    if isinstance(column, np.ndarray):
        return "number"
    import pyarrow.types as t

    dtype = column.type
    if t.is_dictionary(dtype):
        kind_of(column.dictionary, name)  # its values must be of a type that is known too
        return "category"
    if t.is_boolean(dtype) or t.is_null(dtype) or _is_text(dtype):
        return "category"
    is_time = t.is_temporal(dtype) and not t.is_interval(dtype)  # a month and a day have no common unit
    if t.is_integer(dtype) or t.is_floating(dtype) or t.is_decimal(dtype) or is_time:
        return "number"
    raise ColumnTypeError(
        f"column {name!r} has type {dtype}, which is neither a category nor a number; "
        "convert it to text or numbers, or leave it out"
    )


def _is_text(dtype: pa.DataType) -> bool:
    import pyarrow.types as t

    view = getattr(t, "is_string_view", lambda _: False)
    return bool(t.is_string(dtype) or t.is_large_string(dtype) or view(dtype))


def measure_of(column: RawColumn) -> Measure:
    """What the numbers of a column measure; a column without any value says nothing."""
    if isinstance(column, np.ndarray):
        return "number"
    import pyarrow.types as t

    dtype = column.type.value_type if t.is_dictionary(column.type) else column.type
    if t.is_timestamp(dtype) or t.is_date(dtype):
        return "timestamp"
    if t.is_time(dtype):
        return "time"
    return "duration" if t.is_duration(dtype) else "number"


def as_numbers(column: RawColumn, name: object, measure: Measure = "number") -> FloatArray:
    """The column as float64 with NaN for missing; times become microseconds. ``measure`` is what it should hold."""
    if isinstance(column, np.ndarray):
        return column if column.dtype == np.float64 else column.astype(np.float64)
    import pyarrow as pa
    import pyarrow.types as t

    dtype = column.type
    if t.is_dictionary(dtype):
        column, dtype = column.dictionary_decode(), dtype.value_type
    if _is_text(dtype):
        raise ColumnTypeError(
            f"column {name!r} should hold {measure}s and holds text ({_example(column)}); convert it to {measure}s"
        )
    if kind_of(column, name) == "number" and t.is_temporal(dtype):
        column = _in_microseconds(column).cast(pa.int64())
    if t.is_boolean(dtype):
        column = column.cast(pa.uint8())
    if column.null_count == 0 and column.type == pa.float64():
        return column.to_numpy()
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def _in_microseconds(column: pa.Array) -> pa.Array:
    """Times in one unit, whatever they came in."""
    import pyarrow as pa
    import pyarrow.types as t

    dtype = column.type
    if t.is_timestamp(dtype):
        unit: pa.DataType = pa.timestamp("us", tz=dtype.tz)
    elif t.is_date(dtype):
        unit = pa.timestamp("us")
    elif t.is_time(dtype):
        unit = pa.time64("us")
    else:
        unit = pa.duration("us")
    return column.cast(unit, safe=False)


def _example(column: pa.Array) -> str:
    present = column.drop_null()
    return f"for example {present[0].as_py()!r}" if len(present) else "empty"


def as_categories(column: RawColumn, name: object) -> pa.Array:
    """The column as an Arrow array of plain types (string, bool, int64, float64), null for missing.

    A dictionary-encoded column keeps its dictionary: that is the fast path.
    """
    import pyarrow as pa
    import pyarrow.types as t

    if isinstance(column, np.ndarray):
        return plain_values(pa.array(column, from_pandas=True), name)
    if t.is_dictionary(column.type):
        values = column.dictionary
        if values.null_count:  # a null inside the dictionary is a second way to say missing
            return plain_values(column.dictionary_decode(), name)
        return pa.DictionaryArray.from_arrays(column.indices, plain_values(values, name))
    return plain_values(column, name)


def plain_values(values: pa.Array, name: object) -> pa.Array:
    """Few value types, so that equal values of different widths compare equal; times become text."""
    import pyarrow as pa
    import pyarrow.types as t

    kind_of(values, name)
    dtype = values.type
    if _is_text(dtype):
        return values.cast(pa.string())
    if t.is_integer(dtype):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise ColumnTypeError(f"column {name!r}: {error}; make these categories text") from error
    if t.is_temporal(dtype):
        return _in_microseconds(values).cast(pa.string())
    if t.is_floating(dtype) or t.is_decimal(dtype):
        import pyarrow.compute as pc

        values = values.cast(pa.float64())
        return pc.if_else(pc.is_nan(values), None, values)
    return values
