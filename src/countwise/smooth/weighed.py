"""Smoothing where a row of a class weighs more or less than 1: smoothers get numbers of rows.

They take counts for that: they leave out one, and believe a hundred more than ten.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from countwise.dtypes import FloatArray
from countwise.smooth.base import Smoothed, Smoother
from countwise.tree.context import ContextTree
from countwise.tree.count_tree import CountTree


def smooth_classes(tree: CountTree, smoother: Smoother, seed: int, row_weight: FloatArray | None) -> Smoothed:
    """Smooth a tree of class counts in which one row of class y weighs ``row_weight[y]``; None: all weigh 1.

    The distributions q of the rows become those of the weights, p[y] = row_weight[y] q[y] / Z at every node, with
    Z = sum_y row_weight[y] q[y]. Classes that the tree has no row of, as of a bag, weigh 1 in it.

    >>> from countwise.smooth import Laplace, dense_proba
    >>> from countwise.tree.count_tree import single_node
    >>> tree = single_node(np.array([9.0, 9.0]))  # 9 rows of weight 1 and one of weight 9
    >>> dense_proba(tree, smooth_classes(tree, Laplace(), 0, np.array([1.0, 9.0])))  # 10/12, and 9 times 2/12
    array([[0.35714286, 0.64285714]])
    """
    if row_weight is None:
        return smoother.smooth(tree, seed)
    seen = np.bincount(tree.cell_value[tree.level_cells(0)], minlength=tree.arity) > 0
    row_weight = np.where(seen, row_weight, 1.0)
    weight = row_weight[tree.cell_value]
    smoothed = smoother.smooth(replace(tree, cell_count=tree.cell_count / weight), seed)
    base = np.full(tree.arity, 1.0 / tree.arity) if smoothed.base is None else smoothed.base
    z, z_above = _totals(tree, smoothed, weight, base, float(row_weight @ base))
    return replace(
        smoothed,
        cell_proba=smoothed.cell_proba * weight / z[tree.cell_node],
        absent=smoothed.absent * z_above / z,
        base=None if smoothed.hierarchical else row_weight * base,
    )


def smooth_contexts(tree: ContextTree, smoother: Smoother, seed: int, row_weight: FloatArray | None) -> Smoothed:
    """Smooth an attribute's distributions given the class and parents; ``row_weight`` as in :func:`smooth_classes`.

    Below a class all rows weigh the same, so that the distributions of the rows are those of the weights too. The
    root, which all classes are drawn to, is that of the rows.
    """
    return smoother.smooth(tree.counts if row_weight is None else _in_rows(tree, row_weight), seed)


def _in_rows(tree: ContextTree, row_weight: FloatArray) -> CountTree:
    counts = tree.counts
    node_class = np.zeros(counts.n_nodes, np.int32)
    for level, (first, last) in enumerate(zip(counts.level_ptr[1:-1], counts.level_ptr[2:], strict=True)):
        nodes = slice(int(first), int(last))
        node_class[nodes] = node_class[counts.parent[nodes]] if level else tree.branch[nodes]
    rows = counts.cell_count / row_weight[node_class[counts.cell_node]]
    of_classes, root = counts.level_cells(1), counts.level_cells(0)
    of_all = np.bincount(counts.cell_value[of_classes], rows[of_classes], minlength=counts.arity)
    rows[root] = of_all[counts.cell_value[root]]
    return replace(counts, cell_count=rows)


def _totals(
    tree: CountTree, smoothed: Smoothed, weight: FloatArray, base: FloatArray, z_base: float
) -> tuple[FloatArray, FloatArray]:
    """Z of every node, and Z of what its values without a cell take their part of: its parent, or 1 for the base."""
    above = tree.cell_parent if smoothed.hierarchical else np.full(tree.n_cells, -1, np.int32)
    of_cell = np.where(above >= 0, smoothed.cell_proba[above], base[tree.cell_value])
    with_cell, covered = (
        np.bincount(tree.cell_node, weight * q, minlength=tree.n_nodes) for q in (smoothed.cell_proba, of_cell)
    )
    z, z_above = np.empty(tree.n_nodes), np.ones(tree.n_nodes)
    for first, last in zip(tree.level_ptr[:-1], tree.level_ptr[1:], strict=True):
        nodes = slice(int(first), int(last))
        total = np.full(last - first, z_base)
        if smoothed.hierarchical and first:
            total = z_above[nodes] = z[tree.parent[nodes]]
        z[nodes] = with_cell[nodes] + smoothed.absent[nodes] * np.maximum(total - covered[nodes], 0.0)
    return z, z_above
