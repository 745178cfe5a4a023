"""The rows of a source dealt into parts, the same in every pass and whatever the batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from countwise.data.source import RawBatch, Source, take_rows


@dataclass(frozen=True)
class Dealing:
    """Rows go round: each run of ``n_parts`` rows has one in every part, in an order drawn by ``seed``.

    Rows that are sorted by class are thus dealt evenly, class by class.
    """

    n_parts: int
    seed: int

    def part_of(self, rows: np.ndarray) -> np.ndarray:
        """The part of each row, by position.

        >>> Dealing(3, 0).part_of(np.arange(6)).tolist()
        [2, 0, 1, 0, 1, 2]
        """
        start = np.uint64((self.seed * 0x9E3779B97F4A7C15 + 1) % 2**64)
        x = (rows // self.n_parts).astype(np.uint64) + start
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)  # the mixing steps of splitmix64
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        turn = (x ^ (x >> np.uint64(31))) % np.uint64(self.n_parts)
        return (rows + turn.astype(np.int64)) % self.n_parts


class WithoutPart(Source):
    """A source without the rows of one part. Rows of weight 0 are no rows."""

    def __init__(self, source: Source, dealing: Dealing, part: int) -> None:
        self.source, self.dealing, self.part = source, dealing, part
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
            keep = self.dealing.part_of(np.arange(first, first + batch.n_rows)) != self.part
            first += batch.n_rows
            target = None if batch.target is None else take_rows(batch.target, keep)
            weights = None if batch.weights is None else batch.weights[keep]
            yield RawBatch([take_rows(c, keep) for c in batch.columns], target, weights, int(keep.sum()))
