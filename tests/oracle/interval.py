"""Limits of class probabilities row by row: each class finds its own nodes, each quantile is asked from SciPy."""

from math import exp, log, sqrt

import numpy as np
from scipy.stats import gamma

from oracle.predict import context_of


def gamma_limits(shape, level):
    """Distances of the log quantiles from the log mean: up and down, at least 0."""
    low, high = gamma.ppf([(1 - level) / 2, (1 + level) / 2], shape)
    return max(log(high / shape), 0.0), max(log(shape / low), 0.0)


def log_proba_limits(p, weight, level):
    """Of the mean p of a Beta distribution Ga / (Ga + Gb)."""
    if p == 1.0:
        return 0.0, 0.0
    up_a, down_a = gamma_limits(p * weight, level)
    up_b, down_b = gamma_limits((1 - p) * weight, level)
    odds = p / (1 - p)
    high, low = (odds * exp(shift) for shift in (sqrt(up_a**2 + down_b**2), -sqrt(down_a**2 + up_b**2)))
    return log(high / (1 + high) / p), log(p / (low / (1 + low)))


def class_limits(terms, weights, prior, prior_weight, row, label, arity, level, factors):
    """Up and down of the score: ``terms`` and ``weights`` are {path: ...} of each family; factors are by column."""
    parts = [gamma_limits(prior[label] * prior_weight, level)]
    for (family, proba), weight in zip(terms, weights, strict=True):
        value = row[family.child]
        if value < arity[family.child]:
            path = context_of(proba, label, [row[i] for i in family.parents])
            distances = log_proba_limits(proba[path][value], weight[path], level)
            parts.append([factors[family.child] * distance for distance in distances])
    return tuple(sqrt(sum(part[side] ** 2 for part in parts)) for side in (0, 1))


def posterior_limits(joint, up, down):
    """[lower, upper] of every class; each other class moves the sum as it alone would."""
    p = np.exp(joint - max(joint))
    out = []
    for y in range(len(p)):
        others = [z for z in range(len(p)) if z != y]
        total = sum(p[z] for z in others)
        rises = [log((total + p[z] * (exp(up[z]) - 1)) / total) for z in others]
        falls = [log((total - p[z] * (1 - exp(-down[z]))) / total) for z in others]
        odds = p[y] / total
        low = odds * exp(-sqrt(down[y] ** 2 + sum(x * x for x in rises)))
        high = odds * exp(sqrt(up[y] ** 2 + sum(x * x for x in falls)))
        out.append([low / (1 + low), high / (1 + high)])
    return out
