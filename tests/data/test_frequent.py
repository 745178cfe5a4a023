"""Keys that come often, found in little memory."""

import numpy as np
import pandas as pd
import pytest

import countwise as cw
from countwise.data import frequent
from countwise.data.frequent import FrequentKeys, count_frequent
from countwise.data.parts import row_hash, row_keys
from countwise.data.source import MemorySource


def skewed_keys(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.minimum(rng.zipf(1.3, n), 10**9).astype(np.uint64)


@pytest.mark.parametrize("size", [1, 97, 5000])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_frequent_key_is_missed_and_memory_is_bounded(size, weighted, monkeypatch):
    monkeypatch.setattr(frequent, "FREQUENT", 50)
    keys = skewed_keys(5000)
    weights = np.random.default_rng(1).integers(1, 9, 5000) / 4 if weighted else None
    found = FrequentKeys()
    for start in range(0, 5000, size):
        part = slice(start, start + size)
        found.add(keys[part], None if weights is None else weights[part])
        assert len(found.keys) <= 100
    own = np.ones(5000) if weights is None else weights
    exact = {key: own[keys == key].sum() for key in np.unique(keys)}
    assert found.total == own.sum()
    assert found.least == own.sum() / 50
    often = {key for key, weight in exact.items() if weight > found.least}
    assert 3 < len(often) < 50
    assert often <= set(found.candidates)
    for key, count in zip(found.keys, found.counts, strict=True):  # never too much, and short of no more than was lost
        assert count <= exact[key] + 1e-9
        assert exact[key] <= count + found.lost + 1e-9
    assert found.lost <= found.least / 2 + 1e-9


def test_adversarial_order_hides_nothing(monkeypatch):
    """A key that comes in one lump at the end, after very many others."""
    monkeypatch.setattr(frequent, "FREQUENT", 10)
    found = FrequentKeys()
    for start in range(0, 900, 30):
        found.add(np.arange(start, start + 30, dtype=np.uint64), None)
    found.add(np.full(101, 5000, np.uint64), None)
    assert 5000 in found.candidates


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_counted_by_what_they_hold_and_by_class(weighted, monkeypatch):
    monkeypatch.setattr(frequent, "FREQUENT", 30)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.choice(5, 1000, p=[0.6, 0.2, 0.1, 0.06, 0.04]) * 1.5, "b": rng.integers(0, 40, 1000)}
    )
    frame.loc[::2, "b"] = 0
    y, weights = rng.integers(0, 2, 1000), rng.integers(1, 9, 1000) / 4
    model = cw.NBClassifier(tune=None).fit(frame, y)
    source = MemorySource(frame, y, weights if weighted else None)
    found = FrequentKeys()
    keys = row_hash(row_keys(next(iter(source.batches())), model.codec_), 7)
    own = weights if weighted else np.ones(1000)
    found.add(keys, own)
    rows = count_frequent(source, model.codec_, None, 7, found, least=0.05)
    expected = []
    for (a, b, _), group in frame.assign(y=y, w=own).groupby(["a", "b", "y"]):
        if own[(frame["a"] == a) & (frame["b"] == b)].sum() > 0.05 * own.sum():
            one = group["w"].mean() if weighted else 1.0
            expected.append((group.index[0], keys[group.index[0]], group["w"].sum(), one))
    assert len(expected) >= 4
    got = list(zip(rows.positions, rows.keys, rows.weights, rows.one_row, strict=True))
    assert got == [pytest.approx(row) for row in sorted(expected)]


def test_nothing_is_read_where_nothing_can_be_frequent():
    rows = count_frequent(None, None, None, 0, FrequentKeys(), 0.0)
    assert len(rows.positions) == len(rows.weights) == 0
