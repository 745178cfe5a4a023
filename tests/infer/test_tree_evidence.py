"""Rows that leave a grown tree: the kernel against recounting and against the closed form written out."""

import numpy as np
import pyarrow as pa
import pytest

from countwise import _kernels
from countwise.data.codec import CategoryCodec, Codec
from countwise.data.coded import CodedBatch
from countwise.infer.tree_evidence import TreeEvidence
from countwise.smooth.hdp import HDP, ROOT_CONCENTRATION
from countwise.tree.grow import GrowthRules, grow
from countwise.tree.splits import SplitTree, counted, number_values
from oracle import tree_evidence
from oracle.tables import random_table

WHOLE = 1e100  # of so strong a pull every row of a cell has a table of its own


def grown(n_rows, seed=0, weights=None):
    """A tree from one half of the rows, counted from all of them, and where they end: some in no leaf."""
    table = random_table(seed, n_rows, [3, 5, 4], weights=weights)
    batch = table.batch()
    columns = [CategoryCodec(f"c{i}", pa.array([str(v) for v in range(n)]), False) for i, n in enumerate(table.arity)]
    codec = Codec(tuple(columns), np.arange(table.n_classes))
    half = batch.select(np.arange(n_rows) < max(1, n_rows // 2))
    splits = grow(half, codec, GrowthRules("entropy", 1, category_splits="binary")).splits
    n_values = number_values(codec)
    nodes = splits.apply(batch, n_values)
    tree = SplitTree(counted(splits, nodes, batch.target, batch.weights, table.n_classes), splits)
    return tree, batch, nodes, n_values


def left_out(tree, counts, strength, factor, batch, nodes, left, threads=1):
    out = np.full((batch.n_rows, tree.counts.arity), np.nan)
    rows = nodes, batch.target, left * tree.splits.is_leaf[nodes]
    _kernels.left_out_log_proba(
        tree.counts.kernel_arrays, counts, strength, ROOT_CONCENTRATION, factor, rows, threads, out.reshape(-1)
    )
    return np.exp(out)


@pytest.mark.parametrize("weights", [None, "integer", "eighths"])
@pytest.mark.parametrize("n_rows", [2, 15, 80])
def test_exact_against_recounting_when_counts_are_raw(n_rows, weights):
    tree, batch, nodes, _ = grown(n_rows, n_rows, weights)
    own = np.ones(n_rows) if batch.weights is None else batch.weights
    left = np.minimum(own, 1.0)
    a = 0.7
    found = left_out(tree, tree.counts.cell_count, np.full(tree.counts.n_nodes, WHOLE), a / WHOLE, batch, nodes, left)
    strength = np.full(tree.counts.n_nodes, a)
    classes = batch.target.tolist()
    for r in range(n_rows):
        expected = tree_evidence.recounted(
            tree.splits, nodes, classes, own, left[r], strength, ROOT_CONCENTRATION, tree.counts.arity, r
        )
        np.testing.assert_allclose(found[r], expected, rtol=1e-9)


def test_some_rows_are_in_no_leaf_and_leave_nothing():
    tree, batch, nodes, n_values = grown(80, 80)
    stays = np.flatnonzero(~tree.splits.is_leaf[nodes])
    assert len(stays)
    fit = HDP().fit_tree(tree.counts)
    evidence = TreeEvidence([tree], [fit], batch, n_values, np.zeros((80, tree.counts.arity)), 1)
    proba = np.exp(evidence.terms(0.0)[0])
    smoothed = fit.smoothed(tree.counts)
    for r in stays:
        cells = slice(*tree.counts.cell_ptr[nodes[r] : nodes[r] + 2])
        values = tree.counts.cell_value[cells]
        np.testing.assert_allclose(proba[r, values], smoothed.cell_proba[cells], rtol=1e-9)


@pytest.mark.parametrize("factor", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("weights", [None, "integer"])
def test_rows_leave_an_hdp_in_closed_form(factor, weights):
    tree, batch, nodes, _ = grown(60, 1, weights)
    fit = HDP().fit_tree(tree.counts)
    left = np.ones(60) if batch.weights is None else np.where(np.arange(60) % 2, batch.weights, 1.0)
    found = left_out(tree, fit.counts, fit.concentration[fit.group], factor, batch, nodes, left)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    for r in range(60):
        leaves = left[r] * tree.splits.is_leaf[nodes[r]]
        expected = tree_evidence.fitted(
            tree.counts, fit, factor, ROOT_CONCENTRATION, nodes[r], int(batch.target[r]), leaves
        )
        np.testing.assert_allclose(found[r], expected, rtol=1e-9)


def test_evidence_is_what_trees_add_to_the_prior():
    trees, fits, n_values = [], [], None
    for seed in (1, 2):
        tree, batch, _, n_values = grown(300, 5)
        trees.append(tree)
        fits.append(HDP(tying=("level", "single")[seed - 1]).fit_tree(tree.counts))
    log_prior = np.log(np.random.default_rng(0).dirichlet(np.ones(tree.counts.arity), 300))
    evidence = TreeEvidence(trees, fits, batch, n_values, log_prior, 1)
    terms = evidence.terms(0.4)
    np.testing.assert_allclose(np.exp(terms + log_prior).sum(axis=2), 1.0, rtol=1e-12)
    np.testing.assert_allclose(evidence.mean(0.4), terms.mean(axis=0), rtol=1e-12)
    many = TreeEvidence(trees, fits, batch, n_values, log_prior, 3)
    np.testing.assert_array_equal(many.terms(0.4), terms)


def test_a_tree_without_a_split():
    batch = CodedBatch([np.zeros(6, np.uint8)], np.array([0, 1, 1, 1, 0, 1], np.uint8), None, 6)
    codec = Codec((CategoryCodec("c", pa.array(["a"]), False),), np.arange(2))
    tree = grow(batch, codec, GrowthRules("entropy", 1))
    evidence = TreeEvidence([tree], [HDP().fit_tree(tree.counts)], batch, [0], np.zeros((6, 2)), 1)
    expected = np.where(batch.target[:, None] == np.arange(2), [[1.0, 3.0]], [[2.0, 4.0]])
    np.testing.assert_allclose(np.exp(evidence.terms(3.0)[0]), (expected + 1.0) / 7.0, rtol=1e-12)
