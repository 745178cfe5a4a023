import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countwise import _kernels
from countwise.errors import MemoryLimitError
from countwise.stats.pairs import WIDE, pair_statistics, plan_pairs, xlogx_sum
from oracle.counts import joint_counts, sparse_joint_counts, xlogx
from oracle.tables import many, random_table, tables

PLENTY = 2**30


def assert_same(a, b):
    """Bit for bit."""
    assert np.array_equal(a.single, b.single)
    assert np.array_equal(a.marginal, b.marginal)
    assert np.array_equal(a.joint, b.joint)
    assert (a.target, a.total) == (b.target, b.total)


def assert_matches_oracle(stats, table):
    n = len(table.arity)
    for i in range(n):
        counts = joint_counts(table, [i])
        assert stats.single[i] == pytest.approx(xlogx(counts), rel=1e-12, abs=1e-12)
        assert stats.marginal[i] == pytest.approx(xlogx(counts.sum(axis=1)), rel=1e-12, abs=1e-12)
        assert stats.joint[i, i] == 0
        for j in range(i + 1, n):
            expected = xlogx(sparse_joint_counts(table, i, j))
            assert stats.joint[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-12)
            assert stats.joint[j, i] == stats.joint[i, j]
    classes = joint_counts(table, [])
    assert stats.target == pytest.approx(xlogx(classes), rel=1e-12, abs=1e-12)
    assert stats.total == classes.sum()


def kernel_tables(table, dtype, threads=1):
    """The counts themselves, pair by pair, from the kernel's flat layout: [x_i][y][x_j for all j > i]."""
    batch = table.batch(dtype)
    layout = _kernels.PairLayout(table.arity, table.n_classes, 0, len(table.arity))
    if table.weights is None:
        flat = np.zeros(layout.size, np.uint32)
        _kernels.count_pairs(layout, batch.codes, batch.target, threads, flat)
    else:
        flat = np.zeros(layout.size)
        _kernels.count_pairs_weighted(layout, batch.codes, batch.target, batch.weights, threads, flat)
    pairs, start = {}, 0
    for i, values in enumerate(table.arity):
        later = table.arity[i + 1 :]
        block = flat[start : start + values * table.n_classes * sum(later)].reshape(values, table.n_classes, -1)
        for j, part in enumerate(np.split(block, np.cumsum(later)[:-1], axis=2) if later else []):
            pairs[i, i + 1 + j] = part.transpose(0, 2, 1)
        start += block.size
    assert start == layout.size
    return pairs


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("weights", [None, "eighths"])
@pytest.mark.parametrize("threads", [1, 2])
def test_counts_of_every_cell(dtype, weights, threads):
    table = random_table(1, 700, [5, 1, 7, 2, 30, 3], weights=weights)
    pairs = kernel_tables(table, dtype, threads)
    assert len(pairs) == 15
    for (i, j), counts in pairs.items():
        assert np.array_equal(counts, joint_counts(table, [i, j]))


def test_columns_of_several_widths_in_one_table():
    table = random_table(2, 900, [4, 300, 1000, 256, 2], weights=None)
    assert {codes.dtype.itemsize for codes in table.batch().codes} == {1, 2}
    assert_matches_oracle(pair_statistics(table.data(), 1, PLENTY), table)


@pytest.mark.parametrize("weights", [None, "eighths"])
def test_positions_beyond_16_bits(weights):
    # 67 columns of 1,000 values lie before those of the first attribute counted here.
    table = random_table(3, 120, [1000] * 70, n_classes=2, weights=weights)
    batch, layout = table.batch(), _kernels.PairLayout(table.arity, 2, 67, 70)
    if weights is None:
        flat = np.zeros(layout.size, np.uint32)
        _kernels.count_pairs(layout, batch.codes, batch.target, 1, flat)
    else:
        flat = np.zeros(layout.size)
        _kernels.count_pairs_weighted(layout, batch.codes, batch.target, batch.weights, 1, flat)
    part = np.zeros((70, 70))
    _kernels.pair_entropies(layout, flat, 1, part.ravel())
    for i, j in [(67, 68), (67, 69), (68, 69)]:
        assert part[i, j] == pytest.approx(xlogx(sparse_joint_counts(table, i, j)), rel=1e-12)
    assert flat.sum() == 3 * (120 if weights is None else table.weights.sum())


