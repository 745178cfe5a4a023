"""Quantile sketches: rank errors keep their bound for any data and merge order; cuts from them are good."""

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countwise.data.curve import Curve, added, empty_curve, steps
from countwise.data.discretise import MDLP, EqualFrequency, EqualWidth
from countwise.data.sketch import ClassSketch, sketch_capacity

RNG = np.random.default_rng


class QuantileSketch(ClassSketch):
    """All rows of one class: ranks can be read off directly."""

    def update(self, values, weights=None):
        super().update(values, np.zeros(len(values), dtype=np.int32), weights)

    def items(self):
        values, _, weights = super().items()
        return values, weights


N = 20_000


def spiked(rng):
    return np.where(rng.random(N) < 0.6, 0.0, np.where(rng.random(N) < 0.3, 2.5, rng.normal(size=N)))


DATA = {
    "random": lambda rng: rng.normal(size=N),
    "sorted": lambda rng: np.sort(rng.normal(size=N)),
    "reversed": lambda rng: np.sort(rng.normal(size=N))[::-1],
    "spiked": spiked,
    "rounded": lambda rng: np.round(rng.normal(size=N), 2),
    "skewed": lambda rng: np.exp(5 * rng.normal(size=N)),
    "two far groups": lambda rng: np.where(rng.random(N) < 0.5, rng.random(N), 1e300 + 1e290 * rng.random(N)),
    "alternating ends": lambda rng: np.arange(N) * (-1.0) ** np.arange(N),
}


def rank_gap(values, weights, item_values, item_weights):
    """Greatest difference between the cumulative weights, at and just below every value of either."""
    at = np.unique(np.concatenate((values, item_values)))
    gaps = []
    for side in ("left", "right"):
        ranks = []
        for v, w in ((values, weights), (item_values, item_weights)):
            order = np.argsort(v, kind="stable")
            cumulative = np.concatenate(([0.0], np.cumsum(w[order])))
            ranks.append(cumulative[np.searchsorted(v[order], at, side=side)])
        gaps.append(np.abs(ranks[0] - ranks[1]).max())
    return max(gaps)


def check(sketch, values, weights):
    items, masses = sketch.items()
    total = weights.sum()
    assert np.all(np.diff(items) > 0)
    assert masses.min() > 0
    assert (items[0], items[-1]) == (values.min(), values.max())
    assert sketch.total == pytest.approx(total, rel=1e-12)
    assert masses.sum() == pytest.approx(total, rel=1e-12)
    n, capacity = len(values), sketch.capacity
    assert 0 < sketch.rank_error <= total * (4 + log2(n / capacity)) / capacity + 1
    assert rank_gap(values, weights, items, masses) <= sketch.rank_error + 1e-9 * total
    assert sketch.nbytes <= 16 * (capacity + 4) * (2 + log2(n / capacity))


@pytest.mark.parametrize("batch", [37, 1000, N])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_rank_error_bound(name, weighted, batch):
    rng = RNG(len(name))
    values = DATA[name](rng)
    weights = rng.gamma(0.5, 2.0, N) + 1e-9 if weighted else np.ones(N)
    sketch = QuantileSketch(64)
    for i in range(0, N, batch):
        rows = slice(i, i + batch)
        sketch.update(values[rows], weights[rows] if weighted else None)
    check(sketch, values, weights)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(DATA)), st.randoms(use_true_random=False))
def test_rank_error_bound_under_any_merge_tree(name, random):
    rng = RNG(random.randrange(2**32))
    values = DATA[name](rng)
    weights = rng.random(N) + 0.01
    edges = np.sort(rng.integers(0, N, random.randrange(1, 40)))
    sketches = []
    for rows in np.split(np.arange(N), edges):
        sketch = QuantileSketch(64)
        sketch.update(values[rows], weights[rows])
        sketches.append(sketch)
    while len(sketches) > 1:
        a = sketches.pop(random.randrange(len(sketches)))
        b = sketches.pop(random.randrange(len(sketches)))
        sketches.append(a.merge(b))
    check(sketches[0], values, weights)


