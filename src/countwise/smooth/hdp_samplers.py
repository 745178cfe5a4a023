"""The hierarchical Dirichlet process of a count tree, by sampling.

Every node's distribution is drawn around its parent's, phi_j ~ Dirichlet(alpha_j phi_parent), the root's around the
uniform one, and the leaves' make the rows (paper 000, section 4.1). Concentrations alpha_j are tied in groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from countwise import _kernels
from countwise.dtypes import FloatArray, IntArray
from countwise.errors import DataError
from countwise.smooth.base import Smoothed
from countwise.smooth.diagnostics import effective_sample_size, split_rhat
from countwise.tree.count_tree import CountTree

SAMPLERS: Final = {"gibbs": _kernels.hdp_gibbs, "crt": _kernels.hdp_crt}
MAX_COUNT: Final = 2**31 - 1  # customers and tables are int32 in the kernels


@dataclass(frozen=True, eq=False)
class Sampled:
    """What a chain leaves: averages over the sweeps after burn-in."""

    smoothed: Smoothed
    concentration: FloatArray  # posterior mean of every group; the root's for a group without another node
    trace: FloatArray | None  # sweeps after burn-in x groups
    draws: FloatArray | None  # posterior draws of one node's distribution, draws x arity

    @property
    def rhat(self) -> FloatArray:
        """Split R-hat of every concentration's trace; nan for the root's, which does not move."""
        return split_rhat(self._kept())

    @property
    def effective_size(self) -> FloatArray:
        """Effective sample size of every concentration's trace."""
        return effective_sample_size(self._kept())

    def _kept(self) -> FloatArray:
        if self.trace is None:
            raise DataError("the chain was not kept; pass keep_trace=True")
        return self.trace


def sample_tree(
    tree: CountTree,
    group: IntArray,
    n_groups: int,
    method: str = "gibbs",
    prior: tuple[float, float] | None = (2.0, 1.0),
    root_concentration: float = 2.0,
    n_iter: int = 1000,
    burn_in: int = 100,
    seed: int = 0,
    keep_trace: bool = False,
    draw_node: int | None = None,
    n_draws: int = 200,
) -> Sampled:
    """Posterior means of all distributions and concentrations of a tree, by Markov chain Monte Carlo.

    ``"gibbs"`` is the collapsed sampler of paper 000, section 4.4: distributions are integrated out, and every cell's
    number of tables is drawn given all others. Cells of more than 21 possible numbers draw within a window of 21. The
    paper centres it at the present number, which is not quite invariant (the chain's law becomes pi(t) pi(window of
    t)); here its position around the present number is drawn first, so that the draw is an exact conditional one
    within a block of a random partition. ``"crt"`` draws distributions from the root down and tables from the leaves
    up, each in one block given the other. Both draw the concentrations by Beta and Gamma variables (Algorithm 5)
    after each sweep.

    The estimates average paper 000, eq. 12-14 over the sweeps: a node's values that have a cell get their means, and
    the others ``absent`` times the parent's mean, absent_j = mean(w_j m_j) / mean(m_j) with w_j = alpha_j / (N_j +
    alpha_j) and m_j the parent's mass of the values without a cell in j. As every sweep's estimate sums to 1, so does
    that of the means. Among the values without a cell it keeps the parent's proportions. Precisions follow from the
    means of N_j and alpha_j as in :func:`countwise.smooth.base.shrink`.

    Parameters
    ----------
    tree : CountTree
        Whole counts.
    group : array of n_nodes integers
        Nodes of one group share a concentration. The root's entry is not used: its concentration is fixed.
    n_groups : int
        Groups, numbered from 0.
    method : "gibbs" or "crt"
        The sampler, as above.
    prior : (shape, rate) or None
        Gamma prior of the concentrations within [0.001, 4000]; None is shape 0 and rate 0, the paper's: 1 / alpha.
    root_concentration : float
        Pseudo-counts of the uniform distribution at the root.
    n_iter, burn_in : int
        Sweeps in all, and those before the averages start.
    seed : int
        The same seed gives the same result, whatever other threads do.
    keep_trace : bool
        Keep the concentrations of every sweep after burn-in.
    draw_node : int, optional
        Draw this node's distribution, at even distances over the sweeps after burn-in, each from the root down the
        path: phi_j ~ Dirichlet(n_j + alpha_j phi_parent). A value so improbable that it underflows is 0.
    n_draws : int
        How many draws.

    """
    _check(tree, method, n_iter, burn_in, draw_node, n_draws)
    shape, rate = (0.0, 0.0) if prior is None else prior
    smoothed = Smoothed(np.empty(tree.n_cells), np.empty(tree.n_nodes), True, np.empty(tree.n_nodes))
    concentration = np.empty(n_groups)
    if tree.n_nodes == 1 and not keep_trace:  # closed form: one sweep does, or one for each draw
        n_iter, burn_in = (1 if draw_node is None else n_draws), 0
    trace = np.empty((n_iter - burn_in if keep_trace else 0, n_groups))
    draws = np.empty((0 if draw_node is None else n_draws, tree.arity))
    SAMPLERS[method](
        tree.kernel_arrays,
        np.ascontiguousarray(group, np.int32),
        shape,
        rate,
        root_concentration,
        n_iter,
        burn_in,
        int(seed),
        draw_node or 0,
        smoothed.cell_proba,
        smoothed.absent,
        smoothed.precision,
        concentration,
        trace.reshape(-1),
        draws.reshape(-1),
    )
    return Sampled(smoothed, concentration, trace if keep_trace else None, None if draw_node is None else draws)


def _check(tree: CountTree, method: str, n_iter: int, burn_in: int, draw_node: int | None, n_draws: int) -> None:
    if method not in SAMPLERS:
        raise DataError(f"method={method!r} is not a sampler; choose one of {', '.join(SAMPLERS)}")
    if not 0 <= burn_in < n_iter:
        raise DataError(f"burn_in={burn_in} must not be negative and must leave sweeps of n_iter={n_iter} to average")
    if draw_node is not None and not 0 <= draw_node < tree.n_nodes:
        raise DataError(f"draw_node={draw_node} is not a node; the tree has {tree.n_nodes}")
    if n_draws < 1:
        raise DataError(f"n_draws must be at least 1, got {n_draws}; draw_node=None draws nothing")
    if not (tree.cell_count == np.floor(tree.cell_count)).all():
        raise DataError(f"HDP by sampling (method={method!r}) needs whole counts; weighted rows need method='vb'")
    if tree.n_cells and tree.total[0] > MAX_COUNT:
        raise DataError(
            f"HDP by sampling (method={method!r}) counts to {MAX_COUNT:,}, got {tree.total[0]:,.0f} rows; "
            "use method='vb'"
        )
