"""What every registered smoother must keep, on every kind of tree.

A new smoother is tested from the day it is registered. One that needs more time or more room says so in ``ROOM``.
"""

from dataclasses import dataclass, fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from countwise.smooth import SMOOTHERS, Smoothed, as_smoother, dense_proba
from oracle.count_trees import Leaves, leaves


@dataclass(frozen=True)
class Room:
    """What a smoother is allowed."""

    examples: int = 30  # trees of each property
    rounding: float = 1e-9  # between orders of values or branches; a sampler needs its Monte Carlo error
    limit: float = 1e-4  # between a million times the counts and the frequencies


ROOM: dict[str, Room] = {}  # by name, where the defaults do not do
NAMES = list(SMOOTHERS)
EXTREMES = {
    "one row": Leaves({(0, 2): (0, 0, 1, 0, 0)}, 5),
    "one row at the root": Leaves({(): (0, 1)}, 2),
    "one value of many": Leaves({(0,): (0,) * 30 + (7,) + (0,) * 20, (1,): (0,) * 30 + (2,) + (0,) * 20}, 51),
    "one value of one": Leaves({(0, 0): (3,), (0, 1): (1,), (1,): (2,)}, 1),
    "million counts": Leaves({(0, 0): (1e6, 2e6, 1), (0, 1): (3e6, 0, 0), (1,): (5e6, 4e6, 1e6)}, 3),
    "a chain": Leaves({(0, 0, 0, 0): (2, 0, 5)}, 3),
    "tiny weights": Leaves({(0,): (1e-6, 0, 2e-6), (1,): (0, 1e-6, 0)}, 3),
    "no rows at all": Leaves({}, 4),
}


def wide_leaves(n_values=10_000, n_leaves=12):
    """Few of very many values in each leaf."""
    rng = np.random.default_rng(0)
    counts = {}
    for leaf in range(n_leaves):
        row = np.zeros(n_values)
        row[rng.zipf(1.5, 200) % n_values] += rng.integers(1, 9, 200)
        counts[(leaf % 3, leaf)] = tuple(row)
    return Leaves(counts, n_values)


def over_trees(check):
    """Run ``check(name, leaves)`` for every smoother over random trees."""

    @pytest.mark.parametrize("name", NAMES)
    def run(name):
        quick = settings(
            max_examples=ROOM.get(name, Room()).examples,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow],
        )
        quick(given(leaves())(lambda case: check(name, case)))()

    return run


def smoothed(name, tree, seed=5):
    return as_smoother(name).smooth(tree, seed)


def proba(name, case):
    return dense_proba(case.tree, smoothed(name, case.tree))


def check_distributions(name, case):
    tree = case.tree
    result = smoothed(name, tree)
    assert result.cell_proba.shape == (tree.n_cells,)
    assert result.absent.shape == result.precision.shape == (tree.n_nodes,)
    dense = dense_proba(tree, result)
    assert np.isfinite(dense).all()
    assert (dense > 0).all()
    assert dense.sum(axis=1) == pytest.approx(np.ones(tree.n_nodes), rel=1e-9)
    assert np.isfinite(result.precision).all()
    assert (result.precision >= 0).all() if name == "mle" else (result.precision > 0).all()


test_distributions_are_positive_and_sum_to_one = over_trees(check_distributions)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("extreme", EXTREMES)
def test_extremes(name, extreme):
    check_distributions(name, EXTREMES[extreme])


@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_values(name):
    check_distributions(name, wide_leaves())


@over_trees
def test_codes_of_values_do_not_matter(name, case):
    order = np.random.default_rng(len(case.counts)).permutation(case.arity)
    rounding = ROOM.get(name, Room()).rounding
    assert proba(name, case.with_values(order)) == pytest.approx(proba(name, case)[:, order], rel=rounding)


@over_trees
def test_order_of_branches_does_not_matter(name, case):
    mirrored, there = case.mirrored()
    a, b = smoothed(name, case.tree), smoothed(name, mirrored.tree)
    rounding = ROOM.get(name, Room()).rounding
    assert dense_proba(mirrored.tree, b)[there] == pytest.approx(dense_proba(case.tree, a), rel=rounding)
    assert b.precision[there] == pytest.approx(a.precision, rel=rounding)


@over_trees
def test_many_counts_are_believed(name, case):
    large = case.scaled(1e6)
    at, counts = large.leaf_positions
    estimates = proba(name, large)[at]
    if name == "mle":  # what a leaf has not seen keeps the estimate above it, by definition
        estimates = np.where(counts > 0, estimates, 0.0)
        estimates /= estimates.sum(axis=1, keepdims=True)
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    assert estimates == pytest.approx(frequencies, abs=ROOM.get(name, Room()).limit)
    # As sure as the leaf's own rows make it, at least; a smoother may learn from its siblings too.
    assert (smoothed(name, large.tree).precision[at] > 0.9 * counts.sum(axis=1)).all()


@over_trees
def test_even_counts_stay_even(name, case):
    even = Leaves({path: (max(counts),) * case.arity for path, counts in case.counts.items()}, case.arity)
    rounding = ROOM.get(name, Room()).rounding
    assert proba(name, even) == pytest.approx(np.full((even.tree.n_nodes, case.arity), 1 / case.arity), rel=rounding)


@over_trees
def test_the_same_seed_gives_the_same_result_and_leaves_the_counts_alone(name, case):
    tree = case.tree
    copies = {f.name: np.copy(getattr(tree, f.name)) for f in fields(tree)}
    first, again = smoothed(name, tree), smoothed(name, case.tree)
    for part in fields(Smoothed):
        assert np.array_equal(getattr(first, part.name), getattr(again, part.name)), part.name
    for part, copy in copies.items():
        assert np.array_equal(getattr(tree, part), copy), part


@given(leaves())
@settings(max_examples=30, deadline=None)
def test_the_trees_are_sound(case):
    """The strategy itself: what CountTree promises to smoothers."""
    tree = case.tree
    assert tree.parent[0] == -1
    assert (tree.parent[1:] < np.arange(1, tree.n_nodes)).all()
    assert (np.diff(tree.parent) >= 0).all()  # siblings are adjacent
    assert (tree.cell_count > 0).all()
    assert (tree.cell_parent[tree.cell_ptr[1] :] >= 0).all()
    assert (np.diff(tree.cell_value + case.arity * tree.cell_node) > 0).all()
    at, counts = case.leaf_positions
    assert set(at) == set(range(tree.n_nodes)) - set(tree.parent.tolist())
    assert tree.total[0] == pytest.approx(counts.sum())
    children = np.bincount(tree.parent[1:], tree.total[1:], minlength=tree.n_nodes)
    inner = np.bincount(tree.parent[1:], minlength=tree.n_nodes) > 0
    assert children[inner] == pytest.approx(tree.total[inner])
