"""What pruning methods share: growing from parts of the rows, the choice from the leaves up, and the cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch, MemoryCodes
from countwise.data.sample import sample_rows
from countwise.dtypes import AnyArray, FloatArray, IntArray, OffsetArray
from countwise.tree.count_tree import CountTree, single_node
from countwise.tree.grow import GrowthRules, grow
from countwise.tree.splits import SplitTable, SplitTree, counted, levels_of, number_values


@dataclass(frozen=True, eq=False)
class Growth:
    """Rows to grow from, and how."""

    batch: CodedBatch
    codec: Codec
    rules: GrowthRules
    seed: int = 0
    threads: int = 1

    def grow(self) -> SplitTree:
        """The tree of these rows."""
        return grow(self.batch, self.codec, self.rules, self.seed, self.threads)

    def dealt(self, n_parts: int) -> list[tuple[Growth, CodedBatch]]:
        """For each of some parts the growth without it, and its rows.

        Rows are dealt in turn, class by class, in the order of a hash of what they hold; of a row that comes more than
        once, or has a weight above 1, every part gets its share.
        """
        rows = sample_rows(MemoryCodes(self.batch, self.codec), self.batch.n_rows, self.seed).batch
        assert rows.target is not None
        total = np.ones(rows.n_rows) if rows.weights is None else rows.weights
        each = np.floor(total / n_parts)
        rest = total - n_parts * each  # less than n_parts: dealt one by one
        by_class = np.argsort(rows.target, kind="stable")
        first = np.empty(rows.n_rows, np.int64)
        first[by_class] = np.cumsum(np.ceil(rest[by_class])) - np.ceil(rest[by_class])
        found = []
        for p in range(n_parts):
            turn = (p - first) % n_parts  # which of the rest's units comes to this part
            own = each + np.clip(rest - turn, 0.0, 1.0)
            batches = [replace(rows, weights=weights).select(weights > 0) for weights in (total - own, own)]
            if all(batch.n_rows for batch in batches):
                found.append((replace(self, batch=batches[0]), batches[1]))
        return found

    def reached(self, splits: SplitTable, batch: CodedBatch) -> IntArray:
        """The node of each row."""
        return splits.apply(batch, number_values(self.codec), self.threads)

    def count(self, splits: SplitTable, batch: CodedBatch) -> SplitTree:
        """The counts of other rows on the same splits; nodes that none of them reaches are left out."""
        assert batch.target is not None
        n_classes = len(self.codec.classes)
        tree = counted(splits, self.reached(splits, batch), batch.target, batch.weights, n_classes)
        if tree.n_cells == 0:  # no row has come to a leaf
            totals = np.bincount(batch.target, batch.weights, minlength=n_classes).astype(np.float64)
            none = np.full(1, -1, np.int32)
            return SplitTree(single_node(totals), SplitTable(none, none, none, none))
        return subtree(SplitTree(tree, splits), np.diff(tree.cell_ptr) > 0)


class Pruner(BaseEstimator, ABC):
    """Base of the pruning methods: parameter objects, so that ``pruning__alpha`` reaches a grid search."""

    @abstractmethod
    def prune(self, growth: Growth) -> SplitTree:
        """A tree grown and pruned."""

    def check(self) -> None:
        """Raise a clear error if a parameter is out of range."""


def validated(growth: Growth) -> SplitTree:
    """Splits from one half of the rows, counts from the other (paper 004, section 5.3.7)."""
    halves = growth.dealt(2)
    if len(halves) < 2:
        return growth.grow()
    without, rest = halves[0]
    return growth.count(without.grow().splits, rest)


def cheapest(
    splits: SplitTable, as_leaf: FloatArray, on_the_way: FloatArray | None = None, slack: float = 0.0
) -> AnyArray:
    """Which nodes to stop at, so that the sum of costs over the leaves that are left is least.

    ``as_leaf`` is what a node costs as a leaf, ``on_the_way`` what it adds while it is not one. From the leaves up: a
    node stops where that costs no more than the best below it, and ``slack``.
    """
    best, stops = as_leaf.copy(), splits.is_leaf
    level_ptr = levels_of(splits.parent)
    for level in range(len(level_ptr) - 2, -1, -1):
        nodes = np.arange(level_ptr[level], level_ptr[level + 1])
        inner = nodes[~splits.is_leaf[nodes]]
        if len(inner) == 0:
            continue
        children = np.arange(splits.first_child[inner[0]], splits.first_child[inner[-1] + 1])
        first = splits.first_child[inner] - children[0]
        below = np.add.reduceat(best[children], first) + (0.0 if on_the_way is None else on_the_way[inner])
        stop = as_leaf[inner] <= below + slack
        best[inner], stops[inner] = np.where(stop, as_leaf[inner], below), stop
    return stops


def cut(tree: SplitTree, stops: AnyArray) -> SplitTree:
    """The tree without what is below the nodes to stop at."""
    keep = np.ones(tree.splits.n_nodes, bool)
    level_ptr = levels_of(tree.splits.parent)
    for level in range(1, len(level_ptr) - 1):
        nodes = slice(int(level_ptr[level]), int(level_ptr[level + 1]))
        parent = tree.splits.parent[nodes]
        keep[nodes] = keep[parent] & ~stops[parent]
    return subtree(tree, keep)


def subtree(tree: SplitTree, keep: AnyArray) -> SplitTree:
    """The nodes to keep; with a node its parent is kept."""
    if keep.all():
        return tree
    counts, splits = tree.counts, tree.splits
    number = np.cumsum(keep) - 1
    parent = np.where(splits.parent[keep] < 0, -1, number[splits.parent[keep]]).astype(np.int32)
    has_child = np.zeros(len(parent), bool)
    has_child[parent[1:]] = True
    column = np.where(has_child, splits.column[keep], -1).astype(np.int32)
    threshold = np.where(has_child, splits.threshold[keep], -1).astype(np.int32)
    sides = splits.sides_of(np.where(has_child, np.flatnonzero(keep), -1))
    cells = np.repeat(keep, np.diff(counts.cell_ptr))
    cell_ptr: OffsetArray = np.concatenate([[0], np.cumsum(np.diff(counts.cell_ptr)[keep])]).astype(np.int64)
    kept = replace(
        counts,
        parent=parent,
        level_ptr=levels_of(parent),
        cell_ptr=cell_ptr,
        cell_value=counts.cell_value[cells],
        cell_count=counts.cell_count[cells],
    )
    return SplitTree(kept, SplitTable(parent, splits.branch[keep], column, threshold, *sides))


def training_errors(tree: CountTree) -> FloatArray:
    """The weight of the rows at every node that are not of its most frequent class."""
    return tree.total - np.maximum.reduceat(tree.cell_count, tree.cell_ptr[:-1])
