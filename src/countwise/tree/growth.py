"""Rows to grow trees from, in memory or not: whoever grows, deals or counts them need not know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch, CodedData, MemoryCodes
from countwise.data.sample import PartCodes, RowSampler, batch_hash, part_numbers
from countwise.data.shares import dealt_weights
from countwise.dtypes import OffsetArray, code_dtype
from countwise.tree.ends import EndCounts, count_ends
from countwise.tree.grow import GrowthRules, grow
from countwise.tree.grow_passes import Passes
from countwise.tree.splits import SplitTable, SplitTree

ROW_BYTES = 24  # of growth, beside the codes: position, class, and room to divide them
SAMPLE_BYTES = 16  # of a row in a sample, beside the codes: key and weight


@dataclass(frozen=True, eq=False)
class Growth:
    """Rows to grow from, and how."""

    data: CodedData
    codec: Codec
    rules: GrowthRules
    seed: int = 0
    threads: int = 1
    max_memory: int | None = None  # for the rows; None where they are in memory already

    @property
    def row_bytes(self) -> int:
        """Memory of a row while a tree is grown; codes of one or two bytes may fit where the table does not."""
        return self._code_bytes + 8 * self.data.weighted + ROW_BYTES

    @property
    def _code_bytes(self) -> int:
        return sum(code_dtype(arity).itemsize for arity in [*self.data.arity, self.data.n_classes])

    @property
    def fits(self) -> bool:
        """Whether all rows can be in memory at once."""
        return self.max_memory is None or self.data.n_rows * self.row_bytes <= self.max_memory

    def sample_limit(self, n_samples: int) -> int:
        """Rows of each of some samples that are in memory together."""
        if self.max_memory is None:
            return self.data.n_rows
        return max(self.max_memory // (n_samples * (self._code_bytes + ROW_BYTES + SAMPLE_BYTES)), 1)

    def of_rows(self, batch: CodedBatch) -> Growth:
        """The same with these rows, which are in memory."""
        return replace(self, data=MemoryCodes(batch, self.codec), max_memory=None)

    def grow(self) -> SplitTree:
        """The tree of these rows; the same one whether they fit or not."""
        if self.fits:
            return grow(self.data.rows(), self.codec, self.rules, self.seed, self.threads)
        assert self.max_memory is not None
        return Passes(self.data, self.codec, self.rules, self.row_bytes, self.max_memory, self.threads).grow()

    def reached(self, splits: SplitTable) -> EndCounts:
        """One pass: where the rows end."""
        return count_ends(self.data, [splits], self.codec, self.threads)[0]

    def dealt(self, n_parts: int) -> Iterator[tuple[Growth, Growth]]:
        """For each of some parts the rows without it, and its rows; nothing where there are too few to deal.

        Where the distinct rows fit into memory, they are dealt in turn, class by class, in the order of a hash of what
        they hold; of a row that comes more than once, or has a weight above 1, every part gets its share. Otherwise
        a row's part is its hash modulo the number of parts: repeated rows are in one part, and classes have
        about equal shares. Neither way depends on the order of rows, batches and threads.
        """
        rows, sizes = self._distinct(n_parts)
        if rows is not None:
            yield from self._in_turn(rows, n_parts)
            return
        for p, size in enumerate(sizes.tolist()):
            rest = self.data.n_rows - size
            if size and rest:
                part = (p, n_parts, self.seed)
                outer, inner = (
                    replace(self, data=PartCodes(self.data, self.codec, part, inside, n))
                    for inside, n in ((False, rest), (True, size))
                )
                yield outer, inner

    def _distinct(self, n_parts: int) -> tuple[CodedBatch | None, OffsetArray]:
        """One pass: the distinct rows with their weights if they fit, and the rows of each part by hash."""
        sampler = RowSampler(self.sample_limit(2))  # and room to join them with a batch, or to deal them
        sizes = np.zeros(n_parts, np.int64)
        for batch in self.data.batches("dealing rows"):
            keys = batch_hash(batch, self.seed)
            sizes += np.bincount(part_numbers(keys, n_parts), minlength=n_parts)
            if sampler.whole:
                sampler.add(batch, keys)
        return (sampler.rows if sampler.whole else None), sizes

    def _in_turn(self, rows: CodedBatch, n_parts: int) -> Iterator[tuple[Growth, Growth]]:
        total = np.ones(rows.n_rows) if rows.weights is None else rows.weights
        for own in dealt_weights(rows, n_parts):
            outer, inner = (rows.weighted(weights) for weights in (total - own, own))
            if outer.n_rows and inner.n_rows:
                yield self.of_rows(outer), self.of_rows(inner)
