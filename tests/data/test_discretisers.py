"""What all discretisers promise, and each unsupervised method and the tree on its own."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from countwise.data.discretise import (
    DISCRETISERS,
    MDLP,
    EqualFrequency,
    EqualWidth,
    EveryValue,
    KMeansBins,
    Quantiles,
    RandomMDLP,
    RandomQuantiles,
    TreeBins,
    as_discretiser,
)
from countwise.errors import DataError
from oracle.mdlp import tree_cuts
from oracle.random import xoshiro

VARIANTS = [
    MDLP(),
    RandomMDLP(random_state=3),
    RandomQuantiles(random_state=1),
    RandomQuantiles(random_state=2),
    EqualWidth(n_bins=4),
    EqualFrequency(n_bins=4),
    EqualFrequency(n_bins="auto"),
    EqualFrequency(n_bins=5, cap=True),
    Quantiles(),
    KMeansBins(n_bins=4),
    TreeBins(max_depth=2, min_samples=1),
    TreeBins(max_depth=3, min_samples=3, prune=False),
    EveryValue(),
    EveryValue(max_bins=4),
]
every = pytest.mark.parametrize("discretiser", VARIANTS, ids=repr)
RNG = np.random.default_rng


@parametrize_with_checks([cls() for cls in DISCRETISERS.values()] + [EqualFrequency(n_bins="auto", cap=True)])
def test_scikit_learn(estimator, check):
    check(estimator)


@st.composite
def columns(draw):
    n = draw(st.integers(0, 50))
    values = draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))
    noise = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    classes = [(v + 9) // 7 if e < 4 else e - 3 for v, e in zip(values, noise, strict=True)]
    return np.array(values, dtype=float), np.array(classes, dtype=np.int32)


def data(seed=0, n=400):
    rng = RNG(seed)
    values = np.round(rng.normal(size=n), 1)
    classes = (np.round(values) % 3 + (rng.random(n) < 0.1)).astype(np.int32)
    return values, classes, rng


@every
@settings(max_examples=40)
@given(column=columns(), random=st.randoms(use_true_random=False))
def test_row_order_does_not_matter(discretiser, column, random):
    values, classes = column
    weights = np.array([random.choice([0.0, 0.1, 0.7, 1.3, 2.9]) for _ in values])
    order = list(range(len(values)))
    random.shuffle(order)
    for w in (None, weights):
        found = discretiser.cuts(values, classes, w, 4)
        shuffled = discretiser.cuts(values[order], classes[order], None if w is None else w[order], 4)
        np.testing.assert_array_equal(found, shuffled)


@every
@settings(max_examples=40)
@given(column=columns(), random=st.randoms(use_true_random=False))
def test_integer_weights_are_repetitions(discretiser, column, random):
    values, classes = column
    times = np.array([random.randrange(4) for _ in values], dtype=int)
    weighted = discretiser.cuts(values, classes, times.astype(float), 4)
    np.testing.assert_array_equal(
        weighted, discretiser.cuts(np.repeat(values, times), np.repeat(classes, times), None, 4)
    )


@every
@settings(max_examples=40)
@given(column=columns(), exponent=st.integers(-3, 5), shift=st.integers(-64, 64))
def test_affine(discretiser, column, exponent, shift):
    values, classes = column
    moved = discretiser.cuts(values * 2.0**exponent + shift, classes, None, 4)
    expected = discretiser.cuts(values, classes, None, 4) * 2.0**exponent + shift
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-12 * (64 + 10 * 2.0**exponent))


@every
@settings(max_examples=40)
@given(column=columns())
def test_cuts_ascend_between_values(discretiser, column):
    values, classes = column
    found = discretiser.cuts(values, classes, None, 4)
    assert found.dtype == np.float64
    assert np.all(np.diff(found) > 0)
    if len(found):
        assert values.min() <= found[0]
        assert found[-1] < values.max()
    if len(found) and not isinstance(discretiser, EqualWidth):  # whose empty bins are part of the method
        codes = np.searchsorted(found, values, side="left")
        assert np.unique(codes).tolist() == list(range(len(found) + 1))


@every
def test_cuts_are_found(discretiser):
    values, classes, rng = data()
    for weights in (None, rng.random(len(values))):
        assert len(discretiser.cuts(values, classes, weights, 4)) >= 2


@every
@pytest.mark.parametrize("values", [[], [5.0], [5.0, 5.0, 5.0]])
def test_nothing_to_cut(discretiser, values):
    classes = np.arange(len(values), dtype=np.int32)
    for weights in (None, np.full(len(values), 0.3), np.zeros(len(values))):
        assert discretiser.cuts(np.array(values), classes, weights, 3).shape == (0,)


@every
@pytest.mark.parametrize(
    ("lo", "hi"),
    [(1.0, np.nextafter(1.0, 2.0)), (0.0, 5e-324), (-1.7e308, 1.7e308), (np.nextafter(1.7e308, 0), 1.7e308)],
)
def test_extreme_neighbours_are_separated(discretiser, lo, hi):
    values, classes = np.repeat([lo, hi], 20), np.repeat(np.array([0, 1], np.int32), 20)
    found = discretiser.cuts(values, classes, None, 2)
    assert len(found) >= 1
    assert np.all((lo <= found) & (found < hi))


@every
def test_transform_follows_the_bin_rule(discretiser):
    values, classes, _ = data()
    X = np.column_stack((values, -values))
    X[::7, 1] = np.nan
    fitted = clone(discretiser).fit(X, classes)
    codes = fitted.transform(X)
    assert codes.dtype == np.int32
    assert fitted.n_bins_.tolist() == [len(cuts) + 1 for cuts in fitted.cut_points_]
    for j, cuts in enumerate(fitted.cut_points_):
        for x, code in zip(X[:, j], codes[:, j], strict=True):
            assert code == (len(cuts) + 1 if np.isnan(x) else sum(cut < x for cut in cuts))
    on_cut = np.full((1, 2), fitted.cut_points_[0][0])
    assert fitted.transform(on_cut)[0, 0] == 0


@every
def test_missing_values_do_not_move_the_cuts(discretiser):
    values, classes, rng = data()
    weights = rng.random(len(values)) + 0.1
    known = rng.random(len(values)) < 0.7
    X = np.where(known, values, np.nan)[:, None]
    fitted = clone(discretiser).fit(X, classes, weights)
    np.testing.assert_array_equal(
        fitted.cut_points_[0], discretiser.for_column(0).cuts(values[known], classes[known], weights[known], 4)
    )
    all_missing = clone(discretiser).fit(np.full((6, 1), np.nan), [0, 1, 0, 1, 0, 1])
    assert all_missing.transform(np.array([[np.nan], [3.0]])).ravel().tolist() == [1 + 0, 0]


@every
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_in_and_out(discretiser, frame):
    values, classes, _ = data()
    X = frame({"size": values, "age": values[::-1].copy()})
    fitted = clone(discretiser).set_output(transform="polars" if frame is pl.DataFrame else "pandas")
    codes = fitted.fit(X, classes).transform(X)
    assert isinstance(codes, frame)
    assert list(codes.columns) == ["size", "age"]
    np.testing.assert_array_equal(
        codes.to_numpy(), clone(discretiser).fit(X.to_numpy(), classes).transform(X.to_numpy())
    )


@every
def test_infinite_values_name_the_column(discretiser):
    values, classes, _ = data()
    X = pd.DataFrame({"size": values, "age": values})
    fitted = clone(discretiser).fit(X, classes)
    X.loc[3, "age"] = -np.inf
    with pytest.raises(DataError, match=r"column 'age'.*inf"):
        fitted.transform(X)
    with pytest.raises(DataError, match=r"column 1.*inf"):
        clone(discretiser).fit(X.to_numpy(), classes)


@pytest.mark.parametrize("name", ["mdlp", "random-mdlp", "tree"])
def test_supervised_methods_need_classes(name):
    X = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match="requires y"):
        DISCRETISERS[name]().fit(X)
    with pytest.raises(ValueError, match="continuous"):
        DISCRETISERS[name]().fit(X, np.linspace(0, 1, 20))


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        EqualWidth().fit([[1.0], [2.0]], sample_weight=[1.0, -1.0])


def test_registry():
    for name, cls in DISCRETISERS.items():
        assert type(as_discretiser(name)) is cls
    mine = EqualWidth(n_bins=3)
    assert as_discretiser(mine) is mine
    with pytest.raises(DataError, match=f"'chimerge'.*{', '.join(DISCRETISERS)}"):
        as_discretiser("chimerge")


@pytest.mark.parametrize(
    ("discretiser", "parameter"),
    [
        (EqualWidth(n_bins=0), "n_bins"),
        (EqualFrequency(n_bins="many"), "n_bins"),
        (EqualFrequency(n_bins=2.5), "n_bins"),
        (KMeansBins(n_bins=True), "n_bins"),
        (TreeBins(max_depth=0), "max_depth"),
        (EveryValue(max_bins=0), "max_bins"),
        (TreeBins(min_samples=-1), "min_samples"),
        (RandomMDLP(random_state=-1), "random_state"),
        (RandomMDLP(random_state=2**64), "random_state"),
        (RandomQuantiles(random_state=2.0), "random_state"),
    ],
)
def test_bad_parameters_are_named(discretiser, parameter):
    with pytest.raises(DataError, match=parameter):
        discretiser.fit([[1.0], [2.0]], [0, 1])


def plain(discretiser, values, weights=None):
    values = np.asarray(values, dtype=float)
    weights = None if weights is None else np.asarray(weights, dtype=float)
    return discretiser.cuts(values, np.zeros(len(values), np.int32), weights, 1).tolist()


def test_every_value():
    assert plain(EveryValue(), [4, 1, 2, 2]) == [1.5, 3]
    assert plain(EveryValue(), [4, 1, 2, 2], [1, 0, 1, 1]) == [3]
    assert plain(EveryValue(max_bins=3), [4, 1, 2, 2]) == [1.5, 3]
    many = np.arange(1000.0)
    assert plain(EveryValue(max_bins=10), many) == plain(EqualFrequency(n_bins=10), many)


def test_equal_width():
    assert plain(EqualWidth(n_bins=5), [0, 10, 1]) == [2, 4, 6, 8]
    assert plain(EqualWidth(n_bins=5), [0, 10, 99], [1, 1, 0]) == [2, 4, 6, 8]
    assert plain(EqualWidth(n_bins=1), [0, 10, 1]) == []


def test_equal_frequency():
    assert plain(EqualFrequency(n_bins=4), range(12)) == [2.5, 5.5, 8.5]
    assert plain(EqualFrequency(n_bins=2), [0, 1, 2]) == [0.5]  # 1 and 2 rows are equally near to 1.5
    assert plain(EqualFrequency(n_bins=2), [0, 1, 2], [1, 1, 4]) == [1.5]
    assert plain(EqualFrequency(n_bins=3), [0] * 10 + [1, 2]) == [0.5]
    assert plain(EqualFrequency(n_bins=1), range(12)) == []
    assert len(plain(EqualFrequency(n_bins="auto"), range(1000))) == 9
    assert len(plain(EqualFrequency(n_bins="auto"), range(10), [100] * 10)) == 9


def test_equal_frequency_bins_are_as_even_as_ties_allow():
    values, _, _ = data(3, n=2000)
    found = plain(EqualFrequency(n_bins=8), values)
    sizes = np.bincount(np.searchsorted(found, values))
    largest_tie = np.unique(values, return_counts=True)[1].max()
    assert len(sizes) == 8
    assert np.abs(sizes - 250).max() <= largest_tie


def test_equal_frequency_cap_spares_bins_from_a_spike():
    values = np.r_[np.zeros(9000), np.arange(1, 1001)]
    assert len(plain(EqualFrequency(n_bins=10), values)) == 1
    capped = plain(EqualFrequency(n_bins=10, cap=True), values)
    assert capped[0] == 0.5
    assert len(capped) == 5  # a spike of 1000 beside 1000 others takes half of the ten quantiles


def random_quantiles_by_hand(values, seed):
    """The generator's draws again, and for each quantile the nearest boundary by looking at all of them."""
    words = xoshiro(seed)

    def uniform():
        return (next(words) >> 11) / 2**53

    n = len(values)
    fewest, most = (max(2, math.floor(share * n ** (1 / 3) + 0.5)) for share in (0.4, 1.3))
    n_bins = fewest + ((next(words) >> 32) * (most - fewest + 1) >> 32)
    capped = uniform() < 0.5
    distinct = sorted(set(values))
    mass = [min(values.count(v), n / n_bins) if capped else values.count(v) for v in distinct]
    below = np.cumsum(mass)
    cuts = set()
    for j in range(1, n_bins):
        quantile = (j + uniform() - 0.5) / n_bins * below[-1]
        at = min(range(len(distinct) - 1), key=lambda b: (abs(below[b] - quantile), b))
        cuts.add((distinct[at] + distinct[at + 1]) / 2)
    return n_bins, capped, sorted(cuts)


