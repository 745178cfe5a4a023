"""Pruning by rows that were held out."""

from __future__ import annotations

from countwise.data.discretise.base import check_count
from countwise.dtypes import FloatArray
from countwise.tree.ends import EndCounts
from countwise.tree.growth import Growth
from countwise.tree.prune.base import Pruner, cheapest, cut, majorities, recounted
from countwise.tree.splits import SplitTree


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
        for without, held in growth.dealt(self.n_parts):
            tree = without.grow()
            ends = held.reached(tree.splits)
            errors, stopped = held_errors(tree, ends)
            slack = 1e-9 * float(ends.count.sum())  # sums of real weights differ in their last digits
            pruned = cut(tree, cheapest(tree.splits, errors, stopped, slack))
            return recounted(growth, pruned.splits)
        return growth.grow()  # a single row


def held_errors(tree: SplitTree, ends: EndCounts) -> tuple[FloatArray, FloatArray]:
    """For every node the weight of the held-out rows that come by, and of those that go no further, and are not of the
    class that most of its own rows have.
    """
    majority = majorities(tree.counts)
    return ends.upwards().errors(majority), ends.errors(majority)
