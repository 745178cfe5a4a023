"""Coded data: small integers, column by column; from here on no strings, floats or frames."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from countwise.data.codec import CategoryCodec, Codec
from countwise.data.one_row import ClassRows, one_row_weights
from countwise.data.source import RawBatch, Source
from countwise.dtypes import CodeArray, FloatArray, OffsetArray
from countwise.errors import DataError
from countwise.parallel import thread_map
from countwise.progress import progress_bar

THREADED_ROWS = 2**17  # a column of fewer is coded sooner than another thread gets hold of the interpreter
CODED_BYTES = 8 * 2**20  # of codes that a scan counts at once


@dataclass(frozen=True, eq=False)
class CodedBatch:
    """Codes of some rows: ``codes[i]`` is column i, ``target`` the class codes, ``weights`` None or positive.

    Where equal rows were joined, ``one_row`` is the weight of one of them (``one_row.py``); None is 1.
    """

    codes: list[CodeArray]
    target: CodeArray | None
    weights: FloatArray | None
    n_rows: int
    one_row: FloatArray | None = None

    @property
    def left_out(self) -> FloatArray | None:
        """What each row loses of its weight when it is left out: one of the rows that it stands for; None is 1."""
        if self.one_row is not None or self.weights is None:
            return self.one_row
        return np.minimum(self.weights, 1.0)

    @property
    def copies(self) -> FloatArray:
        """How many rows each distinct row stands for."""
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        return weights if self.one_row is None else weights / self.one_row

    @property
    def rows_per_weight(self) -> float:
        """As how many rows a weight of 1 counts, in a fit that must know how many rows there are to learn from.

        Unequal weights tell less than as many rows: Kish's effective number of them is the square of the sum of weights
        by the sum of squares, and no number of rows depends on the unit of weights.
        """
        if self.one_row is None:
            return 1.0
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        return float(weights.sum() / (weights @ self.one_row))

    def select(self, rows: np.ndarray) -> CodedBatch:
        """The rows of a mask or of positions."""
        kept = np.flatnonzero(rows) if rows.dtype == bool else rows  # once for all columns
        codes = [column[kept] for column in self.codes]
        target = None if self.target is None else self.target[kept]
        weights = None if self.weights is None else self.weights[kept]
        one_row = None if self.one_row is None else self.one_row[kept]
        return CodedBatch(codes, target, weights, len(kept), one_row)

    def weighted(self, weights: FloatArray) -> CodedBatch:
        """The rows of positive weight, with these weights; without any where all are 1."""
        kept = weights > 0
        own = weights[kept]
        return replace(self.select(kept), weights=None if bool((own == 1.0).all()) else own)

    def distinct(self) -> CodedBatch:
        """Equal rows of one class as one row with the sum of their weights, in an order that depends on the codes."""
        return self.distinct_places()[0]

    def distinct_places(self) -> tuple[CodedBatch, OffsetArray]:
        """The distinct rows, and for each row which of them it is."""
        assert self.target is not None
        table = np.column_stack([*self.codes, self.target]).astype(np.uint32)
        _, first, same = np.unique(table.view(f"V{table.shape[1] * 4}"), return_index=True, return_inverse=True)
        weights = np.bincount(same.reshape(-1), self.weights, minlength=len(first)).astype(np.float64)
        copies = np.bincount(same.reshape(-1), minlength=len(first))
        rows = replace(self.select(first), weights=weights)
        return replace(rows, one_row=one_row_weights(rows.target, weights, copies)), same.reshape(-1)


class PickedRows:
    """The rows at some positions, ascending, picked up while a pass goes by."""

    def __init__(self, positions: OffsetArray) -> None:
        self.positions = positions
        self.next_row = 0
        self.parts: list[CodedBatch] = []

    def watch(self, batch: CodedBatch) -> None:
        """Keep this batch's share."""
        begin, end = np.searchsorted(self.positions, [self.next_row, self.next_row + batch.n_rows])
        if begin < end:
            self.parts.append(batch.select(self.positions[begin:end] - self.next_row))
        self.next_row += batch.n_rows

    @property
    def batch(self) -> CodedBatch:
        """All of them."""
        return joined(self.parts)


def encode_batch(
    batch: RawBatch, codec: Codec, target_codec: CategoryCodec | None = None, threads: int = 1
) -> CodedBatch:
    """Apply a codec to raw columns."""
    batch = batch.without_zero_weights()
    if batch.n_rows < THREADED_ROWS:
        threads = 1
    codes = thread_map(lambda pair: pair[0].encode(pair[1]), zip(codec.columns, batch.columns, strict=True), threads)
    target = None if target_codec is None else target_codec.encode(batch.target)
    return CodedBatch(codes, target, batch.weights, batch.n_rows)


