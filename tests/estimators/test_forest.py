"""Forests: the mean of their trees, each grown from its bag."""

import pickle

import numpy as np
import pytest

import countwise as cw
from countwise.errors import DataError
from countwise.smooth import dense_proba
from oracle.grown import NEW, X, Y, assert_same


def forest(**params):
    return cw.ProbabilityForestClassifier(n_estimators=4, **{"max_features": 2, **params})


@pytest.mark.parametrize("smoothing", ["m-branch", "laplace", "hdp"])
def test_probabilities_are_the_mean_of_the_trees(smoothing):
    model = forest(smoothing=smoothing).fit(X, Y)
    nodes = model.apply(NEW)
    parts = [
        dense_proba(tree.counts, own)[nodes[:, t]]
        for t, (tree, own) in enumerate(zip(model.trees_, model._parameters, strict=True))
    ]
    np.testing.assert_allclose(model.predict_proba(NEW), np.mean(parts, axis=0), rtol=1e-12)
    assert len({tree.counts.n_nodes for tree in model.trees_}) > 1


def test_explanations_add_up():
    model = forest().fit(X, Y)
    scores = np.exp(model.explain(NEW).scores())
    np.testing.assert_allclose(scores / scores.sum(axis=1, keepdims=True), model.predict_proba(NEW), rtol=1e-9)


def test_intervals_hold_the_estimate():
    model = forest().fit(X, Y)
    limits, p = model.predict_proba_interval(NEW), model.predict_proba(NEW)
    assert ((limits[..., 0] <= p) & (p <= limits[..., 1])).all()
    assert (limits[..., 0] < limits[..., 1]).all()


@pytest.mark.parametrize("bootstrap", [True, False])
def test_weights_order_batches_and_threads(bootstrap):
    rng = np.random.default_rng(1)
    times, order = rng.integers(0, 4, len(X)), rng.permutation(len(X))
    whole = forest(bootstrap=bootstrap).fit(X, Y)
    assert_same(forest(bootstrap=bootstrap).fit(X.iloc[order], Y[order]), whole)
    assert_same(forest(bootstrap=bootstrap, n_jobs=2).fit(X, Y), whole)
    repeated = forest(bootstrap=bootstrap).fit(X.loc[np.repeat(X.index, times)], np.repeat(Y, times))
    assert_same(forest(bootstrap=bootstrap).fit(X, Y, sample_weight=times), repeated)
    table = X.assign(target=Y)
    streamed = cw.StreamSource([table[i : i + 70] for i in range(0, len(table), 70)], target="target")
    assert_same(forest(bootstrap=bootstrap).fit(streamed), whole)
    assert not np.array_equal(
        forest(bootstrap=bootstrap, random_state=1).fit(X, Y).predict_proba(NEW), whole.predict_proba(NEW)
    )


def test_bags_hold_as_many_rows_as_the_table():
    model = forest().fit(X, Y)
    assert [tree.counts.total[0] for tree in model.trees_] == [len(X)] * 4
    assert len({tuple(tree.counts.cell_count[:3]) for tree in model.trees_}) > 1
    assert [tree.counts.total[0] for tree in forest(bootstrap=False).fit(X, Y).trees_] == [len(X)] * 4


def test_rows_out_of_the_bag_are_predicted_without_it():
    """A class that no attribute tells: trees know the rows of their bags, and nothing of the others."""
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    model = cw.ProbabilityForestClassifier(
        40, criterion="gini", min_samples_leaf=1, smoothing="mle", oob_score=True, random_state=1
    ).fit(noise, y)
    assert model.score(noise, y) > 0.95
    assert model.oob_score_ < 0.65
    assert model.oob_proba_.shape == (200, 2)
    assert np.mean(np.argmax(model.oob_proba_, axis=1) == y) == pytest.approx(model.oob_score_)


def test_rows_that_are_in_every_bag_have_no_prediction():
    model = cw.ProbabilityForestClassifier(1, oob_score=True).fit(X, Y)
    missing = np.isnan(model.oob_proba_).all(axis=1)
    assert 0.5 < missing.mean() < 0.75  # 1 - 1/e
    assert np.array_equal(np.isnan(model.oob_proba_).any(axis=1), missing)


def test_files_and_pickles(tmp_path):
    model = forest(oob_score=True).fit(X, Y)
    model.save(tmp_path / "forest.cw")
    for other in (cw.load(tmp_path / "forest.cw"), pickle.loads(pickle.dumps(model))):
        assert_same(model, other)
        assert other.oob_score_ == model.oob_score_
    later = pickle.loads(pickle.dumps(model)).partial_fit(X, Y)
    assert all(1.9 * len(X) < tree.counts.total[0] <= 2 * len(X) for tree in later.trees_)  # few have no leaf there
    later.trees_ = later.trees_[:2]
    with pytest.raises(DataError, match="numbers of trees"):
        model.merge(later)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"max_features": 0}, "max_features must be a whole number >= 1"),
        ({"max_features": "sqrt"}, "max_features must be a whole number"),
        ({"oob_score": True, "bootstrap": False}, "oob_score=True needs bootstrap=True"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(DataError, match=message):
        cw.ProbabilityForestClassifier(**params).fit(X, Y)