@pytest.mark.parametrize("spike", [0, 60])
def test_random_quantiles_are_the_draws_of_the_seed(spike):
    values = [float(v) for v in RNG(5).integers(0, 40, 150)] + [17.0] * spike
    kinds = set()
    for seed in range(30):
        n_bins, capped, expected = random_quantiles_by_hand(values, seed)
        kinds.add((n_bins, capped))
        assert plain(RandomQuantiles(random_state=seed), values) == pytest.approx(expected)
    assert len({n for n, _ in kinds}) >= 4
    assert len({capped for _, capped in kinds}) == 2


def test_random_quantiles_of_few_values_by_hand():
    # Of 8 rows 2 or 3 bins. Seed 9 draws 3, capped (0.43), 0.199 and 0.884. Quantiles (1 + 0.199 - 0.5) 8/3 = 1.86 and
    # (2 + 0.884 - 0.5) 8/3 = 6.36: after 2 and after 6 rows.
    assert plain(RandomQuantiles(random_state=9), range(8)) == [1.5, 5.5]
    # The zeros count 8/3, which leaves 17/3 in all: quantiles 1.32 and 4.50, boundaries at 2.67, 3.67, 4.67.
    spike = [0, 0, 0, 0, 0, 1, 2, 3]
    assert plain(RandomQuantiles(random_state=9), spike) == [0.5, 2.5]
    # Seed 1 draws 3, not capped (0.747), 0.100 and 0.746: quantiles 1.60 and 5.99, boundaries at 5, 6, 7.
    assert plain(RandomQuantiles(random_state=1), spike) == [0.5, 1.5]


