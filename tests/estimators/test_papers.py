"""Accuracy as in the papers: figures of single sets, and which method beats which on the mean of many."""

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import countwise as cw
from countwise.evaluate.scores import rmse, zero_one_loss

DATA = Path(__file__).parents[2].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no folder ../shared/data beside the repository")

SETS = [
    "balance-scale",
    "breast-cancer-w",
    "car",
    "cmc",
    "credit-approval",
    "glass",
    "house-votes-84",
    "iris",
    "lymphography",
    "mammographic-mass",
    "monks-1",
    "monks-2",
    "monks-3",
    "tic-tac-toe",
    "vehicle",
]
MODELS = {
    "NB": lambda: cw.NBClassifier(smoothing="m"),
    "TAN": lambda: cw.TANClassifier(smoothing="m"),
    "kDB-5": lambda: cw.KDBClassifier(k=5, smoothing="m"),
    "kDB-5 m-branch": lambda: cw.KDBClassifier(k=5, smoothing="m-branch"),
    "kDB-5 MLE": lambda: cw.KDBClassifier(k=5, smoothing="mle"),
    "SkDB-5": lambda: cw.SKDBClassifier(k=5, smoothing="m"),
    "SkDB-5 m-branch": lambda: cw.SKDBClassifier(k=5, smoothing="m-branch"),
}


def load(name):
    table = pq.read_table(DATA / f"{name}.parquet")
    return table.drop_columns("class"), np.asarray(table["class"].to_pylist(), dtype=object)


def two_fold(make, X, y, n_repeats):
    """Error and RMSE of n_repeats x 2-fold cross-validation, all predictions pooled; not stratified, as there."""
    rng, classes = np.random.default_rng(0), np.unique(y)
    truth, predictions = [], []
    for _ in range(n_repeats):
        fold = rng.permutation(len(y)) % 2
        for held in (0, 1):
            train, test = np.flatnonzero(fold != held), np.flatnonzero(fold == held)
            model = make().fit(X.take(train), y[train])
            proba = np.zeros((len(test), len(classes)))
            proba[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X.take(test))
            truth.append(y[test])
            predictions.append(proba)
    truth, predictions = np.concatenate(truth), np.concatenate(predictions)
    return zero_one_loss(truth, predictions, classes), rmse(truth, predictions, classes)


@pytest.mark.parametrize(
    ("name", "model", "error", "root"),
    [
        ("car", "NB", 0.161, 0.230),
        ("car", "TAN", 0.073, 0.172),
        ("tic-tac-toe", "NB", 0.285, 0.433),
        ("tic-tac-toe", "TAN", 0.255, 0.411),
    ],
)
def test_published_program(name, model, error, root):
    # 5 x 2 folds of the program of Zaidi et al. 2017 (paper 001), MAP parameters, its defects removed. Other folds
    # move the error by up to 0.008 and the RMSE by up to 0.005; the program's m is not the same as ours.
    assert two_fold(MODELS[model], *load(name), n_repeats=5) == (
        pytest.approx(error, abs=0.012),
        pytest.approx(root, abs=0.008),
    )


@cache
def mean_rmse(model):
    return float(np.mean([two_fold(MODELS[model], *load(name), n_repeats=1)[1] for name in SETS]))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("TAN", "NB"),  # paper 000, section 6
        ("SkDB-5", "TAN"),  # paper 004, chapter 4
        ("SkDB-5", "kDB-5"),
        ("SkDB-5 m-branch", "kDB-5 m-branch"),
        ("kDB-5 m-branch", "kDB-5"),  # hierarchical smoothing beats flat smoothing: paper 004, chapter 2
        ("kDB-5", "kDB-5 MLE"),  # and any smoothing beats none
    ],
)
def test_order_of_methods(better, worse):
    assert mean_rmse(better) < mean_rmse(worse) - 0.002


def test_deterministic_concepts_need_parents():
    # monks-1 is (a1 = a2) or (a5 = 1): naive Bayes cannot say it, an arc from a1 to a2 can.
    X, y = load("monks-1")
    assert two_fold(MODELS["SkDB-5"], X, y, 1)[1] < 0.2 < 0.4 < two_fold(MODELS["NB"], X, y, 1)[1]
