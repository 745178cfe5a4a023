"""Numbers worked by hand, and what must hold between the measures."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from countwise.errors import DataError
from countwise.evaluate import cross_entropy, kl_divergence, log_loss, table_hellinger, table_kl, table_mse
from countwise.evaluate.scores import LOG_EPSILON

TRUTH = [[0.25, 0.75], [1.0, 0.0]]
ESTIMATE = [[0.5, 0.5], [0.64, 0.36]]


def test_golden_cross_entropy():
    expected = (-0.25 * math.log(0.5) - 0.75 * math.log(0.5) - math.log(0.64)) / 2
    assert cross_entropy(TRUTH, ESTIMATE) == pytest.approx(expected)


def test_golden_kl_divergence():
    expected = (0.25 * math.log(0.5) + 0.75 * math.log(1.5) - math.log(0.64)) / 2
    assert kl_divergence(TRUTH, ESTIMATE) == pytest.approx(expected)
    assert table_kl(ESTIMATE, TRUTH) == pytest.approx(expected)


def test_golden_table_mse():
    assert table_mse(ESTIMATE, TRUTH) == pytest.approx((2 * 0.25**2 + 2 * 0.36**2) / 4)


def test_golden_hellinger_has_one_root_over_all_contexts():
    first = (math.sqrt(0.5) - 0.5) ** 2 + (math.sqrt(0.5) - math.sqrt(0.75)) ** 2
    second = (0.8 - 1.0) ** 2 + 0.6**2
    assert table_hellinger(ESTIMATE, TRUTH) == pytest.approx(math.sqrt(first + second) / math.sqrt(2))


def test_what_is_possible_but_estimated_as_0_is_clipped_for_predictions_and_infinite_for_tables():
    assert cross_entropy([[0.5, 0.5]], [[1.0, 0.0]]) == pytest.approx(-math.log(LOG_EPSILON) / 2)
    assert kl_divergence([[0.5, 0.5]], [[1.0, 0.0]]) == pytest.approx(math.log(0.5) - math.log(LOG_EPSILON) / 2)
    assert table_kl([[1.0, 0.0]], [[0.5, 0.5]]) == math.inf


def test_certain_truth_makes_the_cross_entropy_the_log_loss():
    rng = np.random.default_rng(1)
    y, p = rng.integers(3, size=20), rng.dirichlet(np.ones(3), size=20)
    p[y == 0] = [0.0, 0.5, 0.5]  # clipped alike
    assert cross_entropy(np.eye(3)[y], p) == pytest.approx(log_loss(y, p, np.arange(3)))


@st.composite
def tables(draw):
    n, k = draw(st.integers(1, 10)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return rng.dirichlet(np.full(k, 0.7), size=n), rng.dirichlet(np.full(k, 0.7), size=n)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_divergence_is_cross_entropy_above_entropy(case):
    truth, estimate = case
    entropy = np.mean([scipy.stats.entropy(row) for row in truth])
    # 1e-9: probabilities of the draw may be below the clip
    assert kl_divergence(truth, estimate) == pytest.approx(cross_entropy(truth, estimate) - entropy, abs=1e-9)
    assert kl_divergence(truth, truth) == pytest.approx(0.0, abs=1e-9)
    assert kl_divergence(truth, estimate) > 0.0


@given(tables())
@settings(max_examples=60, deadline=None)
def test_distances_of_tables_against_loops(case):
    truth, estimate = case
    cells = [(e, t) for rows in zip(estimate, truth, strict=True) for e, t in zip(*rows, strict=True)]
    assert table_mse(estimate, truth) == pytest.approx(sum((e - t) ** 2 for e, t in cells) / len(cells))
    divergence = sum(scipy.stats.entropy(t, e) for e, t in zip(estimate, truth, strict=True)) / len(truth)
    assert table_kl(estimate, truth) == pytest.approx(divergence)
    squares = sum((math.sqrt(e) - math.sqrt(t)) ** 2 for e, t in cells)
    assert table_hellinger(estimate, truth) == pytest.approx(math.sqrt(squares) / math.sqrt(2))
    assert table_hellinger(estimate, truth) == pytest.approx(table_hellinger(truth, estimate))


@pytest.mark.parametrize("measure", [cross_entropy, kl_divergence, table_mse, table_kl, table_hellinger])
def test_bad_tables_are_named(measure):
    first, second = ("true_proba", "proba") if measure in (cross_entropy, kl_divergence) else ("estimate", "truth")
    with pytest.raises(DataError, match=f"^{first}: row 1 is not a distribution"):
        measure([[0.5, 0.5], [0.5, 0.6]], TRUTH)
    with pytest.raises(DataError, match=f"^{second}: row 0 is not a distribution"):
        measure(TRUTH, [[math.nan, 0.5], [0.5, 0.5]])
    with pytest.raises(DataError, match=rf"^{first} has shape \(1, 2\), {second} \(2, 2\)"):
        measure([[0.5, 0.5]], TRUTH)