def test_random_quantiles_cap_spares_bins_from_a_spike():
    values = [*[0.0] * 1800, *(float(v) for v in range(1, 201))]
    sizes = {False: [], True: []}
    for seed in range(20):
        _, capped, expected = random_quantiles_by_hand(values, seed)
        found = plain(RandomQuantiles(random_state=seed), values)
        assert found == pytest.approx(expected)
        sizes[capped].append(len(found))
    assert np.mean(sizes[True]) > 2 * np.mean(sizes[False])


def test_random_quantiles_differ_by_column_and_seed():
    X = np.tile(np.arange(500.0)[:, None], (1, 4))
    fitted = RandomQuantiles(random_state=7).fit(X)
    assert len({tuple(cuts) for cuts in fitted.cut_points_}) == 4
    other = RandomQuantiles(random_state=8).fit(X)
    assert not np.array_equal(fitted.cut_points_[0], other.cut_points_[0])
    one = fitted.cut_points_[2]
    np.testing.assert_array_equal(RandomQuantiles(random_state=7).for_column(2).cuts(X[:, 2], None, None, 1), one)


def test_quantiles_are_equal_frequency_with_other_defaults():
    values = [*[0.0] * 500, *(float(v) for v in range(500))]
    assert plain(Quantiles(), values) == plain(EqualFrequency(n_bins="auto", cap=True), values)
    assert plain(Quantiles(n_bins=4, cap=False), values) == plain(EqualFrequency(n_bins=4), values)


