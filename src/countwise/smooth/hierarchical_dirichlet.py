"""The hierarchical Multinomial-Dirichlet model: the distribution to shrink to is learned from all contexts together."""

from __future__ import annotations

from numbers import Real

import numpy as np

from countwise import _kernels
from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.smooth.base import Smoothed, Smoother
from countwise.smooth.dirichlet_posterior import DirichletPosterior
from countwise.tree.count_tree import CountTree

MAX_ITERATIONS = 1000  # of Newton's method; ten are usual
LIMITS = (1e-9, 1e9)  # of s and alpha0: beyond them rounding decides
LEVELS = ("flat", "tree")


class HierarchicalDirichlet(Smoother):
    """The hierarchical Multinomial-Dirichlet model by variational inference (paper 003, sections 2 and 3).

    The columns theta_y of a conditional probability table come from one Dirichlet distribution whose mean is unknown
    (eq. 5): alpha / s = kappa ~ Dirichlet(alpha0, alpha0, ...), theta_y ~ Dirichlet(s kappa). The estimate is the
    posterior mean (eq. 8), p(x | y) = (n(x, y) + s kappa_x) / (n(y) + s), with kappa's posterior Dirichlet(tau kappa)
    from the maximum of the bound of appendix B. Contexts borrow strength from each other: where one has few rows, it
    is shrunk to what all of them have in common and not to the uniform distribution.

    Two departures from the paper, both because the model itself is indifferent to them and the bound is not.
    Contexts without rows are no columns: in the model they say nothing on kappa, while the bound pays for each of
    them. Values without rows are merged into one, whose part of kappa is z ~ Beta: Dirichlet distributions stay so
    under merging, and the split of z is that of alpha0. Estimates are closer to the exact ones for it, and cost
    follows the cells that there are. Steps for kappa and tau are taken together (appendix B.3 alternates).

    Parameters
    ----------
    s : float, None or "eb"
        Strength of the shrinkage, in rows; None is the number of values, as in the paper. "eb" is empirical Bayes: s
        and alpha0 are where the bound is greatest, within a factor of 10^4 of the number of values and of ``alpha0``.
        The bound is further below the evidence where kappa is uncertain, the more so the greater s: s leans to
        smaller and alpha0 to greater values than those of the evidence.
    alpha0 : float
        Weight of each value in the prior of kappa.
    levels : "flat" or "tree"
        "flat": the leaves of the tree are the columns of one table and share one kappa. An inner node, which answers
        for contexts below it that were not met, has the same formula with its own counts.
        "tree": each inner node is a table whose columns are its children's counts, from the root down. Its kappa has
        the prior Dirichlet(alpha0 K kappa_above), K the number of values, the root's the uniform one; a leaf has
        (n + s kappa_parent) / (N + s) and an inner node its own kappa, which is the model's answer for a child that
        was not met. On a tree of one level of leaves this is "flat". With "eb" each level has its own s and alpha0.

    """

    def __init__(self, s: float | str | None = None, alpha0: float = 1.0, levels: str = "flat") -> None:
        self.s = s
        self.alpha0 = alpha0
        self.levels = levels

    def check(self) -> None:
        """``s`` is a positive number, None or "eb"; ``alpha0`` a positive number; ``levels`` a name."""
        if not (self.s is None or self.s == "eb" or _in_range(self.s)):
            raise DataError(f"s must be None, 'eb' or a number from 1e-9 to 1e9, got {self.s!r}")
        if not _in_range(self.alpha0):
            raise DataError(f"alpha0 must be a number from 1e-9 to 1e9, got {self.alpha0!r}")
        if self.levels not in LEVELS:
            raise DataError(f"levels must be 'flat' or 'tree', got {self.levels!r}")

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        if self.levels == "flat":
            return self._flat(tree)[0]
        cell_proba, absent, precision = _outputs(tree)
        options = (self._strength(tree), float(self.alpha0), self.s == "eb", MAX_ITERATIONS)
        _kernels.dirichlet_tree(tree.kernel_arrays, *options, cell_proba, absent, precision)
        return Smoothed(cell_proba, absent, True, precision)

    def posterior(self, tree: CountTree, max_iterations: int = MAX_ITERATIONS) -> DirichletPosterior:
        """The posterior of the flat model, with covariances; ``max_iterations`` stops its optimisation early."""
        if self.levels != "flat":
            raise DataError(f"posterior() is of one table: levels must be 'flat', got {self.levels!r}")
        return self._flat(tree, max_iterations)[1]

    def _flat(self, tree: CountTree, max_iterations: int = MAX_ITERATIONS) -> tuple[Smoothed, DirichletPosterior]:
        base = np.empty(tree.arity)
        cell_proba, absent, precision = _outputs(tree)
        options = (self._strength(tree), float(self.alpha0), self.s == "eb", max_iterations)
        s, alpha0, tau, seen, unseen, bound, iterations = _kernels.dirichlet_flat(
            tree.kernel_arrays, *options, base, cell_proba, absent, precision
        )
        posterior = DirichletPosterior(tree, base, s, alpha0, tau, (unseen, seen), bound, iterations)
        return Smoothed(cell_proba, absent, False, precision, base), posterior

    def _strength(self, tree: CountTree) -> float:
        return float(tree.arity if self.s is None or self.s == "eb" else self.s)


def _in_range(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and LIMITS[0] <= float(value) <= LIMITS[1]


def _outputs(tree: CountTree) -> tuple[FloatArray, FloatArray, FloatArray]:
    return np.empty(tree.n_cells), np.empty(tree.n_nodes), np.empty(tree.n_nodes)
