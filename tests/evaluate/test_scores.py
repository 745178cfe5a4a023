"""Hand-worked numbers, scikit-learn as a second opinion, and labels that the model never saw."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from countwise.errors import DataError
from countwise.evaluate import SCORES, brier, ece, log_loss, rmse, rmse_true, score_all, zero_one_loss
from countwise.evaluate.scores import LOG_EPSILON, label_codes, pool

CLASSES = ["a", "b", "c"]
Y = ["a", "b", "c", "a"]
P = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]]
# Squared errors by row: .09+.04+.01 = .14; .01+.16+.09 = .26; .25+.09+.64 = .98; .36+.16+.04 = .56: sum 1.94.
# (1 - p_true)^2 by row: .09, .16, .64, .36: sum 1.25. Wrong: only row 2 (row 3: a tie, the first wins).


def test_golden_zero_one_loss():
    assert zero_one_loss(Y, P, CLASSES) == pytest.approx(1 / 4)


def test_golden_brier():
    assert brier(Y, P, CLASSES) == pytest.approx(1.94 / 4)


def test_golden_rmse_has_the_number_of_classes_under_the_root():
    assert rmse(Y, P, CLASSES) == pytest.approx(math.sqrt(1.94 / 12))


def test_golden_rmse_true():
    assert rmse_true(Y, P, CLASSES) == pytest.approx(math.sqrt(1.25 / 4))


def test_golden_log_loss():
    assert log_loss(Y, P, CLASSES) == pytest.approx(-math.log(0.7 * 0.6 * 0.2 * 0.4) / 4)


def test_golden_top_label_ece():
    # 5 bins; confidences .7 right, .6 right, .5 wrong, .4 right fall into bins 3, 2, 2, 1:
    # (|.7 - 1| + |.6 + .5 - 1| + |.4 - 1|) / 4 = (.3 + .1 + .6) / 4
    assert ece(Y, P, CLASSES, n_bins=5) == pytest.approx(1.0 / 4)


def test_golden_classwise_ece():
    # 2 bins, (0, .5] and (.5, 1]. a: |.1+.5+.4 - 1| = 0, |.7 - 1| = .3; b: |.2+.3+.4 - 0| = .9,
    # |.6 - 1| = .4; c: |.1+.3+.2+.2 - 1| = .2. Mean over classes of the sums / 4.
    assert ece(Y, P, CLASSES, n_bins=2, classwise=True) == pytest.approx((0.3 + 1.3 + 0.2) / 4 / 3)


def test_weights_are_repetitions():
    weight, repeated = [1, 0, 3, 2], [0, 2, 2, 2, 3, 3]
    y, p = [Y[i] for i in repeated], [P[i] for i in repeated]
    for name, score in SCORES.items():
        assert score(Y, P, CLASSES, weight) == pytest.approx(score(y, p, CLASSES)), name


def test_perfect_probabilities_score_zero():
    assert set(score_all(Y, np.eye(3)[[0, 1, 2, 0]], CLASSES).values()) == {0.0}


@st.composite
def predictions(draw):
    n, n_classes = draw(st.integers(2, 30)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return (
        rng.integers(n_classes, size=n),
        rng.dirichlet(np.full(n_classes, 0.3), size=n),
        rng.uniform(0.1, 3, n),
    )


@given(predictions())
@settings(max_examples=60, deadline=None)
def test_agrees_with_scikit_learn(case):
    y, p, weight = case
    classes = np.arange(p.shape[1])
    expected = sklearn.metrics.log_loss(y, p, labels=classes, sample_weight=weight)
    assert log_loss(y, p, classes, weight) == pytest.approx(expected)
    expected = sklearn.metrics.brier_score_loss(
        y, p if len(classes) > 2 else p[:, 1], labels=classes, sample_weight=weight, scale_by_half=False
    )
    assert brier(y, p, classes, weight) == pytest.approx(expected)
    expected = sklearn.metrics.zero_one_loss(y, p.argmax(axis=1), sample_weight=weight)
    assert zero_one_loss(y, p, classes, weight) == pytest.approx(expected)


@given(predictions())
@settings(max_examples=40, deadline=None)
def test_rmse_and_brier_are_two_forms_of_one_number(case):
    y, p, weight = case
    classes = np.arange(p.shape[1])
    assert rmse(y, p, classes, weight) ** 2 * p.shape[1] == pytest.approx(brier(y, p, classes, weight))


@given(predictions(), st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_ece_against_a_plain_loop(case, n_bins):
    y, p, _ = case
    total = 0.0
    for b in range(n_bins):
        rows = [i for i in range(len(y)) if b / n_bins < p[i].max() <= (b + 1) / n_bins]
        if rows:
            gap = np.mean([p[i].max() for i in rows]) - np.mean([p[i].argmax() == y[i] for i in rows])
            total += len(rows) / len(y) * abs(gap)
    assert ece(y, p, np.arange(p.shape[1]), n_bins=n_bins) == pytest.approx(total)


def test_pooled_folds_equal_all_predictions_at_once():
    rng = np.random.default_rng(3)
    y, p = rng.integers(3, size=50), rng.dirichlet(np.ones(3), size=50)
    parts = [slice(0, 7), slice(7, 30), slice(30, 50)]
    for name in set(SCORES) - {"ece"}:
        values = [SCORES[name](y[s], p[s], np.arange(3)) for s in parts]
        assert pool(name, values, [7, 23, 20]) == pytest.approx(SCORES[name](y, p, np.arange(3))), name


def test_a_label_unseen_in_training_has_probability_zero():
    values = score_all(["z"], [[0.75, 0.25]], classes=["a", "b"])
    assert values["zero_one_loss"] == 1.0
    assert values["brier"] == pytest.approx(0.75**2 + 0.25**2 + 1.0)
    assert values["rmse"] == pytest.approx(math.sqrt((0.75**2 + 0.25**2 + 1.0) / 3))
    assert values["rmse_true"] == 1.0
    assert values["log_loss"] == pytest.approx(-math.log(LOG_EPSILON))
    assert values["ece"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(Y, dtype="category"),
        pd.Series(Y, dtype="string"),
        pl.Series(Y),
        pa.chunked_array([Y[:1], Y[1:]]),
        pa.array(Y).dictionary_encode(),
        np.array(Y, dtype=object),
    ],
    ids=["pandas-category", "pandas-string", "polars", "arrow", "arrow-dictionary", "object"],
)
def test_labels_of_every_kind(labels):
    assert log_loss(labels, P, CLASSES) == log_loss(Y, P, CLASSES)


def test_integer_and_boolean_labels():
    assert zero_one_loss([10, 20], [[0.1, 0.9], [0.1, 0.9]], classes=[10, 20]) == 0.5
    assert zero_one_loss([True, False], [[0.1, 0.9], [0.1, 0.9]], classes=np.array([False, True])) == 0.5


def test_labels_of_mixed_types_are_ordered_without_comparing_them():
    labels, codes = label_codes(np.array([1, "b", 0, "a", 1], dtype=object))
    assert labels == [0, 1, "a", "b"]
    assert codes.tolist() == [1, 3, 0, 2, 1]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_missing_labels_are_counted_in_the_error(missing):
    with pytest.raises(DataError, match="1 of 2 are missing"):
        label_codes(np.array(["a", missing], dtype=object))


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"y_true": Y[:3]}, "3 labels but 4 rows"),
        ({"classes": ["a", "b"]}, "3 columns of probabilities but 2 classes"),
        ({"y_true": ["a"] * 4, "classes": None}, "1 distinct labels; pass classes="),
        ({"classes": ["a", "b", "b"]}, "named twice"),
        ({"proba": np.log(P)}, "row 0 is not a distribution"),
        ({"proba": np.full((4, 3), np.nan)}, "row 0 is not a distribution"),
        ({"proba": np.array(P) * 0.9}, "row 0 is not a distribution"),
        ({"proba": [0.5] * 4}, "rows x classes"),
        ({"sample_weight": [1, 1, 1]}, "sample_weight: shape"),
        ({"sample_weight": [1, -1, 1, 1]}, "not negative"),
        ({"sample_weight": [0, 0, 0, 0]}, "not all 0"),
    ],
)
def test_bad_input_is_named(kwargs, message):
    call = {"y_true": Y, "proba": P, "classes": CLASSES, "sample_weight": None} | kwargs
    with pytest.raises(DataError, match=message):
        brier(**call)


def test_ece_needs_a_bin():
    with pytest.raises(DataError, match="n_bins=0"):
        ece(Y, P, CLASSES, n_bins=0)
