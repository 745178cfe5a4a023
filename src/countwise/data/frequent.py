"""What comes often among very many rows, in memory for a few: the summary of Misra and Gries (1982), in batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countwise.data.codec import CategoryCodec, Codec
from countwise.data.one_row import one_row_weights
from countwise.data.parts import row_hash, row_keys
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray, OffsetArray

FREQUENT = 4000  # a key that has more than one so-many-th of all weight is


class FrequentKeys:
    """Finds every frequent key in one pass, and some others; a second pass can tell.

    It has up to ``2 * FREQUENT`` counts. Where there are more, all lose as much as the next largest has: no count is
    off by more than the sum of what was lost, half of what makes a key frequent.
    """

    def __init__(self) -> None:
        self.keys, self.counts = np.zeros(0, np.uint64), np.zeros(0)
        self.lost = self.total = 0.0

    def add(self, keys: AnyArray, weights: FloatArray | None) -> None:
        """Some keys more."""
        found, place = np.unique(np.concatenate([self.keys, keys]), return_inverse=True)
        own = np.ones(len(keys)) if weights is None else weights
        counts = np.bincount(place, np.concatenate([self.counts, own])).astype(np.float64)
        self.total += float(own.sum())
        if len(found) > 2 * FREQUENT:
            cut = np.partition(counts, -2 * FREQUENT - 1)[-2 * FREQUENT - 1]
            self.lost += float(cut)
            counts = counts - cut
            found, counts = found[counts > 0], counts[counts > 0]
        self.keys, self.counts = found, counts

    @property
    def least(self) -> float:
        """The weight above which a key is frequent."""
        return self.total / FREQUENT

    @property
    def candidates(self) -> AnyArray:
        """Keys that may be frequent, ascending; no other is."""
        return self.keys[self.counts + self.lost > self.least]


@dataclass(frozen=True, eq=False)
class FrequentRows:
    """Rows that come often, equal rows of one class as one: where each comes first, ascending, and its whole weight."""

    positions: OffsetArray
    keys: AnyArray
    weights: FloatArray
    one_row: FloatArray  # the weight of one of the rows that each stands for


def count_frequent(
    source: Source, codec: Codec, target: CategoryCodec | None, seed: int, frequent: FrequentKeys, least: float
) -> FrequentRows:
    """One pass, if any row can be frequent: those that hold the same as more than ``least`` of all weight.

    ``target`` codes the classes; without it they are codes.
    """
    empty = np.zeros(0)
    columns: list[AnyArray] = [empty.astype(np.int64), empty.astype(np.uint64), empty.astype(np.uint64), empty, empty]
    first = 0
    for raw in source.batches() if len(frequent.candidates) else ():
        batch = raw.without_zero_weights()
        keys = row_hash(row_keys(batch, codec), seed)
        own = np.flatnonzero(np.isin(keys, frequent.candidates))
        classes = np.asarray(batch.target if target is None else target.encode(batch.target))[own].astype(np.uint64)
        ones = np.ones(len(own))
        found = [first + own, keys[own], classes, ones if batch.weights is None else batch.weights[own], ones]
        columns = _join_rows([np.concatenate(pair) for pair in zip(columns, found, strict=True)])
        first += batch.n_rows
    _, number = np.unique(columns[1], return_inverse=True)
    is_frequent = (np.bincount(number, columns[3]) > max(least * frequent.total, frequent.least))[number]
    ascending = np.argsort(columns[0])
    positions, keys, classes, weights, copies = (column[ascending[is_frequent[ascending]]] for column in columns)
    one_row = one_row_weights(classes, weights, copies)
    return FrequentRows(positions, keys, weights, np.ones(len(keys)) if one_row is None else one_row)


def _join_rows(columns: list[AnyArray]) -> list[AnyArray]:
    """Equal rows of a class as one: first position, key, class, and the sums of weights and of copies."""
    positions, keys, classes, weights, copies = columns
    _, start, place = np.unique(row_hash([keys, classes], 1), return_index=True, return_inverse=True)
    sums = (np.bincount(place, column, minlength=len(start)) for column in (weights, copies))
    return [positions[start], keys[start], classes[start], *sums]