def test_smooth_data_are_far_better_than_the_bound():
    values = RNG(0).normal(size=200_000)
    sketch = QuantileSketch(256)
    for batch in np.split(values, 200):
        sketch.update(batch)
    gap = rank_gap(values, np.ones(len(values)), *sketch.items())
    assert gap < 0.2 * sketch.rank_error


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), max_size=80), st.integers(1, 9))
def test_exact_up_to_capacity(rows, batch):
    values = np.array([v for v, _ in rows], dtype=float)
    weights = np.array([w for _, w in rows], dtype=float)
    sketch = QuantileSketch(31)
    for i in range(0, len(rows), batch):
        sketch.update(values[i : i + batch], weights[i : i + batch])
    expected = np.bincount(values.astype(int), weights, 31)
    found, masses = sketch.items()
    np.testing.assert_array_equal(found, np.flatnonzero(expected))
    np.testing.assert_array_equal(masses, expected[expected > 0])
    assert sketch.rank_error == 0


def test_one_value_too_many_ends_exactness():
    sketch = QuantileSketch(100)
    sketch.update(np.arange(100.0))
    assert sketch.rank_error == 0
    sketch.update(np.array([0.5]))
    assert sketch.rank_error > 0


def test_heavy_values_keep_their_weight():
    rng = RNG(1)
    values = spiked(rng)
    sketch = QuantileSketch(64)
    for batch in np.array_split(values, 30):
        sketch.update(batch)
    items, masses = sketch.items()
    for spike in (0.0, 2.5):
        assert masses[items == spike].sum() == (values == spike).sum()


def test_all_but_one_value_heavy():
    values = np.repeat(np.arange(9.0), [1, 50, 50, 50, 50, 50, 50, 50, 1])
    sketch = QuantileSketch(8)
    sketch.update(values)
    items, masses = sketch.items()
    np.testing.assert_array_equal(items, np.arange(9.0))
    np.testing.assert_array_equal(masses, [1, 50, 50, 50, 50, 50, 50, 50, 1])


def test_merge_leaves_the_other_as_it_was():
    rng = RNG(2)
    a, b = QuantileSketch(64), QuantileSketch(64)
    a.update(rng.normal(size=3000))
    b.update(rng.normal(size=5000))
    before = b.items()
    assert a.merge(b) is a
    a.update(rng.normal(size=3000))
    for old, new in zip(before, b.items(), strict=True):
        np.testing.assert_array_equal(old, new)
    a.merge(a)
    assert a.total == a.items()[1].sum() == 22_000


def test_curve_sums_and_inverts():
    curves = [steps(np.array([0.0, 2.0]), np.array([[1.0, 2.0], [3.0, 0.0]])), empty_curve(2)]
    curves += [Curve(np.array([0.0, 4.0]), np.array([[0.0, 0.0], [8.0, 1.0]]))]
    curves += [Curve(np.array([1.0, 3.0]), np.array([[0.0, 0.0], [0.0, 1.0]]))] * 4
    total = added(curves)
    x = np.linspace(-1, 5, 61)
    np.testing.assert_allclose(total.at(x), sum(curve.at(x) for curve in curves))
    np.testing.assert_allclose(total.at(x, upto=False), sum(curve.at(x, upto=False) for curve in curves))
    ranks = np.linspace(0, total.total, 50)
    where, by_class = total.along(ranks)
    np.testing.assert_allclose(by_class.sum(axis=1), ranks)
    assert np.all(total.at(where, upto=False) <= by_class + 1e-12)
    assert np.all(total.at(where) >= by_class - 1e-12)


def two_classes(n, seed=0):
    """P(class 1) is constant between 0, 0.1, 0.35 and 0.8: three cuts to be found."""
    rng = RNG(seed)
    values = rng.random(n)
    chance = np.array([0.1, 0.6, 0.3, 0.9])[np.searchsorted([0.1, 0.35, 0.8], values)]
    return values, (rng.random(n) < chance).astype(np.int32)


def class_sketch(values, classes, capacity, n_batches, weights=None):
    sketch = ClassSketch(capacity)
    for rows in np.array_split(np.arange(len(values)), n_batches):
        sketch.update(values[rows], classes[rows], None if weights is None else weights[rows])
    return sketch


