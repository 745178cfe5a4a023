"""XGBoost's rounds and depth, chosen by cross-validation."""

import numpy as np
import pytest
from sklearn.base import clone

from countwise.evaluate import stratified_folds
from countwise.evaluate.rivals import RIVALS
from countwise.evaluate.rivals.tables import FrameTable

pytest.importorskip("xgboost", reason="rivals 'xgboost' and 'xgboost-tuned' need xgboost")

GRID = {"rounds": (2, 6, 20), "depths": (1, 3)}


@pytest.fixture
def tuned():
    return RIVALS["xgboost-tuned"](0, 1).set_params(**{f"estimator__{key}": value for key, value in GRID.items()})


def brute_force(estimator, frame, y, n_splits, seed):
    """Every choice trained on its own, on every fold."""
    folds = stratified_folds(y, n_splits, seed)
    losses = np.empty((len(GRID["rounds"]), len(GRID["depths"])))
    for i, rounds in enumerate(GRID["rounds"]):
        for j, depth in enumerate(GRID["depths"]):
            rows = []
            for fold in range(n_splits):
                train, test = folds != fold, folds == fold
                model = clone(estimator).set_params(n_estimators=rounds, max_depth=depth, n_jobs=1)
                proba = model.fit(frame[train], y[train]).predict_proba(frame[test])
                rows += (-np.log(proba[np.arange(test.sum()), y[test]].astype(float))).tolist()
            losses[i, j] = np.mean(rows)
    return losses


def test_agrees_with_the_brute_force_grid(tuned, train, strange):
    X, y = train
    frame = FrameTable().fit_transform(X)
    chosen = tuned.set_params(estimator__random_state=5).fit(X, y).estimator_
    losses = brute_force(tuned.estimator.estimator, frame, y, 10, 5)
    np.testing.assert_allclose(chosen.log_loss_, losses, rtol=1e-6)
    i, j = np.unravel_index(losses.argmin(), losses.shape)
    assert chosen.best_params_ == {"n_estimators": GRID["rounds"][i], "max_depth": GRID["depths"][j]}
    assert len(set(losses.ravel().tolist())) == losses.size  # else nothing was compared
    again = RIVALS["xgboost"](0, 1).set_params(**{f"estimator__{k}": v for k, v in chosen.best_params_.items()})
    np.testing.assert_array_equal(tuned.predict_proba(strange[0]), again.fit(X, y).predict_proba(strange[0]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_first_rounds_of_a_long_run_are_a_short_run(n_classes, train, strange):
    X, y = train
    y = np.minimum(y, n_classes - 1)
    long = RIVALS["xgboost"](0, 1).fit(X, y)
    frame = long.reader_.transform(strange[0])
    for rounds in (10, 50):
        short = RIVALS["xgboost"](0, 1).set_params(estimator__n_estimators=rounds).fit(X, y)
        part = long.estimator_.predict_proba(frame, iteration_range=(0, rounds))
        np.testing.assert_array_equal(part, short.estimator_.predict_proba(frame))


def test_the_grid_is_that_of_the_paper():
    tuned = RIVALS["xgboost-tuned"](0, 1).estimator
    assert (tuned.rounds, tuned.depths, tuned.n_splits) == ((10, 50, 100), (2, 4, 6, 8), 10)


def test_equals_go_to_fewer_rounds_and_less_depth(tuned, train):
    X, y = train
    chosen = tuned.fit(X.select(["constant", "empty"]), y).estimator_
    assert chosen.log_loss_.ravel().tolist() == pytest.approx([chosen.log_loss_[0, 0]] * 6, rel=0.05)
    same = np.flatnonzero(chosen.log_loss_.ravel() == chosen.log_loss_.min())
    i, j = np.unravel_index(same[0], chosen.log_loss_.shape)
    assert chosen.best_params_ == {"n_estimators": GRID["rounds"][i], "max_depth": GRID["depths"][j]}
    assert GRID["depths"][j] == 1  # without anything to split on, depth makes no difference


def test_classes_with_fewer_rows_than_folds(tuned, train):
    X, y = train
    rare = y.copy()
    rare[[0, 1, 2, 3]] = [3, 4, 4, 5]  # classes of one row are absent from the training rows of one fold
    model = tuned.fit(X, rare)
    assert model.classes_.tolist() == [0, 1, 2, 3, 4, 5]
    assert model.estimator_.log_loss_.min() > 36 * 2 / len(y)  # two rows of probability 0 at least
    assert model.predict_proba(X).shape == (len(y), 6)


def test_fewer_rows_than_folds(tuned, train):
    X, _ = train
    assert tuned.fit(X[:4], [0, 1, 0, 1]).predict_proba(X).shape == (len(X), 2)
    assert tuned.fit(X[:2], [0, 1]).estimator_.log_loss_.tolist() == [[0.0] * 2] * 3
