"""Hierarchical Dirichlet processes: every context is drawn around the context above it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from countwise import _kernels
from countwise.dtypes import FloatArray, IntArray
from countwise.errors import DataError
from countwise.smooth.base import Smoothed, Smoother, shrink
from countwise.smooth.hdp_samplers import SAMPLERS, Sampled, sample_tree
from countwise.tree.count_tree import CountTree

TYINGS: dict[str, Callable[[CountTree], IntArray]] = {
    "level": lambda tree: tree.level,
    "parent": lambda tree: np.unique(tree.parent, return_inverse=True)[1].astype(np.int32),
    "single": lambda tree: np.minimum(tree.level, 1),
    "node": lambda tree: np.arange(tree.n_nodes, dtype=np.int32),
}
METHODS = ("vb", *SAMPLERS)
ROOT_CONCENTRATION = 2.0  # of the distribution at the root around the uniform one; not learned


@dataclass(frozen=True, eq=False)
class HDPFit:
    """A fitted process: what each node sees, and how strongly it is pulled to the node above.

    ``counts`` (per cell) are the rows at the leaves and expected numbers of tables above them; ``group`` says which
    ``concentration`` is whose; group 0 is the root.
    """

    counts: FloatArray
    group: IntArray
    concentration: FloatArray
    n_sweeps: int

    def smoothed(self, tree: CountTree, factor: FloatArray | float = 1.0) -> Smoothed:
        """The estimates, with the concentration of every node multiplied by ``factor``."""
        return shrink(tree, self.concentration[self.group] * factor, self.counts)


class HDP(Smoother):
    r"""A hierarchical Dirichlet process (paper 000, section 4): phi_j ~ Dirichlet(alpha_j phi_parent) at every node.

    Estimates are phi_j[k] = (n_j[k] + alpha_j phi_parent[k]) / (N_j + alpha_j) from the root down (eq. 12-14). At a
    leaf n are the rows. Above it they are the rows that the nodes below pass on, at least 1 and at most all: a value
    that keeps to one context counts for little outside it. Concentrations alpha are learned from the data, so there
    is nothing to tune.

    Parameters
    ----------
    method : {"vb", "gibbs", "crt"}, default "vb"
        "vb" is deterministic: expected numbers of tables in place of sampled ones, and a Newton step for each
        concentration, until the estimates stand still (4 to 8 sweeps). It works with weighted rows.
        "gibbs" is the collapsed sampler of paper 000, "crt" an uncollapsed one; they average over sweeps, take some
        hundred times longer, and need whole counts. See :func:`countwise.smooth.hdp_samplers.sample_tree`.
    tying : {"level", "parent", "single", "node"}, default "level"
        Which nodes share a concentration: those of a level, the children of a node, all, none.
    prior : (shape, rate) or None, default (2, 1)
        Gamma prior of the concentrations; None is the improper prior of paper 000.
    n_iter, burn_in : int, default 1000 and 100
        Sweeps of the samplers in all, and those before averages start.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> cw.KDBClassifier(k=2, smoothing=cw.HDP(tying="single")).fit(X, y).predict(X[:2])
    array([0, 0])

    """

    def __init__(
        self,
        method: str = "vb",
        tying: str = "level",
        prior: tuple[float, float] | None = (2.0, 1.0),
        n_iter: int = 1000,
        burn_in: int = 100,
    ) -> None:
        self.method = method
        self.tying = tying
        self.prior = prior
        self.n_iter = n_iter
        self.burn_in = burn_in

    def check(self) -> None:
        """Names are known, the prior is a pair of positive numbers."""
        if self.method not in METHODS:
            raise DataError(f"method={self.method!r} is not known; choose one of {', '.join(METHODS)}")
        if self.tying not in TYINGS:
            raise DataError(f"tying={self.tying!r} is not known; choose one of {', '.join(TYINGS)}")
        if self.prior is not None:
            pair = isinstance(self.prior, (tuple, list)) and len(self.prior) == 2
            if not pair or not all(isinstance(x, Real) and 0 < x < np.inf for x in self.prior):
                raise DataError(f"prior must be two numbers > 0 (shape and rate) or None, got {self.prior!r}")
        for name, value in (("n_iter", self.n_iter), ("burn_in", self.burn_in)):
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
                raise DataError(f"{name} must be a whole number >= 0, got {value!r}")
        if self.burn_in >= self.n_iter:
            raise DataError(f"burn_in={self.burn_in} leaves no sweeps of n_iter={self.n_iter} to average")

    @property
    def is_slow(self) -> bool:
        """The samplers are."""
        return self.method != "vb"

    def fit_tree(self, tree: CountTree) -> HDPFit:
        """The variational fit itself."""
        group = TYINGS[self.tying](tree)
        counts, concentration = np.empty(tree.n_cells), np.empty(int(group[-1]) + 1)
        sweeps = _kernels.hdp_vb(tree.kernel_arrays, group, self._gamma, ROOT_CONCENTRATION, counts, concentration)
        return HDPFit(counts, group, concentration, sweeps)

    @property
    def _gamma(self) -> tuple[float, float]:
        return (0.0, 0.0) if self.prior is None else (float(self.prior[0]), float(self.prior[1]))

    def sample(
        self, tree: CountTree, seed: int = 0, keep_trace: bool = True, draw_node: int | None = None, n_draws: int = 200
    ) -> Sampled:
        """A chain itself, by "gibbs" or "crt": traces of the concentrations, R-hat, draws of one node's distribution.

        >>> from countwise.tree.count_tree import single_node
        >>> tree = single_node(np.array([8.0, 2.0]))
        >>> HDP("gibbs").sample(tree, draw_node=0, n_draws=5).draws.shape
        (5, 2)
        """
        group = TYINGS[self.tying](tree)
        return sample_tree(
            tree,
            group,
            int(group[-1]) + 1,
            self.method,
            self.prior,
            ROOT_CONCENTRATION,
            self.n_iter,
            self.burn_in,
            seed,
            keep_trace,
            draw_node,
            n_draws,
        )

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        if self.method != "vb":
            return self.sample(tree, seed, keep_trace=False).smoothed
        group = TYINGS[self.tying](tree)  # as fit_tree(tree).smoothed(tree), without arrays in between
        out = np.empty(tree.n_cells), np.empty(tree.n_nodes), np.empty(tree.n_nodes)
        _kernels.hdp_vb_smooth(tree.kernel_arrays, group, self._gamma, ROOT_CONCENTRATION, int(group[-1]) + 1, *out)
        return Smoothed(out[0], out[1], True, out[2])
