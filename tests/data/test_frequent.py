"""Keys that come often, found in little memory."""

import numpy as np
import pytest

from countwise.data import frequent
from countwise.data.frequent import FrequentKeys


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
