"""Rows chosen by what they hold: the same ones whatever their order, their batches and their repetitions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from countwise.data.coded import CodedBatch, CodedData, joined
from countwise.data.parts import row_hash
from countwise.dtypes import AnyArray, IntArray


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows by ascending hash; a row's weight is that of all rows equal to it and of its class."""

    batch: CodedBatch
    keys: AnyArray  # uint64, ascending: a random number for each row

    def parts(self, n_parts: int) -> IntArray:
        """A part for each row, 0 .. n_parts - 1: dealt class by class in turn, so that all parts are alike."""
        assert self.batch.target is not None
        part = np.empty(self.batch.n_rows, np.int32)
        part[np.argsort(self.batch.target, kind="stable")] = np.arange(self.batch.n_rows) % n_parts
        return part


def sample_rows(data: CodedData, limit: int, seed: int) -> Sample:
    """One pass: all distinct rows, or the ``limit`` ones whose hashes are smallest."""
    kept: Sample | None = None
    for read in data.batches("sampling rows"):
        batch = read
        assert batch.target is not None
        keys = row_hash([*batch.codes, batch.target], seed)
        if kept is not None:
            if kept.batch.n_rows == limit:
                few = keys <= kept.keys[-1]
                batch, keys = batch.select(few), keys[few]
            batch, keys = joined([kept.batch, _weighted(batch)]), np.concatenate([kept.keys, keys])
        kept = _smallest(batch, keys, limit)
    assert kept is not None
    if bool(np.all(kept.batch.weights == 1.0)):
        return replace(kept, batch=replace(kept.batch, weights=None))
    return kept


def _smallest(batch: CodedBatch, keys: AnyArray, limit: int) -> Sample:
    found, first, same = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.bincount(same.reshape(-1), batch.weights, minlength=len(found)).astype(np.float64)
    return Sample(replace(batch.select(first[:limit]), weights=weights[:limit]), found[:limit])


def _weighted(batch: CodedBatch) -> CodedBatch:
    return batch if batch.weights is not None else replace(batch, weights=np.ones(batch.n_rows))
