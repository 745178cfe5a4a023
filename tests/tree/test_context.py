import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countwise.errors import MemoryLimitError
from countwise.tree.context import (
    Family,
    TreeSum,
    build_trees,
    count_trees,
    cut_tree,
    merge_trees,
)
from oracle.context_tree import context_counts, tree_arrays
from oracle.tables import Table, many, random_table, tables

DTYPES = {
    "parent": np.int32,
    "branch": np.int32,
    "level_ptr": np.int64,
    "cell_ptr": np.int64,
    "cell_value": np.int32,
    "cell_count": np.float64,
    "cell_parent": np.int32,
}


def named_arrays(tree):
    return {name: tree.branch if name == "branch" else getattr(tree.counts, name) for name in DTYPES}


def build(table, *families, threads=1, dtype=None):
    return build_trees(table.batch(dtype), families, table.arity, table.n_classes, threads)


def chain(table):
    """The last column below all others."""
    *parents, child = range(len(table.arity))
    return Family(child, tuple(parents))


def assert_equal(a, b):
    """The same tree, bit for bit."""
    assert (a.family, a.counts.arity) == (b.family, b.counts.arity)
    for name, array in named_arrays(a).items():
        assert np.array_equal(array, named_arrays(b)[name]), name


def assert_matches_oracle(tree, table):
    family = tree.family
    expected = tree_arrays(context_counts(table, family.child, family.parents), len(family.parents) + 1)
    for name, array in named_arrays(tree).items():
        assert array.dtype == DTYPES[name], name
        assert np.array_equal(array, expected[name]), name
    assert tree.counts.arity == table.arity[family.child]


# Against the dictionaries


@many
@given(tables(max_columns=4))
def test_every_array(table):
    (tree,) = build(table, chain(table))
    assert_matches_oracle(tree, table)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("weights", [None, "eighths"])
def test_code_widths(dtype, weights):
    table = random_table(1, 600, [4, 9, 3], weights=weights)
    (tree,) = build(table, chain(table), dtype=dtype)
    assert_matches_oracle(tree, table)


@pytest.mark.parametrize("k", [5, 6, 7])
@pytest.mark.parametrize("weights", [None, "eighths"])
def test_many_parents_compress_keys_several_times(k, weights):
    # 2 * 300 rows allow keys up to 4,096: 3 classes and 12 values a column overflow after every second column.
    table = random_table(k, 300, [12] * (k + 1), weights=weights)
    for tree in build(table, chain(table), Family(0, tuple(range(k, 0, -1)))):
        assert_matches_oracle(tree, table)


@pytest.mark.parametrize("weights", [None, "eighths"])
@pytest.mark.parametrize(
    "arity",
    [
        [60_000, 3, 60_000],  # sorted twice: as a key to compress, and as the last table
        [3, 60_000],
        [60_000, 60_000, 60_000, 2],
        [100_000, 70_000, 5, 90_000],
        [1, 60_000, 1, 1],
        [2_000, 2_000, 2_000],  # above the bitmap's limit in rank, below in the last table
    ],
)
def test_many_values(arity, weights):
    table = random_table(5, 500, arity, weights=weights)
    # Half of the rows repeat others, so that paths and cells are shared.
    table = table.take(np.random.default_rng(5).integers(250, size=500))
    for tree in build(table, chain(table), Family(0, tuple(range(1, len(arity))))):
        assert_matches_oracle(tree, table)


@pytest.mark.parametrize("arity", [[200, 200, 200], [8, 8, 8, 8, 8, 8], [1000, 30]])
def test_many_rows(arity):
    # Enough rows for tables and bitmaps above their smallest sizes, and for several blocks of 1,024 rows.
    table = random_table(6, 5000, arity)
    (tree,) = build(table, chain(table))
    assert_matches_oracle(tree, table)


def test_one_row():
    table = Table(np.array([[2, 0]]), np.array([1]), [3, 1], 2)
    (tree,) = build(table, Family(0, (1,)))
    assert_matches_oracle(tree, table)
    assert tree.counts.n_nodes == 3


def test_families_come_back_in_order_whatever_the_threads():
    table = random_table(7, 400, [3, 4, 5, 6])
    families = [Family(2, (0, 1)), Family(0, ()), Family(3, (2, 1, 0)), Family(1, (3,)), Family(2, ())]
    one, two = build(table, *families), build(table, *families, threads=2)
    assert [tree.family for tree in one] == families
    for a, b in zip(one, two, strict=True):
        assert_equal(a, b)
        assert_matches_oracle(b, table)


# What the docstrings promise


@many
@given(tables(max_columns=4))
def test_invariants(table):
    (tree,) = build(table, chain(table))
    counts, n = tree.counts, tree.counts.n_nodes
    assert counts.parent[0] == -1
    assert (counts.parent[1:] < np.arange(1, n)).all()
    assert (np.diff(counts.parent[1:]) >= 0).all()  # siblings are adjacent
    siblings = counts.parent[1:-1] == counts.parent[2:]
    assert (np.diff(tree.branch[1:])[siblings] > 0).all()
    level = np.searchsorted(counts.level_ptr, np.arange(n), side="right") - 1
    assert (level[1:] == level[counts.parent[1:]] + 1).all()
    assert (counts.cell_count > 0).all()
    for node in range(n):
        cells = slice(counts.cell_ptr[node], counts.cell_ptr[node + 1])
        assert (np.diff(counts.cell_value[cells]) > 0).all()
        above = counts.cell_parent[cells]
        if node == 0:
            assert (above == -1).all()
        else:
            assert (counts.cell_value[above] == counts.cell_value[cells]).all()
            assert (counts.cell_node[above] == counts.parent[node]).all()
        assert counts.total[node] == counts.cell_count[cells].sum()
    inner = level < counts.n_levels - 1
    sums = np.bincount(counts.cell_parent[counts.cell_parent >= 0], counts.cell_count[counts.cell_parent >= 0])
    assert np.array_equal(sums, counts.cell_count[inner[counts.cell_node]])


