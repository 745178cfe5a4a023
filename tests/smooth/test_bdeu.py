"""BDeu: against its formula, and as one imaginary sample."""

import numpy as np
import pytest
from hypothesis import given

import countwise as cw
from countwise.errors import DataError
from countwise.smooth import BDeu, MEstimate, as_smoother, dense_proba
from countwise.smooth.bdeu import sample_shares
from countwise.tree.context import Family, build_trees, cut_tree, merge_trees
from countwise.tree.count_tree import CountTree, single_node
from oracle.context_tree import context_counts, sorted_paths
from oracle.tables import many, random_table, tables


def context_tree(table):
    *parents, child = range(len(table.arity))
    (tree,) = build_trees(table.batch(), [Family(child, tuple(parents))], table.arity, table.n_classes)
    return tree


@pytest.mark.parametrize("iss", [1.0, 10.0])
@many
@given(tables(max_columns=3, max_arity=5))
def test_formula(iss, table):
    tree = context_tree(table).counts
    *parents, child = range(len(table.arity))
    nodes, splits = context_counts(table, child, parents), [table.n_classes, *(table.arity[p] for p in parents)]
    proba = dense_proba(tree, BDeu(iss).smooth(tree))
    for path, found in zip(sorted_paths(nodes), proba, strict=True):
        contexts = np.prod(splits[: len(path)], initial=1.0)
        counts = np.array([nodes[path].get(value, 0.0) for value in range(tree.arity)])
        alpha = iss / (tree.arity * contexts)
        assert found == pytest.approx((counts + alpha) / (counts.sum() + tree.arity * alpha), rel=1e-12)
        assert found.sum() == pytest.approx(1.0, rel=1e-12)


def test_the_imaginary_sample_is_one():
    # A table whose every context occurred: what falls into a node is what falls into its children.
    table = random_table(0, 500, [3, 2, 4])
    tree = context_tree(table).counts
    shares = sample_shares(tree)
    assert shares[0] == 1.0
    assert np.bincount(tree.parent[1:], shares[1:], minlength=tree.n_nodes)[tree.parent[1:]] == pytest.approx(
        shares[tree.parent[1:]]
    )


def test_contexts_that_did_not_occur_have_their_part():
    tree = context_tree(random_table(1, 3, [50, 4], n_classes=2)).counts
    shares = sample_shares(tree)
    leaves = slice(int(tree.level_ptr[2]), None)
    assert shares[leaves] == pytest.approx(1 / 100)
    assert BDeu().smooth(tree).absent[leaves] == pytest.approx(0.01 / (tree.total[leaves] + 0.01))


def test_a_tree_without_arities_splits_by_its_children():
    tree = CountTree(
        parent=np.array([-1, 0, 0, 2, 2, 2], np.int32),
        level_ptr=np.array([0, 1, 3, 6]),
        cell_ptr=np.arange(7),
        cell_value=np.zeros(6, np.int32),
        cell_count=np.array([6.0, 3, 3, 1, 1, 1]),
        arity=2,
    )
    assert sample_shares(tree) == pytest.approx([1, 1 / 2, 1 / 2, 1 / 6, 1 / 6, 1 / 6])
    assert dense_proba(tree, BDeu(12.0).smooth(tree))[3] == pytest.approx([(1 + 1) / (1 + 2), 1 / 3])


def test_a_path_of_a_thousand_levels_stays_positive():
    levels = 1200
    parent = [-1]
    for level in range(1, levels):
        parent += [2 * level - 3 if level > 1 else 0] * 2
    nodes = len(parent)
    tree = CountTree(
        parent=np.array(parent, np.int32),
        level_ptr=np.array([0, *range(1, nodes + 1, 2)]),
        cell_ptr=np.arange(nodes + 1),
        cell_value=np.zeros(nodes, np.int32),
        cell_count=np.ones(nodes),
        arity=3,
    )
    assert (dense_proba(tree, BDeu().smooth(tree)) > 0).all()


def test_without_parents_it_is_the_m_estimate():
    tree = single_node(np.array([3.0, 0.0, 1.0]))
    assert dense_proba(tree, BDeu(2.0).smooth(tree)) == pytest.approx(dense_proba(tree, MEstimate(2.0).smooth(tree)))
    empty = single_node(np.zeros(3))
    assert dense_proba(empty, BDeu().smooth(empty))[0] == pytest.approx([1 / 3] * 3)


def test_arities_stay_with_a_tree():
    table = random_table(2, 40, [3, 5, 2], n_classes=4)
    tree = context_tree(table)
    assert tree.counts.splits == (4, 3, 5)
    assert merge_trees(tree, tree).counts.splits == (4, 3, 5)
    assert cut_tree(tree, 1).counts.splits == (4, 3)


def test_a_loaded_model_knows_its_arities(tmp_path):
    X, y = cw.datasets.load("tic-tac-toe")
    halves = [np.arange(start, len(y), 2) for start in (0, 1)]
    (first, first_y), (second, second_y) = ((X.take(rows), np.asarray(y)[rows]) for rows in halves)
    model = cw.TANClassifier(smoothing=BDeu(10.0)).fit(first, first_y)
    model.save(tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    for one in (model, again):
        one.partial_fit(second, second_y)  # smoothed anew
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize("iss", [0, -1, float("nan"), float("inf"), None, "1"])
def test_errors_name_the_culprit(iss):
    with pytest.raises(DataError, match="iss must be a number > 0, got"):
        as_smoother(BDeu(iss))
