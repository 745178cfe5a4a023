"""Rows chosen by what they hold: the same ones whatever their order, their batches and their repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch, CodedData, joined
from countwise.data.parts import row_hash
from countwise.dtypes import AnyArray, FloatArray
from countwise.parallel import thread_map

MUCH = 0.05  # of a part


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows by ascending hash; a row's weight is that of all rows equal to it and of its class."""

    batch: CodedBatch
    keys: AnyArray  # uint64, ascending: a random number for each row


def honest_shares(rows: CodedBatch, n_parts: int) -> FloatArray:
    """How much of each distinct row every part gets, parts x rows, so that a part has not seen the rows of another.

    Rows that hold the same, of whatever class, are in one part: copies outside it would have chosen for it, and their
    classes belong together. What is much of a part by itself is dealt to all of them, class by class: a table of few
    distinct rows has nothing else, and no part could speak for the others.
    """
    total = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    assert rows.target is not None
    _, first, group = np.unique(row_hash(rows.codes, 0), return_index=True, return_inverse=True)
    group_weight = np.bincount(group, total)
    light = (group_weight <= max(1.0, MUCH * float(total.sum()) / n_parts))[group]
    leads = np.flatnonzero(light & (first[group] == np.arange(rows.n_rows)))  # the first of its group
    part = np.zeros(rows.n_rows, np.int64)
    part[leads[np.argsort(rows.target[leads], kind="stable")]] = np.arange(len(leads)) % n_parts
    shares = np.where(part[first[group]] == np.arange(n_parts)[:, None], total, 0.0)
    shares[:, ~light] = dealt_weights(rows.select(~light), n_parts)
    return shares


def dealt_weights(rows: CodedBatch, n_parts: int) -> FloatArray:
    """How much of each distinct row every part gets, parts x rows: dealt class by class in turn, so that all are alike.

    A row that comes more than once, or has a weight above 1, is dealt piece by piece: in one part it would be far too
    much of its class.

    >>> rows = CodedBatch([np.array([0, 1, 2])], np.array([0, 0, 1]), np.array([1.0, 5.0, 2.0]), 3)
    >>> dealt_weights(rows, 2)
    array([[1., 2., 1.],
           [0., 3., 1.]])
    """
    assert rows.target is not None
    total = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    each = np.floor(total / n_parts)
    rest = total - n_parts * each  # less than n_parts: dealt one by one
    by_class = np.argsort(rows.target, kind="stable")
    first = np.empty(rows.n_rows, np.int64)
    first[by_class] = np.cumsum(np.ceil(rest[by_class])) - np.ceil(rest[by_class])
    turn = (np.arange(n_parts)[:, None] - first) % n_parts  # which of the rest's units comes to the part
    return each + np.clip(rest - turn, 0.0, 1.0)


class RowSampler:
    """The rows of the smallest keys among those that it is shown; equal rows must have equal keys."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.whole = True  # no row has been left out
        self.kept: Sample | None = None

    def add(self, batch: CodedBatch, keys: AnyArray) -> None:
        """Some rows more."""
        if self.kept is not None:
            if self.kept.batch.n_rows == self.limit:
                few = keys <= self.kept.keys[-1]
                self.whole &= bool(few.all())
                batch, keys = batch.select(few), keys[few]
            batch, keys = joined([self.kept.batch, _weighted(batch)]), np.concatenate([self.kept.keys, keys])
        found, first, same = np.unique(keys, return_index=True, return_inverse=True)
        weights = np.bincount(same.reshape(-1), batch.weights, minlength=len(found)).astype(np.float64)
        kept = replace(batch.select(first[: self.limit]), weights=weights[: self.limit])
        self.whole &= len(found) <= self.limit
        self.kept = Sample(kept, found[: self.limit])

    @property
    def sample(self) -> Sample:
        """What is kept; without weights where all are 1."""
        assert self.kept is not None
        if bool(np.all(self.kept.batch.weights == 1.0)):
            return replace(self.kept, batch=replace(self.kept.batch, weights=None))
        return self.kept


def sample_rows(data: CodedData, limit: int, seed: int) -> Sample:
    """One pass: all distinct rows, or the ``limit`` ones whose hashes are smallest."""
    sampler = RowSampler(limit)
    for batch in data.batches("sampling rows"):
        sampler.add(batch, batch_hash(batch, seed))
    return sampler.sample


def sample_apart(data: CodedData, limit: int, seeds: Sequence[int], threads: int = 1) -> list[Sample]:
    """One pass: a sample as :func:`sample_rows` takes it for each seed, independent of the others."""
    samplers = [RowSampler(limit) for _ in seeds]
    for batch in data.batches("sampling rows"):
        keys = batch_hash(batch, 0)  # once for all; a hash of it for each sample

        def add(s: int, batch: CodedBatch = batch, keys: AnyArray = keys) -> None:
            samplers[s].add(batch, row_hash([keys], seeds[s]))

        thread_map(add, range(len(seeds)), threads)
    return [sampler.sample for sampler in samplers]


def batch_hash(batch: CodedBatch, seed: int) -> AnyArray:
    """A random 64-bit number for each row that depends on its codes and class alone."""
    assert batch.target is not None
    return row_hash([*batch.codes, batch.target], seed)


class PartCodes(CodedData):
    """The rows of one of some parts, or all others; a row's part is its hash modulo their number.

    Repeated rows are in one part. The rows are read and hashed again for each pass, a pass over ``data``.
    """

    def __init__(self, data: CodedData, codec: Codec, part: tuple[int, int, int], inside: bool, n_rows: int) -> None:
        super().__init__(codec, n_rows, data.weighted)
        self.data, self.inside = data, inside
        self.part, self.n_parts, self.seed = part

    def _read(self) -> Iterator[CodedBatch]:
        self.data.n_passes += 1
        for batch in self.data._read():
            own = part_numbers(batch_hash(batch, self.seed), self.n_parts) == self.part
            mine = batch.select(own == self.inside)
            if mine.n_rows:
                yield mine


def part_numbers(keys: AnyArray, n_parts: int) -> AnyArray:
    """The part of each row, by its hash."""
    return (keys % np.uint64(n_parts)).astype(np.int64)


def _weighted(batch: CodedBatch) -> CodedBatch:
    return batch if batch.weights is not None else replace(batch, weights=np.ones(batch.n_rows))
