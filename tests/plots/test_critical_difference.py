"""Demsar's diagram: groups, positions, and labels that can be read for up to 25 models."""

from itertools import combinations, pairwise

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from hypothesis import given, settings
from hypothesis import strategies as st

from countwise.errors import DataError
from countwise.evaluate import friedman, nemenyi
from countwise.evaluate.ranks import find_cliques
from countwise.plots import CriticalDifferenceDisplay
from plots.pictures import cut_off, overlapping


def names(k):
    return [f"skdb{i}-hierarchical-tuned" if i % 3 else f"nb{i}" for i in range(k)]


def leader_lines(ax):
    """From the axis down, then to the side."""
    return [line for line in ax.lines if len(line.get_xdata()) == 3 and line.get_marker() == "None"]


@settings(max_examples=60, deadline=None)
@given(ranks=st.lists(st.integers(0, 40), min_size=1, max_size=8), tenths=st.integers(1, 50))
def test_cliques_are_the_maximal_groups_closer_than_the_difference(ranks, tenths):
    values, cd = np.array(ranks) / 4.0, tenths / 10.0
    groups = [
        set(group)
        for size in range(2, len(values) + 1)
        for group in combinations(range(len(values)), size)
        if np.ptp(values[list(group)]) < cd
    ]
    maximal = {frozenset(group) for group in groups if not any(group < other for other in groups)}
    assert {frozenset(clique) for clique in find_cliques(values, cd)} == maximal


@pytest.mark.parametrize("k", [3, 10, 25])
def test_groups_are_those_of_the_nemenyi_test(k):
    result = friedman(np.random.default_rng(k).normal(size=(61, k)) + np.linspace(0, 2, k))
    test = nemenyi(result)
    display = CriticalDifferenceDisplay(names(k), result.average_ranks, test.critical_difference)
    assert display.cliques == test.cliques
    given = CriticalDifferenceDisplay(names(k), result.average_ranks, test.critical_difference, test.cliques)
    assert given.cliques == test.cliques


@pytest.mark.parametrize("k", [1, 3, 8, 25])
@pytest.mark.parametrize("spread", ["even", "ties", "far"])
def test_labels_can_be_read(k, spread):
    far = [1.05] * (k // 2) + [float(k)] * (k - k // 2)
    ranks = {"even": np.linspace(1, k, k), "ties": [(k + 1) / 2] * k, "far": far}[spread]
    figure = CriticalDifferenceDisplay(names(k), ranks, 2.1, title="RMSE").figure()
    assert overlapping(figure) == []
    assert cut_off(figure) == []
    words = " ".join(t.get_text() for t in figure.axes[0].texts)
    assert all(name in words for name in names(k))
    assert "CD = 2.10" in words


def test_best_is_at_the_left_and_each_line_starts_at_its_rank():
    ranks = [3.2, 1.4, 2.5, 4.1]
    ax = CriticalDifferenceDisplay(["c", "a", "b", "d"], ranks, 0.4).plot()
    low, high = ax.get_xlim()
    assert low < 1.4 < 4.1 < high
    leaders = [line.get_xdata() for line in leader_lines(ax)]
    assert [x[0] for x in leaders] == [1.4, 2.5, 4.1, 3.2]  # left from the top, then right from the top
    assert [x[2] < x[0] for x in leaders] == [True, True, False, False]
    texts = {t.get_text(): t for t in ax.texts}
    assert texts["a  1.40"].get_ha() == "right"
    assert texts["4.10  d"].get_ha() == "left"
    assert "average rank (best at the left)" in texts


def test_leader_lines_do_not_cross():
    ranks = np.random.default_rng(0).uniform(1, 25, 25)
    ax = CriticalDifferenceDisplay(names(25), ranks, 3.0).plot()
    leaders = [line.get_path() for line in leader_lines(ax)]
    assert len(leaders) == 25
    for one, other in combinations(leaders, 2):
        assert not one.intersects_path(other, filled=False)


def test_bars_have_a_dot_at_each_member_only():
    ranks = [1.0, 2.0, 3.0, 4.0]
    ax = CriticalDifferenceDisplay(list("abcd"), ranks, 1.2, cliques=[(0, 2)]).plot()
    dots = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata()) > 1]
    assert [line.get_xdata().tolist() for line in dots] == [[1.0, 3.0]]


def test_bars_on_one_level_do_not_touch():
    display = CriticalDifferenceDisplay(names(25), np.linspace(1, 25, 25), 4.5)
    by_level = {}
    for members, level in display._bars():
        by_level.setdefault(level, []).append((members[0], members[-1]))
    assert sum(map(len, by_level.values())) == len(display.cliques) > 10
    for bars in by_level.values():
        assert all(a[1] < b[0] for a, b in pairwise(bars))


def test_the_critical_difference_is_drawn_in_ranks():
    ax = CriticalDifferenceDisplay(["a", "b"], [1.2, 1.8], 3.3).plot()  # longer than the ranks reach
    assert any(np.allclose(line.get_xdata(), [1.0, 4.3]) for line in ax.lines)
    assert ax.get_xlim()[1] > 4.3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b"], [1.0], 1.0), "average_ranks: 1 ranks for 2 names"),
        ((["a", "a"], [1.0, 2.0], 1.0), "names: 'a' is given twice"),
        ((["a", "b"], [1.0, None], 1.0), "average_ranks: that of 'b' is missing; leave it out"),
        ((["a", "b"], [1.0, 2.0], 0.0), "critical_difference=0.0: a number above 0 is needed"),
        ((["a", "b"], [1.0, 2.0], float("nan")), "critical_difference=nan"),
        ((["a", "b"], [1.0, 2.0], 1.0, [(0, 2)]), r"cliques: \(0, 2\) is not a group of positions from 0 to 1"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(DataError, match=message):
        CriticalDifferenceDisplay(*arguments)
