"""What a grown tree says of a row that is out of its counts: by recounting, and of an HDP in closed form."""

from collections import defaultdict

import numpy as np

from oracle.path_loss import lost_tables


def path_to(parent, node):
    """The nodes from the root to ``node``."""
    path = [int(node)]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    return path[::-1]


def shrunk_down(path, counts, n_classes, strength, root):
    """From the root on: (n + a p_above) / (N + a), as far as there are rows; ``counts[node]`` is {class: n}."""
    p = np.full(n_classes, 1 / n_classes)
    for node in path:
        n = np.array([counts[node].get(y, 0.0) for y in range(n_classes)])
        if node and n.sum() <= 1e-9:
            break
        a = strength[node] if node else root
        p = (n + a * p) / (n.sum() + a)
    return p


def recounted(splits, nodes, target, weights, left, strength, root, n_classes, r):
    """The distribution at row r's node when ``left`` of its weight is not counted; rows in no leaf are not either."""
    counts = defaultdict(lambda: defaultdict(float))
    for i, (node, y, weight) in enumerate(zip(nodes, target, weights, strict=True)):
        if splits.is_leaf[node]:
            for above in path_to(splits.parent, node):
                counts[above][y] += weight - (left if i == r else 0.0)
    return shrunk_down(path_to(splits.parent, nodes[r]), counts, n_classes, strength, root)


def fitted(tree, fit, factor, root, node, y, left):
    """The same from an HDP as fitted: what leaves a cell takes tables of it from the cell above."""
    counts = {
        j: dict(
            zip(
                tree.cell_value[tree.cell_ptr[j] : tree.cell_ptr[j + 1]].tolist(),
                fit.counts[tree.cell_ptr[j] : tree.cell_ptr[j + 1]].tolist(),
                strict=True,
            )
        )
        for j in range(tree.n_nodes)
    }
    strength = fit.concentration[fit.group]
    path = path_to(tree.parent, node)
    for level in range(len(path) - 1, -1, -1):
        n = counts[path[level]].get(y, 0.0)
        above = shrunk_down(path[:level], _as_fitted(tree, fit), tree.arity, strength, root)[y]
        left = min(left, n)
        counts[path[level]][y] = n - left
        left = lost_tables(strength[path[level]] * above, n, left)
    return shrunk_down(path, counts, tree.arity, factor * strength, root)


def _as_fitted(tree, fit):
    out = defaultdict(dict)
    for node, value, n in zip(tree.cell_node.tolist(), tree.cell_value.tolist(), fit.counts.tolist(), strict=True):
        out[node][value] = n
    return out
