"""Laplace's rule of succession."""

from countwise.smooth.base import Smoothed, Smoother
from countwise.smooth.m_estimate import even_prior
from countwise.tree.count_tree import CountTree


class Laplace(Smoother):
    """One pseudo-count for every value: p = (n + 1) / (N + K) (paper 004, eq. 15)."""

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        return even_prior(tree, float(tree.arity))
