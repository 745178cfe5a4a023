"""Distinct rows shared out to parts, and to fewer that stand for all."""

import numpy as np
import pytest

from countwise.data.sample import sample_rows
from countwise.data.shares import MUCH, dealt_weights, honest_shares, thinned_weights
from oracle.tables import Table, random_table, weight_by_row


def dealt(table, n_parts, size=None):
    """{row: (how much of it each part gets)}."""
    sample = sample_rows(table.data(size), 1000, 0)
    return dict(zip(weight_by_row(sample), map(tuple, dealt_weights(sample, n_parts).T.tolist()), strict=True))


@pytest.mark.parametrize("kind", [None, "integer"])
@pytest.mark.parametrize("arity", [3, 1000])
@pytest.mark.parametrize("n_parts", [2, 3, 7])
def test_every_part_has_its_share_of_every_class(n_parts, arity, kind):
    rng = np.random.default_rng(0)
    y = rng.choice(4, 1000, p=[0.7, 0.2, 0.08, 0.02])
    weights = None if kind is None else rng.integers(1, 6, 1000).astype(float)
    table = Table(rng.integers(0, arity, (1000, 2)), y, [arity, arity], 4, weights)
    found = dealt(table, n_parts)
    whole = weight_by_row(sample_rows(table.data(), 1000, 0))
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


@pytest.mark.parametrize("deal", [dealt_weights, honest_shares])
def test_copies_of_weighted_rows_are_dealt_whole(deal):
    times = 1 + np.arange(40) % 5
    X, y = np.repeat(np.arange(40), times)[:, None], np.repeat(np.arange(40) // 20, times)
    rows = sample_rows(Table(X, y, [40], 2, np.where(y == 1, 7.7, 0.3)).data(), 1000, 0)
    shares = deal(rows, 3)
    assert shares.sum(axis=0) == pytest.approx(rows.weights)
    copies = shares / rows.one_row
    assert copies == pytest.approx(np.round(copies))
    alone = rows.copies < 1.5
    assert (np.count_nonzero(shares[:, alone], axis=0) == 1).all()
    for label in (0, 1):
        sizes = dealt_weights(rows, 3)[:, rows.target == label].sum(axis=1) / (0.3, 7.7)[label]
        assert sizes.max() - sizes.min() < 1.5


def test_a_single_row_is_never_in_two_parts_however_much_it_weighs():
    """In two parts it would choose and be judged: with weights that balance a rare class most of its rows were."""
    y = (np.arange(60) < 5).astype(int)
    for weights in (np.where(y == 1, 11.4, 0.7), np.where(np.arange(60) == 7, 1000.5, 1.0)):
        rows = sample_rows(Table(np.arange(60)[:, None], y, [60], 2, weights).data(), 1000, 0)
        assert (np.count_nonzero(honest_shares(rows, 3), axis=0) == 1).all()


def test_rows_of_one_part_do_not_depend_on_their_values_alone():
    """Parts are dealt by hash: neighbours in code are not neighbours in part."""
    X = np.arange(3000)[:, None]
    sample = sample_rows(Table(X, np.zeros(3000, int), [3000], 2).data(), 3000, 0)
    part = np.empty(3000, int)
    part[sample.codes[0]] = dealt_weights(sample, 3).argmax(axis=0)
    assert np.bincount(part).tolist() == [1000, 1000, 1000]
    together = [(part[:-lag] == part[lag:]).mean() for lag in (1, 2, 3)]
    assert together == pytest.approx([1 / 3] * 3, abs=0.05)


def test_a_class_that_is_absent_and_a_single_row():
    two = dealt(Table(np.array([[1], [0]]), np.array([2, 2]), [2], 4), 3)
    assert sorted(two.values()) == [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0)]
    assert list(dealt(Table(np.array([[1]]), np.array([0]), [2], 2), 3).values()) == [(1.0, 0.0, 0.0)]


def honest(table, n_parts, size=None):
    sample = sample_rows(table.data(size), 1000, 0)
    return dict(zip(weight_by_row(sample), map(tuple, honest_shares(sample, n_parts).T.tolist()), strict=True))


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
    whole = weight_by_row(sample_rows(table.data(), 1000, 0))
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


# Fewer rows


def thinned(table, limit):
    rows = sample_rows(table.data(), 10_000, 0)
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    return rows, weights, thinned_weights(rows, weights, limit)


@pytest.mark.parametrize("kind", [None, "integer", "eighths"])
@pytest.mark.parametrize("limit", [20, 100, 10_000])
def test_thinned_rows_keep_their_classes_and_what_is_much(kind, limit):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((600, 2)) < 0.4, 0, rng.integers(0, 30, (600, 2)))
    weights = {None: None, "integer": rng.integers(1, 4, 600) * 1.0, "eighths": rng.integers(1, 9, 600) / 8}[kind]
    rows, before, after = thinned(Table(X, rng.integers(0, 3, 600), [30, 30], 3, weights), limit)
    if rows.n_rows <= limit:
        np.testing.assert_array_equal(after, before)
        return
    assert np.count_nonzero(after) <= limit
    patterns = list(zip(*(column.tolist() for column in rows.codes), strict=True))
    weight_of = {x: before[[p == x for p in patterns]].sum() for x in set(patterns)}
    much = np.array([weight_of[x] > MUCH * before.sum() for x in patterns])
    assert much.any()
    assert (after[much] > 0).all()
    assert after[much] / before[much] == pytest.approx(after[~much].sum() / before[~much].sum())
    for x in set(patterns):  # all of its classes or none
        assert len({after[i] > 0 for i, p in enumerate(patterns) if p == x}) == 1
    assert set(after[~much] / before[~much]) == {0.0, 1.0}
    kept = np.flatnonzero((after > 0) & ~much)
    first_left_out = np.flatnonzero((after == 0) & ~much)[0]
    alone = [i for i in kept if patterns.count(patterns[i]) == 1]
    assert max(alone) < first_left_out or patterns.count(patterns[first_left_out]) > 1


def test_thinning_leaves_something_where_one_pattern_is_more_than_the_limit():
    table = Table(np.zeros((5, 1), int), np.arange(5), [1], 5)  # five classes of one pattern, which is all there is
    _, before, after = thinned(table, 2)
    np.testing.assert_array_equal(after, before)
    assert np.count_nonzero(thinned(Table(np.repeat([[0], [1]], 5, axis=0), np.tile(np.arange(5), 2), [2], 5), 2)[2])
