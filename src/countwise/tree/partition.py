"""Count trees from partitions: a tree's shape, and the leaf of every row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from countwise import _kernels
from countwise.dtypes import AnyArray, FloatArray, IntArray, OffsetArray
from countwise.tree.count_tree import CountTree

Keys = npt.NDArray[np.int64]  # node * arity + value
MOST_EMPTY = 4  # counters for each row, beyond which keys are sorted


def partition_counts(
    parent: IntArray, leaf: AnyArray, codes: AnyArray, weights: FloatArray | None, arity: int
) -> tuple[CountTree, IntArray]:
    """Counts of ``codes`` at every node of a partition, and which node of the count tree answers for each of its nodes.

    ``parent`` is the shape, in any order of nodes: -1 for node 0, the root. ``leaf`` is the node that each row comes
    to. A node that no row reaches is left out, and the deepest node above it that has rows answers. A node with only
    one child that has rows is left out too, and that child answers: both hold the same rows, and a smoother would
    take them for two pieces of evidence.

    A root 0 with the leaves 1 and 2, and below 2 the leaves 3 and 4, of which 4 has no row:

    >>> tree, answers = partition_counts(
    ...     np.array([-1, 0, 0, 2, 2], np.int32), np.array([1, 1, 3]), np.array([0, 1, 1]), None, arity=2
    ... )
    >>> tree.parent, tree.cell_ptr.tolist(), tree.cell_value, tree.cell_count
    (array([-1,  0,  0], dtype=int32), [0, 2, 4, 5], array([0, 1, 0, 1, 1], dtype=int32), array([1., 2., 1., 1., 1.]))
    >>> answers
    array([0, 1, 2, 2, 2], dtype=int32)
    """
    levels = tree_levels(parent)
    weights = np.ones(len(leaf)) if weights is None else weights
    there = weights > 0
    leaves = summed(leaf[there].astype(np.int64) * arity + codes[there], weights[there])
    cell_ptr, value, count = cells_upwards(parent, *leaves, arity)
    occurs = np.diff(cell_ptr) > 0
    below = np.flatnonzero(occurs)
    n_children = np.bincount(parent[below[below > 0]], minlength=len(parent))
    kept = occurs & (n_children != 1)
    ids, above = np.flatnonzero(kept), _kept_above(levels, parent, kept)
    rank = np.full(len(parent) + 1, -1, np.int32)  # the last is that of "no node", -1
    rank[ids] = np.arange(len(ids))
    order, level_ptr = _level_order(rank[above[ids]])
    rank[ids[order]] = np.arange(len(ids))
    node = np.repeat(rank[:-1], np.diff(cell_ptr))
    sort = np.argsort(node, kind="stable")
    sort = sort[np.searchsorted(node[sort], 0) :]  # without those of the nodes that are left out
    tree = CountTree(
        parent=rank[above[ids[order]]],
        level_ptr=level_ptr,
        cell_ptr=np.searchsorted(node[sort], np.arange(len(ids) + 1)).astype(np.int64),
        cell_value=value[sort],
        cell_count=count[sort],
        arity=arity,
    )
    return tree, rank[_answers(levels, parent, occurs, kept)]


def tree_levels(parent: IntArray) -> list[AnyArray]:
    """The nodes of each level, siblings side by side, in the order of their numbers.

    >>> [level.tolist() for level in tree_levels(np.array([-1, 4, 4, 0, 0], np.int32))]
    [[0], [3, 4], [1, 2]]
    """
    by_parent = np.argsort(parent, kind="stable")
    first = np.searchsorted(parent[by_parent], np.arange(len(parent) + 1))  # of each node's children
    levels = [np.flatnonzero(parent < 0)]
    while len(levels[-1]):
        start, n = first[levels[-1]], np.diff(first)[levels[-1]]
        within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        levels.append(by_parent[np.repeat(start, n) + within])
    return levels[:-1]


def _level_order(parent: AnyArray) -> tuple[AnyArray, npt.NDArray[np.int64]]:
    levels = tree_levels(parent)
    return np.concatenate(levels), np.cumsum([0, *map(len, levels)], dtype=np.int64)


def summed(key: Keys, count: FloatArray) -> tuple[Keys, FloatArray]:
    """Counts of equal keys added up; keys ascend."""
    most = int(key.max(initial=-1)) + 1
    if most <= MOST_EMPTY * len(key):  # a counter for each key that could be there
        distinct = np.flatnonzero(np.bincount(key, minlength=most))
        return distinct, np.bincount(key, count, minlength=most)[distinct].astype(np.float64, copy=False)
    distinct, inverse = np.unique(key, return_inverse=True)
    return distinct, np.bincount(inverse, count, minlength=len(distinct)).astype(np.float64, copy=False)


def cells_upwards(
    parent: IntArray, key: Keys, count: FloatArray, arity: int
) -> tuple[OffsetArray, IntArray, FloatArray]:
    """``cell_ptr``, ``cell_value`` and ``cell_count`` of all nodes; ``key`` and ``count`` are the leaves', as summed.

    >>> cells = cells_upwards(np.array([-1, 0, 0], np.int32), np.array([2, 3, 5]), np.array([4.0, 1.0, 2.0]), arity=2)
    >>> [own.tolist() for own in cells]
    [[0, 2, 4, 5], [0, 1, 0, 1, 1], [4.0, 3.0, 4.0, 1.0, 2.0]]
    """
    return _kernels.sum_upwards(parent, key, count, arity)


def _kept_above(levels: list[AnyArray], parent: IntArray, kept: AnyArray) -> AnyArray:
    """The nearest node above each node that is kept, or -1."""
    above = np.full(len(parent), -1)
    for nodes in levels[1:]:
        up = parent[nodes]
        above[nodes] = np.where(kept[up], up, above[up])
    return above


def _answers(levels: list[AnyArray], parent: IntArray, occurs: AnyArray, kept: AnyArray) -> AnyArray:
    """The kept node that answers for each node."""
    answer = np.arange(len(parent))
    for nodes in reversed(levels[1:]):
        only = nodes[occurs[nodes] & ~kept[parent[nodes]]]
        answer[parent[only]] = answer[only]
    for nodes in levels[1:]:
        empty = nodes[~occurs[nodes]]
        answer[empty] = answer[parent[empty]]
    return answer
