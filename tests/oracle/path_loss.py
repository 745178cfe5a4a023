"""Leave-one-out log loss by recounting: each row is really taken out, the trees are smoothed again and asked."""

import numpy as np

from oracle.context_tree import context_counts, sorted_paths


def shrunk(nodes, arity, strengths, root):
    """{path: vector}: (n + a p_above) / (N + a), a by level."""
    proba = {}
    for path in sorted_paths(nodes):
        above = proba[path[:-1]] if path else np.full(arity, 1 / arity)
        a = strengths[len(path)] if path else root
        counts = np.array([nodes[path].get(v, 0.0) for v in range(arity)])
        if path and counts.sum() <= 1e-9:
            proba[path] = above
        else:
            proba[path] = (counts + a * above) / (counts.sum() + a)
    return proba


def loss(table, families, strengths, weight, bias, root, rows):
    """Sum over ``rows`` of weight * -log p(true class), with min(weight, 1) of the row out of all raw counts.

    strengths[term][level], weight[term], bias[class].
    """
    total = 0.0
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    for r in rows:
        lighter = weights.copy()
        lighter[r] -= min(weights[r], 1.0)
        rest = type(table)(table.X, table.y, table.arity, table.n_classes, lighter)
        counts = np.bincount(table.y, lighter, minlength=table.n_classes)
        score = np.log((counts + root / table.n_classes) / (counts.sum() + root)) + bias
        for t, (child, parents) in enumerate(families):
            value = table.X[r, child]
            if value >= table.arity[child]:
                continue
            proba = shrunk(context_counts(rest, child, parents), table.arity[child], strengths[t], root)
            for y in range(table.n_classes):
                path = (y, *(int(table.X[r, p]) for p in parents))
                while path not in proba:
                    path = path[:-1]
                score[y] += weight[t] * np.log(proba[path][value])
        total -= weights[r] * (score[table.y[r]] - np.logaddexp.reduce(score))
    return total
