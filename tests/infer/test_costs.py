"""Costs of decisions, by hand and by trying all decisions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countwise.errors import DataError
from countwise.infer.costs import as_costs, cheapest, expected_costs, least_cost_threshold

COST = st.one_of(st.integers(-5, 5).map(float), st.floats(-100, 100, allow_subnormal=False))


@settings(max_examples=300, deadline=None)
@given(st.lists(COST, min_size=4, max_size=4), st.integers(0, 1000))
def test_the_threshold_decides_as_expected_costs_do(values, permille):
    costs = np.reshape(values, (2, 2))
    p = permille / 1000
    t = least_cost_threshold(costs)
    expected = expected_costs(np.array([[1 - p, p]]), costs)
    if math.isnan(t):
        assert costs[0, 1] < costs[0, 0]
        assert costs[1, 0] < costs[1, 1]
        return
    difference = expected[0, 0] - expected[0, 1]
    if abs(difference) > 1e-9 and abs(p - t) > 1e-12:  # no tie
        assert (difference > 0) == (p > t)
        assert cheapest(expected, costs).tolist() == [int(p > t)]


@pytest.mark.parametrize(
    ("costs", "threshold"),
    [
        ([[0, 1], [1, 0]], 0.5),
        ([[0, 1], [4, 0]], 0.2),
        ([[-1, 1], [4, -2]], 0.25),  # gains: 2 / (2 + 6)
        ([[0, -1], [4, 0]], -1 / 3),  # the second decision is better for both classes
        ([[0, 4], [-1, 0]], 4 / 3),
        ([[0, 0], [0, 0]], math.inf),  # a tie everywhere: the first
        ([[0, -1], [1, 0]], -math.inf),
        ([[0, 1], [-1, 0]], math.inf),
        ([[0, -3], [1, 0]], -math.inf),
        ([[0, 1], [-3, 0]], math.inf),
    ],
)
def test_thresholds_by_hand(costs, threshold):
    assert least_cost_threshold(np.array(costs, float)) == pytest.approx(threshold)


def test_reversed_costs_have_no_threshold():
    assert math.isnan(least_cost_threshold(np.array([[1.0, 0.0], [0.0, 1.0]])))


def test_expected_costs_of_each_row():
    rng = np.random.default_rng(0)
    proba, costs = rng.dirichlet(np.ones(3), 5), rng.normal(size=(5, 3, 3))
    by_hand = [[sum(p[i] * c[i, j] for i in range(3)) for j in range(3)] for p, c in zip(proba, costs, strict=True)]
    np.testing.assert_allclose(expected_costs(proba, costs), by_hand)
    np.testing.assert_allclose(expected_costs(proba, costs[0])[0], by_hand[0])
    assert cheapest(expected_costs(proba, costs), costs).tolist() == np.argmin(by_hand, axis=1).tolist()


def test_ties_go_to_the_first_class_and_rounding_is_a_tie():
    costs = 1.0 - np.eye(4)
    proba = np.array([[0.1, 0.3, 0.3, 0.3], [0.3, 0.1, 0.3, 0.3], [0.3, 0.3, 0.3, 0.1]])
    expected = expected_costs(proba, costs)
    expected[0, 1] += 2e-16
    assert cheapest(expected, costs).tolist() == [1, 0, 0]
    assert cheapest(np.zeros((2, 3)), np.zeros((3, 3))).tolist() == [0, 0]


def test_none_and_dicts():
    assert as_costs(None, ["a", "b"]).tolist() == [[0, 1], [1, 0]]
    assert as_costs({(1, 2): 3, (2, 1): 4, (2, 2): -1}, np.array([1, 2])).tolist() == [[0, 3], [4, -1]]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.zeros((2, 2)), r"shape \(2, 2\), expected \(3, 3\) for the classes \['a', 'b', 'c'\]"),
        (np.zeros((5, 3, 3)), r"shape \(5, 3, 3\), expected \(3, 3\)"),
        ([[0, 1], [1]], "numbers in rows of equal length"),
        ([[0, "x", 1]] * 3, "numbers in rows of equal length"),
        ([[0, 1, 1], [1, 0, math.nan], [1, 1, 0]], "the cost of deciding 'c' where 'b' is true is nan"),
        ([[0, 1, 1], [1, 0, 1], [math.inf, 1, 0]], "the cost of deciding 'a' where 'c' is true is inf"),
        ({("a", "b"): 1}, r"no cost for \(true, decided\) = \('a', 'c'\)"),
        ({("a", "z"): 1}, r"'z' in the key \('a', 'z'\) is none of the classes \['a', 'b', 'c'\]"),
        ({"a": 1}, "the key 'a' is no pair"),
    ],
)
def test_errors(costs, message):
    with pytest.raises(DataError, match="cost_matrix: .*" + message):
        as_costs(costs, ["a", "b", "c"])


def test_errors_of_rows():
    costs = np.zeros((4, 2, 2))
    costs[3, 1, 0] = np.nan
    with pytest.raises(DataError, match="the cost of row 3 of deciding 'a' where 'b' is true is nan"):
        as_costs(costs, ["a", "b"], 4)
    with pytest.raises(DataError, match=r"shape \(4, 2, 2\), expected \(2, 2\) or \(5, 2, 2\)"):
        as_costs(np.zeros((4, 2, 2)), ["a", "b"], 5)
