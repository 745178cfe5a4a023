"""The hierarchical Dirichlet process exactly: every seating of the customers, concentrations by quadrature."""

from itertools import product
from math import lgamma, log

import numpy as np
from numpy.polynomial.legendre import leggauss

from oracle.stirling import stirling_row

LEAST, MOST = 1e-3, 4000.0  # bounds of the concentrations


def seatings(parent, leaf_counts):
    """Every (customers, tables) of a tree, {node: [per value]}; ``leaf_counts`` are the rows at each leaf."""
    arity = len(next(iter(leaf_counts.values())))

    def below(node):  # all ways to seat the customers of a subtree
        if node in leaf_counts:
            found = [({node: list(leaf_counts[node])}, {})]
        else:
            children = [j for j in range(len(parent)) if parent[j] == node]
            found = []
            for parts in product(*(below(child) for child in children)):
                customers = {j: n for part, _ in parts for j, n in part.items()}
                tables = {j: t for _, part in parts for j, t in part.items()}
                customers[node] = [sum(tables[child][k] for child in children) for k in range(arity)]
                found.append((customers, tables))
        if node == 0:  # the root's distribution is integrated out: it has no tables
            return found
        return [
            (customers, tables | {node: list(choice)})
            for customers, tables in found
            for choice in product(*(range(min(n, 1), n + 1) for n in customers[node]))
        ]

    return below(0)


def alpha_grid(prior, points=120):
    """Concentrations and log(weight x prior density), by Gauss and Legendre's rule in log alpha."""
    shape, rate = prior or (0.0, 0.0)
    x, weight = leggauss(points)
    half = (log(MOST) - log(LEAST)) / 2
    log_a = log(LEAST) + half * (x + 1)
    return np.exp(log_a), np.log(weight * half) + shape * log_a - rate * np.exp(log_a)


def log_rising(alpha, n):
    """log of alpha (alpha + 1) .. (alpha + n - 1)."""
    return sum((np.log(alpha + i) for i in range(n)), np.zeros_like(alpha))


def posterior(parent, leaf_counts, group, prior, root_concentration=2.0, points=120):
    """Posterior means: (nodes x arity probabilities, concentration of every group).

    The target is paper 000, eq. 11 with the root integrated out and the prior of the concentrations."""
    arity = len(next(iter(leaf_counts.values())))
    alpha, log_weight = alpha_grid(prior, points)
    log_alpha, groups = np.log(alpha), sorted(set(group[1:]))
    total, mean, mean_alpha = 0.0, np.zeros((len(parent), arity)), dict.fromkeys(groups, 0.0)
    shift = None
    stirling = [
        stirling_row(n) for n in range(1 + max(sum(counts) for counts in zip(*leaf_counts.values(), strict=True)))
    ]
    rising = [log_rising(alpha, n) for n in range(1 + sum(map(sum, leaf_counts.values())))]
    for customers, tables in seatings(parent, leaf_counts):
        log_seating = -lgamma(sum(customers[0]) + root_concentration)
        log_seating += sum(lgamma(n + root_concentration / arity) for n in customers[0])
        for j, per_value in tables.items():
            log_seating += sum(log(stirling[n][t]) for n, t in zip(customers[j], per_value, strict=True) if n)
        density = {}  # of each group's concentration, on the grid
        for g in groups:
            nodes = [j for j in tables if group[j] == g]
            value = log_weight + sum(sum(tables[j]) * log_alpha - rising[sum(customers[j])] for j in nodes)
            log_seating += log(np.exp(value - value.max()).sum()) + value.max()
            density[g] = np.exp(value - value.max()) / np.exp(value - value.max()).sum()
        shift = log_seating if shift is None else shift
        weight = np.exp(log_seating - shift)
        total += weight
        mean += weight * estimates(parent, customers, group, density, alpha, root_concentration)
        for g in groups:
            mean_alpha[g] += weight * float(density[g] @ alpha)
    return mean / total, np.array([mean_alpha[g] / total for g in groups])


def estimates(parent, customers, group, density, alpha, root_concentration):
    """Paper 000, eq. 12-14, averaged over the concentrations of a path."""
    arity = len(customers[0])
    out = np.empty((len(parent), arity))
    for node in range(len(parent)):
        path = [node]
        while path[0]:
            path.insert(0, parent[path[0]])
        axes = sorted({group[j] for j in path if j})  # one axis of the grid for each group on the path
        n = np.array(customers[0], float)
        phi = ((n + root_concentration / arity) / (n.sum() + root_concentration)).reshape([1] * len(axes) + [arity])
        for j in path[1:]:
            a = alpha.reshape([-1 if g == group[j] else 1 for g in axes] + [1])
            n = np.array(customers[j], float)
            phi = (n + a * phi) / (n.sum() + a)
        phi = np.broadcast_to(phi, [len(alpha)] * len(axes) + [arity])
        for g in axes:
            phi = np.tensordot(density[g], phi, axes=(0, 0))
        out[node] = phi
    return out
