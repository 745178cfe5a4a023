"""One column: what can be read from it, and how."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from countwise.data.columns import as_categories, as_numbers, is_missing, kind_of, plain_values, raw_column
from countwise.errors import ColumnTypeError


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, pd.NaT, pd.NA, np.datetime64("NaT")])
def test_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, np.float64(1)])
def test_not_missing(value):
    assert not is_missing(value)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_have_one_unit_whatever_they_came_in(unit):
    moment = dt.datetime(2021, 5, 6, 7, 8, 9)
    expected = float(np.datetime64(moment, "us").astype(np.int64))
    assert as_numbers(pa.array([moment], pa.timestamp(unit)), "t").tolist() == [expected]
    assert as_numbers(raw_column(np.array([moment], f"M8[{unit}]"), "t"), "t").tolist() == [expected]
    texts = as_categories(pa.array([moment, None], pa.timestamp(unit)), "t").to_pylist()
    assert texts == ["2021-05-06 07:08:09.000000", None]
    hour = as_numbers(pa.array([dt.timedelta(hours=1)], pa.duration(unit)), "t")
    assert hour.tolist() == [3.6e9]


def test_dates_and_timestamps_agree():
    day = pa.array([dt.date(2021, 5, 6)])
    midnight = pa.array([dt.datetime(2021, 5, 6)])
    assert as_numbers(day, "t").tolist() == as_numbers(midnight, "t").tolist()


def test_numbers_of_arrow_arrays():
    assert as_numbers(pa.array([1, None, 3], pa.int16()), "n").tolist()[::2] == [1.0, 3.0]
    assert np.isnan(as_numbers(pa.array([1, None]), "n")[1])
    assert as_numbers(pa.array([True, False]), "n").tolist() == [1.0, 0.0]
    assert as_numbers(pa.array([2.5, 1.5]).dictionary_encode(), "n").tolist() == [2.5, 1.5]
    with pytest.raises(ColumnTypeError, match=r"'price' should hold numbers.*'cheap'"):
        as_numbers(pa.array([None, "cheap"]), "price")


def test_categories_are_of_few_types():
    plain = [
        (pa.array([1], pa.int8()), pa.int64()),
        (pa.array([1.5], pa.float32()), pa.float64()),
        (pa.array(["a"], pa.large_string()), pa.string()),
        (pa.array(["a"], pa.string_view()), pa.string()),
        (pa.array([True]), pa.bool_()),
    ]
    for values, dtype in plain:
        assert plain_values(values, "c").type == dtype
    assert as_categories(pa.array([1.0, float("nan")]), "c").to_pylist() == [1.0, None]


def test_a_null_in_a_dictionary_is_missing():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None]))
    assert as_categories(column, "c").to_pylist() == ["a", None, "a"]


def test_kinds():
    assert kind_of(np.zeros(3), "c") == "number"
    assert kind_of(pa.array(["a"]), "c") == "category"
    assert kind_of(pa.array([None]), "c") == "category"
    assert kind_of(pa.array([1]).dictionary_encode(), "c") == "category"
    assert kind_of(pa.array([1]), "c") == "number"
    with pytest.raises(ColumnTypeError, match="'c' has type list"):
        kind_of(pa.array([[1]]), "c")