@many
@given(tables(max_columns=3), st.randoms(use_true_random=False))
def test_row_order_changes_nothing(table, random):
    shuffled = list(range(table.n_rows))
    random.shuffle(shuffled)
    (a,), (b,) = build(table, chain(table)), build(table.take(shuffled), chain(table))
    assert_equal(a, b)


@many
@given(tables(max_columns=3, weights="integer"))
def test_integer_weights_are_repetitions(table):
    (a,), (b,) = build(table, chain(table)), build(table.repeated(), chain(table))
    assert_equal(a, b)


@many
@given(tables(min_columns=2, max_columns=4), st.integers(0, 4))
def test_cut_tree_is_the_tree_of_fewer_parents(table, n_parents):
    family = chain(table)
    (tree,) = build(table, family)
    (shorter,) = build(table, Family(family.child, family.parents[:n_parents]))
    assert_equal(cut_tree(tree, n_parents), shorter)


# Sums


@many
@given(tables(max_columns=3), st.integers(0, 25))
def test_merging_any_split_gives_the_whole(table, at):
    (whole,) = build(table, chain(table))
    (a,), (b,) = build(table.take(slice(0, at)), chain(table)), build(table.take(slice(at, None)), chain(table))
    assert_equal(merge_trees(a, b), whole)
    assert_equal(merge_trees(b, a), whole)


@many
@given(tables(max_columns=3), st.integers(0, 25))
def test_subtraction_restores(table, at):
    rest = table.take(slice(0, at))
    (whole,), (b,) = build(table, chain(table)), build(table.take(slice(at, None)), chain(table))
    (a,) = build(rest, chain(table))
    assert_equal(merge_trees(whole, b, -1.0), a)


def test_subtracting_all_leaves_an_empty_root():
    table = random_table(8, 20, [3, 3], weights="eighths")
    (tree,) = build(table, chain(table))
    empty = merge_trees(tree, tree, -1.0)
    assert empty.counts.n_nodes == 1
    assert empty.counts.n_cells == 0
    assert_equal(merge_trees(empty, tree), tree)


def test_subtraction_of_weights_that_do_not_add_exactly():
    # 0.1 + 0.2 - 0.2 is not 0.1, and 0.1 + 0.2 - 0.1 - 0.2 is not 0: what rounding leaves is no count.
    X, y = np.array([[0], [0], [1]]), np.array([0, 0, 1])
    table = Table(X, y, [2], 2, np.array([0.1, 0.2, 0.3]))
    (tree,) = build(table, Family(0, ()))
    for row in (0, 1):
        (one,) = build(table.take([row]), Family(0, ()))
        tree = merge_trees(tree, one, -1.0)
    assert tree.counts.cell_value.tolist() == [1, 1]
    assert tree.counts.cell_count.tolist() == [0.3, 0.3]
    assert tree.branch.tolist() == [-1, 1]


@many
@given(tables(max_columns=3), st.integers(1, 26), st.sampled_from([1, 2]))
def test_tree_sum_of_any_batches_gives_the_whole(table, size, threads):
    families = [chain(table), Family(0, ())]
    total = TreeSum(threads)
    parts = [build(part_of(table, start, size), *families) for start in range(0, table.n_rows, size)]
    for part in parts:
        total.add(part)
    for whole, summed in zip(build(table, *families), total.trees, strict=True):
        assert_equal(summed, whole)


def part_of(table, start, size):
    return table.take(slice(start, start + size))


def test_tree_sum_lets_go_of_what_it_has_merged():
    table = random_table(9, 13, [2])
    total = TreeSum(1)
    for row in range(13):
        batch = build(table.take([row]), Family(0, ()))
        total.add(batch)
        assert batch == []
    assert total.nbytes == build(table, Family(0, ()))[0].nbytes


@many
@given(tables(max_columns=3), st.integers(1, 26))
def test_count_trees(table, size):
    families, seen = [chain(table)], []
    data = table.data(size)
    (tree,), classes = count_trees(data, families, 1, 2**30, seen.append)
    (whole,) = build(table, *families)
    assert_equal(tree, whole)
    assert np.array_equal(classes, np.bincount(table.y, table.weights, minlength=table.n_classes))
    assert data.n_passes == 1
    assert sum(batch.n_rows for batch in seen) == table.n_rows


def test_count_trees_refuses_more_than_max_memory():
    table = random_table(10, 400, [50, 50])
    with pytest.raises(MemoryLimitError, match="lower k"):
        count_trees(table.data(100), [chain(table)], 1, 1000)


# Unseen codes


@many
@given(tables(min_columns=2, max_columns=3), st.data())
def test_rows_with_unseen_codes_are_left_out_where_they_matter(table, data):
    X = table.X.copy()
    for i, values in enumerate(table.arity):
        unseen = data.draw(st.lists(st.integers(0, table.n_rows - 1), max_size=4))
        X[unseen, i] = values
    table = Table(X, table.y, table.arity, table.n_classes, table.weights)
    n = len(table.arity)
    families = [Family(i, ()) for i in range(n)] + [Family(0, (1,)), chain(table)]
    families = list(dict.fromkeys(families))
    for tree in build(table, *families):
        assert_matches_oracle(tree, table)
