"""Where rows end in grown trees, counted by class: all that pruning needs of them, added up batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch, CodedData
from countwise.dtypes import AnyArray, FloatArray, OffsetArray
from countwise.parallel import thread_map
from countwise.tree.count_tree import CountTree
from countwise.tree.partition import cells_upwards, summed
from countwise.tree.splits import SplitTable, SplitTree, counted, number_values


@dataclass(frozen=True, eq=False)
class EndCounts:
    """Rows (weight) by the node where they end and their class; ``key`` is node x classes + class, ascending."""

    splits: SplitTable
    key: OffsetArray
    count: FloatArray
    n_classes: int

    @property
    def node(self) -> OffsetArray:
        """The node of each count."""
        return self.key // self.n_classes

    @property
    def value(self) -> OffsetArray:
        """The class of each count."""
        return self.key % self.n_classes

    @property
    def class_counts(self) -> FloatArray:
        """Rows (weight) of each class."""
        return np.bincount(self.value, self.count, minlength=self.n_classes).astype(np.float64)

    def errors(self, answer: AnyArray) -> FloatArray:
        """For every node the weight of the rows that end there and are not of the class that it answers."""
        wrong = self.value != answer[self.node]
        return np.bincount(self.node[wrong], self.count[wrong], minlength=self.splits.n_nodes).astype(np.float64)

    def upwards(self) -> EndCounts:
        """For every node the rows that come by."""
        ptr, value, count = cells_upwards(self.splits.parent, self.key, self.count, self.n_classes)
        node = np.repeat(np.arange(self.splits.n_nodes, dtype=np.int64), np.diff(ptr))
        return EndCounts(self.splits, node * self.n_classes + value, count, self.n_classes)

    def tree(self) -> CountTree:
        """The counts as a tree: a row that has not come to a leaf is left out, as in :func:`counted`."""
        return counted(self.splits, self.node.astype(np.int32), self.value, self.count, self.n_classes)


def with_counts(trees: Sequence[SplitTree], ends: Sequence[EndCounts]) -> list[SplitTree]:
    """The same splits with other counts."""
    pairs = zip(trees, ends, strict=True)
    return [SplitTree(replace(own.tree(), choices=tree.counts.choices), tree.splits) for tree, own in pairs]


class EndCounter:
    """A pass that counts where rows end in some trees, whose codec is that of the rows."""

    label = "counting nodes"

    def __init__(self, tables: Sequence[SplitTable], codec: Codec) -> None:
        self.tables, self.n_values, self.n_classes = tables, number_values(codec), len(codec.classes)
        self.clear()

    def clear(self) -> None:
        """As if there had been no rows."""
        self.ends = [EndCounts(table, np.empty(0, np.int64), np.empty(0), self.n_classes) for table in self.tables]

    def add(self, batch: CodedBatch, threads: int) -> None:
        """Add some rows."""
        inner = max(threads // len(self.tables), 1)

        def added(ends: EndCounts) -> EndCounts:
            assert batch.target is not None
            key = ends.splits.apply(batch, self.n_values, inner).astype(np.int64) * self.n_classes + batch.target
            new = summed(key, np.ones(batch.n_rows) if batch.weights is None else batch.weights)
            both = (np.concatenate(pair) for pair in zip((ends.key, ends.count), new, strict=True))
            return EndCounts(ends.splits, *summed(*both), self.n_classes)

        self.ends = thread_map(added, self.ends, threads)

    @property
    def nbytes(self) -> int:
        """Memory of the counts."""
        return sum(ends.key.nbytes + ends.count.nbytes for ends in self.ends)


def count_ends(data: CodedData, tables: Sequence[SplitTable], codec: Codec, threads: int = 1) -> list[EndCounts]:
    """One pass: where the rows end in each of some trees."""
    counter = EndCounter(tables, codec)
    for batch in data.batches(counter.label):
        counter.add(batch, threads)
    return counter.ends
