"""Random MDLP: chances worked by hand and by the oracle, well-mixed draws."""

from collections import Counter
from math import log2

import numpy as np
import pytest
from scipy.stats import chisquare

from countwise.data.discretise import RandomMDLP
from oracle.mdlp import chance_of

SEEDS = 4000
LEAST_P = 1e-3  # of a chi-square test; seeds are fixed, so it passes or fails for good


def cuts(values, classes, seed, weights=None):
    values, classes = np.asarray(values, float), np.asarray(classes, np.int32)
    return RandomMDLP(seed).cuts(values, classes, weights, int(classes.max()) + 1)


def frequencies(values, classes, weights=None):
    return Counter(tuple(cuts(values, classes, seed, weights).tolist()) for seed in range(SEEDS))


def agrees(found, chances):
    assert sum(chances.values()) == pytest.approx(1)
    assert set(found) <= set(chances)
    keys = list(chances)
    expected = np.array([chances[key] for key in keys]) * SEEDS
    common = expected >= 5
    counted = np.array([found[key] for key in keys], float)
    merged = [np.append(x[common], x[~common].sum()) for x in (counted, expected)]
    counted, expected = (x[:-1] if x[-1] == 0 else x for x in merged)
    return chisquare(counted, expected).pvalue > LEAST_P


def test_chances_by_hand():
    # Five rows of class 0 below seven of class 1. With N = 12 the threshold, times N, is
    # log2(11) + log2(7) - (2 H - k1 H1 - k2 H2); cuts left of 4.5 leave class 0 pure, cuts right of it class 1.
    def h(a, b):
        return -sum(x / (a + b) * log2(x / (a + b)) for x in (a, b) if x)

    def excess(left, right):
        k1, k2 = (sum(x > 0 for x in side) for side in (left, right))
        gain = 12 * h(5, 7) - sum(left) * h(*left) - sum(right) * h(*right)
        return gain - (log2(11) + log2(7) - (2 * h(5, 7) - k1 * h(*left) - k2 * h(*right)))

    sides = {c - 0.5: ((min(c, 5), max(c - 5, 0)), (max(5 - c, 0), min(12 - c, 7))) for c in range(1, 12)}
    worth = {cut: excess(*side) for cut, side in sides.items() if excess(*side) > 0}
    assert sorted(worth) == [3.5, 4.5, 5.5]
    assert worth[4.5] == pytest.approx(7.451, abs=1e-3)  # 12 H(5/12) - log2(11) - log2(7) + 2 H(5/12)
    # Below 5.5 five rows of class 0 and one of class 1 are left: 6 H(1/6) = 3.900 bits beat log2(5) + log2(7) -
    # 2 H(1/6) = 3.829, so 4.5 follows for sure. Nothing is worth a cut beside the others.
    chances = {(3.5,): worth[3.5], (4.5,): worth[4.5], (4.5, 5.5): worth[5.5]}
    chances = {cuts: w / sum(worth.values()) for cuts, w in chances.items()}
    assert agrees(frequencies(np.arange(12), [0] * 5 + [1] * 7), chances)


def test_one_possible_outcome():
    for seed in range(50):
        assert cuts([1.0] * 10 + [2.0] * 10, [0] * 10 + [1] * 10, seed).tolist() == [1.5]


def test_a_column_without_a_worthy_cut_has_one_by_gain():
    # Classes 0, 1, 0, 1: the ends gain 4 - 3 H(1/3) bits each, the middle nothing, and no cut pays for itself.
    found = frequencies(np.arange(4), [0, 1, 0, 1])
    assert agrees(found, {(0.5,): 0.5, (2.5,): 0.5})
    assert all(len(cuts([1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 0, 1], seed)) == 0 for seed in range(50))  # no gain at all


@pytest.mark.parametrize("weighted", [False, True])
def test_whole_results_have_the_chances_of_the_oracle(weighted):
    rng = np.random.default_rng(5)
    values = np.repeat(np.arange(12.0), 5)
    classes = np.where(rng.random(len(values)) < 0.75, values // 4, 1).astype(int)
    weights = rng.gamma(4.0, 0.3, len(values)) if weighted else None
    found = frequencies(values, classes, weights)
    assert len(found) > 5
    chances = {key: chance_of(list(key), values, classes, weights) for key in found}
    unseen = 1 - sum(chances.values())
    assert 0 <= unseen + 1e-9 < 0.02  # what no seed has met is rare
    agreed = dict(chances) | {(): chance_of([], values, classes, weights) + max(unseen, 0.0)}
    assert agrees(found, agreed)


def test_columns_and_seeds_have_streams_of_their_own():
    rng = np.random.default_rng(0)
    column = rng.normal(size=500)
    classes = (column + rng.normal(size=500) > 0).astype(int)
    X = np.column_stack([column, column])
    first, second = RandomMDLP(0).fit(X, classes).cut_points_
    assert first.tolist() != second.tolist()
    results = {tuple(RandomMDLP(seed).fit(X, classes).cut_points_[0]) for seed in range(20)}
    assert len(results) == 20
    again = RandomMDLP(0).fit(X, classes).cut_points_
    np.testing.assert_array_equal(again[0], first)
