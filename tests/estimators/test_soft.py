"""Thresholds that are not certain: rows near them take both branches of a tree."""

import numpy as np
import pandas as pd
import pytest

import countwise as cw
from countwise.errors import DataError, ModelFileError
from countwise.model_file import read_model_file
from oracle.altered_files import load_altered
from oracle.grown import NEW, X, Y, assert_same, frame, shares_of


def model(**params):  # soft is the default
    return cw.ProbabilityTreeClassifier(**params)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"category_splits": "binary", "smoothing": "laplace"},
        {"missing": "fractional"},
        {"validation": True},
        {"pruning": "reduced-error"},
        {"criterion": "entropy", "max_depth": 3},
    ],
    ids=repr,
)
def test_predictions_are_means_over_nodes(params):
    fitted = model(**params).fit(X, Y)
    nodes = fitted._compiled.node_proba(0, np.arange(fitted.tree_.n_nodes, dtype=np.int32))
    several = 0
    table = pd.concat([NEW, X[:80]])
    for row, found in zip(table.to_dict("records"), fitted.predict_proba(table), strict=True):
        ends = shares_of(fitted, row)
        several += len(ends) > 1
        assert sum(ends.values()) == pytest.approx(1)
        np.testing.assert_allclose(found, sum(w * nodes[n] for n, w in ends.items()), rtol=1e-10)
    assert several > 5


def test_trees_are_those_of_sharp_thresholds():
    one, other = model().fit(X, Y), cw.ProbabilityTreeClassifier(thresholds="sharp").fit(X, Y)
    assert one.splits_.soft
    assert not other.splits_.soft
    for name in ("parent", "branch", "column"):
        np.testing.assert_array_equal(getattr(one.splits_, name), getattr(other.splits_, name))
    np.testing.assert_array_equal(one.tree_.cell_count, other.tree_.cell_count)
    np.testing.assert_array_equal(one.apply(NEW), other.apply(NEW))
    assert not np.allclose(one.predict_proba(NEW), other.predict_proba(NEW))
    sharp = other.partial_fit(X, Y).tree_.cell_count
    np.testing.assert_array_equal(one.partial_fit(X, Y).tree_.cell_count, sharp)


def test_a_row_far_from_thresholds_has_one_leaf_and_one_near_has_both():
    x = np.r_[np.linspace(0, 1, 50), np.linspace(2, 3, 50)][:, None]
    y = np.repeat(["a", "b"], 50)
    y[45:55:2], y[46:55:2] = "a", "b"  # who knows where a ends
    fitted = model(max_depth=1).fit(x, y)
    p = fitted.predict_proba([[0.0], [1.0], [2.0], [3.0]])[:, 1]
    ends = fitted._compiled.node_proba(0, np.array([1, 2], np.int32))[:, 1]
    np.testing.assert_allclose(p[[0, 3]], ends, rtol=1e-12)
    assert ends[0] < p[1] <= p[2] < ends[1]


@pytest.mark.parametrize("params", [{}, {"missing": "fractional"}, {"curtail": 20}], ids=repr)
def test_explanations_and_limits(params):
    for fitted in (model(**params), cw.ProbabilityForestClassifier(3, thresholds="soft", **params)):
        p = fitted.fit(X, Y).predict_proba(NEW)
        scores = np.exp(fitted.explain(NEW).scores())
        np.testing.assert_allclose(scores / scores.sum(axis=1, keepdims=True), p, rtol=1e-9)
        limits = fitted.predict_proba_interval(NEW)
        assert (limits[:, :, 0] <= p).all()
        assert (limits[:, :, 1] >= p).all()


def test_tables_that_are_not_written_out_give_the_same(monkeypatch):
    expected = model().fit(X, Y).predict_proba(NEW)
    monkeypatch.setattr("countwise.infer.trees.TABLE_VALUES", 0)
    np.testing.assert_allclose(model().fit(X, Y).predict_proba(NEW), expected, rtol=1e-12)


def test_order_weights_threads_and_files(tmp_path):
    order = np.random.default_rng(0).permutation(len(X))
    times = np.random.default_rng(1).integers(0, 3, len(X))
    one = model().fit(X, Y)
    assert_same(model(n_jobs=2).fit(X.iloc[order], Y[order]), one)
    repeated = model().fit(X.loc[np.repeat(X.index, times)], np.repeat(Y, times))
    assert_same(model().fit(X, Y, sample_weight=times), repeated)
    one.save(tmp_path / "tree.cw")
    assert_same(cw.load(tmp_path / "tree.cw"), one)
    many = NEW.loc[np.tile(NEW.index, 300)]
    one.set_params(n_jobs=2)
    np.testing.assert_array_equal(one.predict_proba(many), np.tile(one.predict_proba(NEW), (300, 1)))


def test_scans_that_do_not_fit_grow_the_same_tree():
    table, labels = frame(2000, 3)
    table = table.round(1)
    source = cw.StreamSource([table.assign(target=labels)], target="target")
    one = model().fit(table, labels)
    with pytest.warns(ResourceWarning, match="several passes"):
        other = model(max_memory=20_000).fit(source)  # the codes of all rows take 58 KB
    assert one.splits_.soft
    assert_same(other, one)


@pytest.mark.parametrize(
    ("array", "at", "value"), [("sides", 15, 10**6), ("sides", 0, -1), ("sides", 8, 0), ("side_ptr", 1, 8)]
)
def test_files_are_checked(array, at, value, tmp_path):
    path = tmp_path / "tree.cw"
    model(smoothing="laplace", max_depth=1).fit(X[["age"]], Y).save(path)

    def alter(header, arrays):
        arrays[f"tree0.{array}"][at] = value

    with pytest.raises(ModelFileError, match="not a usable model"):
        load_altered(read_model_file(path), alter, path)


def test_the_range_is_shown():
    fitted = model(max_depth=1).fit(X[["age"]], Y)
    own = fitted.codec_.columns[0]
    low, high = (own.edges[fitted.splits_.sides[i]] for i in (1, 14))
    assert f"age <= {own.edges[fitted.splits_.threshold[0]]} ({low} to {high}): " in cw.export_text(fitted)


def test_gini_has_sharp_thresholds():
    assert not model(criterion="gini").fit(X, Y).splits_.soft


def test_errors():
    with pytest.raises(DataError, match="thresholds='hard' is not known; choose one of sharp, soft"):
        cw.ProbabilityTreeClassifier(thresholds="hard").fit(X, Y)
