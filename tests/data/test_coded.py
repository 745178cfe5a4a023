"""Coded batches, and reading ahead: nothing is lost, hidden or left running."""

import threading
import time

import numpy as np
import pyarrow as pa
import pytest

from countwise.data.coded import CodedBatch, StreamCodes, coalesced, read_ahead
from countwise.data.discretise import MDLP
from countwise.data.files import StreamSource
from countwise.data.schema import learn_schema
from countwise.errors import DataError


def test_items_arrive_in_order():
    assert list(read_ahead(range(50))) == list(range(50))
    assert list(read_ahead([])) == []


def test_errors_reach_the_reader_after_the_items_before_them():
    def items():
        yield 1
        raise KeyError("broken")

    ahead = read_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(KeyError, match="broken"):
        next(ahead)


def test_a_reader_that_stops_early_leaves_no_thread_and_closes_the_source():
    closed = threading.Event()

    def items():
        try:
            yield from range(1000)
        finally:
            closed.set()

    before = threading.active_count()
    ahead = read_ahead(items())
    assert next(ahead) == 0
    ahead.close()
    assert threading.active_count() == before
    del ahead
    assert closed.wait(2)


def test_it_reads_one_item_ahead_and_no_more():
    made = []

    def items():
        for i in range(10):
            made.append(i)
            yield i

    ahead = read_ahead(items())
    next(ahead)
    time.sleep(0.3)
    assert len(made) <= 3  # one in use, one ready, one waiting for room
    ahead.close()


def table(n, start=0):
    return pa.table({"c": [f"v{(i + start) % 3}" for i in range(n)], "label": [str(i % 2) for i in range(n)]})


def coded(source):
    schema = learn_schema(source, MDLP())
    return StreamCodes(source, schema.codec, schema.target, schema.n_rows, 1)


def test_passes_are_alike_and_counted(monkeypatch):
    monkeypatch.setattr("countwise.data.coded.CODED_BYTES", 1)
    data = coded(StreamSource([table(4), table(0), table(3)], target="label"))
    passes = [[batch.n_rows for batch in data.batches("")] for _ in range(2)]
    assert passes == [[4, 3], [4, 3]]
    assert data.n_passes == 2
    assert data.names == ["c"]


@pytest.mark.parametrize(("max_bytes", "sizes"), [(1, [4, 1, 3]), (5, [5, 3]), (8, [8]), (100, [8])])
def test_small_batches_are_joined(max_bytes, sizes):
    codes, target, weights = np.arange(8, dtype=np.uint8), np.arange(8, dtype=np.uint16) % 2, np.arange(1.0, 9.0)
    whole = CodedBatch([codes], target, weights, 8)
    parts = [whole.select(np.arange(a, b)) for a, b in [(0, 4), (4, 5), (5, 8)]]
    joined = list(coalesced(parts, max_bytes))
    assert [batch.n_rows for batch in joined] == sizes
    assert np.concatenate([batch.codes[0] for batch in joined]).tolist() == codes.tolist()
    assert np.concatenate([batch.target for batch in joined]).tolist() == target.tolist()
    assert np.concatenate([batch.weights for batch in joined]).tolist() == weights.tolist()
    assert joined[0].target.dtype == np.uint16


def test_data_that_change_between_passes_are_refused():
    batches = [table(4), table(4)]
    data = coded(StreamSource(batches, target="label"))
    batches.pop()
    with pytest.raises(DataError, match="changed between two passes: 8 rows, then 4"):
        list(data.batches(""))


def test_select_by_mask_and_by_position():
    batch = CodedBatch([np.array([5, 6, 7], np.uint8)], np.array([0, 1, 0], np.uint8), np.array([1.0, 2.0, 3.0]), 3)
    for rows in (np.array([True, False, True]), np.array([0, 2])):
        part = batch.select(rows)
        assert (part.codes[0].tolist(), part.target.tolist(), part.weights.tolist()) == ([5, 7], [0, 0], [1.0, 3.0])
        assert part.n_rows == 2
