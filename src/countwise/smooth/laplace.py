"""Laplace's rule of succession."""

from countwise.smooth.base import Smoothed, Smoother
from countwise.tree.count_tree import CountTree


class Laplace(Smoother):
    """One pseudo-count for every value: p = (n + 1) / (N + K) (paper 004, eq. 15)."""

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        denominator = tree.total + tree.arity
        proba = (tree.cell_count + 1.0) / denominator[tree.cell_node]
        return Smoothed(proba, tree.arity / denominator, hierarchical=False)
