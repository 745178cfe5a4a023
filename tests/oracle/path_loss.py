"""Leave-one-out log loss by recounting: each row is really taken out, the trees are smoothed again and asked."""

from dataclasses import replace

import numpy as np
from scipy.special import digamma

from countwise import _kernels
from countwise.smooth.hdp import ROOT_CONCENTRATION
from countwise.tree.context import Family, build_trees
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


def evidence(table, families, strengths, root, r):
    """Log P(x_i | y, parents) of row r, terms x classes, the row out of all raw counts.

    strengths[term][level]. A term whose value was never counted, or in this row alone, says nothing: 0.
    """
    rest = replace(table, weights=table.without(r))
    out = np.zeros((len(families), table.n_classes))
    for t, (child, parents) in enumerate(families):
        value = table.X[r, child]
        counted = np.all([table.X[:, p] < table.arity[p] for p in (child, *parents)], axis=0)
        if value >= table.arity[child] or rest.weights[counted & (table.X[:, child] == value)].sum() <= 1e-9:
            continue
        proba = shrunk(context_counts(rest, child, parents), table.arity[child], strengths[t], root)
        for y in range(table.n_classes):
            path = (y, *(int(table.X[r, p]) for p in parents))
            while path not in proba:
                path = path[:-1]
            out[t, y] = np.log(proba[path][value])
    return out


def loss(table, families, strengths, weight, bias, root, rows):
    """Sum over ``rows`` of weight * -log p(true class), each row out of all raw counts; weight[term], bias[class]."""
    total = 0.0
    for r in rows:
        counts = np.bincount(table.y, table.without(r), minlength=table.n_classes)
        score = np.log((counts + root / table.n_classes) / (counts.sum() + root)) + bias
        score += weight @ evidence(table, families, strengths, root, r)
        row_weight = 1.0 if table.weights is None else table.weights[r]
        total -= row_weight * (score[table.y[r]] - np.logaddexp.reduce(score))
    return total


def fitted_evidence(tree, fit, factor, root, codes, label, left, n_classes):
    """Log P(x_i | y, parents) of one row for every class, from an HDP as fitted, the row out of its counts.

    ``left`` of the row leaves the leaf. What leaves a cell of n rows takes tables from the cell above: of one row
    c / (c + n - 1), c = alpha phi above, its chance of a table of its own; all of it if n is 1. The root loses its
    share for all classes.
    """
    counts, value = tree.counts, codes[tree.family.child]
    nodes = {(): 0}
    for j in range(1, counts.n_nodes):
        above = next(path for path, number in nodes.items() if number == counts.parent[j])
        nodes[(*above, int(tree.branch[j]))] = j
    n, total = {}, {}
    for path, j in nodes.items():
        cells = range(counts.cell_ptr[j], counts.cell_ptr[j + 1])
        total[path] = sum(fit.counts[c] for c in cells)
        n[path] = sum(fit.counts[c] for c in cells if counts.cell_value[c] == value)

    def estimates(y, alpha_factor):
        """From the root down to the deepest context that was counted."""
        path = (y, *(codes[p] for p in tree.family.parents))
        phi = [(n[()] + root / counts.arity) / (total[()] + root)]
        for level in range(1, len(path) + 1):
            if total.get(path[:level], 0.0) > 0:
                a = fit.concentration[level] * alpha_factor
                phi.append((n[path[:level]] + a * phi[-1]) / (total[path[:level]] + a))
        return phi

    phi = estimates(label, 1.0)
    path = (label, *(codes[p] for p in tree.family.parents))
    before = dict(n)
    for level in range(len(path), -1, -1):
        here = path[:level]
        n[here], total[here] = max(0.0, n[here] - left), max(0.0, total[here] - left)
        if level:
            c = fit.concentration[level] * phi[level - 1]
            left = lost_tables(c, before[here], left)
    if n[()] <= 1e-9:  # no other row has the value
        return [0.0] * n_classes
    return [np.log(estimates(y, factor)[-1]) for y in range(n_classes)]


def lost_tables(c, n, left):
    """What a cell of n rows loses in tables when ``left`` of them go: up to one at the rate of the last."""

    def tables(rows):
        return c * (digamma(c + rows) - digamma(c)) if rows > 1 else rows

    if left > 1:
        return tables(n) - tables(max(0.0, n - left))
    return left * c / (c + n - 1) if n > 1 else left


# The kernel on raw counts


def all_families(table):
    """Every attribute has all earlier ones as parents."""
    return [Family(i, tuple(range(i))) for i in range(len(table.arity))]


def raw_kernel(table, families, rows):
    """The kernel on raw counts: a row that leaves, leaves every level whole."""
    trees = build_trees(table.batch(), families, table.arity, table.n_classes)
    class_counts = np.bincount(table.y, table.weights, minlength=table.n_classes).astype(float)
    n_levels = max(tree.counts.n_levels for tree in trees)
    batch = table.judged(rows)
    facts = batch.target, batch.weights, batch.left_out
    kernel = _kernels.PathLoss(class_counts, ROOT_CONCENTRATION, len(trees), n_levels, *facts)
    for i, tree in enumerate(trees):
        counts, family = tree.counts, (tree.family.child, list(tree.family.parents))
        whole = np.full(counts.n_levels, 1e100)  # of so strong a pull every row of a cell has a table of its own
        kernel.add_term(i, family, batch.codes, table.arity, tree.kernel_arrays, counts.cell_count, whole)
    return kernel, n_levels
