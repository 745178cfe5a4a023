"""m-estimates with back-off, and their limit m = 0: the maximum likelihood estimate."""

from __future__ import annotations

import numpy as np

from countwise.errors import DataError
from countwise.smooth.base import Smoothed, Smoother
from countwise.tree.count_tree import CountTree

HOLDOUT_STRENGTHS = (0.0, 0.05, 0.2, 1.0, 5.0, 20.0)  # paper 000, section 6.1


def backed_off(tree: CountTree, m: float) -> Smoothed:
    """m-estimates of the values that a node has seen; its parent's estimate for the others; sums made 1.

    With q_j[k] = (n_j[k] + m / K) / (N_j + m) for seen values and q_j[k] = p_parent[k] for the others,
    p_j[k] = q_j[k] / sum_k q_j[k]. The root backs off to the uniform distribution.
    """
    node = tree.cell_node
    proba = (tree.cell_count + m / tree.arity) / (tree.total[node] + m)
    absent = np.empty(tree.n_nodes)
    for level in range(tree.n_levels):
        nodes = slice(int(tree.level_ptr[level]), int(tree.level_ptr[level + 1]))
        cells = tree.level_cells(level)
        above = np.full(cells.stop - cells.start, 1.0 / tree.arity) if level == 0 else proba[tree.cell_parent[cells]]
        local = node[cells] - nodes.start
        n_nodes = nodes.stop - nodes.start
        seen = np.bincount(local, proba[cells], minlength=n_nodes)
        unseen = np.maximum(1.0 - np.bincount(local, above, minlength=n_nodes), 0.0)
        absent[nodes] = 1.0 / (seen + unseen)
        proba[cells] *= absent[nodes][local]
    return Smoothed(proba, absent, hierarchical=True)


class MEstimate(Smoother):
    """m-estimates (paper 000, eq. 16) with back-off to the nearest ancestor that has seen the value.

    p(x | context) = (n(x, context) + m / K) / (n(context) + m) where the count n(x, context) is positive, else the
    estimate of the context above; then normalised over x, so that every node holds a distribution.

    Parameters
    ----------
    m : float or "holdout"
        Pseudo-counts, spread evenly over the K values. "holdout" takes the best of
        {0, 0.05, 0.2, 1, 5, 20} on min(N / 10, 5000) held-out rows (paper 000, section 6.1).
    """

    def __init__(self, m: float | str = 1.0) -> None:
        self.m = m

    def check(self) -> None:
        """``m`` is a number that is not negative, or "holdout"."""
        if self.m == "holdout":
            return
        if isinstance(self.m, str) or not np.isfinite(self.m) or self.m < 0:
            raise DataError(f"m must be a number >= 0 or 'holdout', got {self.m!r}")

    @property
    def candidates(self) -> tuple[Smoother, ...]:
        """One smoother for each strength to try."""
        return tuple(MEstimate(m) for m in HOLDOUT_STRENGTHS) if self.m == "holdout" else ()

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        return backed_off(tree, float(self.m))


class MLE(Smoother):
    """Relative frequencies; a value that a context has not seen takes the estimate of the context above."""

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        return backed_off(tree, 0.0)
