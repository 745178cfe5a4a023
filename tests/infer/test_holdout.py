"""Choosing m on held-out rows."""

import numpy as np
import pytest

import countwise as cw
from countwise.infer.holdout import MAX_HELD, HeldRows
from countwise.smooth import MEstimate
from countwise.tree.context import Family, count_trees
from oracle import smoothing
from oracle.context_tree import context_counts
from oracle.predict import posterior
from oracle.tables import random_table


def noisy_copies(n_rows, n_columns, seed=0, values=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    X = np.where(rng.random((n_rows, n_columns)) < 0.2, rng.integers(values, size=(n_rows, n_columns)), y[:, None])
    return X.astype(str).astype(object), y


@pytest.mark.parametrize(("n_rows", "n_held"), [(5, 1), (19, 1), (99, 9), (1000, 100), (80_000, MAX_HELD)])
def test_number_of_held_rows(n_rows, n_held):
    positions = HeldRows(n_rows, 0).positions
    assert len(np.unique(positions)) == len(positions) == n_held
    assert (positions >= 0).all()
    assert (positions < n_rows).all()


@pytest.mark.parametrize("size", [1, 7, 64, 100])
def test_the_same_rows_are_held_whatever_the_batches(size):
    table = random_table(1, 100, [100], weights="eighths")
    held = HeldRows(100, 3)
    for batch in table.data(size).batches(""):
        held.watch(batch)
    codes = np.concatenate([part.codes[0] for part in held.parts])
    assert np.array_equal(codes, table.X[held.positions, 0])
    assert np.array_equal(np.concatenate([part.weights for part in held.parts]), table.weights[held.positions])


@pytest.mark.parametrize("weights", [None, "eighths"])
def test_choice_is_the_least_loss_of_the_other_rows(weights):
    table = random_table(4, 60, [3, 4, 2], weights=weights)
    families = [Family(0, ()), Family(1, (0,)), Family(2, (1, 0))]
    candidates = [MEstimate(m) for m in (0.2, 1.0, 5.0, 20.0, 100.0)]
    held = HeldRows(60, 5)
    data = table.data(25)
    trees, classes = count_trees(data, families, 1, 2**30, held.watch)
    chosen = held.choose(candidates, data, trees, classes, 0, 1)

    rest = table.take(np.setdiff1d(np.arange(60), held.positions))
    losses = []
    for candidate in candidates:
        terms = [
            (f, smoothing.m_estimate(context_counts(rest, f.child, f.parents), table.arity[f.child], candidate.m))
            for f in families
        ]
        n = np.bincount(rest.y, rest.weights, minlength=3)
        prior = (n + candidate.m / 3) / (n.sum() + candidate.m)
        losses.append(
            sum(
                w * (1 - posterior(terms, prior, x, table.arity)[y]) ** 2 for x, y, w in table.take(held.positions).rows
            )
        )
    assert min(np.diff(np.sort(losses))) > 1e-6  # no tie
    assert chosen is candidates[int(np.argmin(losses))]


def test_ties_go_to_the_earlier_candidate():
    table = random_table(6, 40, [3])
    held = HeldRows(40, 0)
    trees, classes = count_trees(table.data(), [Family(0, ())], 1, 2**30, held.watch)
    twins = [MEstimate(2.0), MEstimate(2.0)]
    assert held.choose(twins, table.data(), trees, classes, 0, 1) is twins[0]


def test_choices_are_sensible():
    # Nearly deterministic columns and many rows: any pull to the uniform distribution hurts.
    X, y = noisy_copies(4000, 3)
    assert cw.NBClassifier(smoothing=MEstimate("holdout")).fit(X, y).smoother_.m <= 1
    # Random columns of many values against few rows: only a strong pull keeps chance out.
    rng = np.random.default_rng(0)
    X = rng.integers(12, size=(300, 8)).astype(str).astype(object)
    y = rng.integers(2, size=300)
    assert cw.KDBClassifier(k=2, smoothing=MEstimate("holdout")).fit(X, y).smoother_.m >= 5


@pytest.mark.parametrize("model", [cw.NBClassifier, cw.SKDBClassifier])
def test_deterministic(model):
    X, y = noisy_copies(300, 4, values=5)
    model = model(smoothing=MEstimate("holdout"))
    first = model.fit(X, y)
    m, proba = first.smoother_.m, first.predict_proba(X)
    again = model.set_params(n_jobs=2).fit(X, y)
    assert again.smoother_.m == m
    assert np.array_equal(again.predict_proba(X), proba)
    assert model.smoothing.m == "holdout"  # the parameter stays as given


def test_two_rows_are_enough():
    model = cw.NBClassifier(smoothing=MEstimate("holdout")).fit(np.array([["a"], ["b"]], object), [0, 1])
    proba = model.predict_proba(np.array([["a"], ["b"], ["c"]], object))
    assert np.isfinite(proba).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(3))
