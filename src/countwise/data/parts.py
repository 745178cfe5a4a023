"""Rows dealt into parts by what they hold, and a source without some rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from countwise.data.codec import Codec, NumberCodec
from countwise.data.columns import as_numbers
from countwise.data.source import RawBatch, Source, take_rows
from countwise.dtypes import AnyArray, FloatArray, OffsetArray

if TYPE_CHECKING:
    from countwise.data.frequent import FrequentKeys

MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # multipliers of splitmix64


def part_of(keys: Sequence[np.ndarray], n_parts: int, seed: int) -> np.ndarray:
    """The part of each row, 0 .. n_parts - 1: a hash of its values, given as unsigned integers, column by column.

    Equal rows share a part, so that neither the order of the rows nor whether they are repeated or weighted matters,
    and no part holds a copy of a row of another.

    >>> part_of([np.array([0, 1, 2, 0, 1, 2], np.uint8)], 3, seed=0).tolist()
    [0, 0, 2, 0, 0, 2]
    """
    return (row_hash(keys, seed) % np.uint64(n_parts)).astype(np.int64)


def row_hash(keys: Sequence[np.ndarray], seed: int) -> np.ndarray:
    """A random 64-bit number for each row that depends on its values alone."""
    x = np.full(len(keys[0]), seed * 0x9E3779B97F4A7C15 % 2**64, np.uint64)
    for column in keys:
        x ^= column
        x *= MIX[0]
        x ^= x >> np.uint64(29)
        x *= MIX[1]
        x ^= x >> np.uint64(32)
    return x


def row_keys(batch: RawBatch, codec: Codec) -> list[np.ndarray]:
    """Every column as unsigned integers: codes of categories, bits of numbers. Bins would make too many rows equal."""
    keys: list[np.ndarray] = []
    for column, own in zip(batch.columns, codec.columns, strict=True):
        if isinstance(own, NumberCodec):
            numbers = as_numbers(column, own.name) + 0.0  # a copy, in which -0.0 is 0.0
            numbers[np.isnan(numbers)] = np.nan
            keys.append(numbers.view(np.uint64))
        else:
            keys.append(own.encode(column))
    return keys


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of a source: their positions, ascending, the hashes of what they hold, and weights or None."""

    positions: OffsetArray
    keys: AnyArray
    weights: FloatArray | None

    @property
    def weight(self) -> float:
        """Of all its rows."""
        return float(len(self.positions) if self.weights is None else self.weights.sum())

    def select(self, rows: AnyArray) -> Part:
        """The rows of a mask."""
        return Part(self.positions[rows], self.keys[rows], None if self.weights is None else self.weights[rows])

    def at_most(self, limit: int) -> Part:
        """So many rows at most: all that hold the same or none of them, those of the smallest hashes first."""
        if len(self.positions) <= limit:
            return self
        _, number, n_rows = np.unique(self.keys, return_inverse=True, return_counts=True)
        n_rows[n_rows > limit] = 0  # it is left out in any case
        return self.select(((n_rows > 0) & (np.cumsum(n_rows) <= limit))[number])

    @staticmethod
    def joined(parts: Sequence[Part]) -> Part:
        """Several as one."""
        weights = [part.weights for part in parts if part.weights is not None]
        positions, keys = (
            np.concatenate(arrays) for arrays in zip(*((p.positions, p.keys) for p in parts), strict=True)
        )
        return Part(positions, keys, np.concatenate(weights) if weights else None)


def deal(
    source: Source, codec: Codec, n_parts: int, n_wanted: int, seed: int, frequent: FrequentKeys | None = None
) -> list[Part]:
    """One pass: the rows of each of the first ``n_wanted`` parts; ``frequent`` sees the hashes of all rows.

    Rows of weight 0 are no rows.
    """
    found: list[list[Part]] = [[] for _ in range(n_wanted)]
    first = 0
    for raw in source.batches():
        batch = raw.without_zero_weights()
        keys = row_hash(row_keys(batch, codec), seed)
        if frequent is not None:
            frequent.add(keys, batch.weights)
        whole = Part(np.arange(first, first + batch.n_rows), keys, batch.weights)
        number = keys % np.uint64(n_parts)
        for part, own in enumerate(found):
            own.append(whole.select(number == part))
        first += batch.n_rows
    return [Part.joined(own) for own in found]


class WithoutRows(Source):
    """A source without the rows at these positions, ascending. Rows of weight 0 are no rows."""

    def __init__(self, source: Source, positions: OffsetArray) -> None:
        self.source, self.positions = source, positions
        self.names, self.target, self.weight = source.names, source.target, source.weight
        self.in_memory = source.in_memory

    @property
    def has_target(self) -> bool:
        """As in the whole source."""
        return self.source.has_target

    @property
    def weighted(self) -> bool:
        """As in the whole source."""
        return self.source.weighted

    def batches(self) -> Iterator[RawBatch]:
        """The other rows, in batches."""
        first = 0
        for whole in self.source.batches():
            batch = whole.without_zero_weights()
            begin, end = np.searchsorted(self.positions, [first, first + batch.n_rows])
            keep = np.ones(batch.n_rows, bool)
            keep[self.positions[begin:end] - first] = False
            first += batch.n_rows
            target = None if batch.target is None else take_rows(batch.target, keep)
            weights = None if batch.weights is None else batch.weights[keep]
            yield RawBatch([take_rows(c, keep) for c in batch.columns], target, weights, int(keep.sum()))
