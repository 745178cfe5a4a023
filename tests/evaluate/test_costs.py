"""Mean costs and cost curves, by deciding every row at every threshold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countwise.errors import DataError
from countwise.evaluate import cost_curve, mean_cost

COSTS = np.array([[-1.0, 2.0], [7.0, 0.5]])


def rows(seed, n=30, digits=1):
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(digits)
    return rng.integers(0, 2, n), np.column_stack([1 - p, p]), rng.integers(1, 4, n).astype(float)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 9]), st.booleans())
def test_the_curve_is_the_mean_cost_of_its_decisions(seed, digits, weighted):
    y, p, weight = rows(seed, digits=digits)
    weight = weight if weighted else None
    curve = cost_curve(y, p, COSTS, classes=[0, 1], sample_weight=weight)
    tried = np.unique([0.0, 1.0, *p[:, 1], *(p[:, 1] + 1e-10).clip(0, 1), *np.linspace(0, 1, 7)])
    for t in tried:
        decided = (p[:, 1] > t).astype(int)
        assert curve.at(t) == pytest.approx(mean_cost(y, decided, COSTS, [0, 1], weight), abs=1e-12)
    best = curve.best(0.3)
    assert curve.at(best) == pytest.approx(min(curve.at(t) for t in tried), abs=1e-12)
    assert 0.0 <= best <= 1.0


def test_the_best_threshold_is_the_given_one_where_that_is_as_good():
    curve = cost_curve(["a", "b"], [[0.8, 0.2], [0.3, 0.7]], None)
    assert curve.cost.tolist() == [0.5, 0.0, 0.5]
    assert curve.best(0.25) == 0.25
    assert curve.best(0.2) == 0.2  # the row of 0.2 is not above it
    assert curve.best(0.1) == pytest.approx(0.45)
    assert curve.best(0.9) == pytest.approx(0.45)


def test_mean_cost_by_hand():
    true, decided = ["b", "a", "b", "a"], ["a", "a", "b", "b"]
    assert mean_cost(true, decided, COSTS) == (7.0 - 1.0 + 0.5 + 2.0) / 4
    assert mean_cost(true, decided, COSTS, sample_weight=[2, 0, 0, 1]) == (14.0 + 2.0) / 3
    assert mean_cost(true, decided, COSTS[::-1, ::-1], classes=["b", "a"]) == mean_cost(true, decided, COSTS)
    own = np.arange(16.0).reshape(4, 2, 2)
    assert mean_cost(true, decided, own) == (own[0, 1, 0] + own[1, 0, 0] + own[2, 1, 1] + own[3, 0, 1]) / 4
    assert mean_cost(true, decided, None) == 0.5


def test_a_dict_names_the_classes():
    costs = {("a", "b"): 2, ("b", "a"): 7, ("a", "z"): 1, ("z", "a"): 1, ("b", "z"): 1, ("z", "b"): 1}
    assert mean_cost(["b", "b"], ["a", "b"], costs) == 3.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], ["a", "b"], None), "1 true labels but 2 decisions"),
        ((["a", "b"], ["a", "z"], COSTS, ["a", "b"]), r"label\(s\) \['z'\] are none of the classes \['a', 'b'\]"),
        ((["a", "a"], ["a", "a"], COSTS), r"shape \(2, 2\), expected \(1, 1\)"),
        ((["a", "b"], ["a", "b"], {"a": 1}), "the key 'a' is no pair"),
        ((["a", "b"], ["a", "b"], COSTS, None, [1.0, -1.0]), "sample_weight: weights must be finite, not negative"),
    ],
)
def test_errors_of_mean_cost(arguments, message):
    with pytest.raises(DataError, match=message):
        mean_cost(*arguments)


def test_three_classes_have_no_threshold():
    with pytest.raises(DataError, match="a threshold is for two classes; there are 3"):
        cost_curve(["a", "b", "c"], np.full((3, 3), 1 / 3), None)
