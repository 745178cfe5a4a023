import numpy as np
import pytest
from scipy.special import softmax

import countwise as cw

MODELS = [
    cw.NBClassifier,
    cw.TANClassifier,
    lambda **p: cw.KDBClassifier(k=3, **p),
    lambda **p: cw.SKDBClassifier(k=2, **p),
]
IDS = ["NB", "TAN", "KDB", "SKDB"]
SMOOTHINGS = ["mle", "laplace", "m", "m-branch"]


def table(n_rows=200, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    X = (y[:, None] + rng.integers(3, size=(n_rows, 5))) % 5
    X[:, 4] = rng.integers(8, size=n_rows)
    return np.char.add("v", X.astype(str)).astype(object), np.array(["low", "mid", "top"])[y]


def with_strangers(X):
    X = X.copy()
    X[:20, 0], X[10:30, 3], X[5, :] = "never met", "nor this", "nor that"
    return X


@pytest.mark.parametrize("make", MODELS, ids=IDS)
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_softmax_of_the_scores_is_the_prediction(make, smoothing):
    X, y = table()
    model = make(smoothing=smoothing).fit(X, y)
    for rows in (X, with_strangers(X)):
        why = model.explain(rows)
        proba = model.predict_proba(rows)
        assert why.contributions.shape == (200, 5, 3)
        scores = why.intercept + why.contributions.sum(axis=1)
        assert np.allclose(softmax(scores, axis=1), proba, rtol=0, atol=1e-12)
        assert np.array_equal(why.scores(), scores)
        assert np.allclose(why.contributions.sum(axis=2), 0, atol=1e-12)
        assert why.intercept.sum() == pytest.approx(0, abs=1e-12)


def test_unseen_values_contribute_nothing():
    X, y = table()
    why = cw.TANClassifier().fit(X, y).explain(with_strangers(X))
    assert (why.contributions[:20, 0] == 0).all()
    assert (why.contributions[10:30, 3] == 0).all()
    assert (why.contributions[5] == 0).all()
    assert (why.contributions[30:] != 0).any(axis=(0, 2)).all()


def test_log_odds_add_up():
    X, y = table()
    model = cw.TANClassifier().fit(X, y)
    why, proba = model.explain(X), model.predict_proba(X)
    odds = why.log_odds("top", against="low")
    prior = why.intercept[2] - why.intercept[0]
    assert odds.shape == (200, 5)
    assert odds.sum(axis=1) + prior == pytest.approx(np.log(proba[:, 2] / proba[:, 0]), abs=1e-10)
    assert why.log_odds("low", "top") == pytest.approx(-odds)


def test_log_odds_of_two_classes_need_no_opponent():
    X, y = table()
    y = np.where(y == "mid", "low", y)
    model = cw.NBClassifier().fit(X, y)
    why = model.explain(X)
    assert np.array_equal(why.log_odds("top"), why.log_odds("top", "low"))
    assert np.array_equal(why.log_odds("low"), -why.log_odds("top"))


def test_log_odds_errors():
    X, y = table()
    why = cw.NBClassifier().fit(X, y).explain(X[:2])
    with pytest.raises(cw.DataError, match="there are 3 classes"):
        why.log_odds("top")
    with pytest.raises(cw.DataError, match="'high' is not a class"):
        why.log_odds("high", "low")


def test_columns_that_the_model_leaves_out_contribute_nothing():
    X, y = table()
    model = cw.BNClassifier({"x1": [], "x3": ["x1"]}).fit(X, y)
    why = model.explain(X)
    assert why.names == ("x0", "x1", "x2", "x3", "x4")
    assert (why.contributions[:, [0, 2, 4]] == 0).all()
    assert (why.contributions[:, [1, 3]] != 0).any(axis=(0, 2)).all()


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_log_proba(smoothing):
    X, y = table()
    model = cw.TANClassifier(smoothing=smoothing).fit(X, y)
    rows = with_strangers(X)
    assert model.predict_log_proba(rows) == pytest.approx(np.log(model.predict_proba(rows)), abs=1e-12)
    assert np.array_equal(model.predict(rows), model.classes_[model.predict_proba(rows).argmax(axis=1)])


def test_log_proba_is_finite_where_proba_is_zero():
    # 400 copies of the class: the other class's probability is below the smallest double.
    y = np.repeat(["a", "b"], 50)
    X = np.tile(y[:, None], (1, 400)).astype(object)
    model = cw.NBClassifier().fit(X, y)
    proba, log_proba = model.predict_proba(X), model.predict_log_proba(X)
    assert (proba == 0).any()
    assert np.isfinite(log_proba).all()
    assert log_proba.min() < -1000
    positive = proba > 0
    assert log_proba[positive] == pytest.approx(np.log(proba[positive]), abs=1e-12)
    assert np.allclose(softmax(model.explain(X).scores(), axis=1), proba, atol=1e-12)


@pytest.mark.parametrize("make", MODELS, ids=IDS)
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_likelihoods_of_all_rows_sum_to_one(make, smoothing):
    rng = np.random.default_rng(3)
    X = np.stack([rng.integers(n, size=60) for n in (2, 3, 2, 4)], axis=1).astype(str).astype(object)
    y = rng.integers(3, size=60)
    model = make(smoothing=smoothing).fit(X, y)
    used = set(model.structure_.order)
    choices = [np.unique(X[:, i]) if i in used else ["any"] for i in range(4)]
    domain = np.stack([axis.ravel() for axis in np.meshgrid(*choices, indexing="ij")], axis=1).astype(object)
    assert np.exp(model.log_likelihood(domain)).sum() == pytest.approx(1.0, abs=1e-10)


def test_likelihood_sums_unseen_values_out():
    # With x1 never met, what is left is P(x0).
    rng = np.random.default_rng(4)
    X = rng.integers(3, size=(50, 2)).astype(str).astype(object)
    model = cw.BNClassifier({0: [], 1: [0]}).fit(X, rng.integers(2, size=50))
    seen = np.array([["1", value] for value in "012"], dtype=object)
    unseen = np.array([["1", "?"]], dtype=object)
    assert np.exp(model.log_likelihood(seen)).sum() == pytest.approx(np.exp(model.log_likelihood(unseen))[0])
