"""BDeu: an imaginary sample spread evenly over all cells of the table."""

from __future__ import annotations

from numbers import Real

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.smooth.base import Smoothed, Smoother
from countwise.smooth.m_estimate import even_prior
from countwise.tree.count_tree import CountTree

LEAST_SHARE = 1e-290  # of the sample, at the end of very long paths: probabilities stay positive


class BDeu(Smoother):
    """Bayesian Dirichlet equivalent uniform prior (paper 003, section 2.1): alpha = iss / (K q) for every cell.

    p(x | context) = (n(x, context) + iss / (K q)) / (n(context) + iss / q), with K values and q possible contexts of
    that level: the product of the arities of the class and the parents so far, whether they occurred or not. So the
    imaginary sample of ``iss`` rows is one sample: what it puts into a context is the sum of what it puts into the
    contexts below. In a tree that does not know its arities (``CountTree.splits``; a decision tree) each node hands its
    part on in equal parts to the children it has.

    A context that training has not met takes the estimate of its nearest ancestor that it has, as with every smoother
    here; by the letter of BDeu it would be uniform.

    Parameters
    ----------
    iss : float
        Imaginary sample size; 1 is the most common choice, 10 another (paper 003, section 4.1).

    """

    def __init__(self, iss: float = 1.0) -> None:
        self.iss = iss

    def check(self) -> None:
        """``iss`` is a positive number."""
        if not isinstance(self.iss, Real) or not np.isfinite(self.iss) or self.iss <= 0:
            raise DataError(f"iss must be a number > 0, got {self.iss!r}")

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        return even_prior(tree, float(self.iss) * np.maximum(sample_shares(tree), LEAST_SHARE))


def sample_shares(tree: CountTree) -> FloatArray:
    """The part of an evenly spread sample that falls into each node."""
    share = np.ones(tree.n_nodes)
    children = np.bincount(tree.parent[1:], minlength=tree.n_nodes)
    for level in range(1, tree.n_levels):
        nodes = slice(int(tree.level_ptr[level]), int(tree.level_ptr[level + 1]))
        parent = tree.parent[nodes]
        share[nodes] = share[parent] / (tree.splits[level - 1] if tree.splits else children[parent])
    return share
