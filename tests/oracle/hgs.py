"""Hierarchical gradient smoothing written out: dense counts, one leaf, one value and one ancestor at a time."""

import numpy as np
from scipy.optimize import minimize


def ancestors(parent, node):
    while parent[node] >= 0:
        node = parent[node]
        yield node


def frequencies(parent, counts, node, uniform):
    """Of one node; the root has ``uniform`` rows besides."""
    more = uniform if parent[node] < 0 else 0.0
    return (counts[node] + more / counts.shape[1]) / (counts[node].sum() + more)


def estimate(parent, counts, weight, node, uniform, rows=None):
    """Paper 004, eq. 45, of a node with ``rows`` of its own and, above it, all nodes that have any."""
    above = [j for j in ancestors(parent, node) if counts[j].sum() > 0 or parent[j] < 0]
    mixed = sum(weight[j] * frequencies(parent, counts, j, uniform) for j in above)
    rows = counts[node] if rows is None else rows
    return (rows + mixed) / (rows.sum() + sum(weight[j] for j in above))


def proba(parent, counts, weight, uniform):
    """Every node's estimate; an inner node's is that of a child without rows."""
    parent, counts = list(parent), np.asarray(counts, float)
    out = np.empty(counts.shape)
    for node in range(len(parent)):
        if node in parent:
            out[node] = estimate([*parent, node], np.vstack([counts, 0 * counts[:1]]), weight, len(parent), uniform)
        elif node == 0:
            out[0] = frequencies(parent, counts, 0, uniform)
        else:
            out[node] = estimate(parent, counts, weight, node, uniform)
    return out


def loss(parent, counts, weight, uniform, squared=False):
    """The loss of all rows by counting again without each; whole counts. A root that is a leaf says nothing."""
    total = 0.0
    for leaf in range(1, len(parent)):
        if leaf in parent:
            continue
        for value in np.flatnonzero(counts[leaf]):
            rest = np.array(counts, float)
            for node in (leaf, *ancestors(parent, leaf)):
                rest[node, value] -= 1
            p = estimate(parent, rest, weight, leaf, uniform)[value]
            total += counts[leaf, value] * ((1 - p) ** 2 if squared else -np.log(p))
    return total


def centres(parent, counts, chance, freedom, least, most):
    """Where weights are expected, node by node from the last to the first."""
    log_loss = [-sum(n * np.log(n / row.sum()) for n in row if n > 0) for row in counts]
    gained, out = np.zeros(len(parent)), np.zeros(len(parent))
    for node in reversed(range(len(parent))):
        children = [i for i, p in enumerate(parent) if p == node]
        if not children:
            continue
        gain = log_loss[node] - sum(log_loss[i] for i in children)
        by_chance = chance[node] + freedom * (len(children) - 1) * (np.count_nonzero(counts[node]) - 1)
        gained[node] = max(0.0, gain - by_chance + sum(gained[i] for i in children))
        share = min(1.0, gained[node] / log_loss[node]) if log_loss[node] > 0 else 0.0
        out[node] = np.clip((1 - share) / share, least, most) if share > 0 else most
    return out * np.sqrt(out[0])


def fit(parent, counts, centre, spread, uniform, squared=False):
    """(minimum, weights) of the loss and its penalty, by SciPy, with gradients by differences."""
    inner = sorted(set(parent) - {-1})

    def weights(z):
        out = np.zeros(len(parent))
        out[inner] = centre[inner] * np.exp(spread * z)
        return out

    found = minimize(
        lambda z: loss(parent, counts, weights(z), uniform, squared) + 0.5 * z @ z,
        np.zeros(len(inner)),
        options={"gtol": 1e-6},
    )
    return found.fun, weights(found.x)
