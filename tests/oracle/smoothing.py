"""Smoothing by the formulas, node by node: {path: {value: count}} in, {path: [probability of every value]} out."""

from math import sqrt

from oracle.context_tree import sorted_paths


def m_estimate(nodes, arity, m):
    """(n + m / K) / (N + m)."""
    return {
        path: [(counts.get(value, 0.0) + m / arity) / (sum(counts.values()) + m) for value in range(arity)]
        for path, counts in nodes.items()
    }


def laplace(nodes, arity):
    return m_estimate(nodes, arity, arity)


def mle(nodes, arity):
    """q = n / N where n > 0, else the estimate above; normalised."""
    proba = {}
    for path in sorted_paths(nodes):
        counts, total = nodes[path], sum(nodes[path].values())
        above = proba[path[:-1]] if path else [1 / arity] * arity
        q = [counts[value] / total if value in counts else above[value] for value in range(arity)]
        proba[path] = [x / sum(q) for x in q]
    return proba


def m_branch(nodes, arity, m):
    """(n + m_j p_above) / (N_j + m_j), m_j = m (1 + (1 - 1 / h_j) sqrt(N))."""
    n_rows = sum(nodes[()].values())
    proba = {}
    for path in sorted_paths(nodes):
        counts, total = nodes[path], sum(nodes[path].values())
        height = 1 + max(len(other) - len(path) for other in nodes if other[: len(path)] == path)
        strength = m * (1 + (1 - 1 / height) * sqrt(n_rows))
        above = proba[path[:-1]] if path else [1 / arity] * arity
        proba[path] = [(counts.get(v, 0.0) + strength * above[v]) / (total + strength) for v in range(arity)]
    return proba
