"""Compiled look-up against a walk of each class through its own branches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countwise import _kernels
from countwise.data.coded import CodedBatch
from countwise.infer.network import Network, Parameters, smooth_network
from countwise.infer.tuning import Tuning
from countwise.smooth import HDP, HLS, MLE, HierarchicalDirichlet, Laplace, MBranch, MEstimate
from countwise.tree.context import Family, build_trees
from oracle import smoothing
from oracle.context_tree import context_counts
from oracle.predict import contribution, log_joint, posterior, scores
from oracle.tables import Table, dependent_table, many, random_table, tables

FLAT = [
    (MEstimate(), lambda nodes, arity: smoothing.m_estimate(nodes, arity, 1.0)),
    (Laplace(), smoothing.laplace),
]
HIERARCHICAL = [
    (MLE(), smoothing.mle),
    (MBranch(), lambda nodes, arity: smoothing.m_branch(nodes, arity, 4.0)),
]
SMOOTHERS = [*FLAT, *HIERARCHICAL]
IDS = [type(smoother).__name__ for smoother, _ in SMOOTHERS]
each_smoother = pytest.mark.parametrize(("smoother", "formula"), SMOOTHERS, ids=IDS)


def all_families(table):
    """Every attribute below all the earlier ones, the nearest first."""
    return [Family(i, tuple(range(i - 1, -1, -1))) for i in range(len(table.arity))]


def network_and_oracle(table, families, smoother, formula, tuning=None):
    batch = table.batch()
    classes = np.bincount(table.y, table.weights, minlength=table.n_classes).astype(float)
    trees = build_trees(batch, families, table.arity, table.n_classes)
    smoothed = smooth_network(trees, classes, smoother, 0, 1)
    network = Network(trees, Parameters(smoothed.log_prior, smoothed.trees, tuning), table.arity)
    prior = formula({(): {y: n for y, n in enumerate(classes) if n}}, table.n_classes)[()]
    terms = [(f, formula(context_counts(table, f.child, f.parents), table.arity[f.child])) for f in families]
    return network, terms, prior


def check_joint(table, new, families, smoother, formula):
    """Joint probabilities of rows of codes, which may be unseen."""
    network, terms, prior = network_and_oracle(table, families, smoother, formula)
    rows = Table(new, np.zeros(len(new), int), table.arity, table.n_classes)
    expected = np.array([log_joint(terms, prior, row, table.arity) for row in new.tolist()])
    assert network.log_joint(rows.batch()) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    expected = np.array([posterior(terms, prior, row, table.arity) for row in new.tolist()])
    assert network.proba(rows.batch()) == pytest.approx(expected, rel=1e-10, abs=1e-14)


def seen_or_unseen(table):
    """All rows of codes that every column has met, or its unseen code."""
    choices = [[*np.unique(table.X[:, i]).tolist(), values] for i, values in enumerate(table.arity)]
    return np.stack([axis.ravel() for axis in np.meshgrid(*choices, indexing="ij")], axis=1)


@each_smoother
@many
@given(tables(max_columns=3, max_arity=3, max_rows=12))
def test_every_row_of_a_small_domain(smoother, formula, table):
    check_joint(table, seen_or_unseen(table), all_families(table), smoother, formula)


@each_smoother
def test_a_class_that_lacks_a_context_takes_the_value_from_the_context_above(smoother, formula):
    # Class 0 has met parent 1 with value 0 only; class 1 has met value 1, but under parent 0 only. For the row
    # (parent 1, value 1) class 0 lacks the cell, class 1 lacks the context: it takes P(value 1 | class 1).
    X = np.array([[0, 0], [1, 0], [0, 1], [0, 1], [0, 0]])
    table = Table(X, np.array([0, 0, 1, 1, 1]), [2, 2], 2)
    check_joint(table, np.array([[1, 1]]), [Family(0, ()), Family(1, (0,))], smoother, formula)


@each_smoother
@pytest.mark.parametrize("arity", [64, 65, 128, 200, 256, 257, 700])
def test_bitmaps_of_several_words_and_binary_search(smoother, formula, arity):
    # Up to 64 values in one word, up to 256 in several, beyond that sorted codes.
    table = random_table(arity, 300, [arity, 3, arity])
    families = [Family(0, ()), Family(2, (0, 1)), Family(1, (2, 0))]
    new = random_table(1, 60, [arity + 1, 4, arity + 1]).X
    for i in range(3):  # values of the domain that training has not met belong to another test
        new[~np.isin(new[:, i], table.X[:, i]), i] = table.arity[i]
    check_joint(table, np.concatenate([new, table.X[:40]]), families, smoother, formula)


@each_smoother
def test_values_of_the_domain_without_any_count(smoother, formula):
    # As when all rows of a value are held out: the posterior is that of the oracle.
    table = random_table(2, 40, [5, 5])
    table = table.take((table.X != 3).all(axis=1))
    families = all_families(table)
    network, terms, prior = network_and_oracle(table, families, smoother, formula)
    new = np.array([[3, 0], [0, 3], [3, 3], [1, 2]])
    expected = [posterior(terms, prior, row, table.arity) for row in new.tolist()]
    rows = Table(new, np.zeros(4, int), table.arity, 3)
    assert network.proba(rows.batch()) == pytest.approx(np.array(expected), rel=1e-10)


@each_smoother
def test_a_class_without_rows(smoother, formula):
    table = random_table(3, 50, [3, 3])
    table = Table(table.X, np.minimum(table.y, 1), table.arity, 4)  # classes 2 and 3 are known but not met
    check_joint(table, seen_or_unseen(table), all_families(table), smoother, formula)


@each_smoother
def test_many_parents(smoother, formula):
    table = dependent_table(4, 250, 7)
    families = [Family(6, (5, 4, 3, 2, 1, 0)), Family(0, (6, 3, 1, 2)), Family(3, ())]
    new = random_table(5, 150, [4] * 7).X
    check_joint(table, new, families, smoother, formula)


@each_smoother
@many
@given(tables(max_columns=3, max_arity=3, max_rows=15, max_classes=40))
def test_more_classes_than_any_context_has_seen(smoother, formula, table):
    check_joint(table, seen_or_unseen(table), all_families(table), smoother, formula)


@each_smoother
@pytest.mark.parametrize("arity", [3, 70, 300])
def test_many_classes_and_parents(smoother, formula, arity):
    table = dependent_table(11, 400, 5, arity, n_classes=60)
    families = [Family(4, (3, 2, 1, 0)), Family(0, (4, 2)), Family(1, (0,)), Family(2, ())]
    new = np.concatenate([table.X[:60], random_table(12, 100, [arity + 1] * 5).X])
    for i in range(5):  # values of the domain that training has not met belong to another test
        new[~np.isin(new[:, i], table.X[:, i]), i] = arity
    check_joint(table, new, families, smoother, formula)


def log_joint_by_layout(table, families, smoother, new, sparse_below, **layout):
    trees = build_trees(table.batch(), families, table.arity, table.n_classes)
    lookup = _kernels.Lookup(table.n_classes, len(trees))
    for i, tree in enumerate(trees):
        s = smoother.smooth(tree.counts)
        child, parents = tree.family.child, list(tree.family.parents)
        numbers = s.cell_proba, s.absent, s.hierarchical, s.base
        lookup.set(i, child, parents, table.arity, tree.kernel_arrays, *numbers, sparse_below, **layout)
    out = np.empty(len(new) * table.n_classes)
    codes = Table(new, np.zeros(len(new), int), table.arity, table.n_classes).batch().codes
    lookup.log_joint(codes, table.arity, np.zeros(table.n_classes), None, len(new), 1, out)
    return out


@pytest.mark.parametrize("smoother", [HDP(), MBranch(), HLS(), HierarchicalDirichlet()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("n_classes", [2, 5, 30])
def test_dense_and_sparse_levels_say_the_same(smoother, n_classes):
    table = dependent_table(13, 700, 6, 4, n_classes)  # of which 4 is a value that only new rows have
    table = Table(table.X, table.y, [5] * 6, n_classes)
    new = np.random.default_rng(0).integers(6, size=(600, 6))
    dense = log_joint_by_layout(table, all_families(table), smoother, new, 0)
    for sparse_below in (1, 2, 4, 10**6):
        found = log_joint_by_layout(table, all_families(table), smoother, new, sparse_below)
        np.testing.assert_allclose(found, dense, rtol=0, atol=1e-12)


def test_levels_that_no_cache_holds_are_sparse_with_few_classes_too():
    table = random_table(17, 200_000, [90, 90, 90, 3], n_classes=7)  # nearly as many contexts of three parents
    new = random_table(18, 5000, [91, 91, 91, 4]).X
    families = [Family(3, (0, 1, 2))]
    dense = log_joint_by_layout(table, families, MBranch(), new, 0)
    found = log_joint_by_layout(table, families, MBranch(), new, 8)
    assert not np.array_equal(found, dense)  # in single precision
    np.testing.assert_allclose(found, dense, rtol=1e-6, atol=0)


@pytest.mark.parametrize("smoother", [HDP(), MBranch(), HLS()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("n_classes", [3, 30])
def test_short_items_of_large_levels_say_the_same_in_single_precision(smoother, n_classes):
    table = dependent_table(13, 700, 6, 4, n_classes)
    table = Table(table.X, table.y, [5] * 6, n_classes)
    new = np.random.default_rng(0).integers(6, size=(600, 6))
    dense = log_joint_by_layout(table, all_families(table), smoother, new, 0)
    found = log_joint_by_layout(table, all_families(table), smoother, new, 8, large=0)
    assert not np.array_equal(found, dense)
    np.testing.assert_allclose(found, dense, rtol=1e-6, atol=0)


@each_smoother
@pytest.mark.parametrize("n_classes", [2, 30])
def test_dense_levels_of_large_trees_say_the_same_in_single_precision(smoother, formula, n_classes):
    table = dependent_table(13, 700, 6, 4, n_classes)
    table = Table(table.X, table.y, [5] * 6, n_classes)
    new = np.random.default_rng(0).integers(6, size=(600, 6))
    for sparse_below in (0, 8):
        wide = log_joint_by_layout(table, all_families(table), smoother, new, sparse_below)
        found = log_joint_by_layout(table, all_families(table), smoother, new, sparse_below, narrow=0)
        assert not np.array_equal(found, wide)
        np.testing.assert_allclose(found, wide, rtol=1e-6, atol=0)


def test_codes_beyond_short_items_are_kept_whole():
    arity = 70_000
    X = np.stack([np.arange(2000) % 7, np.arange(2000) * 34], axis=1)  # values up to 67,966
    table = Table(X, np.arange(2000) % 3, [7, arity], 3)
    dense = log_joint_by_layout(table, [Family(1, (0,))], MBranch(), X, 0)
    found = log_joint_by_layout(table, [Family(1, (0,))], MBranch(), X, 10**6, large=0)
    np.testing.assert_allclose(found, dense, rtol=0, atol=1e-12)


@each_smoother
def test_more_rows_than_a_block_and_a_share(smoother, formula):
    table = dependent_table(6, 200, 3)
    network, terms, prior = network_and_oracle(table, all_families(table), smoother, formula)
    new = np.random.default_rng(0).integers(4, size=(17_000, 3))
    proba = network.proba(Table(new, new[:, 0], table.arity, 2).batch())
    cases, where = np.unique(new, axis=0, return_inverse=True)
    expected = np.array([posterior(terms, prior, row, table.arity) for row in cases.tolist()])
    assert proba == pytest.approx(expected[where.ravel()], rel=1e-10)
    assert np.array_equal(network.proba(Table(new, new[:, 0], table.arity, 2).batch(), threads=2), proba)


@each_smoother
@pytest.mark.parametrize("sparse_below", [0, 10**6])
def test_a_row_gets_the_same_whatever_the_rows_beside_it(smoother, formula, sparse_below):
    """To the last bit: a few rows hold a value that training never met, and walk where the others look up."""
    table = dependent_table(6, 200, 4)
    rng = np.random.default_rng(0)
    new = np.stack([rng.integers(arity, size=1000) for arity in table.arity], axis=1)
    strange = rng.random(1000) < 0.01
    new[strange, rng.integers(4, size=strange.sum())] = 9
    whole = log_joint_by_layout(table, all_families(table), smoother, new, sparse_below).reshape(1000, -1)
    for start, end in ((0, 1), (3, 300), (299, 1000), *((r, r + 1) for r in np.flatnonzero(strange))):
        part = log_joint_by_layout(table, all_families(table), smoother, new[start:end], sparse_below)
        np.testing.assert_array_equal(part.reshape(end - start, -1), whole[start:end])


@many
@given(tables(max_columns=3, weights="none"), st.sampled_from([1, 2]))
def test_contributions(table, threads):
    families = [f for f in all_families(table) if f.child != 1]  # a column that is not used
    network, terms, _ = network_and_oracle(table, families, *SMOOTHERS[0])
    new = seen_or_unseen(table)
    parts = network.contributions(Table(new, new[:, 0], table.arity, table.n_classes).batch(), threads)
    assert parts.shape == (len(new), len(table.arity), table.n_classes)
    expected = np.zeros(parts.shape)
    for family, proba in terms:
        for r, row in enumerate(new.tolist()):
            for y in range(table.n_classes):
                expected[r, family.child, y] = contribution(family, proba, y, row, table.arity)
    assert parts == pytest.approx(expected, rel=1e-11, abs=1e-12)


@each_smoother
@many
@given(tables(min_columns=3, max_columns=3, max_arity=3, max_classes=12), st.booleans())
def test_tuned_scores(smoother, formula, table, weighted):
    weight = np.array([0.3, 0.0, 1.7]) if weighted else None
    tuning = Tuning(np.ones(1), 0.8, np.linspace(-1, 1, table.n_classes), weight)
    network, terms, prior = network_and_oracle(table, all_families(table), smoother, formula, tuning)
    new = seen_or_unseen(table)
    rows = Table(new, new[:, 0], table.arity, table.n_classes).batch()
    expected = np.array([scores(terms, prior, row, table.arity, tuning) for row in new.tolist()])
    assert network.scores(rows) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    parts = network.contributions(rows)
    assert network.intercept + parts.sum(axis=1) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert not weighted or not parts[:, 1].any()
    plain = np.array([log_joint(terms, prior, row, table.arity) for row in new.tolist()])
    assert network.log_joint(rows) == pytest.approx(plain, rel=1e-11, abs=1e-11)
    assert network.log_prior + network.terms(rows).sum(axis=1) == pytest.approx(plain, rel=1e-11, abs=1e-11)


def test_no_attributes_at_all():
    table = random_table(7, 30, [3])
    network, _, prior = network_and_oracle(table, [], *SMOOTHERS[0])
    assert network.proba(table.batch()) == pytest.approx(np.tile(prior, (30, 1)))
    assert network.contributions(table.batch()).tolist() == np.zeros((30, 1, 3)).tolist()


def test_no_rows():
    table = random_table(8, 30, [3, 2])
    network, *_ = network_and_oracle(table, all_families(table), *SMOOTHERS[0])
    empty = CodedBatch([np.zeros(0, np.uint8)] * 2, None, None, 0)
    assert network.proba(empty).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_code_widths(dtype):
    table = random_table(9, 100, [4, 5, 6])
    network, *_ = network_and_oracle(table, all_families(table), *SMOOTHERS[0])
    assert np.array_equal(network.proba(table.batch(dtype)), network.proba(table.batch()))


def test_hundreds_of_attributes_do_not_underflow():
    table = dependent_table(10, 60, 400, noise=0.9)
    families = [Family(i, ()) for i in range(400)]
    network, terms, prior = network_and_oracle(table, families, *SMOOTHERS[0])
    assert network.log_joint(table.batch()).min() < -400
    expected = [posterior(terms, prior, row, table.arity) for row in table.X[:5].tolist()]
    assert network.proba(table.batch())[:5] == pytest.approx(np.array(expected), rel=1e-9, abs=1e-300)
