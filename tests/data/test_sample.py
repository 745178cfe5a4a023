"""Samples of rows: by what rows hold, and by nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from countwise.data import frequent
from countwise.data.parts import row_hash
from countwise.data.sample import batch_hash, drawn_rows, draws, sample_rows
from oracle.tables import Table, random_table, weight_by_row


def by_hand(table, limit, seed):
    """{(codes, class): weight}: whole patterns by ascending hash while they fit, and all frequent ones, scaled."""
    weights = weight_by_row(table.batch())
    hashes = dict(zip(map(tuple, table.X.tolist()), row_hash(table.batch().codes, seed + 1).tolist(), strict=True))
    kept, bound = {}, None
    for x in sorted(hashes, key=hashes.__getitem__):
        rows = {row: weight for row, weight in weights.items() if row[:-1] == x}
        if len(kept) + len(rows) > max(limit, table.n_classes):
            bound = hashes[x]
            break
        kept |= rows
    if bound is not None:
        least = sum(weights.values()) / frequent.FREQUENT
        for x in hashes:
            rows = {row: weight for row, weight in weights.items() if row[:-1] == x}
            if sum(rows.values()) > least:
                kept |= {row: weight * bound / 2.0**64 for row, weight in rows.items()}
    return kept


TABLES = {
    "all distinct or nearly": lambda kind: random_table(0, 300, [7, 9, 11], weights=kind),
    "many repetitions": lambda kind: random_table(1, 300, [2, 3], weights=kind),
    "one row in three is the same": lambda kind: mostly_zeros(300, kind),
}


def mostly_zeros(n_rows, kind=None):
    table = random_table(2, n_rows, [30, 30], weights=kind)
    return Table(np.where(np.arange(n_rows)[:, None] % 3 == 0, 0, table.X), table.y, [30, 30], 3, table.weights)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", [None, "integer", "eighths"])
@pytest.mark.parametrize("limit", [1, 5, 40, 1000])
@pytest.mark.parametrize("size", [None, 1, 7, 100])
def test_smallest_hashes_and_what_comes_often_in_any_batches(name, kind, limit, size, monkeypatch):
    monkeypatch.setattr(frequent, "FREQUENT", 20)
    table = TABLES[name](kind)
    sample = sample_rows(table.data(size), limit, seed=3)
    assert weight_by_row(sample) == pytest.approx(by_hand(table, limit, 3), rel=1e-12)
    assert (np.diff(batch_hash(sample, 3).astype(float)) > 0).all()


@pytest.mark.parametrize("limit", [5, 100, 1000])
def test_order_of_rows_and_repetition(limit, monkeypatch):
    monkeypatch.setattr(frequent, "FREQUENT", 20)
    table = mostly_zeros(400, "integer")
    order = np.random.default_rng(0).permutation(400)
    one = sample_rows(table.data(), limit, 0)
    for data in (table.take(order).data(13), table.repeated().data(50)):
        other = sample_rows(data, limit, 0)
        assert weight_by_row(other) == weight_by_row(one)
        np.testing.assert_array_equal(other.left_out, one.left_out)


def test_a_sample_stands_for_all_rows():
    """A third of all rows holds the same: by chance it would be in a sample with all of its weight, or not at all."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20_000, 1)) < 1 / 3, 0, rng.integers(1, 30_000, (20_000, 1)))
    y = np.where(X[:, 0] == 0, rng.random(20_000) < 0.9, rng.random(20_000) < 0.2).astype(int)
    table = Table(X, y, [30_000], 2)
    shares = []
    for seed in range(20):
        sample = sample_rows(table.data(), 2000, seed)
        assert 1900 < sample.n_rows < 2100
        zero = sample.codes[0] == 0
        shares.append(sample.weights[zero].sum() / sample.weights.sum())
        assert sample.weights[zero & (sample.target == 1)].sum() / sample.weights[zero].sum() == pytest.approx(
            y[X[:, 0] == 0].mean()
        )
    assert shares == pytest.approx([1 / 3] * 20, abs=0.03)


def test_no_weights_where_all_are_one():
    distinct = Table(np.arange(50)[:, None], np.arange(50) % 2, [50], 2)
    sample = sample_rows(distinct.data(), 1000, 0)
    assert sample.weights is None
    assert sample.left_out is None
    assert sample.n_rows == 50


@pytest.mark.parametrize("of_class", [(1.0, 1.0), (1000.0, 1000.0), (1.0, 3.0), (2.0, 3.0), (0.3, 2.6)])
def test_a_row_loses_one_of_its_copies_whatever_they_all_weigh(of_class):
    times = 1 + np.arange(24) % 3  # copies of each row
    X, y = np.repeat(np.arange(24), times)[:, None], np.repeat(np.arange(24) // 3 % 2, times)
    table = Table(X, y, [24], 2, np.take(of_class, y))
    for data in (table.data(), table.data(7)):
        sample = sample_rows(data, 1000, 0)
        for label in (0, 1):
            assert sample.left_out[sample.target == label] == pytest.approx(of_class[label])
        assert sample.copies[np.argsort(sample.codes[0])] == pytest.approx(times)


def test_passes_are_counted_and_seeds_draw_others():
    table = random_table(3, 500, [20, 20])
    data = table.data(100)
    first = weight_by_row(sample_rows(data, 50, 0))
    assert data.n_passes == 2  # rows could come often: as few as these are
    data = table.data(100)
    sample_rows(data, 500, 0)
    assert data.n_passes == 1
    assert first != weight_by_row(sample_rows(data, 50, 1))


def test_wide_and_narrow_codes_are_the_same_rows():
    table = random_table(4, 100, [3, 4])
    narrow, wide = (sample_rows(table.data(dtype=dtype), 30, 0) for dtype in (np.uint8, np.uint32))
    assert weight_by_row(narrow) == weight_by_row(wide)


def test_drawn_rows_are_as_many_as_there_are_whatever_weights_mean():
    """Of weights a row is drawn in proportion; that each counts 1,000 times, or a thousandth, changes nothing."""
    table = random_table(5, 400, [4, 5])
    times = np.random.default_rng(0).integers(1, 6, 400)
    rows = sample_rows(replace(table, weights=times * 1.0).data(), 1000, 0)
    expected = draws(rows, np.random.default_rng(3))
    assert expected.sum() == times.sum()
    for unit in (0.001, 1000.0):
        scaled = sample_rows(replace(table, weights=times * unit).data(), 1000, 0)
        if unit < 1:  # not whole: they weigh rows
            assert draws(scaled, np.random.default_rng(3)).sum() == 400
        else:
            np.testing.assert_array_equal(draws(scaled, np.random.default_rng(3)), expected)
    drawn = drawn_rows(rows, np.random.default_rng(3))
    assert drawn.n_rows == np.count_nonzero(expected)
    assert drawn.one_row is None
    np.testing.assert_array_equal(drawn.weights, expected[expected > 0])
    shares = np.mean([draws(rows, np.random.default_rng(s)) for s in range(300)], axis=0) / rows.weights
    assert shares.mean() == pytest.approx(1.0, abs=0.02)
    assert shares.std() < 0.2
