"""Codes: categories and bins first, then missing, then unseen; narrow; and what happens when types drift."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import countwise as cw
from countwise.data.codec import CategoryCodec, Codec, NumberCodec
from countwise.errors import ColumnTypeError, DataError

WORDS = CategoryCodec("word", pa.array(["a", "b", "c"]), has_missing=True)
SURE = CategoryCodec("word", pa.array(["a", "b", "c"]), has_missing=False)
INTS = CategoryCodec("digit", pa.array([1, 2, 5]), has_missing=False)
BINS = NumberCodec("size", np.array([0.0, 1.0]), 3, has_missing=True)


def codes(codec, values):
    return codec.encode(values if isinstance(values, (np.ndarray, pa.Array)) else pa.array(values)).tolist()


def test_categories_missing_and_unseen():
    assert codes(WORDS, ["c", None, "a", "new"]) == [2, 3, 0, 4]
    assert codes(SURE, ["c", None, "new"]) == [2, 3, 3]
    assert WORDS.labels == ["a", "b", "c", "(missing)"]


def test_dictionaries_take_the_fast_path_to_the_same_codes():
    values = ["c", None, "a", "new", "b", "a"]
    column = pa.array(values).dictionary_encode()
    assert codes(WORDS, column) == codes(WORDS, values)
    assert codes(WORDS, column.slice(2)) == codes(WORDS, values)[2:]


def test_bins_missing_and_edges():
    assert codes(BINS, np.array([-1.0, 0.0, 0.5, 1.0, 1.5, np.nan])) == [0, 0, 1, 1, 2, 3]
    assert codes(BINS, [None, 7]) == [3, 2]
    sure = NumberCodec("size", np.array([0.0]), 2, has_missing=False)
    assert codes(sure, np.array([np.nan, 1.0])) == [2, 1]


def test_a_column_that_was_all_missing_has_no_bins():
    empty = NumberCodec("size", np.array([]), 0, has_missing=True)
    assert codes(empty, np.array([np.nan, 3.0])) == [0, 1]
    nothing = CategoryCodec("word", pa.array([], pa.null()), has_missing=True)
    assert codes(nothing, [None, "a"]) == [0, 1]


@pytest.mark.parametrize(("n_values", "dtype"), [(255, "u1"), (256, "u2"), (65535, "u2"), (65536, "u4")])
def test_codes_are_as_narrow_as_unseen_allows(n_values, dtype):
    codec = CategoryCodec("c", pa.array(range(n_values)), has_missing=False)
    assert codec.encode(pa.array([0])).dtype == dtype
    assert codec.encode(pa.array([-1])).tolist() == [n_values]


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_infinity_names_the_column(infinite):
    with pytest.raises(DataError, match="'size' contains infinity"):
        BINS.encode(np.array([infinite]))


@pytest.mark.parametrize(
    "same",
    [
        pa.array([1, 5], pa.int8()),
        np.array([1.0, 5.0]),
        np.array([1, 5]),
        pa.array(["1", "5"]),
        pa.array(pd.Categorical([1, 5])),
    ],
)
def test_equal_values_of_other_types_are_equal(same):
    assert INTS.encode(same).tolist() == [0, 2]


def test_types_that_drift():
    assert codes(INTS, [1.5]) == [3]  # a number, but none that was met
    assert codes(SURE, [3]) == [3]
    digits = CategoryCodec("code", pa.array(["1", "2"]), has_missing=False)
    assert codes(digits, [2, 3]) == [1, 2]
    with pytest.raises(ColumnTypeError, match="'digit' held int64 categories in training and holds string"):
        INTS.encode(pa.array(["one"]))
    with pytest.raises(ColumnTypeError, match="'size' should hold numbers"):
        BINS.encode(pa.array(["one"]))
    with pytest.raises(ColumnTypeError, match="'word' has type list"):
        SURE.encode(pa.array([["a"]]))


def test_same_as():
    codec = Codec((WORDS, BINS), np.array([0, 1]))
    assert codec.same_as(Codec((WORDS, BINS), np.array([0, 1])))
    assert not codec.same_as(Codec((SURE, BINS), np.array([0, 1])))
    assert not codec.same_as(Codec((WORDS, BINS), np.array([0, 2])))
    other = NumberCodec("size", np.array([0.0, 2.0]), 3, has_missing=True)
    assert not codec.same_as(Codec((WORDS, other), np.array([0, 1])))
    assert codec.arity == [4, 4]


def test_labels_of_bins():
    assert BINS.labels == ["<= 0", "(0, 1]", "> 1", "(missing)"]
    assert NumberCodec("n", np.array([]), 1, has_missing=False).labels == ["(any number)"]


def test_times_are_read_as_times_and_shown_as_times():
    days = pa.array([dt.date(2020, 1, 1), dt.date(2021, 6, 1), None] * 20)
    X, y = pa.table({"since": days}), ["old", "new", "old"] * 20
    model = cw.NBClassifier().fit(X, y)
    column = model.codec_.columns[0]
    assert column.labels == ["<= 2020-09-15T12:00:00", "> 2020-09-15T12:00:00", "(missing)"]
    stamps = pa.table({"since": days.cast(pa.timestamp("ns"))})  # the same days in another type
    assert np.array_equal(model.predict_proba(stamps), model.predict_proba(X))
    with pytest.raises(ColumnTypeError, match="'since' held timestamps in training and holds numbers now"):
        model.predict(pa.table({"since": [1.5]}))
    assert model.predict_proba(pa.table({"since": pa.array([None], pa.float64())})).shape == (1, 2)
    numbers = cw.NBClassifier().fit(pa.table({"since": [1.0, 2.0, 3.0] * 20}), y)
    with pytest.raises(ColumnTypeError, match="'since' held numbers in training and holds timestamps now"):
        numbers.predict(X)


def test_durations_are_shown_as_durations():
    waits = pa.array([dt.timedelta(seconds=s) for s in (1, 2, 100, 200)] * 10)
    model = cw.NBClassifier().fit(pa.table({"wait": waits}), ["short", "short", "long", "long"] * 10)
    assert model.codec_.columns[0].labels == ["<= 0:00:51", "> 0:00:51"]
