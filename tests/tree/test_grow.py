"""Growth agrees with its slow twin, and does not depend on threads, the order of rows or the form of weights."""

import itertools

import numpy as np
import pytest

from countwise import _kernels
from oracle import c45

CRITERIA = {"gain_ratio": 0, "entropy": 1, "gini": 2}
NONE = 2**32 - 1


def table(seed, n_rows=60, n_classes=3, gaps=True):
    """Numbers of few and of many codes, categories, gaps, and a class that depends on some of them."""
    rng = np.random.default_rng(seed)
    n_values = [0, 4, 0, 300, 12, 70000]
    arity = [3, 5, 7, 301, 12, 70000]
    columns = []
    for n, a in zip(n_values, arity, strict=True):
        codes = rng.integers(0, n or a, n_rows)
        if gaps and n and a > n:
            codes[rng.random(n_rows) < 0.2] = n
        columns.append(codes.astype([np.uint8, np.uint16, np.uint32][(a > 255) + (a > 65535)]))
    noise = rng.integers(0, n_classes, n_rows)
    y = np.where(rng.random(n_rows) < 0.3, noise, (columns[0] + (columns[3] > 150) + (columns[5] > 35000)) % n_classes)
    return columns, arity, n_values, y.astype(np.uint8)


def kernel(
    data,
    criterion="gain_ratio",
    weights=None,
    min_leaf=2.0,
    max_depth=NONE,
    features=NONE,
    seed=0,
    threads=1,
    binary=False,
    known=None,
    soft=False,
):
    columns, arity, n_values, y = data
    n_classes = int(y.max()) + 1
    options = (CRITERIA[criterion], min_leaf, max_depth, features, seed, binary, soft)
    known = known or []
    return _kernels.grow_tree(columns, arity, n_values, y, n_classes, weights, known, options, threads)


def nodes_of(arrays):
    parent, branch, column, low, high, _, cell_ptr, value, count, side_ptr, sides = arrays
    own_sides = [sides[a:b].tolist() for a, b in itertools.pairwise(side_ptr)]
    cells = [dict(zip(value[a:b].tolist(), count[a:b].tolist(), strict=True)) for a, b in itertools.pairwise(cell_ptr)]
    return list(zip(*(a.tolist() for a in (parent, branch, column, low, high)), cells, own_sides, strict=True))


def same_nodes(found, expected):
    assert [node[:5] for node in found] == [node[:5] for node in expected]
    for own, other in zip(found, expected, strict=True):
        assert own[5].keys() == other[5].keys()
        assert own[6] == other[6]
        np.testing.assert_allclose(list(own[5].values()), list(other[5].values()), rtol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_the_oracle(criterion, seed):
    data = table(seed, n_rows=20 + 20 * (seed % 5), n_classes=2 + seed % 4)
    columns, _, n_values, y = data
    expected = c45.grow(columns, n_values, y, np.ones(len(y)), criterion)
    assert len(expected) > 3
    same_nodes(nodes_of(kernel(data, criterion)), expected)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(6))
def test_real_weights_agree_with_the_oracle(criterion, seed):
    data = table(seed, n_rows=70)
    columns, _, n_values, y = data
    weights = np.random.default_rng(seed).gamma(2.0, 0.7, len(y))
    expected = c45.grow(columns, n_values, y, weights, criterion, min_leaf=1.5)
    assert len(expected) > 3
    same_nodes(nodes_of(kernel(data, criterion, weights, min_leaf=1.5)), expected)


