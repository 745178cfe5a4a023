"""The variational fit of a hierarchical Dirichlet process, node by node and value by value, with SciPy's functions."""

import numpy as np
from scipy.special import digamma, polygamma

START, LEAST, MOST = 2.0, 1e-3, 4000.0


def fit(tree, group, prior=(2.0, 1.0), root=2.0, max_sweeps=20, tolerance=0.02):
    """Pseudo-counts (nodes x arity), concentration of each group, sweeps. Group 0 is the root's."""
    shape, rate = prior
    group = np.asarray(group)
    raw = np.zeros((tree.n_nodes, tree.arity))
    raw[tree.cell_node, tree.cell_value] = tree.cell_count
    parent, groups = tree.parent, range(1, group.max() + 1)
    is_leaf = ~np.isin(np.arange(tree.n_nodes), parent)
    alpha = np.full(group.max() + 1, START)
    alpha[0] = root
    pull = alpha.copy()  # about exp E log alpha
    last, moved = np.zeros(len(alpha)), np.zeros(len(alpha))
    n = raw.copy()
    g = expectations(n, parent, alpha[group])
    sweep = 0
    while sweep < max_sweeps:
        sweep += 1
        n = np.where(is_leaf[:, None], raw, 0.0)
        tables, slope = np.zeros(len(alpha)), np.zeros(len(alpha))
        for j in range(tree.n_nodes - 1, 0, -1):
            for k in np.flatnonzero(raw[j]):
                # a cell of at most one row passes it on whole
                t, dt = (n[j, k], 0.0) if raw[j, k] <= 1 else tables_of(pull[group[j]] * g[parent[j], k], n[j, k])
                n[parent[j], k] += t
                tables[group[j]] += t
                slope[group[j]] += dt
        change = 0.0
        for i in groups:
            totals = n[group == i].sum(axis=1)
            totals = totals[totals > 0]
            step = newton(alpha[i], shape + tables[i], slope[i], rate, totals)
            last[i], step = step, damped(step, last[i], moved[i])
            before, alpha[i] = alpha[i], min(max(alpha[i] * np.exp(step), LEAST), MOST)
            pull[i] = alpha[i] * max(shape + tables[i] - 0.5, 0.5 * (shape + tables[i])) / (shape + tables[i])
            moved[i] = np.log(alpha[i] / before)
            influence = np.sqrt(alpha[i] * totals / (totals + alpha[i]) ** 3)
            change = max(change, abs(moved[i]) * (totals * influence).sum() / totals.sum())
        if change < tolerance:
            break
        g = expectations(n, parent, alpha[group])
    return n, alpha, sweep


def expectations(n, parent, alpha):
    """About exp E log of every node's distribution."""
    phi, g = np.zeros(n.shape), np.zeros(n.shape)
    for j in range(len(n)):
        above = phi[parent[j]] if j else np.full(n.shape[1], 1.0 / n.shape[1])
        weight = n[j] + alpha[j] * above
        phi[j] = weight / weight.sum()
        g[j] = np.exp(digamma(weight) - digamma(weight.sum()))
    return g


def tables_of(c, n):
    """c (psi(c + n) - psi(c)) within [1, n], and its derivative by log c."""
    t = c * (digamma(c + n) - digamma(c))
    t = min(max(t, 1.0), n)
    return t, t - c * c * (polygamma(1, c) - polygamma(1, c + n))


def newton(alpha, tables, slope, rate, totals):
    """Towards tables = alpha (rate + sum over nodes of psi(alpha + N) - psi(alpha))."""
    both = [tables_of(alpha, total) for total in totals]
    expected = alpha * rate + sum(t for t, _ in both)
    curvature = slope - alpha * rate - sum(dt for _, dt in both)
    fixed_point = np.log(tables / expected)
    step = 4 * fixed_point
    if curvature < 0:
        step = -(tables - expected) / curvature
        if step * fixed_point < 0:
            step = fixed_point
    return min(max(step, -2.0), 2.0)


def damped(step, last, moved):
    """Corrected by how the step before was answered."""
    if moved == 0 or abs(moved) >= 1 or (last - step) / moved <= 0:
        return step
    answer = min(max((last - step) / moved, 0.25), 3.0)
    return min(max(step / answer, -2.0), 2.0)
