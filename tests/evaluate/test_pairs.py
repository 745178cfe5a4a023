"""Published counts, scipy and enumeration as second opinions, and scores that cannot be compared."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import betainc

from countwise.errors import DataError
from countwise.evaluate import WinDrawLoss, bayesian_sign_test, geometric_mean_ratio, wilcoxon, win_draw_loss

counts = st.integers(0, 60)


def test_wins_are_counted_after_rounding():
    own, other = [0.10004, 0.1, 0.3, 0.2], [0.1, 0.10006, 0.2, 0.3]
    assert str(win_draw_loss(own, other)) == "2-1-1"
    assert str(win_draw_loss(own, other, decimals=5)) == "2-0-2"
    assert str(win_draw_loss(own, other, decimals=0)) == "0-4-0"
    assert str(win_draw_loss([0.14], [0.16], decimals=1)) == "1-0-0"  # the scores are rounded, not the difference
    assert str(win_draw_loss(own, other, higher_is_better=True)) == "1-1-2"


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_swapped_models_swap_wins_and_losses(pairs):
    own, other = zip(*pairs, strict=True)
    result, swapped = win_draw_loss(own, other), win_draw_loss(other, own)
    assert swapped == WinDrawLoss(result.losses, result.draws, result.wins)
    assert swapped == win_draw_loss(own, other, higher_is_better=True)
    assert (result.wins, result.draws) == (sum(a < b for a, b in pairs), sum(a == b for a, b in pairs))


# Counts of table 4 of paper 000, which prints no p-values; these are of binomtest of scipy 1.17.
@pytest.mark.parametrize(
    ("result", "p"),
    [((40, 0, 28), 0.18181), ((52, 1, 15), 6.4591e-6), ((41, 4, 23), 0.032766), ((45, 4, 19), 0.0015628)],
)
def test_published_counts(result, p):
    assert WinDrawLoss(*result).sign_test() == pytest.approx(p, rel=1e-4)
    assert WinDrawLoss(*result).sign_test("greater") == pytest.approx(p / 2, rel=1e-4)


def test_sign_test_by_hand():
    # 4 of 5: (5 + 1) / 32; 1 of 5: 1 - 1 / 32
    assert WinDrawLoss(4, 7, 1).sign_test("greater") == 6 / 32
    assert WinDrawLoss(4, 7, 1).sign_test() == 12 / 32
    assert WinDrawLoss(1, 0, 4).sign_test() == 12 / 32
    assert WinDrawLoss(1, 0, 4).sign_test("greater") == 31 / 32


@given(counts, counts, counts)
@settings(deadline=None)
def test_sign_test_agrees_with_scipy(wins, draws, losses):
    assume(wins + losses > 0)
    for alternative in ("two-sided", "greater"):
        expected = scipy.stats.binomtest(wins, wins + losses, alternative=alternative).pvalue
        assert WinDrawLoss(wins, draws, losses).sign_test(alternative) == pytest.approx(expected)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_nothing_but_draws_says_nothing(alternative):
    assert WinDrawLoss(0, 9, 0).sign_test(alternative) == 1.0


def test_sign_test_of_thousands_of_data_sets():
    assert WinDrawLoss(5000, 0, 0).sign_test() == 0.0
    assert WinDrawLoss(2500, 0, 2500).sign_test() == 1.0


def test_an_unknown_alternative_is_named():
    with pytest.raises(DataError, match="alternative='less' is not known"):
        WinDrawLoss(1, 0, 0).sign_test("less")


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=8))
@settings(max_examples=30, deadline=None)
def test_wilcoxon_against_all_signs(differences):
    """2 min(P(R+ <= r), P(R+ >= r)) over all signs of the differences that are not 0."""
    kept = np.array([d for d in differences if d])
    ranks = scipy.stats.rankdata(abs(kept)) if len(kept) else np.zeros(0)
    sums = np.array([ranks @ np.array(signs) for signs in itertools.product([0, 1], repeat=len(kept))])
    r = ranks @ (kept > 0)
    expected = min(1.0, 2 * min((sums <= r).mean(), (sums >= r).mean()))
    assert wilcoxon(differences, np.zeros(len(differences))) == pytest.approx(expected)


def test_wilcoxon_of_equal_models_is_one():
    assert wilcoxon([0.1, 0.2], [0.1, 0.2]) == 1.0


def test_wilcoxon_leaves_out_equal_scores():
    own, other = np.arange(1.0, 31.0), np.arange(1.0, 31.0) * np.where(np.arange(30) % 3, 1.1, 0.8)
    padded = wilcoxon([*own, 5.0, 7.0], [*other, 5.0, 7.0])
    assert padded == wilcoxon(own, other) == scipy.stats.wilcoxon(own, other).pvalue
    assert padded == wilcoxon([*other, 5.0, 7.0], [*own, 5.0, 7.0])


def test_geometric_mean_ratio_by_hand():
    assert geometric_mean_ratio([1.0, 2.0, 6.0], [2.0, 1.0, 0.75]) == pytest.approx(2.0)  # cube root of 1/2 * 2 * 8
    assert geometric_mean_ratio([0.0, 0.2], [0.4, 0.1], floor=0.1) == pytest.approx(math.sqrt(1 / 4 * 2))
    assert geometric_mean_ratio([0.4], [0.0], floor=0.1) == pytest.approx(4.0)


positive = st.lists(st.tuples(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6)), min_size=1, max_size=20)


@given(positive, st.floats(1e-3, 1e3))
def test_swapped_models_invert_the_ratio_and_units_do_not_matter(pairs, unit):
    own, other = map(np.array, zip(*pairs, strict=True))
    ratio = geometric_mean_ratio(own, other)
    assert geometric_mean_ratio(other, own) == pytest.approx(1 / ratio)
    assert geometric_mean_ratio(own * unit, other * unit) == pytest.approx(ratio)
    assert (own / other).min() * 0.999999 <= ratio <= (own / other).max() * 1.000001


def test_scores_without_a_ratio_are_named():
    with pytest.raises(DataError, match=r"other: position 1 is 0\.0, .*pass floor="):
        geometric_mean_ratio([1, 2], [1, 0])
    with pytest.raises(DataError, match=r"own: position 0 is -1\.0"):
        geometric_mean_ratio([-1, 2], [1, 2])
    with pytest.raises(DataError, match=r"floor=0: .*above 0"):
        geometric_mean_ratio([1], [1], floor=0)


def scores_with(wins, draws, losses):
    """Own and other scores, small is good, with so many wins, differences of 0.01 and losses."""
    gain = np.repeat([0.1, 0.01, -0.1], [wins, draws, losses])
    return 0.5 - gain, np.full(len(gain), 0.5)


@pytest.mark.parametrize(("wins", "draws", "losses"), [(5, 3, 4), (12, 0, 3), (0, 2, 1), (30, 40, 25), (1, 0, 0)])
def test_bayesian_sign_test_against_draws_from_the_posterior(wins, draws, losses):
    own, other = scores_with(wins, draws, losses)
    result = bayesian_sign_test(own, other, rope=0.05)
    alpha = np.array([wins, draws + 1, losses], dtype=float) + 1e-12  # numpy needs positive ones
    theta = np.random.default_rng(5).dirichlet(alpha, size=200_000)
    expected = np.bincount(theta.argmax(axis=1), minlength=3) / len(theta)
    np.testing.assert_allclose([result.better, result.equivalent, result.worse], expected, atol=0.005)


@given(st.integers(1, 3000), st.integers(1, 3000))
@settings(max_examples=40, deadline=None)
def test_bayesian_sign_test_of_two_outcomes_is_an_incomplete_beta(wins, losses):
    own, other = scores_with(wins, 0, losses)
    result = bayesian_sign_test(own, other, prior=0.0)
    assert result.better == pytest.approx(1 - betainc(wins, losses, 0.5), abs=1e-12)
    assert result.equivalent == 0.0


@given(counts, counts, counts, st.floats(0.1, 5))
@settings(max_examples=60, deadline=None)
def test_bayesian_sign_test_is_symmetric_and_adds_up(wins, draws, losses, prior):
    assume(wins + draws + losses > 0)
    own, other = scores_with(wins, draws, losses)
    result = bayesian_sign_test(own, other, rope=0.05, prior=prior)
    swapped = bayesian_sign_test(own, other, rope=0.05, prior=prior, higher_is_better=True)
    assert (result.better, result.worse) == pytest.approx((swapped.worse, swapped.better))
    assert result.better + result.equivalent + result.worse == pytest.approx(1.0, abs=1e-12)


def test_a_difference_of_the_rope_is_equivalent():
    assert bayesian_sign_test([0.5], [0.75], rope=0.25, prior=0.0).equivalent == 1.0
    assert bayesian_sign_test([0.75], [0.5], rope=0.25, prior=0.0).equivalent == 1.0
    assert bayesian_sign_test([0.5], [0.75], rope=0.2, prior=0.0).better == 1.0
    assert bayesian_sign_test([0.5], [0.75], prior=0.0).better == 1.0


@pytest.mark.parametrize("kwargs", [{"rope": -0.1}, {"prior": -1.0}, {"rope": math.nan}])
def test_a_rope_is_not_negative(kwargs):
    with pytest.raises(DataError, match="neither may be negative"):
        bayesian_sign_test([0.1], [0.2], **kwargs)


@pytest.mark.parametrize("test", [win_draw_loss, wilcoxon, geometric_mean_ratio, bayesian_sign_test])
@pytest.mark.parametrize(
    ("own", "other", "message"),
    [
        ([1.0, 2.0], [1.0], "own has 2 scores, other 1"),
        ([1.0, None], [1.0, 2.0], "own: position 1 is nan; leave out"),
        ([1.0, 1.0], [math.inf, 2.0], "other: position 0 is inf"),
        ([], [], "own: one score for each data set"),
        ([[1.0]], [[1.0]], "own: one score for each data set"),
    ],
)
def test_scores_that_cannot_be_compared_are_named(test, own, other, message):
    with pytest.raises(DataError, match=message):
        test(own, other)
