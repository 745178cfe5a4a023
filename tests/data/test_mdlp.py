"""MDLP: kernel against oracle, invariants, published cut points."""

import threading
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from countwise import _kernels
from countwise.data.discretise import MDLP
from oracle.mdlp import mdlp_cuts as oracle

RNG = np.random.default_rng


def cuts(values, classes, weights=None, n_classes=None):
    values = np.asarray(values, dtype=np.float64)
    classes = np.asarray(classes, dtype=np.int32)
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
    if n_classes is None:
        n_classes = int(classes.max(initial=0)) + 1
    return MDLP().cuts(values, classes, weights, n_classes)


def step_data(seed, n=120, n_classes=3, grid=40):
    """Noisy classes that follow the value in steps: several cuts to be found, many equal values."""
    rng = RNG(seed)
    values = rng.integers(0, grid, n).astype(float)
    classes = (values * n_classes / grid + rng.normal(0, 0.4, n)).clip(0, n_classes - 1).astype(int)
    return values, classes


@st.composite
def columns(draw, max_rows=60):
    n = draw(st.integers(0, max_rows))
    n_classes = draw(st.integers(1, 4))
    values = draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    # Classes follow the values more often than not, else nearly no column has a cut.
    noise = draw(st.lists(st.integers(0, 7), min_size=n, max_size=n))
    classes = [(v // 4 if e < 6 else e) % n_classes for v, e in zip(values, noise, strict=True)]
    return np.array(values, dtype=float), np.array(classes, dtype=np.int32), n_classes


@given(columns())
def test_equals_oracle(column):
    values, classes, n_classes = column
    assert cuts(values, classes, None, n_classes).tolist() == oracle(values, classes)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(5))
def test_equals_oracle_with_cuts(seed, n_classes):
    values, classes = step_data(seed, n=300, n_classes=n_classes)
    expected = oracle(values, classes)
    assert len(expected) >= 1
    assert cuts(values, classes).tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_equals_oracle_real_weights(seed):
    values, classes = step_data(seed)
    weights = RNG(seed + 100).gamma(2.0, 1.5, len(values))
    expected = oracle(values, classes, weights)
    assert expected
    assert cuts(values, classes, weights).tolist() == expected


def test_equals_oracle_on_continuous_rows_past_the_radix_sort():
    rng = RNG(3)
    values = np.concatenate((rng.normal(size=3000), -np.exp(rng.normal(size=3000) * 20)))
    classes = ((values > 0.3) ^ (rng.random(6000) < 0.1)).astype(np.int32)
    # The oracle is quadratic, so compare its first cut only: a cut below 0.3 would show up here.
    found = cuts(values, classes)
    order = np.argsort(values)
    left = np.cumsum(np.eye(2)[classes[order]], axis=0)[:-1]
    right = left[-1] + np.eye(2)[classes[order[-1]]] - left
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = sum(np.nansum(-part * np.log2(part / part.sum(axis=1, keepdims=True)), axis=1) for part in (left, right))
    best = int(np.argmin(bits))
    assert values[order[best : best + 2]].mean() in found
    assert np.all(np.diff(found) > 0)


# The cut points that Weka's supervised Discretize filter (Fayyad & Irani, defaults) gives for iris.
IRIS = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]


def test_iris():
    X, y = load_iris(return_X_y=True)
    fitted = MDLP().fit(X, y)
    for column, found, published in zip(X.T, fitted.cut_points_, IRIS, strict=True):
        np.testing.assert_allclose(found, published, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(found, oracle(column, y))
    assert fitted.n_bins_.tolist() == [3, 3, 3, 3]


def test_acceptance_by_hand():
    # One row of class 1 below n of class 0: both sides are pure, so N Gain = N log2 N - n log2 n, N = n + 1.
    for n in range(1, 40):
        values, classes = np.arange(n + 1.0), np.r_[1, np.zeros(n, int)]
        size = n + 1
        bits = size * log2(size) - (n * log2(n) if n else 0)
        accepted = bits > log2(max(size - 1, 1)) + log2(7) - 2 * bits / size
        assert len(cuts(values, classes)) == accepted, n
    assert not len(cuts(np.arange(40.0), np.r_[1, np.zeros(39, int)]))
    assert len(cuts(np.arange(2.0), [0, 1])) == 1


@given(columns(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(column, random):
    values, classes, n_classes = column
    weights = np.array([random.random() * 3 for _ in values])
    order = list(range(len(values)))
    random.shuffle(order)
    for w in (None, weights):
        shuffled = None if w is None else w[order]
        np.testing.assert_array_equal(
            cuts(values, classes, w, n_classes), cuts(values[order], classes[order], shuffled, n_classes)
        )


@pytest.mark.parametrize("n", [500, 20_000])
def test_row_order_with_real_weights_and_ties(n):
    rng = RNG(n)
    values, classes = step_data(1, n=n)
    weights = rng.random(n)
    order = rng.permutation(n)
    expected = cuts(values, classes, weights)
    assert len(expected) >= 2
    np.testing.assert_array_equal(cuts(values[order], classes[order], weights[order]), expected)


@given(columns(), st.data())
def test_integer_weights_are_repetitions(column, data):
    values, classes, n_classes = column
    times = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values))), dtype=int)
    weighted = cuts(values, classes, times, n_classes)
    repeated = cuts(np.repeat(values, times), np.repeat(classes, times), None, n_classes)
    np.testing.assert_array_equal(weighted, repeated)