def in_sets(seed, n_rows, n_classes):
    """Categories of which some lead to the same class, and a number."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, a, n_rows).astype(np.uint8) for a in (7, 5, 40)]
    y = np.where(rng.random(n_rows) < 0.3, rng.integers(0, n_classes, n_rows), (columns[0] * 3 % 7 + columns[1] % 2))
    return columns, [7, 5, 40], [0, 0, 40], (y % n_classes).astype(np.uint8)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_sets_agree_with_the_oracle(criterion, n_classes, weighted):
    data = in_sets(n_classes, 150, n_classes)
    columns, _, n_values, y = data
    weights = np.random.default_rng(2).gamma(2.0, 0.7, len(y)) if weighted else None
    expected = c45.grow(columns, n_values, y, np.ones(len(y)) if weights is None else weights, criterion, binary=True)
    assert sum(node[3] == -2 for node in expected) > 2
    same_nodes(nodes_of(kernel(data, criterion, weights, binary=True)), expected)


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("seed", range(5))
def test_of_two_classes_no_other_two_sets_are_better(criterion, seed):
    """By enumeration of all of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 8, 90).astype(np.uint8)
    y = (rng.random(90) < rng.random(8)[codes]).astype(np.uint8)
    rows, ones = range(90), np.ones(90)
    best = c45.best_subset(rows, codes, y, ones, criterion, 2, c45.all_sides(rows, codes))
    root = nodes_of(kernel(([codes], [8], [0], y), criterion, max_depth=1, binary=True))[0]
    branches = c45.split_by(rows, codes, 0, None, {s >> 1: s & 1 for s in root[6]})
    assert c45.gain_of(rows, branches, y, ones, criterion) == pytest.approx(best[0], abs=1e-9)


def test_two_sets_do_not_depend_on_order_or_threads():
    columns, arity, n_values, y = data = in_sets(3, 60000, 5)
    order = np.random.default_rng(7).permutation(len(y))
    one = kernel(data, binary=True)
    assert len(one[10]) > 0
    for other in (kernel(([c[order] for c in columns], arity, n_values, y[order]), binary=True),
                  kernel(data, threads=3, binary=True)):  # fmt: skip
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_known", [None, [2, 4, 6, 300, 12, 70000]])
def test_likely_thresholds_agree_with_the_oracle(criterion, weighted, n_known):
    columns, _, n_values, y = data = table(5, n_rows=150)
    weights = np.random.default_rng(2).gamma(2.0, 0.7, len(y)) if weighted else None
    w = np.ones(len(y)) if weights is None else weights
    expected = c45.grow(columns, n_values, y, w, criterion, n_known=n_known, soft=True)
    assert (sum(len(node[6]) == 32 for node in expected) > 3) == (criterion != "gini")  # which knows no likelihood
    assert any(node[3] >= 0 and not node[6] for node in expected)  # some are sharp
    found = kernel(data, criterion, weights, known=n_known, soft=True)
    same_nodes(nodes_of(found), expected)
    for a, b in zip(kernel(data, criterion, weights, known=n_known)[:9], found, strict=False):
        np.testing.assert_array_equal(a, b)  # nothing else changes


def test_a_threshold_is_likely_where_the_classes_change():
    """Ten rows of each class, apart: any threshold but the one between them is 2^-4 as likely, or less, half of that
    counts, and distance does the rest. With one row of the other class beside it, both of its sides are likely.
    """
    y = np.repeat([0, 1], 10).astype(np.uint8)
    codes = np.arange(20, dtype=np.uint8)
    assert nodes_of(kernel(([codes], [20], [20], y), soft=True))[0][2:5] == (0, 9, 9)
    assert nodes_of(kernel(([codes], [20], [20], y), soft=True))[0][6][16] == 9
    y[11] = 0
    likely = nodes_of(kernel(([codes], [20], [20], y), soft=True))[0][6][::2]
    assert {9, 11} <= set(likely)
    assert likely == sorted(likely)


def test_thresholds_that_would_want_another_tree_are_not_likely():
    """Between rows of one class lie those of another: both ends of these are as good, and the first one is taken."""
    codes, y = np.arange(700, dtype=np.uint16), np.repeat([0, 1, 0], [300, 100, 300]).astype(np.uint8)
    low, _, _, likely = nodes_of(kernel(([codes], [700], [700], y), "entropy", soft=True))[0][3:]
    assert low == 299
    assert max(likely[::2]) < 350


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_missing_values_take_all_branches(criterion, binary, weighted):
    columns, _, n_values, y = data = table(4, n_rows=120)
    n_known = [2, 4, 6, 300, 12, 70000]  # of the categories the last code means missing
    weights = np.random.default_rng(2).gamma(2.0, 0.7, len(y)) if weighted else None
    w = np.ones(len(y)) if weights is None else weights
    expected = c45.grow(columns, n_values, y, w, criterion, binary=binary, n_known=n_known)
    found = nodes_of(kernel(data, criterion, weights, binary=binary, known=n_known))
    assert len(expected) > 5
    assert any(0 < c < 0.9 for node in expected for c in node[5].values())
    same_nodes(found, expected)
    assert len(found) == len(nodes_of(kernel(data, criterion, weights, binary=binary, known=n_known, threads=3)))


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_depth_is_limited(depth):
    data = table(3, n_rows=80)
    columns, _, n_values, y = data
    found = kernel(data, max_depth=depth)
    same_nodes(nodes_of(found), c45.grow(columns, n_values, y, np.ones(len(y)), max_depth=depth))
    assert len(found[5]) == depth + 2


