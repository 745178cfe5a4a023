"""What pruning methods share: counts from rows that did not grow the tree, the choice from the leaves up, the cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from countwise.dtypes import AnyArray, FloatArray, IntArray, OffsetArray
from countwise.tree.count_tree import CountTree, single_node
from countwise.tree.growth import Growth
from countwise.tree.splits import SplitTable, SplitTree, levels_of


class Pruner(BaseEstimator, ABC):
    """Base of the pruning methods: parameter objects, so that ``pruning__alpha`` reaches a grid search."""

    @abstractmethod
    def prune(self, growth: Growth) -> SplitTree:
        """A tree grown and pruned."""

    def check(self) -> None:
        """Raise a clear error if a parameter is out of range."""


def validated(growth: Growth) -> SplitTree:
    """Splits from one half of the rows, counts from the other (paper 004, section 5.3.7)."""
    for without, rest in growth.dealt(2):
        return recounted(rest, without.grow().splits)
    return growth.grow()


def recounted(growth: Growth, splits: SplitTable) -> SplitTree:
    """The counts of rows on splits that others chose; nodes that none of them reaches are left out."""
    ends = growth.reached(splits)
    tree = ends.tree()
    if tree.n_cells == 0:  # no row has come to a leaf
        none = np.full(1, -1, np.int32)
        return SplitTree(single_node(ends.class_counts), SplitTable(none, none, none, none))
    return subtree(SplitTree(tree, splits), np.diff(tree.cell_ptr) > 0)


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


def last_nodes(splits: SplitTable, stops: AnyArray) -> IntArray:
    """For every node the one that a row which comes to it has when the tree ends at the nodes to stop at."""
    last = np.arange(splits.n_nodes, dtype=np.int32)
    level_ptr = levels_of(splits.parent)
    for level in range(1, len(level_ptr) - 1):
        nodes = slice(int(level_ptr[level]), int(level_ptr[level + 1]))
        above = last[splits.parent[nodes]]
        last[nodes] = np.where(stops[above], above, last[nodes])
    return last


def cut(tree: SplitTree, stops: AnyArray) -> SplitTree:
    """The tree without what is below the nodes to stop at."""
    return subtree(tree, last_nodes(tree.splits, stops) == np.arange(tree.splits.n_nodes))


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


def majorities(tree: CountTree) -> IntArray:
    """The most frequent class of every node, the first of equals."""
    most = np.maximum.reduceat(tree.cell_count, tree.cell_ptr[:-1])
    cells = np.flatnonzero(tree.cell_count == most[tree.cell_node])
    _, first = np.unique(tree.cell_node[cells], return_index=True)
    return tree.cell_value[cells[first]]