class CodedData:
    """Batches of codes that can be read again, with what the counting plans need to know beforehand."""

    def __init__(self, codec: Codec, n_rows: int, weighted: bool) -> None:
        self.weighted = weighted
        self.arity, self.names = codec.arity, codec.names
        self.n_classes = len(codec.classes)
        self.n_rows = n_rows
        self.n_passes = 0
        self.class_counts: FloatArray | None = None  # rows (weight) of each class, once all have been seen
        self.row_weight: FloatArray | None = None  # of one row of each class, known then; None: 1

    def batches(self, label: str) -> Iterator[CodedBatch]:
        """One pass over all rows; ``label`` says what it is for where progress is shown."""
        self.n_passes += 1
        seen = ClassRows(self.n_classes)
        with progress_bar(label, self.n_rows) as bar:
            for batch in self._read():
                if self.class_counts is None:
                    assert batch.target is not None
                    seen.add(batch.target, batch.weights)
                yield batch
                bar.advance(batch.n_rows)
        if self.class_counts is None:
            self.class_counts, self.row_weight = seen.total, seen.row_weight

    def rows(self) -> CodedBatch:
        """All rows in memory."""
        return joined(list(self.batches("reading codes")))

    def _read(self) -> Iterator[CodedBatch]:
        raise NotImplementedError


class MemoryCodes(CodedData):
    """Coded once, kept."""

    def __init__(self, batch: CodedBatch, codec: Codec) -> None:
        super().__init__(codec, batch.n_rows, batch.weights is not None)
        self.batch = batch
        assert batch.target is not None
        rows = ClassRows(self.n_classes)
        rows.add(batch.target, batch.weights)
        self.class_counts, self.row_weight = rows.total, rows.row_weight

    def _read(self) -> Iterator[CodedBatch]:
        yield self.batch


class StreamCodes(CodedData):
    """Read and coded anew for each pass; the next batch is prepared while this one is counted."""

    def __init__(
        self,
        source: Source,
        codec: Codec,
        target_codec: CategoryCodec,
        n_rows: int,
        threads: int,
    ) -> None:
        super().__init__(codec, n_rows, source.weighted)
        self.source, self.codec, self.target_codec, self.threads = source, codec, target_codec, threads

    def _read(self) -> Iterator[CodedBatch]:
        coded = (encode_batch(batch, self.codec, self.target_codec, self.threads) for batch in self.source.batches())
        n_rows = 0
        for batch in read_ahead(coalesced(coded, CODED_BYTES)):
            n_rows += batch.n_rows
            if batch.n_rows:
                yield batch
        if n_rows != self.n_rows:
            raise DataError(
                f"the data changed between two passes: {self.n_rows} rows, then {n_rows}; "
                "learning needs the same rows each time"
            )


def coalesced(batches: Iterable[CodedBatch], max_bytes: int) -> Iterator[CodedBatch]:
    """Batches joined until they hold ``max_bytes`` of codes: a batch of files is small because it is wide, codes are
    narrow, and counting is cheaper by the row in large batches.
    """
    waiting: list[CodedBatch] = []
    held = 0
    for batch in batches:
        waiting.append(batch)
        held += sum(column.nbytes for column in batch.codes)
        if held >= max_bytes:
            yield joined(waiting)
            waiting, held = [], 0
    if waiting:
        yield joined(waiting)


def joined(batches: list[CodedBatch]) -> CodedBatch:
    """Batches of the same columns as one."""
    if len(batches) == 1:
        return batches[0]
    codes: list[CodeArray] = [np.concatenate(columns) for columns in zip(*(b.codes for b in batches), strict=True)]
    targets: list[Any] = [b.target for b in batches if b.target is not None]
    weights = [b.weights for b in batches if b.weights is not None]
    joined_rows = [np.ones(b.n_rows) if b.left_out is None else b.left_out for b in batches]
    return CodedBatch(
        codes,
        np.concatenate(targets) if targets else None,
        np.concatenate(weights) if weights else None,
        sum(b.n_rows for b in batches),
        None if all(b.one_row is None for b in batches) else np.concatenate(joined_rows),
    )


Item = TypeVar("Item")


def read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, each produced by a second thread while the one before it is in use.

    >>> list(read_ahead(range(3)))
    [0, 1, 2]
    """
    ready: queue.Queue[tuple[str, object]] = queue.Queue(maxsize=1)
    stopped = threading.Event()

    def put(kind: str, value: object) -> bool:
        while not stopped.is_set():
            try:
                ready.put((kind, value), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def produce() -> None:
        try:
            for item in items:
                if not put("item", item):
                    return
            put("end", None)
        except BaseException as error:  # handed to the reader, whatever it is
            put("error", error)

    thread = threading.Thread(target=produce, daemon=True)
    thread.start()
    try:
        while True:
            kind, value = ready.get()
            if kind == "end":
                return
            if kind == "error":
                assert isinstance(value, BaseException)
                raise value
            yield value  # type: ignore[misc]
    finally:
        stopped.set()
        thread.join()
