"""Rows dealt by content, and sources without some of them."""

import numpy as np
import pandas as pd
import pytest

import countwise as cw
from countwise.data.parts import WithoutRows, deal, part_of, row_keys
from countwise.data.source import MemorySource


def dealt(frame, **params):
    y = np.arange(len(frame)) % 2
    model = cw.NBClassifier(tune=None, **params).fit(frame, y)
    source = MemorySource(frame, y)
    return deal(source, model.codec_, 2, 2, seed=0), source


def test_equal_rows_share_a_part_whatever_the_zero_or_the_gap():
    frame = pd.DataFrame({"a": [0.0, -0.0, np.nan, -np.nan, 1.5, 1.5] * 10, "b": ["x", "x", "y", "y", None, None] * 10})
    parts, _ = dealt(frame)
    of = np.zeros(60, int)
    of[parts[1].positions] = 1
    assert (of[0::2] == of[1::2]).all()
    assert (of.reshape(10, 6) == of[:6]).all()


def test_parts_are_disjoint_complete_and_about_even():
    rng = np.random.default_rng(0)
    parts, source = dealt(pd.DataFrame({"a": rng.normal(size=2000), "b": rng.choice(["x", "y"], 2000)}))
    positions = [part.positions for part in parts]
    assert np.array_equal(np.sort(np.concatenate(positions)), np.arange(2000))
    assert all(part.weight == len(part.positions) and 900 < part.weight < 1100 for part in parts)
    rest = next(iter(WithoutRows(source, positions[0]).batches()))
    np.testing.assert_array_equal(rest.columns[0], source.batch.columns[0][positions[1]])


def test_seeds_deal_differently():
    keys = [np.arange(1000, dtype=np.uint32)]
    a, b = part_of(keys, 2, 0), part_of(keys, 2, 1)
    assert 0.4 < (a == b).mean() < 0.6


def test_rows_of_weight_zero_are_no_rows():
    frame = pd.DataFrame({"a": np.arange(100.0)})
    weights = np.tile([1.0, 0.0], 50)
    model = cw.NBClassifier(tune=None).fit(frame, np.arange(100) % 3)
    source = MemorySource(frame, np.arange(100) % 3, weights)
    parts = deal(source, model.codec_, 2, 2, 0)
    first, second = (part.positions for part in parts)
    assert parts[0].weight + parts[1].weight == len(first) + len(second) == 50
    rest = next(iter(WithoutRows(source, first).batches()))
    assert rest.n_rows == len(second)
    np.testing.assert_array_equal(rest.columns[0], np.arange(0.0, 100.0, 2)[second])


def test_numbers_are_keyed_by_value_not_by_bin():
    frame = pd.DataFrame({"a": np.linspace(0, 1, 400)})
    model = cw.NBClassifier(tune=None, discretiser=cw.EqualWidth(2)).fit(frame, np.arange(400) % 2)
    (key,) = row_keys(next(iter(MemorySource(frame).batches())), model.codec_)
    assert len(np.unique(key)) == 400
    assert part_of([key], 2, 0).mean() == pytest.approx(0.5, abs=0.1)
