"""Published quantiles, scipy as a second opinion, a comparison worked by hand, and cliques by brute force."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from countwise.errors import DataError
from countwise.evaluate import Friedman, friedman, nemenyi


def test_golden_without_ties():
    # Ranks 1 2 3, 1 3 2, 2 1 3, 1 2 3: sums 5 8 11, R = 1.25 2 2.75.
    # 12 * 4 / (3 * 4) * (1.25^2 + 2^2 + 2.75^2 - 3 * 16 / 4) = 4 * 1.125 = 4.5; F = 3 * 4.5 / (4 * 2 - 4.5).
    result = friedman([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]])
    np.testing.assert_allclose(result.average_ranks, [1.25, 2, 2.75])
    assert result.chi_square == pytest.approx(4.5)
    assert result.p_value == pytest.approx(math.exp(-4.5 / 2))  # 2 degrees of freedom
    assert result.iman_davenport == pytest.approx(13.5 / 3.5)
    assert result.iman_davenport_p_value == pytest.approx(scipy.stats.f.sf(13.5 / 3.5, 2, 6))
    assert result.n_datasets == 4


def test_golden_with_ties():
    # Ranks 1.5 1.5 3, 1 2 3: R = 1.25 1.75 3. 12 * 2 / 12 * (1.5625 + 3.0625 + 9 - 12) = 3.25; c = 1 - 6 / (2 * 3 * 8).
    result = friedman([[1, 1, 3], [1, 2, 3]])
    np.testing.assert_allclose(result.average_ranks, [1.25, 1.75, 3])
    assert result.chi_square == pytest.approx(3.25 / (1 - 6 / 48))


def test_demsar_2006_table_6():
    # C4.5 and its variants on 14 data sets; section 3.2.2 has average ranks 3.143 2.000 2.893 1.964, chi-square 9.28,
    # F 3.69, and critical differences of 1.25 at 0.05 and 1.12 at 0.10. "voting" is 0.975 twice, but no tie there.
    auc = np.array(
        [
            [0.763, 0.768, 0.771, 0.798],
            [0.599, 0.591, 0.590, 0.569],
            [0.954, 0.971, 0.968, 0.967],
            [0.628, 0.661, 0.654, 0.657],
            [0.882, 0.888, 0.886, 0.898],
            [0.936, 0.931, 0.916, 0.931],
            [0.661, 0.668, 0.609, 0.685],
            [0.583, 0.583, 0.563, 0.625],
            [0.775, 0.838, 0.866, 0.875],
            [1.000, 1.000, 1.000, 1.000],
            [0.940, 0.962, 0.965, 0.962],
            [0.619, 0.666, 0.614, 0.669],
            [0.972, 0.981, 0.9751, 0.975],
            [0.957, 0.978, 0.946, 0.970],
        ]
    )
    result = friedman(auc, higher_is_better=True)
    np.testing.assert_allclose(result.average_ranks, [3.143, 2.0, 2.893, 1.964], atol=5e-4)
    n, k = auc.shape
    without_correction = 12 * n / (k * (k + 1)) * ((result.average_ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert without_correction == pytest.approx(9.28, abs=0.01)
    assert (n - 1) * without_correction / (n * (k - 1) - without_correction) == pytest.approx(3.69, abs=0.01)
    assert result.chi_square > without_correction
    assert nemenyi(result).critical_difference == pytest.approx(1.25, abs=0.005)
    assert nemenyi(result, alpha=0.10).critical_difference == pytest.approx(1.12, abs=0.005)


@st.composite
def score_tables(draw):
    shape = draw(st.integers(2, 12)), draw(st.integers(3, 6))
    return draw(hnp.arrays(np.float64, shape, elements=st.integers(0, draw(st.integers(1, 20))).map(float)))


@given(score_tables(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_agrees_with_scipy(table, higher_is_better):
    result = friedman(table, higher_is_better=higher_is_better)
    n, k = table.shape
    if (table == table[:, :1]).all():  # scipy divides 0 by 0
        assert (result.chi_square, result.p_value, result.iman_davenport, result.iman_davenport_p_value) == (0, 1, 0, 1)
        return
    expected = scipy.stats.friedmanchisquare(*table.T)
    assert result.chi_square == pytest.approx(expected.statistic, abs=1e-9)
    assert result.p_value == pytest.approx(expected.pvalue)
    assert result.average_ranks.sum() == pytest.approx(k * (k + 1) / 2)
    if result.chi_square < n * (k - 1) - 1e-9:
        f = (n - 1) * result.chi_square / (n * (k - 1) - result.chi_square)
        assert result.iman_davenport == pytest.approx(f, abs=1e-9)


def test_direction():
    table = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.3]]
    np.testing.assert_allclose(friedman(table).average_ranks, [5.5 / 3, 3.5 / 3])
    np.testing.assert_allclose(friedman(table, higher_is_better=True).average_ranks, [3.5 / 3, 5.5 / 3])


@pytest.mark.parametrize("row", [[1, 2, 3], [1, 1, 3]])
def test_the_same_order_everywhere_is_beyond_f(row):
    result = friedman([row] * 7)
    assert result.chi_square == 14.0
    assert (result.iman_davenport, result.iman_davenport_p_value) == (math.inf, 0.0)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1, 2, 3]], r"shape \(1, 3\); at least 2 data sets"),
        ([[1], [2]], r"shape \(2, 1\); at least 2 data sets"),
        ([1, 2], "at least 2 data sets"),
        ([[1, 2], [3, None]], "data set 1, model 1 is nan; leave out"),
        ([[math.inf, 2], [3, 4]], "data set 0, model 0 is inf"),
    ],
)
def test_bad_scores_are_named(scores, message):
    with pytest.raises(DataError, match=message):
        friedman(scores)


def ranked(ranks, n_datasets):
    return Friedman(np.array(ranks, dtype=float), n_datasets, 0.0, 1.0, 0.0, 1.0)


# Demsar 2006, table 5a. It has 2.343 for k = 3 and 2.949 for k = 7, where the quantiles are 2.3437 and 2.9483.
@pytest.mark.parametrize(
    ("alpha", "quantiles"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_published_quantiles(alpha, quantiles):
    for k, q in enumerate(quantiles, start=2):
        n = k * (k + 1)  # so that CD = q / sqrt(6)
        assert nemenyi(ranked(range(k), n), alpha).critical_difference * math.sqrt(6) == pytest.approx(q, abs=1.1e-3)


def test_critical_difference_of_zaidi_2017():
    # appendix C: three models on 72 data sets, q = 2.3430
    assert nemenyi(ranked([1, 2, 3], 72)).critical_difference == pytest.approx(2.3430 * math.sqrt(12 / 432), rel=1e-3)


def test_cliques_overlap_and_leave_out_who_stands_alone():
    # CD = 2.728 sqrt(30 / 120) = 1.364 for k = 5 and N = 20
    assert nemenyi(ranked([3.0, 1.0, 5.0, 2.0, 4.0], 20)).cliques == ((1, 3), (3, 0), (0, 4), (4, 2))
    assert nemenyi(ranked([1.0, 2.9, 3.0, 3.1, 5.0], 20)).cliques == ((1, 2, 3),)
    assert nemenyi(ranked([2.8, 2.9, 3.0, 3.1, 3.2], 20)).cliques == ((0, 1, 2, 3, 4),)
    assert nemenyi(ranked([1.0, 3.0], 200)).cliques == ()


def test_a_difference_of_exactly_the_critical_one_is_significant():
    critical = nemenyi(ranked([1, 2, 3], 30)).critical_difference
    assert nemenyi(ranked([0.0, critical, 2 * critical], 30)).cliques == ()
    assert nemenyi(ranked([0.0, critical * (1 - 1e-9), 9.0], 30)).cliques == ((0, 1),)


@given(st.lists(st.integers(4, 28), min_size=2, max_size=7), st.integers(2, 60))
@settings(max_examples=80, deadline=None)
def test_cliques_against_all_subsets(quarters, n_datasets):
    ranks = np.array(quarters) / 4
    result = nemenyi(ranked(ranks, n_datasets))
    models = range(len(ranks))
    alike = [
        set(group)
        for size in range(2, len(ranks) + 1)
        for group in itertools.combinations(models, size)
        if np.ptp(ranks[list(group)]) < result.critical_difference
    ]
    maximal = [group for group in alike if not any(group < other for other in alike)]
    assert len(result.cliques) == len(maximal)
    assert all(set(clique) in maximal for clique in result.cliques)
    assert all(list(ranks[list(clique)]) == sorted(ranks[list(clique)]) for clique in result.cliques)


@pytest.mark.parametrize("alpha", [0.0, 1.0, math.nan])
def test_a_level_is_between_0_and_1(alpha):
    with pytest.raises(DataError, match="alpha="):
        nemenyi(ranked([1, 2], 10), alpha)
