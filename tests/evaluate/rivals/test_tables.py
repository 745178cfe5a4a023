"""Readers of tables: what a rival is given."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import countwise
from countwise.data.coded import encode_batch
from countwise.data.source import MemorySource
from countwise.errors import DataError
from countwise.evaluate.rivals.coded import CodedTable
from countwise.evaluate.rivals.linear import StandardTable, logistic_regression
from countwise.evaluate.rivals.tables import FrameTable, OneHotTable, OrdinalTable, one_hot


def slow_one_hot(columns, arity):
    rows = []
    for values in zip(*columns, strict=True):
        row = []
        for value, size in zip(values, arity, strict=True):
            row += [float(value)] if size is None else [float(value == code) for code in range(size)]
        rows.append(row)
    return np.array(rows, dtype=np.float32)


def test_one_hot_agrees_with_the_slow_one():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 4, 50).astype(np.uint8), rng.normal(size=50), rng.integers(0, 3, 50).astype(np.uint16)]
    for arity in ([4, None, 3], [2, None, 1], [None, None, 5]):
        np.testing.assert_array_equal(one_hot(columns, arity), slow_one_hot(columns, arity))


def test_unseen_and_missing_categories():
    table = pa.table({"c": ["b", "a", None]})
    other = pa.table({"c": ["a", None, "z"]})
    assert OneHotTable().fit(table).transform(other).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    np.testing.assert_array_equal(OrdinalTable().fit(table).transform(other), [[0], [np.nan], [np.nan]])
    assert FrameTable().fit(table).transform(other)["x0"].cat.codes.tolist() == [0, -1, -1]
    assert FrameTable("value").fit(table).transform(other)["x0"].tolist() == ["0", "2", "3"]
    whole = pa.table({"c": ["b", "a"]})  # training without gaps: a gap is unseen
    assert OneHotTable().fit(whole).transform(other).tolist() == [[1, 0], [0, 0], [0, 0]]
    assert FrameTable("value").fit(whole).transform(other)["x0"].tolist() == ["0", "2", "2"]


def test_values_of_a_dictionary_that_no_row_has_do_not_count():
    column = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2]), pa.array(["z", "never", "a"]))
    assert OneHotTable().fit_transform(pa.table({"c": column})).tolist() == [[1, 0], [0, 1], [1, 0]]


def test_frames_keep_their_categories_from_batch_to_batch(train, strange):
    reader = FrameTable().fit(train[0])
    first, second = reader.transform(train[0]), reader.transform(strange[0][:5])
    assert (first.dtypes == second.dtypes).all()
    assert list(first.columns) == [f"x{i}" for i in range(7)]
    assert [isinstance(dtype, pd.CategoricalDtype) for dtype in first.dtypes] == reader.is_category
    assert reader.is_category == [True, True, False, False, True, False, True]


def test_a_matrix_is_not_copied():
    X = np.random.default_rng(0).normal(size=(9, 2))
    for reader in (FrameTable(), OrdinalTable()):
        assert reader.fit_transform(X) is X
        assert reader.transform(X) is X


@pytest.mark.parametrize("frame", ["arrow", "pandas"])
def test_codes_are_those_of_countwise(frame, train, strange):
    X, y = train
    X, other = (X, strange[0]) if frame == "arrow" else (X.to_pandas(), strange[0].to_pandas())
    codec = countwise.NBClassifier().fit(X, y).codec_
    coded = CodedTable("codes").fit(X, y)
    assert coded.codec_.same_as(codec)
    for table in (X, other):
        expected = np.column_stack(encode_batch(MemorySource(table).batch, codec).codes)
        np.testing.assert_array_equal(coded.transform(table), expected)
    assert max(len(column.cuts) for column in codec.columns if column.kind == "number") > 0


def test_codes_laid_out_for_trees():
    table = pa.table({"n": [1.0, 2.0, 8.0, 9.0] * 5, "m": [0.0, 0.0, None, None] * 5, "c": ["a", "a", "b", "b"] * 5})
    reader = CodedTable("onehot").fit(table, [0, 0, 1, 1] * 5)
    other = pa.table({"n": [0.0, 7.0, None], "m": [5.0, None, 5.0], "c": ["b", None, "z"]})
    # a bin, the missing value after the bins, and two indicators; n had no missing value in training
    np.testing.assert_array_equal(reader.transform(other), [[0, 0, 0, 1], [1, 1, 0, 0], [np.nan, 0, 0, 0]])


def test_an_unknown_layout_is_an_error(train):
    with pytest.raises(DataError, match="layout='bins' is not known; choose 'codes' or 'onehot'"):
        CodedTable("bins").fit(*train)


def test_logistic_regression_is_that_of_the_dense_standardised_matrix(train, strange):
    X, y = train
    reader = OneHotTable().fit(X)
    steps = SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression(max_iter=1000, tol=1e-6)
    dense = make_pipeline(*steps).fit(reader.transform(X).astype(np.float64), y)
    model = logistic_regression(0, None).set_params(estimator__tol=1e-6).fit(X, y)
    expected = dense.predict_proba(reader.transform(strange[0]).astype(np.float64))
    np.testing.assert_allclose(model.predict_proba(strange[0]), expected, atol=1e-4)


def test_standard_numbers_have_mean_0_and_variance_1(train):
    X = train[0].select(["size<mm>", "count", "empty"])
    numbers = StandardTable().fit_transform(X)
    np.testing.assert_allclose(numbers.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(numbers.std(axis=0), [1.0, 1.0, 0.0])