def conditional_entropy(values, classes, cuts):
    table = np.zeros((len(cuts) + 1, classes.max() + 1))
    np.add.at(table, (np.searchsorted(cuts, values), classes), 1)
    share = table / table.sum(axis=1, keepdims=True)
    return -(table[table > 0] * np.log2(share[table > 0])).sum() / len(values)


@pytest.mark.parametrize("n_batches", [1, 20, 400])
@pytest.mark.parametrize("capacity", [256, 1024])
def test_mdlp_from_sketch_cuts_where_exact_mdlp_does(capacity, n_batches):
    values, classes = two_classes(200_000)
    exact = MDLP().cuts(values, classes, None, 2)
    np.testing.assert_allclose(exact, [0.1, 0.35, 0.8], atol=0.001)
    found = MDLP().cuts(*class_sketch(values, classes, capacity, n_batches).items(), 2)
    # A cell that straddles a step is a mixture and may become a bin of its own; nothing else may.
    distance = np.abs(found[:, None] - exact)
    assert distance.min(axis=0).max() <= 2 / capacity
    assert distance.min(axis=1).max() <= 2 / capacity
    assert len(found) <= 4 * len(exact)
    lost = conditional_entropy(values, classes, found) - conditional_entropy(values, classes, exact)
    assert lost < 1.5 / capacity


def wavy_classes(n, seed):
    rng = RNG(seed)
    values = rng.normal(size=n)
    classes = (rng.random(n) < 1 / (1 + np.exp(-2 * np.sin(3 * values)))).astype(np.int32)
    classes[(np.abs(values - 1) < 0.3) & (rng.random(n) < 0.2)] = 2
    return values, classes


def log_loss(cuts, train, test):
    """Mean log loss in bits on new rows, of the class shares in each bin."""
    counts = np.full((len(cuts) + 1, 3), 0.5)
    np.add.at(counts, (np.searchsorted(cuts, train[0]), train[1]), 1)
    share = counts / counts.sum(axis=1, keepdims=True)
    return -np.log2(share[np.searchsorted(cuts, test[0]), test[1]]).mean()


@pytest.mark.parametrize("weighted", [False, True])
def test_mdlp_from_sketch_predicts_as_well(weighted):
    train, test = wavy_classes(200_000, 5), wavy_classes(200_000, 6)
    weights = RNG(7).random(200_000) + 0.5 if weighted else None
    exact = MDLP().cuts(*train, weights, 3)
    found = MDLP().cuts(*class_sketch(*train, 1024, 50, weights).items(), 3)
    assert len(exact) > 20
    assert 0.75 * len(exact) <= len(found) <= 1.25 * len(exact)
    losses = [log_loss(cuts, train, test) for cuts in ([], exact, found)]
    assert losses[0] - losses[1] > 0.3
    assert abs(losses[2] - losses[1]) < 0.001


def test_mdlp_from_sketch_sees_no_structure_in_noise():
    rng = RNG(6)
    values, classes = rng.normal(size=200_000), rng.integers(0, 3, 200_000).astype(np.int32)
    assert len(MDLP().cuts(values, classes, None, 3)) == 0
    assert len(MDLP().cuts(*class_sketch(values, classes, 256, 100).items(), 3)) == 0


def test_class_sketch_with_a_rare_class_and_spikes():
    rng = RNG(7)
    values = np.where(rng.random(N) < 0.4, 1.0, rng.normal(size=N))
    classes = np.where(rng.random(N) < 0.01, 4, rng.integers(0, 2, N)).astype(np.int32)
    sketch = class_sketch(values, classes, 128, 9)
    v, c, w = sketch.items()
    assert set(c) == {0, 1, 4}
    assert c.dtype == np.int32
    np.testing.assert_array_equal(w, np.rint(w))  # rows are whole
    np.testing.assert_array_equal(np.bincount(c, w), np.bincount(classes))
    np.testing.assert_array_equal(np.bincount(c[v == 1], w[v == 1]), np.bincount(classes[values == 1]))
    assert (v.min(), v.max()) == (values.min(), values.max())
    assert len(np.unique(v)) <= 128 + 4
    assert rank_gap(values, np.ones(N), v, w) <= sketch.rank_error < 0.15 * N
    assert sketch.total == N


