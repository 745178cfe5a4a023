"""Context trees as dictionaries: rows grouped by every prefix of (class, parent 1, parent 2, ...)."""

import numpy as np


def context_counts(table, child, parents):
    """{path: {value: count}} for every prefix of every row's path, () first; unseen codes drop the row."""
    nodes = {(): {}}
    for codes, label, weight in table.rows:
        if any(codes[i] >= table.arity[i] for i in (child, *parents)):
            continue
        path = (label, *(codes[i] for i in parents))
        for depth in range(len(path) + 1):
            node = nodes.setdefault(path[:depth], {})
            node[codes[child]] = node.get(codes[child], 0.0) + weight
    return nodes


def sorted_paths(nodes):
    """Level order, siblings by branch."""
    return sorted(nodes, key=lambda path: (len(path), path))


def tree_arrays(nodes, depth):
    """The arrays of a ContextTree and its CountTree, by name."""
    paths = sorted_paths(nodes)
    number = {path: i for i, path in enumerate(paths)}
    cells = [(path, value) for path in paths for value in sorted(nodes[path])]
    cell_number = {cell: i for i, cell in enumerate(cells)}
    return {
        "parent": np.array([number[path[:-1]] if path else -1 for path in paths]),
        "branch": np.array([path[-1] if path else -1 for path in paths]),
        "level_ptr": np.array([sum(len(path) < level for path in paths) for level in range(depth + 2)]),
        "cell_ptr": np.cumsum([0, *(len(nodes[path]) for path in paths)]),
        "cell_value": np.array([value for _, value in cells]),
        "cell_count": np.array([nodes[path][value] for path, value in cells]),
        "cell_parent": np.array([cell_number[path[:-1], value] if path else -1 for path, value in cells]),
    }
