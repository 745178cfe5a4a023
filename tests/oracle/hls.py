"""Hierarchical linear smoothing written out: dense matrices of coefficients, nodes x values, minimised by SciPy."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from countwise.tree.count_tree import CountTree


def random_tree(seed, arity, n_nodes=12, scale=3.0, weighted=False, floor=0.0):
    """(parent, level_ptr, counts): leaves stand at any level, each value ``floor`` times or more, and lean away from
    their parents."""
    rng = np.random.default_rng(seed)
    parent, depth = [-1], [0]
    for node in range(1, n_nodes):  # parents never fall, so this is level order
        parent.append(min(max(parent[-1], 0) + int(rng.choice(3, p=[0.6, 0.25, 0.15])), node - 1))
        depth.append(depth[parent[-1]] + 1)
    eta = np.zeros((n_nodes, arity))
    counts = np.zeros((n_nodes, arity))
    for node in range(n_nodes):
        eta[node] = (eta[parent[node]] if node else 0.0) + rng.normal(size=arity)
        if node not in parent:
            counts[node] = floor + rng.multinomial(1 + rng.poisson(scale), np.exp(log_softmax(eta[node])))
            counts[node] *= rng.integers(1, 9, arity) / 4 if weighted else 1.0
    for node in range(n_nodes - 1, 0, -1):
        counts[parent[node]] += counts[node]
    return parent, np.searchsorted(depth, np.arange(max(depth) + 2)), counts


def count_tree(parent, level_ptr, counts, cells=None):
    """The sparse tree of dense counts; ``cells`` (nodes x values) keeps cells whose count is 0."""
    cells = np.asarray(counts) > 0 if cells is None else cells
    return CountTree(
        parent=np.array(parent, np.int32),
        level_ptr=np.array(level_ptr, np.int64),
        cell_ptr=np.concatenate([[0], np.cumsum(cells.sum(axis=1))]),
        cell_value=np.nonzero(cells)[1].astype(np.int32),
        cell_count=np.asarray(counts, float)[cells],
        arity=np.shape(counts)[1],
    )


def log_proba(parent, beta):
    """log softmax of the coefficients summed from the root."""
    eta = beta.copy()
    for node in range(1, len(parent)):
        eta[node] += eta[parent[node]]
    return log_softmax(eta, axis=1)


def objective(parent, counts, beta, penalty, prior):
    """Minus the log likelihood of the leaves and of ``prior`` rows at the root, and the ridge of all other nodes."""
    logs = log_proba(parent, beta)
    leaves = [node for node in range(len(parent)) if node not in parent]
    likelihood = np.sum(counts[leaves] * logs[leaves])
    return -likelihood - prior * logs[0].mean() + penalty / 2 * np.sum(beta[1:] ** 2)


def gradient(parent, counts, beta, penalty, prior):
    """Its derivative: residuals of the leaves, summed to their ancestors."""
    proba = np.exp(log_proba(parent, beta))
    g = np.zeros_like(beta)
    for node in range(len(parent) - 1, -1, -1):
        if node not in parent:
            g[node] = counts[node].sum() * proba[node] - counts[node]
        if node:
            g[parent[node]] += g[node]
    g[0] += prior * (proba[0] - 1 / beta.shape[1])
    g[1:] += penalty * beta[1:]
    return g


def spread(x, cells):
    """Coefficients as the kernel keeps them, one per cell and one per node for the values without a cell, dense."""
    beta = np.repeat(x[cells.sum() :][:, None], cells.shape[1], axis=1)
    beta[cells] = x[: cells.sum()]
    return beta


def gather(g, cells):
    """The transpose of ``spread``."""
    return np.concatenate([g[cells], np.where(cells, 0.0, g).sum(axis=1)])


def fit(parent, counts, penalty, prior, cells=None, gtol=1e-7):
    """(value, probabilities) at the minimum; values without a cell share a coefficient, unless ``cells`` is all."""
    cells = counts > 0 if cells is None else cells
    found = minimize(
        lambda x: objective(parent, counts, spread(x, cells), penalty, prior),
        np.zeros(cells.sum() + len(parent)),
        jac=lambda x: gather(gradient(parent, counts, spread(x, cells), penalty, prior), cells),
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10000, "ftol": 0, "gtol": gtol, "maxcor": 50},
    )
    return found.fun, np.exp(log_proba(parent, spread(found.x, cells)))


def leave_one_out(parent, counts, penalty, prior):
    """Sum over rows of -log p(row) when the row is taken out of its leaf and of all above it; cells stay."""
    cells, loss = counts > 0, 0.0
    for node in range(len(parent)):
        if node in parent:
            continue
        for value in np.flatnonzero(counts[node]):
            less, at, out = counts.copy(), node, min(1.0, counts[node, value])
            while at >= 0:
                less[at, value] -= out
                at = parent[at]
            _, proba = fit(parent, less, penalty, prior, cells, gtol=1e-5)
            loss -= counts[node, value] * np.log(proba[node, value])
    return loss