def brute_force_k_means(values, k):
    """Least squared error over all ways to cut the sorted values."""
    from itertools import combinations

    values = np.sort(values)
    return min(
        sum(((part - part.mean()) ** 2).sum() for part in np.split(values, list(where)))
        for where in combinations(range(1, len(values)), k - 1)
    )


@pytest.mark.parametrize("seed", range(6))
def test_k_means_is_a_local_optimum(seed):
    rng = RNG(seed)
    values = np.unique(np.r_[rng.normal(0, 1, 8), rng.normal(8, 1, 6), rng.normal(20, 2, 5)])
    found = plain(KMeansBins(n_bins=3), values)
    parts = np.split(values, np.searchsorted(values, found, side="right"))
    means = np.array([part.mean() for part in parts])
    np.testing.assert_allclose(found, (means[1:] + means[:-1]) / 2)  # every value is with its nearest mean
    error = sum(((part - part.mean()) ** 2).sum() for part in parts)
    assert error == pytest.approx(brute_force_k_means(values, 3))  # three clear groups: also the best one


def test_k_means_with_spikes_and_weights():
    assert plain(KMeansBins(n_bins=3), [0] * 97 + [1, 2, 3]) == pytest.approx([0.5, 1.75])
    assert plain(KMeansBins(n_bins=9), [1, 2, 4]) == [1.5, 3.0]
    assert plain(KMeansBins(n_bins=2), [0, 4, 8], [10, 1, 1]) == plain(KMeansBins(n_bins=2), [0] * 10 + [4, 8])
    far = plain(KMeansBins(n_bins=2), np.array([1, 2, 11, 12]) + 1e9)
    assert far == [1e9 + 6.5]


