"""Joint counts cell by cell, and information straight from its definition."""

import numpy as np


def joint_counts(table, columns):
    """Counts of (x_i for i in columns, y), one axis each."""
    counts = np.zeros([*(table.arity[i] for i in columns), table.n_classes])
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    np.add.at(counts, (*(table.X[:, i] for i in columns), table.y), weights)
    return counts


def sparse_joint_counts(table, i, j):
    """The counts of (x_i, x_j, y) that are not 0, for columns with too many values for a table."""
    counts = {}
    for codes, label, weight in table.rows:
        key = codes[i], codes[j], label
        counts[key] = counts.get(key, 0.0) + weight
    return np.array([counts[key] for key in sorted(counts)])


def xlogx(counts):
    return sum(c * np.log(c) for c in np.ravel(counts) if c > 0)


def mutual_information(table, i):
    """I(X_i; Y) = sum p(x, y) log p(x, y) / (p(x) p(y))."""
    p = joint_counts(table, [i])
    p /= p.sum()
    px, py = p.sum(axis=1), p.sum(axis=0)
    return sum(p[x, y] * np.log(p[x, y] / (px[x] * py[y])) for x, y in zip(*np.nonzero(p), strict=True))


def conditional_mutual_information(table, i, j):
    """I(X_i; X_j | Y) = sum p(x, z, y) log p(x, z | y) / (p(x | y) p(z | y))."""
    p = joint_counts(table, [i, j])
    p /= p.sum()
    py, pxy, pzy = p.sum(axis=(0, 1)), p.sum(axis=1), p.sum(axis=0)
    return sum(
        p[x, z, y] * np.log(p[x, z, y] * py[y] / (pxy[x, y] * pzy[z, y]))
        for x, z, y in zip(*np.nonzero(p), strict=True)
    )
