"""m-estimates, and their limit m = 0: the maximum likelihood estimate, with back-off."""

from __future__ import annotations

from numbers import Real

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.smooth.base import Smoothed, Smoother
from countwise.tree.count_tree import CountTree

HOLDOUT_STRENGTHS = (0.0, 0.05, 0.2, 1.0, 5.0, 20.0)  # paper 000, section 6.1


def even_prior(tree: CountTree, m: float | FloatArray) -> Smoothed:
    """(n + m / K) / (N + m) at every node: the posterior mean under a symmetric Dirichlet prior of weight m.

    ``m`` may differ from node to node.
    """
    denominator, node = tree.total + m, tree.cell_node
    proba = (tree.cell_count + np.broadcast_to(m, tree.n_nodes)[node] / tree.arity) / denominator[node]
    return Smoothed(proba, m / denominator, False, denominator)


def backed_off(tree: CountTree) -> Smoothed:
    """Relative frequencies of the values that a node has seen, its parent's estimate for the others; see MLE."""
    node = tree.cell_node
    proba = tree.cell_count / tree.total[node]
    absent = np.empty(tree.n_nodes)
    cell_parent = tree.cell_parent
    for level in range(tree.n_levels):
        nodes = slice(int(tree.level_ptr[level]), int(tree.level_ptr[level + 1]))
        cells = tree.level_cells(level)
        above = np.full(cells.stop - cells.start, 1.0 / tree.arity) if level == 0 else proba[cell_parent[cells]]
        local = node[cells] - nodes.start
        unseen = np.maximum(1.0 - np.bincount(local, above, minlength=nodes.stop - nodes.start), 0.0)
        absent[nodes] = 1.0 / ((tree.total[nodes] > 0) + unseen)  # a tree without rows has seen nothing
        proba[cells] *= absent[nodes][local]
    return Smoothed(proba, absent, True, tree.total)


class MEstimate(Smoother):
    """m-estimates (paper 000, eq. 16): p(x | context) = (n(x, context) + m / K) / (n(context) + m).

    A context that training has not met takes the estimate of its nearest ancestor that it has.

    Parameters
    ----------
    m : float or "holdout"
        Pseudo-counts, spread evenly over the K values; 0 is :class:`MLE`. "holdout" takes the best of
        {0, 0.05, 0.2, 1, 5, 20} on min(N / 10, 5000) held-out rows (paper 000, section 6.1).

    """

    def __init__(self, m: float | str = 1.0) -> None:
        self.m = m

    def check(self) -> None:
        """``m`` is a number that is not negative, or "holdout"."""
        if self.m == "holdout":
            return
        if not isinstance(self.m, Real) or not np.isfinite(self.m) or self.m < 0:
            raise DataError(f"m must be a number >= 0 or 'holdout', got {self.m!r}")

    @property
    def candidates(self) -> tuple[Smoother, ...]:
        """One smoother for each strength to try."""
        return tuple(MEstimate(m) for m in HOLDOUT_STRENGTHS) if self.m == "holdout" else ()

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        return even_prior(tree, float(self.m)) if self.m else backed_off(tree)


class MLE(Smoother):
    """Relative frequencies; a value that a context has not seen takes the estimate of the context above.

    Without that a single unseen value would make a class impossible. With q_j[k] = n_j[k] / N_j for the values that
    node j has seen and q_j[k] = p_parent[k] for the others, p_j[k] = q_j[k] / sum_k q_j[k]; the root backs off to
    the uniform distribution.
    """

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        return backed_off(tree)