@many
@given(tables(min_columns=1))
def test_statistics(table):
    assert_matches_oracle(pair_statistics(table.data(), 1, PLENTY), table)


@many
@given(tables(min_columns=2, weights="integer"), st.integers(1, 26), st.sampled_from([1, 2]))
def test_batches_threads_and_repetitions_change_nothing(table, size, threads):
    whole = pair_statistics(table.data(), 1, PLENTY)
    assert_same(pair_statistics(table.data(size), threads, PLENTY), whole)
    assert_same(pair_statistics(table.repeated().data(size), threads, PLENTY), whole)


@pytest.mark.parametrize("weights", [None, "eighths"])
def test_wide_columns(weights):
    table = random_table(4, 800, [3, WIDE + 1, 5, 70_000, WIDE], weights=weights)
    plan = plan_pairs(table.arity, 3, weights is not None, PLENTY)
    assert plan.narrow == [0, 2, 4]
    assert plan.sparse == [(0, 1), (0, 3), (1, 2), (1, 3), (1, 4), (2, 3), (3, 4)]
    whole = pair_statistics(table.data(), 1, PLENTY)
    assert_matches_oracle(whole, table)
    assert_same(pair_statistics(table.data(137), 2, PLENTY), whole)


def test_only_wide_columns():
    table = random_table(5, 300, [2000, 3000])
    assert_matches_oracle(pair_statistics(table.data(), 1, PLENTY), table)


def test_passes_within_memory_give_the_same_statistics():
    table = random_table(6, 400, [10] * 6, n_classes=2)
    whole = pair_statistics(table.data(), 1, PLENTY)
    limit = 10 * 2 * 50 * 4  # the first attribute's tables: the largest that must fit
    n_passes = len(plan_pairs(table.arity, 2, False, limit).passes)
    assert n_passes == 4  # of 50, 40, 30 + 20, 10 columns of values
    data = table.data(100)
    with pytest.warns(ResourceWarning, match=r"pair counts need 4 passes over the data .* max_memory"):
        split = pair_statistics(data, 2, limit)
    assert data.n_passes == n_passes
    assert_same(split, whole)


def test_sparse_passes_within_memory_give_the_same_statistics():
    table = random_table(7, 500, [1500, 2, 1500, 3])
    whole = pair_statistics(table.data(), 1, PLENTY)
    data = table.data(200)
    with pytest.warns(ResourceWarning, match="pair counts need 3 passes"):
        split = pair_statistics(data, 1, 2 * 500 * 12)  # 5 sparse pairs, 2 at a time
    assert data.n_passes == 3
    assert_same(split, whole)


def test_one_pass_is_silent():
    table = random_table(8, 50, [3] * 4)
    data = table.data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pair_statistics(data, 1, PLENTY)
    assert data.n_passes == 1


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(2, 4), st.booleans(), st.integers(100, 100_000)
)
def test_plans_fit_and_cover(arity, n_classes, weighted, limit):
    def cost(i):
        return arity[i] * n_classes * sum(arity[i + 1 :]) * (8 if weighted else 4)

    if max(map(cost, range(len(arity)))) > limit:
        with pytest.raises(MemoryLimitError):
            plan_pairs(arity, n_classes, weighted, limit)
        return
    passes = plan_pairs(arity, n_classes, weighted, limit).passes
    assert [i for begin, end in passes for i in range(begin, end)] == list(range(len(arity)))
    assert all(sum(map(cost, range(begin, end))) <= limit for begin, end in passes)


def test_memory_error_names_attribute_and_way_out():
    with pytest.raises(MemoryLimitError, match=r"column 1 \(1000 values\) takes 15.3 MB.* raise max_memory"):
        plan_pairs([2, 1000, 1000], 2, True, 10 * 2**20)


def test_xlogx_of_empty_cells_is_nothing():
    assert xlogx_sum(np.array([0.0, 1.0, 0.0])) == 0.0
    assert xlogx_sum(np.array([2.0, 0.0, 3.0])) == pytest.approx(2 * np.log(2) + 3 * np.log(3))
