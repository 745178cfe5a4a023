"""The same rows in any table give the same model; what no model can use is refused by its column's name."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import countwise as cw
from countwise.data.source import MemorySource, table_columns
from countwise.errors import ColumnTypeError, DataError

N = 240


@pytest.fixture(scope="module")
def rows():
    """Plain Python columns with gaps, and labels that depend on them."""
    rng = np.random.default_rng(3)
    word = rng.choice(["sun", "rain", "snow"], N).tolist()
    number = rng.normal(size=N).round(2)
    label = np.where((np.array(word) == "sun") ^ (number > 0.2) ^ (rng.random(N) < 0.1), "yes", "no")
    columns = {
        "word": [None if i % 17 == 3 else value for i, value in enumerate(word)],
        "number": [None if i % 19 == 5 else float(value) for i, value in enumerate(number)],
        "count": [int(value) for value in rng.integers(0, 9, N)],
        "flag": [None if i % 23 == 7 else bool(value) for i, value in enumerate(rng.integers(0, 2, N))],
        "when": [dt.datetime(2020, 1, 1) + dt.timedelta(hours=int(h)) for h in rng.integers(0, 900, N)],
    }
    return columns, label


def pandas_objects(columns):
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def pandas_nullable(columns):
    frame = pandas_objects(columns)
    frame["word"] = frame["word"].astype("string")
    frame["number"] = frame["number"].astype("Float64")
    frame["count"] = frame["count"].astype("Int64")
    frame["flag"] = frame["flag"].astype("boolean")
    frame["when"] = pd.to_datetime(frame["when"])
    return frame


def pandas_categories(columns):
    frame = pandas_nullable(columns)
    frame["word"] = pd.Categorical(columns["word"], categories=["unused", "snow", "sun", "rain"])
    frame["flag"] = pd.Categorical(columns["flag"])
    frame["number"] = frame["number"].to_numpy(np.float64, na_value=np.nan)
    return frame


def polars_categories(columns):
    categories = pl.Enum(["snow", "unused", "rain", "sun"])
    return pl.DataFrame(columns).with_columns(pl.col("word").cast(categories), pl.col("when").dt.cast_time_unit("ms"))


def arrow_dictionaries(columns):
    table = pa.table(columns)
    halves = [table.slice(0, N // 3), table.slice(N // 3)]  # two chunks with dictionaries of their own
    word = pa.chunked_array([half.column("word").combine_chunks().dictionary_encode() for half in halves])
    return table.set_column(0, "word", word).set_column(4, "when", table.column("when").cast(pa.timestamp("s")))


TABLES = {
    "pandas objects": pandas_objects,
    "pandas nullable": pandas_nullable,
    "pandas categories": pandas_categories,
    "polars": pl.DataFrame,
    "polars categories": polars_categories,
    "arrow": pa.table,
    "arrow dictionaries": arrow_dictionaries,
    "arrow large text": lambda c: pa.table(c).set_column(0, "word", pa.array(c["word"], pa.large_string())),
    "arrow record batch": pa.record_batch,
    "arrow stream": lambda c: pa.table(c).to_reader(),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_the_same_rows_give_the_same_model_and_predictions(rows, make):
    columns, label = rows
    reference = cw.KDBClassifier(k=1).fit(pa.table(columns), label)
    model = cw.KDBClassifier(k=1).fit(make(columns), label)
    assert model.codec_.same_as(reference.codec_)
    np.testing.assert_array_equal(model.predict_proba(make(columns)), reference.predict_proba(pa.table(columns)))
    assert list(model.feature_names_in_) == list(columns)


def kinds(X):
    y = np.arange(len(X)) % 2
    return [(c.kind, c.labels) for c in cw.NBClassifier().fit(X, y).codec_.columns]


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1"])
def test_numeric_arrays_are_numbers(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (60, 2)).astype(dtype)
    assert [kind for kind, _ in kinds(X)] == ["number", "number"]
    y = (X[:, 0] > 4).astype(int)
    expected = cw.NBClassifier().fit(X.astype(float), y).predict_proba(X.astype(float))
    np.testing.assert_array_equal(cw.NBClassifier().fit(X, y).predict_proba(X), expected)


def test_other_arrays():
    assert kinds(np.array([["a"], ["b"]] * 5)) == [("category", ["a", "b"])]
    assert kinds(np.array([[True], [False]] * 5)) == [("category", ["False", "True"])]
    mixed = np.array([[1, "x"], [None, "y"], [2.5, None], [True, "x"]] * 5, dtype=object)
    assert kinds(mixed) == [("number", ["(any number)", "(missing)"]), ("category", ["x", "y", "(missing)"])]
    hours = np.array([[1], [2]] * 5, "m8[h]")
    assert kinds(hours)[0][0] == "number"


def test_lists_keep_the_types_of_their_columns():
    assert kinds([[1, "a"], [3, "b"]] * 10) == [("number", ["<= 2", "> 2"]), ("category", ["a", "b"])]


def test_masked_values_are_missing():
    X = np.ma.masked_array(np.ones((20, 1)), mask=(np.arange(20) % 4 == 0)[:, None])
    assert kinds(X) == [("number", ["(any number)", "(missing)"])]


def test_intervals_of_pandas_cut_are_categories():
    values = pd.Series(np.linspace(0, 1, 30))
    ((kind, labels),) = kinds(pd.DataFrame({"bin": pd.cut(values, [0, 0.5, 1], include_lowest=True)}))
    assert kind == "category"
    assert labels == ["(-0.001, 0.5]", "(0.5, 1.0]"]


def test_polars_tells_null_and_nan_alike():
    ((_, labels),) = kinds(pl.DataFrame({"x": [1.0, None, float("nan")] * 8}))
    assert labels == ["(any number)", "(missing)"]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([dt.date(2020, 1, 1), None] * 5),
        pl.Series([dt.timedelta(hours=1), None] * 5),
        pl.Series([dt.time(1), None] * 5),
        pl.Series([decimal.Decimal("1.5"), None] * 5),
        pl.Series([2**70, None] * 5, dtype=pl.Int128),
        pd.Series(pd.to_timedelta([1, None] * 5, unit="h")),
        pd.Series(pd.to_datetime(["2020-01-01", None] * 5)).dt.tz_localize("UTC"),
    ],
    ids=["date", "duration", "time", "decimal", "int128", "timedelta", "zoned"],
)
def test_times_and_wide_numbers_are_numbers(column):
    frame = pl.DataFrame({"c": column}) if isinstance(column, pl.Series) else pd.DataFrame({"c": column})
    assert kinds(frame) == [("number", ["(any number)", "(missing)"])]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"odd": [[1, 2]] * 10}),
        pl.DataFrame({"odd": [{"a": 1}] * 10}),
        pa.table({"odd": [[1]] * 10}),
        pa.table({"odd": [b"x"] * 10}),
        pa.table({"odd": pa.array([(1, 2, 3)] * 10, pa.month_day_nano_interval())}),
        pa.table({"odd": pa.array([b"x"] * 10).dictionary_encode()}),
        pd.DataFrame({"odd": [{"a": 1}] * 10}),
        pd.DataFrame({"odd": pd.Series([1, "a"] * 5, dtype=object)}),
        pd.DataFrame({"odd": pd.period_range("2020-01", periods=10, freq="M")}),
        pd.DataFrame({"odd": pd.Series(["\ud800", "b"] * 5, dtype=object)}),
        pd.DataFrame({"odd": np.ones(10) * 1j}),
        pa.table({"odd": pa.array([2**63, 1] * 5, pa.uint64()).dictionary_encode()}),
    ],
)
def test_what_is_neither_category_nor_number_is_named(frame):
    with pytest.raises((ColumnTypeError, DataError), match="'odd'"):
        kinds(frame)


def test_complex_arrays_are_refused():
    with pytest.raises(ValueError, match="Complex data"):
        kinds(np.ones((10, 2)) * 1j)


def test_names_of_columns():
    X = np.zeros((4, 2))
    assert table_columns(X)[0] == ["x0", "x1"]
    assert table_columns(pd.DataFrame(X, columns=[7, 5]))[0] == ["7", "5"]
    for frame in (pd.DataFrame(X, columns=["a", "a"]), pa.Table.from_arrays([pa.array([1.0] * 4)] * 2, ["a", "a"])):
        with pytest.raises(DataError, match=r"duplicate column name.*'a'"):
            table_columns(frame)
        with pytest.raises(DataError, match=r"duplicate column name.*'a'"):
            kinds(frame)


def test_rows_of_weight_zero_leave_no_trace():
    batch = MemorySource(pa.table({"a": ["x", "y", "z"]}), np.arange(3), np.array([1.0, 0.0, 2.0])).batch
    kept = batch.without_zero_weights()
    assert kept.n_rows == 2
    assert kept.columns[0].to_pylist() == ["x", "z"]
    assert kept.target.tolist() == [0, 2]


def test_lazy_frames_are_refused_with_the_way_out():
    with pytest.raises(DataError, match=r"collect"):
        cw.NBClassifier().fit(pl.LazyFrame({"a": [1, 2]}), [0, 1])
