"""The one tree of countwise: counts of one target variable at every node.

A conditional probability table read as a tree (branch on the class, then on parent 1, parent 2, ...), a C4.5
tree and a PCART tree are the same object to a smoother. How a row reaches a node is a second object that
smoothers never see (:mod:`countwise.tree.context`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from countwise import _kernels
from countwise.dtypes import FloatArray, IntArray, OffsetArray
from countwise.narrow import NarrowPickles


@dataclass(frozen=True, eq=False)
class CountTree(NarrowPickles):
    """Counts of one target at every node, in level order, sparse.

    ``parent[0] == -1``, else ``parent[i] < i``; siblings are adjacent. The cells of node i are
    ``cell_ptr[i]:cell_ptr[i + 1]``: the target values with a positive count, ascending. A value that has a cell in
    a node has one in the node's parent too. Counts are whole numbers in float64
    (exact below 2^53) or real weights; an inner node's counts are the sums of its children's.
    """

    parent: IntArray
    level_ptr: OffsetArray  # level d is nodes level_ptr[d]:level_ptr[d + 1]
    cell_ptr: OffsetArray
    cell_value: IntArray
    cell_count: FloatArray
    arity: int  # values that the target can take; more than a node has cells
    splits: tuple[int, ...] = ()  # values of the variable that level d branches on, d = 0 ..; () where levels have none
    choices: tuple[int, ...] = ()  # splits that each column offered to nodes that chose theirs; () where not known

    @property
    def n_nodes(self) -> int:
        """Nodes of all levels."""
        return len(self.parent)

    @property
    def n_cells(self) -> int:
        """Cells of all nodes."""
        return len(self.cell_value)

    @property
    def n_levels(self) -> int:
        """Levels, the root's included."""
        return len(self.level_ptr) - 1

    @property
    def kernel_arrays(self) -> tuple[IntArray, OffsetArray, OffsetArray, IntArray, FloatArray, int]:
        """The tree as the kernels of the smoothers take it."""
        return self.parent, self.level_ptr, self.cell_ptr, self.cell_value, self.cell_count, self.arity

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        arrays = (
            self.parent,
            self.level_ptr,
            self.cell_ptr,
            self.cell_value,
            self.cell_count,
        )
        return sum(array.nbytes for array in arrays)

    @property
    def level(self) -> IntArray:
        """The level of every node; made anew at each call."""
        return np.repeat(np.arange(self.n_levels, dtype=np.int32), np.diff(self.level_ptr))

    @property
    def cell_node(self) -> IntArray:
        """The node of every cell; made anew at each call, since only smoothing needs it."""
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.cell_ptr))

    @property
    def cell_parent(self) -> IntArray:
        """The cell of the same value one node up, -1 at the root; made anew at each call."""
        out = np.empty(self.n_cells, np.int32)
        _kernels.link_cells(self.kernel_arrays, out)
        return out

    @cached_property
    def total(self) -> FloatArray:
        """The count of every node, N_j."""
        if self.n_cells == 0:  # a tree without rows is a root without cells
            return np.zeros(self.n_nodes)
        return np.add.reduceat(self.cell_count, self.cell_ptr[:-1])

    def level_cells(self, level: int) -> slice:
        """The cells of one level."""
        first, last = self.level_ptr[level], self.level_ptr[level + 1]
        return slice(int(self.cell_ptr[first]), int(self.cell_ptr[last]))


class CountedTree(Protocol):
    """Counts of a tree, and how a row reaches a node of it."""

    @property
    def counts(self) -> CountTree:
        """The counts alone."""

    @property
    def n_leaf_cells(self) -> int:
        """Values in all leaves: the probabilities that it holds."""

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""

    def plus(self, other: Any) -> Any:
        """The counts of both, which have the same shape."""


def single_node(counts: FloatArray) -> CountTree:
    """The tree of an unconditional distribution, such as the class prior.

    >>> single_node(np.array([3.0, 0.0, 1.0])).cell_value
    array([0, 2], dtype=int32)
    """
    values = np.flatnonzero(counts > 0).astype(np.int32)
    return CountTree(
        parent=np.array([-1], np.int32),
        level_ptr=np.array([0, 1], np.int64),
        cell_ptr=np.array([0, len(values)], np.int64),
        cell_value=values,
        cell_count=counts[values],
        arity=len(counts),
    )
