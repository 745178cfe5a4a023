"""Samples of rows: by what rows hold, and by nothing else."""

import numpy as np
import pytest

from countwise.data.parts import row_hash
from countwise.data.sample import MUCH, dealt_weights, honest_shares, sample_rows
from oracle.tables import Table, random_table


def as_rows(sample):
    """{(codes, class): weight}, and the keys in order."""
    batch = sample.batch
    weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
    rows = zip(*(column.tolist() for column in batch.codes), batch.target.tolist(), strict=True)
    return dict(zip(rows, weights.tolist(), strict=True)), sample.keys.tolist()


def by_hand(table, limit, seed):
    """Group equal rows in a dictionary, then take those of the smallest hashes."""
    batch, weights = table.batch(), {}
    keys = row_hash([*batch.codes, batch.target], seed)
    hashes = {}
    for (codes, label, weight), key in zip(table.rows, keys.tolist(), strict=True):
        weights[*codes, label] = weights.get((*codes, label), 0.0) + weight
        hashes[*codes, label] = key
    kept = sorted(weights, key=hashes.__getitem__)[:limit]
    return {row: weights[row] for row in kept}, [hashes[row] for row in kept]


TABLES = {
    "all distinct or nearly": lambda kind: random_table(0, 300, [7, 9, 11], weights=kind),
    "many repetitions": lambda kind: random_table(1, 300, [2, 3], weights=kind),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", [None, "integer", "eighths"])
@pytest.mark.parametrize("limit", [1, 5, 40, 1000])
@pytest.mark.parametrize("size", [None, 1, 7, 100])
def test_smallest_hashes_in_any_batches(name, kind, limit, size):
    table = TABLES[name](kind)
    assert as_rows(sample_rows(table.data(size), limit, seed=3)) == by_hand(table, limit, 3)


@pytest.mark.parametrize("limit", [5, 100, 1000])
def test_order_of_rows_and_repetition(limit):
    table = random_table(2, 400, [3, 5, 2], weights="integer")
    order = np.random.default_rng(0).permutation(400)
    one = as_rows(sample_rows(table.data(), limit, 0))
    assert as_rows(sample_rows(table.take(order).data(13), limit, 0)) == one
    assert as_rows(sample_rows(table.repeated().data(50), limit, 0)) == one


def test_keys_ascend_and_no_weights_where_all_are_one():
    distinct = Table(np.arange(50)[:, None], np.arange(50) % 2, [50], 2)
    sample = sample_rows(distinct.data(), 20, 0)
    assert sample.batch.weights is None
    assert sample.batch.n_rows == 20
    assert (np.diff(sample.keys.astype(float)) > 0).all()
    heavier = Table(distinct.X, distinct.y, [50], 2, np.full(50, 2.0))
    assert sample_rows(heavier.data(), 20, 0).batch.weights.tolist() == [2.0] * 20


def test_one_pass_is_taken_and_seeds_draw_others():
    table = random_table(3, 500, [20, 20])
    data = table.data(100)
    first = as_rows(sample_rows(data, 50, 0))
    assert data.n_passes == 1
    other = as_rows(sample_rows(data, 50, 1))
    assert 0 < len(first[0].keys() & other[0].keys()) < 25


def test_wide_and_narrow_codes_are_the_same_rows():
    table = random_table(4, 100, [3, 4])
    narrow, wide = (sample_rows(table.data(dtype=dtype), 30, 0) for dtype in (np.uint8, np.uint32))
    assert as_rows(narrow) == as_rows(wide)


# Parts


def dealt(table, n_parts, size=None):
    """{row: (how much of it each part gets)}."""
    sample = sample_rows(table.data(size), 1000, 0)
    return dict(zip(as_rows(sample)[0], map(tuple, dealt_weights(sample.batch, n_parts).T.tolist()), strict=True))


@pytest.mark.parametrize("kind", [None, "integer"])
@pytest.mark.parametrize("arity", [3, 1000])
@pytest.mark.parametrize("n_parts", [2, 3, 7])
def test_every_part_has_its_share_of_every_class(n_parts, arity, kind):
    rng = np.random.default_rng(0)
    y = rng.choice(4, 1000, p=[0.7, 0.2, 0.08, 0.02])
    weights = None if kind is None else rng.integers(1, 6, 1000).astype(float)
    table = Table(rng.integers(0, arity, (1000, 2)), y, [arity, arity], 4, weights)
    found = dealt(table, n_parts)
    whole = as_rows(sample_rows(table.data(), 1000, 0))[0]
    for row, shares in found.items():
        assert sum(shares) == whole[row]
        assert max(shares) - min(shares) <= 1  # rows that come often are in all parts
    for label in range(4):
        sizes = np.sum([shares for row, shares in found.items() if row[-1] == label], axis=0)
        assert sizes.max() - sizes.min() <= 1


def test_parts_of_rows_that_come_once_are_whole_and_even_with_many_small_classes():
    table = Table(np.arange(104)[:, None], np.arange(104) % 26, [104], 26)  # four rows of each
    shares = np.array(list(dealt(table, 3).values()))
    assert set(shares.reshape(-1).tolist()) == {0.0, 1.0}
    assert sorted(shares.sum(axis=0)) == [34, 35, 35]


def test_fractions_are_dealt_whole():
    table = random_table(6, 300, [30, 30], weights="eighths")
    for row, shares in dealt(table, 3).items():
        assert sum(shares) == as_rows(sample_rows(table.data(), 1000, 0))[0][row]
        assert sum(share % 1 > 0 for share in shares) <= 1


def test_rows_of_one_part_do_not_depend_on_their_values_alone():
    """Parts are dealt by hash: neighbours in code are not neighbours in part."""
    X = np.arange(3000)[:, None]
    sample = sample_rows(Table(X, np.zeros(3000, int), [3000], 2).data(), 3000, 0)
    part = np.empty(3000, int)
    part[sample.batch.codes[0]] = dealt_weights(sample.batch, 3).argmax(axis=0)
    assert np.bincount(part).tolist() == [1000, 1000, 1000]
    together = [(part[:-lag] == part[lag:]).mean() for lag in (1, 2, 3)]
    assert together == pytest.approx([1 / 3] * 3, abs=0.05)


def test_a_class_that_is_absent_and_a_single_row():
    two = dealt(Table(np.array([[1], [0]]), np.array([2, 2]), [2], 4), 3)
    assert sorted(two.values()) == [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0)]
    assert list(dealt(Table(np.array([[1]]), np.array([0]), [2], 2), 3).values()) == [(1.0, 0.0, 0.0)]


