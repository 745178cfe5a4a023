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
from countwise.evaluate import (
    SCORES,
    brier,
    ece,
    ece_classwise,
    log_loss,
    reliability_bins,
    rmse,
    rmse_true,
    roc_auc,
    score_all,
    zero_one_loss,
)
from countwise.evaluate.scores import LOG_EPSILON, label_codes

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


def test_classwise_ece_has_15_bins_by_default():
    assert ece_classwise(Y, P, CLASSES) == ece(Y, P, CLASSES, n_bins=15, classwise=True) != ece(Y, P, CLASSES)


def test_golden_roc_auc():
    # a: own .7 .4, others .1 .5: 3 of 4 pairs. b: own .6, others .2 .3 .4: all. c: own .2, others .1 .3 .2: 1.5 of 3.
    assert roc_auc(Y, P, CLASSES) == pytest.approx((3 / 4 + 1 + 1 / 2) / 3)


def test_golden_weighted_roc_auc():
    # Weights 1 2 3 4. a: pairs (.7, .1) 2, (.7, .5) 3, (.4, .1) 8 of 5 * 5. b: all. c: (.2, .1) 1, (.2, .2) 4 / 2 of 7.
    assert roc_auc(Y, P, CLASSES, [1, 2, 3, 4]) == pytest.approx((13 / 25 + 1 + 3 / 7) / 3)


def test_golden_reliability_bins():
    # 5 bins; .7 right, .6 right, .5 wrong, .4 right with weights 1 2 3 4 are in bins 3, 2, 2, 1.
    bins = reliability_bins(Y, P, CLASSES, [1, 2, 3, 4], n_bins=5)
    np.testing.assert_allclose(bins.weight, [0, 4, 5, 1, 0])
    np.testing.assert_allclose(bins.stated, [0, 1.6, 2.7, 0.7, 0])
    np.testing.assert_allclose(bins.happened, [0, 4, 2, 1, 0])


def test_golden_classwise_reliability_bins():
    # 2 bins: .7 (a, true) and .6 (b, true) are in the second, the other 10 with c of row 2 and a of row 3 in the first.
    bins = reliability_bins(Y, P, CLASSES, n_bins=2, kind="classwise")
    np.testing.assert_allclose(bins.weight, [10, 2])
    np.testing.assert_allclose(bins.stated, [4 - 1.3, 1.3])
    np.testing.assert_allclose(bins.happened, [2, 2])


def test_weights_are_repetitions():
    weight, repeated = [1, 0, 3, 2], [0, 2, 2, 2, 3, 3]
    y, p = [Y[i] for i in repeated], [P[i] for i in repeated]
    for name, score in SCORES.items():
        assert score(Y, P, CLASSES, weight) == pytest.approx(score(y, p, CLASSES)), name


def test_perfect_probabilities_have_no_loss_and_an_area_of_one():
    values = score_all(Y, np.eye(3)[[0, 1, 2, 0]], CLASSES)
    assert values.pop("roc_auc") == 1.0
    assert set(values.values()) == {0.0}


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


@st.composite
def rankings(draw):
    """Few distinct probabilities and whole weights, 0 among them: many ties, classes that are not there."""
    n, n_classes = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    p = rng.multinomial(3, np.ones(n_classes) / n_classes, size=n) / 3
    weight = rng.integers(0, 3, size=n)
    weight[0] += 1
    return rng.integers(n_classes, size=n), p, weight


def area_by_all_pairs(stated, is_own, weight):
    """None if there are no pairs."""
    won = total = 0.0
    for i in np.flatnonzero(is_own):
        for j in np.flatnonzero(~is_own):
            total += weight[i] * weight[j]
            won += weight[i] * weight[j] * ((stated[i] > stated[j]) + 0.5 * (stated[i] == stated[j]))
    return won / total if total else None


@given(rankings())
@settings(max_examples=200, deadline=None)
def test_roc_auc_against_all_pairs(case):
    y, p, weight = case
    areas = [area_by_all_pairs(p[:, c], y == c, weight) for c in range(p.shape[1])]
    areas = [area for area in areas if area is not None]
    expected = np.mean(areas) if areas else math.nan
    assert roc_auc(y, p, np.arange(p.shape[1]), weight) == pytest.approx(expected, nan_ok=True)


@given(predictions())
@settings(max_examples=60, deadline=None)
def test_roc_auc_agrees_with_scikit_learn(case):
    y, p, weight = case
    areas = [
        sklearn.metrics.roc_auc_score(y == c, p[:, c], sample_weight=weight)
        for c in range(p.shape[1])
        if 0 < (y == c).sum() < len(y)
    ]
    expected = np.mean(areas) if areas else math.nan
    assert roc_auc(y, p, np.arange(p.shape[1]), weight) == pytest.approx(expected, nan_ok=True)


def test_roc_auc_without_a_class_to_rank_is_nan():
    assert math.isnan(roc_auc(["a"], [[0.5, 0.5]], ["a", "b"]))
    assert math.isnan(roc_auc(["a", "a"], [[0.9, 0.1], [0.5, 0.5]], ["a", "b"]))
    assert math.isnan(roc_auc(["a", "b"], [[0.9, 0.1], [0.5, 0.5]], ["a", "b"], [1, 0]))  # weight 0: not there


def test_a_class_unseen_in_training_is_ranked_by_chance():
    # a: .9 above .2, and z, in the column of zeros, all ties; b has no rows.
    assert roc_auc(["a", "z"], [[0.9, 0.1], [0.2, 0.8]], ["a", "b"]) == pytest.approx((1 + 0.5) / 2)


@given(predictions(), st.sampled_from(["top", "classwise"]), st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_bins_of_folds_add_up_to_those_of_all_predictions(case, kind, n_bins):
    y, p, weight = case
    first = np.arange(len(y)) < len(y) // 2

    def bins(rows):
        return reliability_bins(y[rows], p[rows], np.arange(p.shape[1]), weight[rows], n_bins, kind=kind)

    added, whole = bins(first) + bins(~first), bins(slice(None))
    for name in ("weight", "stated", "happened"):
        np.testing.assert_allclose(getattr(added, name), getattr(whole, name), atol=1e-12)
    assert added.ece() == pytest.approx(whole.ece())


@given(predictions(), st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_ece_is_that_of_the_bins(case, n_bins):
    y, p, weight = case
    classes = np.arange(p.shape[1])
    top, pooled = (reliability_bins(y, p, classes, weight, n_bins, kind=kind) for kind in ("top", "classwise"))
    assert top.ece() == pytest.approx(ece(y, p, classes, weight, n_bins=n_bins))
    assert pooled.ece() <= ece(y, p, classes, weight, n_bins=n_bins, classwise=True) + 1e-12


def test_bins_of_different_widths_do_not_add():
    with pytest.raises(DataError, match="5 bins and 4 bins do not add; use one n_bins"):
        reliability_bins(Y, P, CLASSES, n_bins=5) + reliability_bins(Y, P, CLASSES, n_bins=4)


def test_an_unknown_kind_of_bins_is_named():
    with pytest.raises(DataError, match="kind='bottom' is not known; there are 'top' and 'classwise'"):
        reliability_bins(Y, P, CLASSES, kind="bottom")


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
