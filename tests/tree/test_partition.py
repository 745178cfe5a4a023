"""Counts of partitions agree with sets of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countwise.tree.partition import cells_upwards, partition_counts, summed, tree_levels


@st.composite
def partitions(draw):
    """A tree of up to 25 nodes, their numbers shuffled (but the root's), and rows at its leaves."""
    n_nodes = draw(st.integers(1, 25))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    parent = np.array(
        [-1, *(rng.integers(max(0, i - draw(st.sampled_from([1, 3, 25]))), i) for i in range(1, n_nodes))]
    )
    name = np.array([0, *rng.permutation(np.arange(1, n_nodes))])
    shuffled = np.full(n_nodes, -1, np.int32)
    shuffled[name[1:]] = name[parent[1:]]
    leaves = np.setdiff1d(np.arange(n_nodes), shuffled)
    n_rows = draw(st.integers(1, 40))
    arity = draw(st.integers(1, 5))
    weights = draw(st.sampled_from([None, "whole", "real"]))
    if weights is not None:
        weights = rng.integers(0, 3, n_rows).astype(float) if weights == "whole" else rng.gamma(0.5, 1.0, n_rows)
        weights[0] = 1.0
    return shuffled, rng.choice(leaves, n_rows), rng.integers(0, arity, n_rows), weights, arity


def row_sets(parent, leaf, weights):
    """The rows with weight at every node, one walk up for each row."""
    rows = [set() for _ in parent]
    for row, own in enumerate(leaf):
        node = own
        while node >= 0:
            if weights is None or weights[row] > 0:
                rows[node].add(row)
            node = parent[node]
    return [frozenset(part) for part in rows]


def tree_sets(tree, answers, rows):
    """The rows of every node of the count tree, from those of the nodes that it answers for."""
    return {int(answers[node]): part for node, part in enumerate(rows) if part}


@settings(max_examples=150, deadline=None)
@given(partitions())
def test_nodes_are_the_distinct_sets_of_rows(case):
    parent, leaf, codes, weights, arity = case
    tree, answers = partition_counts(*case)
    rows = row_sets(parent, leaf, weights)
    of_node = tree_sets(tree, answers, rows)
    assert sorted(map(sorted, of_node.values())) == sorted(map(sorted, set(rows) - {frozenset()}))
    assert sorted(of_node) == list(range(tree.n_nodes))
    for node, part in of_node.items():
        counts = np.bincount(codes[list(part)], None if weights is None else weights[list(part)], minlength=arity)
        cells = slice(tree.cell_ptr[node], tree.cell_ptr[node + 1])
        assert tree.cell_value[cells].tolist() == np.flatnonzero(counts).tolist()
        np.testing.assert_allclose(tree.cell_count[cells], counts[counts > 0], rtol=1e-12)
        above = [other for other in of_node.values() if other > part]
        expected = min(above, key=len) if above else None
        assert of_node.get(int(tree.parent[node])) == expected


@settings(max_examples=100, deadline=None)
@given(partitions())
def test_the_deepest_node_with_rows_answers(case):
    parent, leaf, _, weights, _ = case
    tree, answers = partition_counts(*case)
    rows = row_sets(parent, leaf, weights)
    of_node = tree_sets(tree, answers, rows)
    for node in range(len(parent)):
        seen = node
        while not rows[seen]:
            seen = parent[seen]
        assert of_node[int(answers[node])] == rows[seen]


@settings(max_examples=100, deadline=None)
@given(partitions())
def test_arrays_keep_the_rules_of_count_trees(case):
    tree, _ = partition_counts(*case)
    assert tree.parent[0] == -1
    assert (tree.parent[1:] < np.arange(1, tree.n_nodes)).all()
    assert (np.diff(tree.parent) >= 0).all()  # siblings are adjacent, and in the order of their parents
    assert (tree.level[1:] == tree.level[tree.parent[1:]] + 1).all()
    assert tree.level_ptr[-1] == tree.n_nodes
    assert tree.cell_ptr[-1] == tree.n_cells
    assert (tree.cell_parent[tree.level_cells(0).stop :] >= 0).all()
    dtypes = [tree.parent, tree.level_ptr, tree.cell_ptr, tree.cell_value, tree.cell_count]
    assert [array.dtype.name for array in dtypes] == ["int32", "int64", "int64", "int32", "float64"]


@settings(max_examples=100, deadline=None)
@given(partitions(), st.booleans())
def test_cells_of_a_node_are_its_own_and_those_below(case, rows_in_inner_nodes):
    parent, node, codes, weights, arity = case
    if rows_in_inner_nodes:
        node = node // 2
    weights = np.ones(len(node)) if weights is None else weights
    cell_ptr, value, count = cells_upwards(parent, *summed(node.astype(np.int64) * arity + codes, weights), arity)
    expected = [np.zeros(arity) for _ in parent]
    given = [set() for _ in parent]  # a weight of 0 makes a cell too
    for leaf, code, weight in zip(node, codes, weights, strict=True):
        here = leaf
        while here >= 0:
            expected[here][code] += weight
            given[here].add(code)
            here = parent[here]
    assert cell_ptr[0] == 0
    assert cell_ptr[-1] == len(value) == len(count)
    for i in range(len(parent)):
        cells = slice(cell_ptr[i], cell_ptr[i + 1])
        assert value[cells].tolist() == sorted(given[i])
        np.testing.assert_allclose(count[cells], expected[i][value[cells]], rtol=1e-12)


@pytest.mark.parametrize("parent", [[-1, 2, 1], [-1, 0, 7], [-1, -1]], ids=["a ring", "no such node", "two roots"])
def test_parents_that_make_no_tree_are_refused(parent):
    with pytest.raises(ValueError, match="parents do not make a tree"):
        cells_upwards(np.array(parent, np.int32), np.zeros(1, np.int64), np.ones(1), 1)


@pytest.mark.parametrize("most", [3, 10**9])
def test_keys_add_up_by_counters_and_by_sorting(most):
    key, count = summed(np.array([most, 1, most, 0]), np.array([0.5, 2.0, 0.25, 1.0]))
    assert key.tolist() == [0, 1, most]
    assert count.tolist() == [1.0, 2.0, 0.75]


def test_levels():
    assert [level.tolist() for level in tree_levels(np.array([-1]))] == [[0]]


@pytest.mark.parametrize("depth", [1, 500])
def test_a_path_without_forks_is_one_node(depth):
    parent = np.arange(-1, depth, dtype=np.int32)
    tree, answers = partition_counts(parent, np.full(3, depth), np.array([0, 1, 1]), None, 2)
    assert tree.n_nodes == 1
    assert tree.cell_count.tolist() == [1.0, 2.0]
    assert not answers.any()
