"""Minimal cost-complexity pruning."""

from __future__ import annotations

from numbers import Real

import numpy as np

from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.tree.growth import Growth
from countwise.tree.prune.base import Pruner, cheapest, cut, last_nodes, majorities, training_errors
from countwise.tree.splits import SplitTree

N_PARTS = 5
ALPHAS = np.concatenate([[0.0], np.logspace(-5, -0.5, 19)])


class CostComplexity(Pruner):
    """The subtree of least training error + alpha x leaves, the smallest of equals (Breiman et al. 1984, chapter 3).

    Parameters
    ----------
    alpha : float or "cv", default "cv"
        Share of all rows that a leaf costs. "cv" takes the greatest of 20 values, 0 and 1e-5 to 0.3, whose error
        is least in 5-fold cross-validation.

    """

    def __init__(self, alpha: float | str = "cv") -> None:
        self.alpha = alpha

    def check(self) -> None:
        """``alpha`` is a number that is not negative, or "cv"."""
        if self.alpha == "cv":
            return
        if not isinstance(self.alpha, Real) or not 0 <= float(self.alpha) < np.inf:
            raise DataError(f"alpha must be a number >= 0 or 'cv', got {self.alpha!r}")

    def prune(self, growth: Growth) -> SplitTree:
        """A tree of all rows, pruned."""
        alpha = best_alpha(growth) if self.alpha == "cv" else float(self.alpha)
        return pruned_at(growth.grow(), alpha)


def pruned_at(tree: SplitTree, alpha: float) -> SplitTree:
    """The best subtree for one alpha."""
    return cut(tree, stops_at(tree, alpha))


def stops_at(tree: SplitTree, alpha: float) -> AnyArray:
    """Where the best subtree for one alpha ends."""
    cost = training_errors(tree.counts) + alpha * tree.counts.total[0]
    return cheapest(tree.splits, cost, slack=1e-9 * float(tree.counts.total[0]))


def best_alpha(growth: Growth) -> float:
    """The greatest alpha of the least error on parts of the rows that the tree was not grown from."""
    losses: FloatArray = np.zeros(len(ALPHAS))
    for without, held in growth.dealt(N_PARTS):
        tree = without.grow()
        ends, majority = held.reached(tree.splits), majorities(tree.counts)
        for a, alpha in enumerate(ALPHAS):
            last = last_nodes(tree.splits, stops_at(tree, float(alpha)))
            losses[a] += ends.errors(majority[last]).sum()
    return float(ALPHAS[len(ALPHAS) - 1 - np.argmin(losses[::-1])])
