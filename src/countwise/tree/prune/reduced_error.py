"""Pruning by rows that were held out."""

from __future__ import annotations

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.data.discretise.base import check_count
from countwise.dtypes import FloatArray, IntArray
from countwise.tree.count_tree import CountTree
from countwise.tree.prune.base import Growth, Pruner, cheapest, cut
from countwise.tree.splits import SplitTree, levels_of


class ReducedError(Pruner):
    """A subtree is replaced by a leaf where held-out rows err no more for it (Quinlan 1987).

    The tree is grown without one part of the rows and pruned by it; its counts are then those of all rows.

    Parameters
    ----------
    n_parts : int, default 3
        Parts of the rows, one of which prunes.

    """

    def __init__(self, n_parts: int = 3) -> None:
        self.n_parts = n_parts

    def check(self) -> None:
        """``n_parts`` is 2 or more."""
        check_count("n_parts", self.n_parts, 2)

    def prune(self, growth: Growth) -> SplitTree:
        """A tree of some rows, pruned by the others and counted from all."""
        parts = growth.dealt(self.n_parts)
        if not parts:  # a single row
            return growth.grow()
        without, held = parts[0]
        tree = without.grow()
        errors, stopped = held_errors(tree, growth.reached(tree.splits, held), held)
        pruned = cut(tree, cheapest(tree.splits, errors, stopped))
        return growth.count(pruned.splits, growth.batch)


def held_errors(tree: SplitTree, node: IntArray, held: CodedBatch) -> tuple[FloatArray, FloatArray]:
    """For every node the weight of the held-out rows that come by, and of those that go no further, and are not of the
    class that most of its own rows have.
    """
    assert held.target is not None
    majority, n_nodes = majorities(tree.counts), tree.counts.n_nodes
    weights = np.ones(held.n_rows) if held.weights is None else held.weights
    errors, stopped = np.zeros(n_nodes), np.zeros(n_nodes)
    wrong = held.target != majority[node]
    np.add.at(stopped, node[wrong], weights[wrong])
    at, rows = node.copy(), np.arange(held.n_rows)
    for _ in levels_of(tree.splits.parent)[1:]:
        wrong = held.target[rows] != majority[at]
        np.add.at(errors, at[wrong], weights[rows[wrong]])
        at = tree.splits.parent[at]
        rows, at = rows[at >= 0], at[at >= 0]
    return errors, stopped


def majorities(tree: CountTree) -> IntArray:
    """The most frequent class of every node, the first of equals."""
    most = np.maximum.reduceat(tree.cell_count, tree.cell_ptr[:-1])
    cells = np.flatnonzero(tree.cell_count == most[tree.cell_node])
    _, first = np.unique(tree.cell_node[cells], return_index=True)
    return tree.cell_value[cells[first]]
