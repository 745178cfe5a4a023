"""Rows chosen by what they hold: the same ones whatever their order, their batches and their repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch, CodedData, joined
from countwise.data.frequent import FrequentKeys
from countwise.data.one_row import one_row_weights
from countwise.data.parts import row_hash
from countwise.dtypes import AnyArray, OffsetArray
from countwise.parallel import thread_map


class RowSampler:
    """The rows of the smallest keys among those that it is shown, equal rows of one class as one.

    Equal rows must have equal keys. All rows of a key are kept, or none.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.bound: np.uint64 | None = None  # keys from here on are left out
        self.kept: CodedBatch | None = None
        self.keys, self.copies = np.zeros(0, np.uint64), np.zeros(0)

    @property
    def whole(self) -> bool:
        """Whether no row has been left out."""
        return self.bound is None

    def add(self, batch: CodedBatch, keys: AnyArray) -> None:
        """Some rows more."""
        if self.bound is not None:
            few = keys < self.bound
            batch, keys = batch.select(few), keys[few]
        copies = np.ones(batch.n_rows)
        batch = _weighted(batch)
        if self.kept is not None:
            batch, keys = joined([self.kept, batch]), np.concatenate([self.keys, keys])
            copies = np.concatenate([self.copies, copies])
        assert batch.target is not None
        assert batch.weights is not None
        order = np.lexsort((batch.target, keys))
        by_key, by_class = keys[order], batch.target[order]
        is_new = np.ones(len(order), bool)
        is_new[1:] = (by_key[1:] != by_key[:-1]) | (by_class[1:] != by_class[:-1])
        place = np.cumsum(is_new) - 1
        found = by_key[is_new]
        n_kept = len(found)
        if n_kept > self.limit:
            self.bound = found[self.limit]
            n_kept = int(np.searchsorted(found, self.bound))
        weights = np.bincount(place, batch.weights[order]).astype(np.float64)[:n_kept]
        self.copies = np.bincount(place, copies[order]).astype(np.float64)[:n_kept]
        self.kept, self.keys = replace(batch.select(order[is_new][:n_kept]), weights=weights), found[:n_kept]

    @property
    def rows(self) -> CodedBatch:
        """What is kept, by ascending key; without weights where all are 1."""
        assert self.kept is not None
        weights = self.kept.weights
        assert weights is not None
        rows = replace(self.kept, one_row=one_row_weights(self.kept.target, weights, self.copies))
        return replace(rows, weights=None) if bool((weights == 1.0).all()) else rows


def sample_rows(data: CodedData, limit: int, seed: int) -> CodedBatch:
    """One pass: all distinct rows of every class in random order, or about ``limit`` of them that stand for all.

    Rows that hold the same, of whatever class, are chosen together. Frequent ones are always there, with the share of
    their weight that the others have on the whole: a second pass counts them. Which rows are chosen, and their order,
    depend on what they hold alone.
    """
    sampler, frequent = RowSampler(max(limit, data.n_classes)), FrequentKeys()
    for batch in data.batches("sampling rows"):
        keys = _pattern_hash(batch, seed)
        sampler.add(batch, keys)
        if data.n_rows > limit:
            frequent.add(keys, batch.weights)
    rows = sampler.rows
    if sampler.bound is not None and len(frequent.candidates):
        counted = RowSampler(len(frequent.candidates) * data.n_classes)
        for batch in data.batches("counting frequent rows"):
            keys = _pattern_hash(batch, seed)
            own = np.isin(keys, frequent.candidates)
            counted.add(batch.select(own), keys[own])
        rows = _with_frequent(sampler, counted, frequent.least)
    return rows.select(np.argsort(batch_hash(rows, seed)))


def _with_frequent(sampler: RowSampler, counted: RowSampler, least: float) -> CodedBatch:
    """A sample's rows, and the frequent ones among those that were counted."""
    assert sampler.bound is not None
    rows, (_, number) = _weighted(counted.rows), np.unique(counted.keys, return_inverse=True)
    is_frequent = (np.bincount(number, rows.weights) > least)[number]
    often = rows.select(is_frequent)
    others = _weighted(sampler.rows.select(~np.isin(sampler.keys, counted.keys[is_frequent])))
    share = float(sampler.bound) / 2.0**64  # of all keys
    assert often.weights is not None
    return joined([others, replace(often, weights=often.weights * share)])


def _pattern_hash(batch: CodedBatch, seed: int) -> AnyArray:
    """A random 64-bit number for each row that depends on its codes alone; seed 0 would give a row of zeros 0."""
    return row_hash(batch.codes, seed + 1)


def sample_apart(data: CodedData, limit: int, seeds: Sequence[int], threads: int = 1) -> list[CodedBatch]:
    """One pass: the ``limit`` distinct rows, or all, whose hashes are smallest, for each seed."""
    samplers = [RowSampler(limit) for _ in seeds]
    for batch in data.batches("sampling rows"):
        keys = batch_hash(batch, 0)  # once for all; a hash of it for each sample

        def add(s: int, batch: CodedBatch = batch, keys: AnyArray = keys) -> None:
            samplers[s].add(batch, row_hash([keys], seeds[s]))

        thread_map(add, range(len(seeds)), threads)
    return [sampler.rows for sampler in samplers]


def drawn_rows(rows: CodedBatch, rng: np.random.Generator) -> CodedBatch:
    """As many rows as there are, drawn with replacement: the distinct ones, with how often they came as weights.

    Weights of rows are chances, so that the unit of weights does not matter.
    """
    return replace(rows.weighted(draws(rows, rng).astype(np.float64)), one_row=None)


def draws(rows: CodedBatch, rng: np.random.Generator) -> OffsetArray:
    """How often each of some distinct rows is drawn."""
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    return rng.multinomial(max(1, round(float(rows.copies.sum()))), weights / weights.sum())


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
