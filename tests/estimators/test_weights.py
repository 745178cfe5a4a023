"""Sample weights where rows are left out: whole ones repeat rows, others weigh them."""

import numpy as np
import pytest

import countwise as cw
from countwise.estimators import learn
from countwise.evaluate import log_loss

LEARNERS = {
    "pool": lambda: cw.PoolClassifier(n_members=3, k=3),
    "tuned": lambda: cw.TunedKDBClassifier(k=3),
    "kdb": lambda: cw.KDBClassifier(k=3),
    "skdb": lambda: cw.SKDBClassifier(k=3),
    "eskdb": lambda: cw.ESKDBClassifier(n_estimators=4, k=3),
}


def rare_class(n_rows, seed):
    """Categories that say nothing about a class that one row in ten has, and weights that balance the classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n_rows, 6)).astype(str).astype(object)
    y = (rng.random(n_rows) < 0.1).astype(int)
    return X, y, np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_balanced_noise_is_not_believed(name, whole):
    """Of weights above 1 only a part used to be left out: the rest of each row spoke for itself."""
    X, y, weights = rare_class(600, 0)
    X_new, y_new, new_weights = rare_class(3000, 1)
    weights = np.round(weights / weights.min()) if whole else weights
    model = LEARNERS[name]().fit(X, y, sample_weight=weights)
    loss = log_loss(y_new, model.predict_proba(X_new), model.classes_, sample_weight=new_weights)
    assert loss < 0.85  # ln 2 is .69; it was 2 to 7


@pytest.mark.parametrize("make", [LEARNERS["tuned"], LEARNERS["kdb"]], ids=["tuned", "kdb"])
def test_what_comes_often_is_in_every_part(make):
    """Half of all rows hold the same and tell the class: parts that are samples have their share of it in any order."""
    rng = np.random.default_rng(0)
    often = rng.random(4000) < 0.5
    X = np.where(often[:, None], 0, rng.integers(0, 9, (4000, 4))).astype(str).astype(object)
    y = np.where(often, rng.random(4000) < 0.97, rng.random(4000) < 0.3).astype(int)
    model = make().set_params(tune_rows=400).fit(X, y)
    assert model.predict_proba(X[often][:1])[0, 1] == pytest.approx(y[often].mean(), abs=0.03)
    assert model.predict_proba(X[~often])[:, 1].mean() == pytest.approx(y[~often].mean(), abs=0.05)
    order = rng.permutation(4000)
    shuffled = make().set_params(tune_rows=400).fit(X[order], y[order])
    assert shuffled.predict_proba(X[:50]) == pytest.approx(model.predict_proba(X[:50]), rel=1e-9)
    twice = make().set_params(tune_rows=400).fit(X, y, sample_weight=np.full(4000, 2.0))
    repeated = make().set_params(tune_rows=400).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.predict_proba(X[:50]) == pytest.approx(repeated.predict_proba(X[:50]), rel=1e-9)


@pytest.mark.parametrize("make", [LEARNERS["tuned"], LEARNERS["kdb"]], ids=["tuned", "kdb"])
def test_weights_that_are_not_whole_are_no_numbers_of_rows(make, monkeypatch):
    """Parts that tune have as many rows as they should."""
    sizes = []
    monkeypatch.setattr(learn, "tune", lambda losses: sizes.append([len(loss.rows.target) for loss in losses]))
    monkeypatch.setattr(learn, "tune_weights", lambda losses, _: learn.tune(losses))
    X = np.arange(2000)[:, None].astype(float)
    with pytest.warns(UserWarning, match=r"mean of sample_weight is 500.5, .* pass sample_weight / sample_weight.mean"):
        make().set_params(tune_rows=1000).fit(X, np.arange(2000) % 2, sample_weight=np.full(2000, 500.5))
    (parts,) = sizes
    assert sum(parts) == pytest.approx(2000, abs=200)


@pytest.mark.parametrize("weights", [np.full(60, 500.0), np.tile([0.0, 1.0], 30), np.full(60, 0.2), np.full(60, 9.5)])
def test_numbers_of_rows_and_means_near_one_are_taken_without_a_word(weights):
    cw.NBClassifier().fit(np.arange(60.0)[:, None], np.arange(60) // 2 % 2, sample_weight=weights)


def test_weights_that_sum_to_one_are_noticed():
    with pytest.warns(UserWarning, match=r"mean of sample_weight is 0\.01667"):
        cw.NBClassifier().fit(np.arange(60.0)[:, None], np.arange(60) % 2, sample_weight=np.full(60, 1 / 60))