@pytest.mark.parametrize("criterion", CRITERIA)
def test_whole_weights_are_repetitions(criterion):
    columns, arity, n_values, y = data = table(5, n_rows=300)
    weights = np.random.default_rng(5).integers(1, 4, len(y))
    times = np.repeat(np.arange(len(y)), weights)
    repeated = ([c[times] for c in columns], arity, n_values, y[times])
    weighted, plain = kernel(data, criterion, weights.astype(float)), kernel(repeated, criterion)
    for a, b in zip(weighted, plain, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_order_of_rows_and_threads_do_not_matter(criterion):
    columns, arity, n_values, y = data = table(7, n_rows=30000, n_classes=4)  # large nodes go to several threads
    order = np.random.default_rng(7).permutation(len(y))
    shuffled = ([c[order] for c in columns], arity, n_values, y[order])
    one = kernel(data, criterion)
    for other in (kernel(shuffled, criterion), kernel(data, criterion, threads=3)):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_random_columns_depend_on_the_seed_alone():
    data = table(9, n_rows=2000)
    one, again, other = (kernel(data, features=2, seed=s, threads=t) for s, t in ((1, 1), (1, 3), (2, 1)))
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one[2], other[2])


def test_a_node_looks_at_more_columns_where_those_drawn_cannot_be_split():
    rng = np.random.default_rng(0)
    useful = rng.integers(0, 2, 200).astype(np.uint8)
    data = ([np.zeros(200, np.uint8)] * 5 + [useful], [2] * 6, [2] * 6, useful)
    for seed in range(5):
        assert kernel(data, features=1, seed=seed)[2].tolist() == [5, -1, -1]


def test_many_classes_and_categories():
    rng = np.random.default_rng(1)
    category = rng.integers(0, 1000, 4000).astype(np.uint16)
    y = ((category // 2 + (rng.random(4000) < 0.1)) % 500).astype(np.uint16)
    data = ([category], [1000], [0], y)
    expected = c45.grow([category], [0], y, np.ones(4000))
    same_nodes(nodes_of(kernel(data)), expected)


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("seed", range(4))
def test_same_partition_as_scikit_learn(criterion, seed):
    """Numbers without ties and large nodes: the best split is the only one."""
    from sklearn.tree import DecisionTreeClassifier

    n = 3000
    rng = np.random.default_rng(seed)
    X = np.stack([rng.permutation(n) for _ in range(4)], axis=1)
    y = ((X[:, 0] > n / 2) + (X[:, 1] + 0.3 * n * rng.standard_normal(n) > 0.6 * n)).astype(np.uint8)
    data = ([X[:, i].astype(np.uint16) for i in range(4)], [n] * 4, [n] * 4, y)
    rival = DecisionTreeClassifier(criterion=criterion, max_depth=3, min_samples_leaf=20, random_state=0).fit(X, y)
    found = kernel(data, criterion, min_leaf=20.0, max_depth=3)
    inner = rival.tree_.feature >= 0
    theirs = sorted(zip(rival.tree_.feature[inner], np.floor(rival.tree_.threshold[inner]).astype(int), strict=True))
    ours = sorted((c, low, high) for c, low, high in zip(found[2], found[3], found[4], strict=True) if c >= 0)
    assert len(theirs) > 3
    assert len(ours) == len(theirs)
    for (column, low, high), (feature, cut) in zip(ours, theirs, strict=True):
        assert column == feature
        assert low <= cut <= high
