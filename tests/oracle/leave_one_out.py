"""Leave-one-out by doing it: take the row out, count again, predict it."""

from math import log

import numpy as np

from countwise.tree.context import Family
from oracle.context_tree import context_counts
from oracle.predict import posterior
from oracle.smoothing import m_estimate
from oracle.tables import Table


def without(table, row):
    """The table when row ``row`` is left out."""
    weights = table.without(row)
    left = Table(table.X, table.y, table.arity, table.n_classes, weights)
    return left.take(np.flatnonzero(weights > 0))


def row_loss(name, proba, label):
    if name == "rmse":
        return (1 - proba[label]) ** 2
    if name == "zero-one":  # the first of the greatest wins
        return float(np.argmax(proba) != label)
    if name == "zero-one, ties won":  # classes that are level up to rounding
        return float(proba[label] < proba.max() - 1e-9)
    if name == "zero-one, ties lost":
        return float((np.delete(proba, label) > proba[label] - 1e-9).any())
    return -log(proba[label])


def loss_surface(table, families, k, loss, m):
    """Mean loss of the first a attributes with at most k' parents, a = 0 .. n, k' = 0 .. k; its root for "rmse"."""
    surface = np.zeros((len(families) + 1, k + 1))
    for row, (codes, label, weight) in enumerate(table.rows):
        rest = without(table, row)
        classes = np.bincount(rest.y, rest.weights, minlength=table.n_classes)
        prior = (classes + m / table.n_classes) / (classes.sum() + m)
        for kk in range(k + 1):
            terms = []
            for a in range(len(families) + 1):
                proba = posterior(terms, prior, codes, table.arity)
                surface[a, kk] += weight * row_loss(loss, proba, label)
                if a < len(families):
                    child, parents = families[a].child, families[a].parents[:kk]
                    nodes = context_counts(rest, child, parents)
                    terms.append((Family(child, parents), m_estimate(nodes, table.arity[child], m)))
    surface /= sum(weight for _, _, weight in table.rows)
    return np.sqrt(surface) if loss == "rmse" else surface
