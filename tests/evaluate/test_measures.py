"""Every measure is described, and folds are pooled to what all predictions together would score."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countwise.evaluate import MEASURES, SCORES, Measure, measure_of, pool


def test_every_score_is_a_measure_in_the_same_order():
    assert list(MEASURES)[: len(SCORES)] == list(SCORES)
    others = ["fit_seconds", "predict_seconds", "peak_bytes", "model_bytes", "bias", "variance"]
    assert list(MEASURES)[len(SCORES) :] == others


def test_measures_are_filed_under_their_names_and_have_titles_of_their_own():
    assert all(name == measure.name for name, measure in MEASURES.items())
    assert len({measure.title for measure in MEASURES.values()}) == len(MEASURES)


def test_high_is_good_for_the_scores_that_prefer_the_better_probabilities_so():
    y, good, bad = ["a", "b"], [[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]
    for name, score in SCORES.items():
        assert (score(y, good) > score(y, bad)) == MEASURES[name].higher_is_better, name


def test_costs_are_compared_by_ratio():
    costs = {name for name, measure in MEASURES.items() if measure.log_scale}
    assert costs == {"fit_seconds", "predict_seconds", "peak_bytes", "model_bytes"}


def test_an_own_score_is_pooled_plainly():
    assert measure_of("rmse") is MEASURES["rmse"]
    assert measure_of("spread") == Measure("spread", "spread", "")
    assert pool("spread", [1.0, 4.0], [2, 1]) == pytest.approx(2.0)


def test_pooled_folds_equal_all_predictions_at_once():
    rng = np.random.default_rng(3)
    y, p = rng.integers(3, size=50), rng.dirichlet(np.ones(3), size=50)
    parts = [slice(0, 7), slice(7, 30), slice(30, 50)]
    for name in set(SCORES) - {"ece", "ece_classwise", "roc_auc"}:
        values = [SCORES[name](y[s], p[s], np.arange(3)) for s in parts]
        assert pool(name, values, [7, 23, 20]) == pytest.approx(SCORES[name](y, p, np.arange(3))), name


@pytest.mark.parametrize("missing", [None, math.nan])
def test_folds_without_a_value_are_left_out_with_their_rows(missing):
    assert pool("roc_auc", [0.5, missing, 0.9], [30, 1000, 10]) == pytest.approx((0.5 * 30 + 0.9 * 10) / 40)
    assert pool("rmse", [missing, 0.6, 0.0], [5, 10, 30]) == pytest.approx(0.3)


@pytest.mark.parametrize("missing", [[None], [math.nan, None]])
def test_without_any_value_there_is_none(missing):
    assert pool("roc_auc", missing, [10] * len(missing)) is None


@given(st.sampled_from(sorted(MEASURES)), st.lists(st.tuples(st.floats(0, 1), st.integers(1, 100)), min_size=1))
def test_a_pooled_value_lies_between_those_of_the_folds(name, folds):
    values, n_rows = zip(*folds, strict=True)
    assert min(values) - 1e-12 <= pool(name, values, n_rows) <= max(values) + 1e-12