def honest(table, n_parts, size=None):
    sample = sample_rows(table.data(size), 1000, 0)
    return dict(zip(as_rows(sample)[0], map(tuple, honest_shares(sample.batch, n_parts).T.tolist()), strict=True))


def test_rows_that_come_once_are_dealt_in_turn():
    table = Table(np.arange(104)[:, None], np.arange(104) % 26, [104], 26)
    assert honest(table, 3) == dealt(table, 3)


@pytest.mark.parametrize("kind", [None, "integer", "eighths"])
@pytest.mark.parametrize("n_parts", [2, 3])
def test_equal_attributes_are_in_one_part_unless_they_are_much_of_it(n_parts, kind):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((500, 2)) < 0.4, 0, rng.integers(0, 30, (500, 2)))  # one row in six is (0, 0)
    weights = {None: None, "integer": rng.integers(1, 4, 500) * 1.0, "eighths": rng.integers(1, 9, 500) / 8}[kind]
    table = Table(X, rng.integers(0, 2, 500), [30, 30], 2, weights)
    whole = as_rows(sample_rows(table.data(), 1000, 0))[0]
    limit = max(1.0, MUCH * sum(whole.values()) / n_parts)
    shares, n_heavy = honest(table, n_parts), 0
    for x in {row[:-1] for row in whole}:
        rows = [row for row in whole if row[:-1] == x]
        together = np.sum([shares[row] for row in rows], axis=0)
        assert together.sum() == sum(whole[row] for row in rows)
        if together.sum() <= limit:
            assert np.count_nonzero(together) == 1
        else:
            n_heavy += 1
            for row in rows:
                assert max(shares[row]) - min(shares[row]) <= 1
    assert n_heavy >= 1


@pytest.mark.parametrize("deal", [dealt, honest])
def test_parts_are_the_same_whatever_the_order_and_for_weights_and_repetitions(deal):
    table = random_table(5, 300, [4, 6, 3])
    order = np.random.default_rng(1).permutation(300)
    assert deal(table.take(order), 3, 17) == deal(table, 3)
    heavy = Table(table.X, table.y, table.arity, 3, np.random.default_rng(2).integers(1, 5, 300).astype(float))
    assert deal(heavy.repeated(), 3) == deal(heavy, 3)
