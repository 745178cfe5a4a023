"""Hierarchical linear smoothing: a ridge-penalised logistic regression along the tree."""

from __future__ import annotations

from numbers import Real

import numpy as np

from countwise import _kernels
from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.smooth.base import Smoothed, Smoother
from countwise.tree.count_tree import CountTree

PENALTIES = 10.0 ** np.arange(3.0, -2.25, -0.5)  # strongest first: each fit starts where the one before ended
N_FOLDS = 5
PRIOR_ROWS = 1.0  # at the root, spread evenly over the values: none of them is impossible
TOLERANCE = 1e-12  # of the sum of -log p, in nats: about 1e-6 in each log p
PATH_TOLERANCE = 1e-6  # far below what tells penalties apart
MAX_ITERATIONS = 500


class HLS(Smoother):
    """Hierarchical linear smoothing (Cooper, Webb and Schmidt 2025): each node changes the log odds of its parent.

    Node j has a coefficient beta_j[k] for each value; p_j is the softmax of the coefficients summed from the root to
    j. They minimise - sum_leaves sum_k n[k] log p[k] + penalty / 2 * sum_j |beta_j|^2. The root's are not penalised;
    one more row at the root, spread evenly over the values, keeps them finite.

    The values that a node has not seen share one coefficient, so that they keep their parent's proportions and time
    and memory go with the cells of the tree, not with nodes x values. With two values, or if every node has seen every
    value, that is the full model; otherwise it is the full model restricted to equal coefficients.
    ``precision`` is that of the Laplace approximation, the penalty taken as known.

    Parameters
    ----------
    penalty : float, "loo" or "cv"
        A number for all trees, or one for each tree, from 0.01 to 1000 in steps of sqrt(10): the least log loss with
        each row left out of its own fit ("loo", approximated without fitting again), or in 5-fold cross-validation of
        the tree's rows ("cv", about four times slower).

    """

    def __init__(self, penalty: float | str = "loo") -> None:
        self.penalty = penalty

    def check(self) -> None:
        """``penalty`` is a positive number, "loo" or "cv"."""
        if isinstance(self.penalty, str) and self.penalty in ("loo", "cv"):
            return
        if not isinstance(self.penalty, Real) or not np.isfinite(self.penalty) or self.penalty <= 0:
            raise DataError(f"penalty must be a number > 0, 'loo' or 'cv', got {self.penalty!r}")

    @property
    def is_slow(self) -> bool:
        """Many solves for each tree."""
        return True

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node; ``seed`` splits the rows into folds for "cv"."""
        penalty = self.penalty if isinstance(self.penalty, Real) else self._best_penalty(tree, seed)
        cell_proba, absent, precision = np.empty(tree.n_cells), np.empty(tree.n_nodes), np.empty(tree.n_nodes)
        _kernels.hls_fit(
            tree.kernel_arrays,
            tree.cell_count,
            PRIOR_ROWS,
            float(penalty),
            TOLERANCE,
            MAX_ITERATIONS,
            cell_proba,
            absent,
            precision,
        )
        return Smoothed(cell_proba, absent, True, precision)

    def _best_penalty(self, tree: CountTree, seed: int) -> float:
        """The penalty of the least loss; the strongest of equals."""
        if tree.n_nodes == 1:  # nothing is penalised
            return 1.0
        if self.penalty == "loo":
            losses = path_losses(tree, tree.cell_count)
        else:
            folds = split_counts(tree, seed)
            losses = np.sum([path_losses(tree, tree.cell_count - fold, fold) for fold in folds], axis=0)
        return float(PENALTIES[np.argmin(losses)])


def path_losses(tree: CountTree, counts: FloatArray, held_out: FloatArray | None = None) -> FloatArray:
    """The log loss of every penalty, of rows held out or of each row left out."""
    losses = np.empty(len(PENALTIES))
    _kernels.hls_losses(
        tree.kernel_arrays, counts, PRIOR_ROWS, PENALTIES, held_out, PATH_TOLERANCE, MAX_ITERATIONS, losses
    )
    return losses


def split_counts(tree: CountTree, seed: int) -> FloatArray:
    """The leaves' counts dealt to ``N_FOLDS`` folds, row by row; part of a row goes with one of them.

    Folds x cells; inner nodes keep the rows of no fold, since the kernel reads leaves alone.
    """
    rng = np.random.default_rng(seed)
    leaf = np.ones(tree.n_nodes, bool)
    leaf[tree.parent[1:]] = False
    counts = np.where(leaf[tree.cell_node], tree.cell_count, 0.0)
    whole = np.floor(counts)
    folds = rng.multinomial(whole.astype(np.int64), np.full(N_FOLDS, 1.0 / N_FOLDS)).T.astype(float)
    folds[rng.integers(N_FOLDS, size=tree.n_cells), np.arange(tree.n_cells)] += counts - whole
    return folds
