"""What holds of all rivals: any table, any labels, the same results again."""

import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from countwise.evaluate.rivals import RIVALS

every_rival = pytest.mark.parametrize("name", RIVALS)
LABELS = np.array(["one", "three", "two"], dtype=object)


def assert_probabilities(model, X):
    proba = model.predict_proba(X)
    assert proba.dtype == np.float64
    assert proba.shape == (len(X), len(model.classes_))
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-6)
    return proba


@every_rival
def test_learns_a_mixed_table_and_meets_values_that_training_had_not(name, quick, train, strange):
    X, y = train
    model = quick(name).fit(X, LABELS[y])
    assert model.classes_.tolist() == sorted(LABELS)
    assert_probabilities(model, X)
    assert (model.predict(X) == LABELS[y]).mean() > 0.7  # the greatest class has 0.5
    proba = assert_probabilities(model, strange[0])
    plain = np.flatnonzero([value in ("red", "green", "blue") for value in strange[0].column(0).to_pylist()])
    assert (proba[plain].argmax(axis=1) == strange[1][plain]).mean() > 0.55


@every_rival
def test_labels_of_any_type_mean_the_same(name, quick, train, strange):
    X, y = train
    text = quick(name).fit(X, LABELS[y]).predict_proba(strange[0])
    for labels in (np.array([-3, 7, 10]), np.array([0.0, 5.0, 6.0]), np.array(["a", "b", "c"])):
        model = quick(name).fit(X, labels[y])
        assert model.classes_.dtype == labels.dtype
        np.testing.assert_array_equal(model.classes_, labels)
        np.testing.assert_array_equal(model.predict_proba(strange[0]), text)
    flags = quick(name).fit(X, pa.array(y > 0))
    assert flags.classes_.tolist() == [False, True]


@every_rival
def test_frames_of_any_library_are_read_alike(name, quick, train, strange):
    X, y = train
    expected = quick(name).fit(X, y).predict_proba(strange[0])
    for convert in (pa.Table.to_pandas, pl.from_arrow):
        model = quick(name).fit(convert(X), y)
        np.testing.assert_array_equal(model.predict_proba(convert(strange[0])), expected)


@every_rival
def test_a_matrix_is_a_table_of_numbers(name, quick):
    X = np.random.default_rng(0).normal(size=(80, 3))
    X[::7, 1] = np.nan
    y = (X[:, 0] > 0).astype(int) + (X[:, 2] > 1)
    names = ["x0", "x1", "x2"]
    table = pa.table({name: pa.array(column, from_pandas=True) for name, column in zip(names, X.T, strict=True)})
    proba = quick(name).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(proba, quick(name).fit(table, y).predict_proba(table))
    np.testing.assert_array_equal(proba, quick(name).fit(X.tolist(), y.tolist()).predict_proba(X.tolist()))


@every_rival
def test_clones_copies_and_second_runs_agree(name, quick, train, strange):
    model = quick(name, seed=3)
    proba = model.fit(*train).predict_proba(strange[0])
    np.testing.assert_array_equal(clone(model).fit(*train).predict_proba(strange[0]), proba)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(strange[0]), proba)
    assert str(clone(model).get_params()) == str(quick(name, seed=3).get_params())
    pickle.loads(pickle.dumps(quick(name))).fit(*train)


@pytest.mark.parametrize("name", ["rf", "rf-coded", "extra-trees", "ebm", "catboost", "xgboost-tuned"])
def test_the_seed_is_a_parameter(name, quick):
    assert str(quick(name, seed=1).get_params()) != str(quick(name, seed=2).get_params())


@pytest.mark.parametrize("name", [name for name in RIVALS if name != "ebm"])  # whose jobs are processes, slow to start
def test_threads_do_not_matter(name, quick, train, strange):
    one, two = (quick(name, jobs=jobs).fit(*train).predict_proba(strange[0]) for jobs in (1, 2))
    np.testing.assert_allclose(one, two, rtol=1e-6)


@every_rival
def test_one_class_has_probability_1(name, quick, train):
    X, _ = train
    model = quick(name).fit(X, ["all"] * len(X))
    assert model.classes_.tolist() == ["all"]
    assert model.predict_proba(X[:3]).tolist() == [[1.0]] * 3
    assert model.fit(*train).predict_proba(X).shape == (len(X), 3)


@every_rival
@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "b"], ["a", "b", "c"]])
def test_two_or_three_rows_are_enough(name, labels, quick, train):
    X, _ = train
    model = quick(name).fit(X[: len(labels)], labels)
    assert model.classes_.tolist() == sorted(set(labels))
    assert_probabilities(model, X)


@every_rival
def test_attributes_that_say_nothing_leave_the_shares_of_classes(name, quick):
    X = pa.table({"c": ["v"] * 60, "n": np.ones(60)})
    model = quick(name).fit(X, ["a"] * 15 + ["b"] * 45)
    np.testing.assert_allclose(model.predict_proba(X[:2]), [[0.25, 0.75]] * 2, atol=0.1)  # bags and rounds differ


@every_rival
def test_classes_of_one_row(name, quick, train):
    X, _ = train
    y = np.zeros(len(X), dtype=int)
    y[3], y[8] = 1, 2
    model = quick(name).fit(X, y)
    assert_probabilities(model, X)


@every_rival
def test_other_columns_than_in_training_are_an_error(name, quick, train):
    X, y = train
    model = quick(name).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict_proba(X.rename_columns([f"other {i}" for i in range(X.num_columns)]))
    with pytest.raises(ValueError, match="feature"):
        model.predict_proba(X.drop_columns(["flag"]))


@every_rival
def test_rows_without_a_label_are_an_error(name, quick, train):
    X, y = train
    with pytest.raises(ValueError, match="missing"):
        quick(name).fit(X, [None, *LABELS[y[1:]]])