def test_k_means_drops_a_cluster_that_empties():
    values, weights = [0.0, 0.9, 10.1, 11.0], [100.0, 1.0, 1.0, 100.0]
    found = plain(KMeansBins(n_bins=3), values, weights)
    assert found == pytest.approx([5.5])  # {0.9, 10.1} loses both values to its neighbours


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize("min_samples", [0, 1, 8.5, 40])
@pytest.mark.parametrize("max_depth", [1, 2, 4])
def test_tree_equals_oracle(max_depth, min_samples, prune):
    for seed in range(4):
        values, classes, rng = data(seed, n=150)
        weights = [None, rng.integers(0, 4, 150).astype(float), rng.random(150) + 0.2][seed % 3]
        discretiser = TreeBins(max_depth=max_depth, min_samples=min_samples, prune=prune)
        found = discretiser.cuts(values, classes, weights, 4)
        expected = tree_cuts(values, classes, weights, max_depth, min_samples, prune)
        assert expected or prune
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_tree_keeps_a_weak_cut_above_a_strong_one():
    # Class 1 lives in the middle: no first cut pays for itself, so MDLP gives up before it sees the second.
    values, classes = np.arange(12.0), np.repeat(np.array([0, 1, 0], np.int32), [5, 2, 5])
    assert MDLP().cuts(values, classes, None, 2).tolist() == []
    assert TreeBins(max_depth=1, min_samples=1).cuts(values, classes, None, 2).tolist() == []
    assert TreeBins(max_depth=2, min_samples=1).cuts(values, classes, None, 2).tolist() == [4.5, 6.5]
