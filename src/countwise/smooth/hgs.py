"""Hierarchical gradient smoothing: every leaf mixed with all its ancestors at once."""

from __future__ import annotations

import numpy as np

from countwise import _kernels
from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.smooth.base import Smoothed, Smoother
from countwise.tree.count_tree import CountTree

LOSSES = ("log", "squared")
SOLVERS = ("lbfgs", "gd")
UNIFORM_ROWS = 1.0  # at the root, spread evenly over the values: none of them is impossible
SPREAD = 0.5  # of log weights around their centres
FREEDOM = 0.25  # nats that a degree of freedom of a split gains by chance
ODDS = (0.1, 4.0)  # least and greatest o_j, as below
TOLERANCE, FEW_ROWS = 1e-5, 1000.0  # of the mean loss, of at least so many rows
MAX_ITERATIONS = 50
STEP, LEAST_FALL = 0.01, 1e-4  # of gradient descent, paper 004, section 5.3.3
LEAST_WEIGHT = 1e-6  # of gradient descent: a leaf of one row, left out, needs something to be estimated from


class HGS(Smoother):
    r"""Hierarchical gradient smoothing (paper 004, section 5.2): a leaf's counts and the frequencies of all ancestors.

    p_l[k] = (n_l[k] + sum_j a_j f_j[k]) / (N_l + sum_j a_j) over the ancestors j of leaf l, f_j[k] = n_j[k] / N_j (eq.
    45; the root's frequencies have one more row, spread evenly over the values). An inner node answers for a child
    that training has not met: the same formula without rows, over itself and its ancestors.

    Every inner node has a weight a_j. Weights minimise the log loss of all rows, each left out of its leaf and of all
    ancestors (eq. 46-47, in closed form; the gradient takes two sweeps over the tree), and a penalty
    (log a_j - log c_j)^2 / (2 * 0.5^2). The loss alone trusts a grown tree too much: a row that is left out of the
    counts has still chosen the splits. So the centres c_j come from what splits gain beyond chance. A split of N rows
    in C children lowers their log loss by G nats, of which log(M) + (C - 1)(K - 1) / 4 are taken to be chance: M the
    splits that the node chose among, K its values. With V_j = max(0, G_j - chance + sum of V of the children) and H_j
    the log loss of the rows at j, R_j = V_j / H_j is what the tree below truly explains. With o_j = (1 - R_j) / R_j,
    at least 0.1 and at most 4, c_j = o_j sqrt(o_root). M is the sum over columns of what ``CountTree.choices`` has, at
    most N - 1 each; where that is not known, and for context trees, it is e N, about that of three columns of numbers.

    ``precision`` is the number of rows and weights that make an estimate.

    Parameters
    ----------
    loss : {"log", "squared"}, default "log"
        What is minimised: -log p or (1 - p)^2 of the value that occurred.
    solver : {"lbfgs", "gd"}, default "lbfgs"
        "gd" is the paper's: all weights start at 1, no penalty, steps of 0.01 times the gradient of the mean loss in
        bits, until a step gains less than 0.0001. In effect all weights stay near 1.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> cw.KDBClassifier(k=2, smoothing=cw.HGS()).fit(X, y).predict(X[:2])
    array([0, 0])

    """

    def __init__(self, loss: str = "log", solver: str = "lbfgs") -> None:
        self.loss = loss
        self.solver = solver

    def check(self) -> None:
        """Names are known."""
        if self.loss not in LOSSES:
            raise DataError(f"loss={self.loss!r} is not known; choose one of {', '.join(LOSSES)}")
        if self.solver not in SOLVERS:
            raise DataError(f"solver={self.solver!r} is not known; choose one of {', '.join(SOLVERS)}")

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        out = np.empty(tree.n_cells), np.empty(tree.n_nodes), np.empty(tree.n_nodes)
        _kernels.hgs_smooth(tree.kernel_arrays, UNIFORM_ROWS, self.weights(tree), *out)
        return Smoothed(out[0], out[1], True, out[2])

    def weights(self, tree: CountTree) -> FloatArray:
        """The weight of every node; 0 at leaves.

        >>> from countwise.tree.count_tree import single_node
        >>> HGS().weights(single_node(np.array([3.0, 1.0])))
        array([0.])
        """
        squared = self.loss == "squared"
        if self.solver == "gd":
            return descend(tree, squared)
        weights, tolerance = centres(tree), TOLERANCE * max(float(tree.total[0]), FEW_ROWS)
        _kernels.hgs_fit(tree.kernel_arrays, UNIFORM_ROWS, squared, SPREAD, tolerance, MAX_ITERATIONS, weights)
        return weights


def centres(tree: CountTree) -> FloatArray:
    """Where the weights of inner nodes are expected before any row is left out; 0 at leaves."""
    out = np.empty(tree.n_nodes)
    _kernels.hgs_centres(tree.kernel_arrays, log_choices(tree), FREEDOM, *ODDS, out)
    return out


def log_choices(tree: CountTree) -> FloatArray:
    """The logarithm of the number of splits that each node chose among."""
    if not tree.choices:
        return 1.0 + np.log(np.maximum(tree.total, 1.0))
    offers = np.sort(np.array(tree.choices, float))
    most = np.maximum(tree.total - 1.0, 1.0)  # N rows differ in N - 1 places at most
    whole = np.searchsorted(offers, most)
    choices = np.concatenate([[0.0], np.cumsum(offers)])[whole] + most * (len(offers) - whole)
    return np.log(np.maximum(choices, 1.0))


def descend(tree: CountTree, squared: bool = False) -> FloatArray:
    """Weights by plain gradient descent (paper 004, Algorithm 17), none negative."""
    inner = np.unique(tree.parent[1:])
    weight, gradient = np.zeros(tree.n_nodes), np.empty(tree.n_nodes)
    weight[inner] = 1.0
    unit = 1.0 / (tree.total[0] * np.log(2.0)) if len(inner) else 0.0
    cost = np.inf
    while True:
        now = unit * _kernels.hgs_loss(tree.kernel_arrays, UNIFORM_ROWS, squared, weight, gradient)
        if cost - now <= LEAST_FALL:
            return weight
        cost = now
        weight[inner] = np.maximum(weight[inner] - STEP * unit * gradient[inner], LEAST_WEIGHT)