def test_rows_of_weight_zero_are_not_there():
    values, classes = step_data(2)
    extra = np.linspace(-50, 100, 80)
    found = cuts(np.r_[values, extra], np.r_[classes, np.arange(80) % 9], np.r_[np.ones(len(values)), np.zeros(80)])
    expected = cuts(values, classes)
    assert len(expected) >= 2
    np.testing.assert_array_equal(found, expected)


@given(columns(), st.integers(-3, 6), st.integers(-1000, 1000))
def test_affine(column, exponent, shift):
    values, classes, n_classes = column
    scale = 2.0**exponent  # powers of two and small integers: no rounding, so the cuts move exactly
    np.testing.assert_array_equal(
        cuts(values * scale + shift, classes, None, n_classes),
        cuts(values, classes, None, n_classes) * scale + shift,
    )


@given(columns())
def test_class_names_do_not_matter(column):
    values, classes, n_classes = column
    expected = cuts(values, classes, None, n_classes)
    np.testing.assert_array_equal(cuts(values, n_classes - 1 - classes, None, n_classes), expected)
    np.testing.assert_array_equal(cuts(values, classes * 300 + 7, None, 300 * n_classes + 8), expected)


@settings(max_examples=50)
@given(columns(), st.integers(0, 2**32 - 1))
def test_cuts_separate_values(column, seed):
    values, classes, n_classes = column
    values = values * 10.0 ** RNG(seed).integers(-300, 300)
    found = cuts(values, classes, None, n_classes)
    codes = np.searchsorted(found, values, side="left")
    assert np.all(np.diff(found) > 0)
    assert len(values) == 0 or np.unique(codes).tolist() == list(range(len(found) + 1))


@pytest.mark.parametrize(
    ("lo", "hi"),
    [
        (1.0, np.nextafter(1.0, 2.0)),
        (-np.nextafter(1.0, 2.0), -1.0),
        (0.0, 5e-324),
        (-5e-324, 0.0),
        (-1.7e308, 1.7e308),
        (1.6e308, 1.7e308),
        (np.nextafter(1.7e308, 0), 1.7e308),
    ],
)
def test_cut_between_extreme_neighbours(lo, hi):
    (cut,) = cuts([lo] * 10 + [hi] * 10, [0] * 10 + [1] * 10)
    assert lo <= cut < hi


def test_minus_zero_is_zero():
    assert len(cuts([0.0] * 20 + [-0.0] * 20, [0] * 20 + [1] * 20)) == 0


def test_ties_take_the_lowest_cut():
    # Mirror images: cutting off either end gains the same.
    values, classes = np.arange(60.0), np.repeat([1, 0, 1], 20)
    tree = _kernels.tree_cuts(values, classes.astype(np.int32), None, 2, 1, 1.0, False)
    assert tree.tolist() == [19.5]
    assert cuts(values, classes).tolist() == [19.5, 39.5]


def test_nothing_to_cut():
    assert cuts([], []).shape == (0,)
    assert cuts([3.0] * 50, [0, 1] * 25).shape == (0,)
    assert cuts(np.arange(50.0), [2] * 50).shape == (0,)
    assert cuts(np.arange(50.0), [0, 1] * 25, np.zeros(50)).shape == (0,)


@pytest.mark.parametrize("k", [300, 2000])
def test_many_classes(k):
    # 3^2000 overflows a double. Each half of the column has its own half of the classes.
    rng = RNG(k)
    classes = rng.integers(0, k, 40 * k)
    values = rng.random(40 * k) + (classes >= k // 2)
    found = cuts(values, classes)
    np.testing.assert_allclose(found, [1.0], atol=0.01)


def test_scaled_weights_keep_the_best_cut():
    # MDLP itself is not invariant (N enters), but tiny or huge weights must not break the arithmetic.
    values, classes = step_data(4)
    weights = RNG(4).random(len(values)) + 0.5
    plain = _kernels.tree_cuts(values, classes.astype(np.int32), weights, 3, 1, 0.0, False)
    assert len(plain) == 1
    for factor in (1e-280, 1e-30, 1e-3, 7.0, 1e15, 1e250):
        found = _kernels.tree_cuts(values, classes.astype(np.int32), weights * factor, 3, 1, 0.0, False)
        np.testing.assert_array_equal(found, plain)


def test_direct_and_tabled_scores_agree():
    # 10^9 rows as weights: no table of that size. All counts are those of the small problem times 10^6.
    values, classes = step_data(5)
    big = cuts(values, classes, np.full(len(values), 1e6))
    repeated = cuts(np.tile(values, 500), np.tile(classes, 500))  # tabled, and large enough to be cut likewise
    assert len(repeated) >= 3
    assert set(repeated) <= set(big)


@pytest.mark.parametrize(
    ("values", "classes", "weights", "message"),
    [
        ([np.nan], [0], None, "finite"),
        ([np.inf], [0], None, "finite"),
        ([1.0], [2], None, "classes"),
        ([1.0], [-1], None, "classes"),
        ([1.0], [0], [-1.0], "weights"),
        ([1.0], [0], [np.nan], "weights"),
        ([1.0, 2.0], [0, 1], [1e305, 1.0], "too large"),
        ([1.0, 2.0], [0], None, "length"),
    ],
)
def test_kernel_refuses_what_it_cannot_use(values, classes, weights, message):
    with pytest.raises(ValueError, match=message):
        cuts(values, classes, weights, n_classes=2)


def test_threads_agree():
    columns = [step_data(seed, n=5000) for seed in range(8)]
    expected = [cuts(*column) for column in columns]
    found = [None] * len(columns)

    def work(i):
        found[i] = cuts(*columns[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(columns))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