@pytest.mark.parametrize("name", DATA)
def test_class_sketch_rank_error_bound(name):
    rng = RNG(8)
    values, weights = DATA[name](rng), rng.gamma(1.0, 1.0, N) + 1e-6
    classes = rng.integers(0, 3, N).astype(np.int32)
    sketch = class_sketch(values, classes, 64, 40, weights)
    v, c, w = sketch.items()
    assert rank_gap(values, weights, v, w) <= sketch.rank_error + 1e-9 * weights.sum()
    np.testing.assert_allclose(np.bincount(c, w), np.bincount(classes, weights), rtol=1e-8)


def test_real_weights_with_a_whole_sum_are_not_rounded():
    values, classes = two_classes(4096)
    weights = np.full(4096, 2.0**-10)
    _, _, w = class_sketch(values, classes, 64, 4, weights).items()
    assert w.sum() == pytest.approx(4.0)
    assert len(w) > 100


def test_class_sketch_is_exact_at_first_and_grows():
    sketch = ClassSketch(64)
    assert [len(part) for part in sketch.items()] == [0, 0, 0]
    sketch.update(np.empty(0), np.empty(0, np.int32))
    sketch.update(np.array([2.0, 1.0]), np.array([1, 1], np.int32))
    sketch.update(np.array([2.0, 7.0, 2.0]), np.array([3, 0, 3], np.int32), np.array([0.5, 0.0, 0.25]))
    v, c, w = sketch.items()
    assert (v.tolist(), c.tolist(), w.tolist()) == ([1.0, 2.0, 2.0], [1, 1, 3], [1.0, 1.0, 0.75])
    assert sketch.rank_error == 0
    assert sketch.nbytes == 2 * (1 + 4) * 8  # two values, four classes


def test_class_sketches_merge():
    values, classes = two_classes(N)
    parts = [class_sketch(values[i::5], classes[i::5] + 2 * (i == 4), 128, 3) for i in range(5)]
    whole = ClassSketch(128)
    for part in parts:
        assert whole.merge(part) is whole
    v, c, w = whole.items()
    expected = np.bincount(np.concatenate([classes[i::5] + 2 * (i == 4) for i in range(5)]))
    np.testing.assert_array_equal(np.bincount(c, w), expected)
    assert rank_gap(values, np.ones(N), v, w) <= whole.rank_error


def test_unsupervised_cuts_from_a_sketch():
    values, classes = two_classes(N, seed=9)
    items = class_sketch(values, classes, 256, 11).items()
    np.testing.assert_array_equal(
        EqualWidth(7).cuts(*items, 2), EqualWidth(7).cuts(values, classes, None, 2)
    )  # extremes are exact
    np.testing.assert_allclose(
        EqualFrequency(10).cuts(*items, 2), EqualFrequency(10).cuts(values, classes, None, 2), atol=0.006
    )


def test_many_classes_stay_affordable():
    rng = RNG(10)
    values, classes = rng.normal(size=60_000), rng.integers(0, 300, 60_000).astype(np.int32)
    sketch = class_sketch(values, classes, 64, 3)
    v, c, w = sketch.items()
    np.testing.assert_array_equal(np.bincount(c, w), np.bincount(classes))
    assert len(np.unique(v)) <= 64 + 4


@pytest.mark.parametrize(("n_columns", "n_classes"), [(1, 1), (50, 3), (100, 12)])
def test_capacity_keeps_the_budget(n_columns, n_classes):
    budget = 40_000_000
    capacity = sketch_capacity(n_columns, n_classes, budget)
    assert 64 <= capacity <= 4096
    sketch = ClassSketch(capacity)
    rng = RNG(11)
    for _ in range(15):  # fills the lowest four levels and all of the exact part
        sketch.update(rng.random(capacity + 1), rng.integers(0, n_classes, capacity + 1).astype(np.int32))
    sketch.update(rng.random(capacity), np.zeros(capacity, np.int32))
    assert sketch.nbytes > 5 * capacity * 8 * (1 + n_classes)
    assert n_columns * sketch.nbytes * (16 + 1) / 5 <= 1.07 * budget  # kept values come on top
    assert sketch_capacity(10**6, 10, budget) == 64
    assert sketch_capacity(1, 1, 10**12) == 4096
