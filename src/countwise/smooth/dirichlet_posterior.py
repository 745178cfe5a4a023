"""The posterior of one table of the hierarchical Multinomial-Dirichlet model: means and covariances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countwise.dtypes import FloatArray
from countwise.tree.count_tree import CountTree


@dataclass(frozen=True, eq=False)
class DirichletPosterior:
    """What variational inference leaves of the model of paper 003, eq. 5, for the leaves of a tree as columns.

    ``kappa`` is the posterior mean of alpha / s for every value. The values that occur share 1 - z of it as
    Dirichlet(tau kappa / sum), those that do not share z ~ Beta(``rest``) as their prior says; without such values
    alpha / s ~ Dirichlet(tau kappa) as in eq. 12.

    >>> from countwise.smooth import HierarchicalDirichlet
    >>> from countwise.tree.count_tree import single_node
    >>> posterior = HierarchicalDirichlet().posterior(single_node(np.array([3.0, 1.0])))
    >>> posterior.mean(0).round(3)
    array([0.695, 0.305])
    >>> posterior.covariance(0).round(4)
    array([[ 0.0338, -0.0338],
           [-0.0338,  0.0338]])
    """

    tree: CountTree
    kappa: FloatArray
    s: float
    alpha0: float
    tau: float
    rest: tuple[float, float]
    bound: float
    iterations: int

    def mean(self, node: int) -> FloatArray:
        """E[theta_x] at a node, for every value x (eq. 8)."""
        counts = self._counts(node)
        return (counts + self.s * self.kappa) / (counts.sum() + self.s)

    def covariance(self, node: int, other: int | None = None) -> FloatArray:
        """Cov(theta_x, theta_x') at a node (eq. 9), or between two nodes none of which is above the other (eq. 10)."""
        weight = self._counts(node).sum() + self.s
        if other is not None and other != node:
            return self.alpha_covariance() / (weight * (self._counts(other).sum() + self.s))
        mean = self.mean(node)
        within = (np.diag(mean) - np.outer(mean, mean)) / (weight + 1.0)
        return self.alpha_covariance() / (weight * (weight + 1.0)) + within

    def alpha_covariance(self) -> FloatArray:
        """Cov(alpha_x, alpha_x'), values x values."""
        unseen, seen = self.rest
        occurs = self._counts(0) > 0
        z = unseen / (unseen + seen)
        spread = z * (1.0 - z) / (unseen + seen + 1.0)  # Var z
        k = np.where(occurs, self.kappa, 0.0) / max(1.0 - z, np.finfo(float).tiny)
        inner = (np.diag(k) - np.outer(k, k)) / (self.tau + 1.0)
        covariance = (spread + (1.0 - z) ** 2) * inner + spread * np.outer(k, k)
        if unseen > 0:
            b = np.where(occurs, 0.0, self.kappa) / z
            split = (np.diag(b) - np.outer(b, b)) / (unseen + 1.0)
            covariance += (spread + z**2) * split + spread * (np.outer(b, b) - np.outer(k, b) - np.outer(b, k))
        return self.s**2 * covariance

    def _counts(self, node: int) -> FloatArray:
        counts = np.zeros(self.tree.arity)
        cells = slice(self.tree.cell_ptr[node], self.tree.cell_ptr[node + 1])
        counts[self.tree.cell_value[cells]] = self.tree.cell_count[cells]
        return counts
