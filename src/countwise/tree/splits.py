"""How a row of codes reaches a node of a grown tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from countwise import _kernels
from countwise.data.codec import Codec, NumberCodec
from countwise.data.coded import CodedBatch
from countwise.dtypes import AnyArray, FloatArray, IntArray, OffsetArray
from countwise.narrow import NarrowPickles
from countwise.tree.count_tree import CountTree
from countwise.tree.partition import cells_upwards, summed

MISSING = 2  # the branch of a number; up to the threshold is 0, above it 1
SUBSET = -2  # in the place of a threshold: a category in two sets
N_LIKELY = 16  # thresholds that stand for a soft one; the kernel's kLikelyThresholds
MASKED = 64  # codes: more do not fit into the bits of one number
NO_SIDES = np.empty(0, np.int32)


class Spreading(NamedTuple):
    """When a row takes several branches, each with a share of it.

    Values that are not known take all, in proportion to the weight of their nodes: codes not below ``n_known``
    (:func:`known_values`) of their column, or none if that is empty. With ``soft`` a number takes both branches of a
    soft threshold, by how many of its likely ones are below and above; shares of less than 1/256 are not made.
    """

    n_known: Sequence[int]
    total: FloatArray
    soft: bool


@dataclass(frozen=True, eq=False)
class SplitTable(NarrowPickles):
    """The splits of a :class:`CountTree`, node by node.

    ``column[i]`` is the column that node i splits on, -1 in a leaf. A number has ``threshold[i] >= 0``: codes up to it
    take branch 0, greater ones branch 1, and missing values, where the node met any, branch 2. If the threshold is
    soft, ``sides[side_ptr[i]:side_ptr[i + 1]]`` has ``N_LIKELY`` that are equally likely, ascending. A category has
    ``threshold[i] == -1`` and a branch for each code that the node met, *missing* among them; or it is split in two
    sets, branches 0 and 1: then ``threshold[i] == SUBSET``, and ``sides`` has 2 x code + branch of each code that the
    node met, ascending. ``branch[i]`` leads from a node's parent to it, ascending among siblings. A row for which there
    is no branch stays where it is.
    """

    parent: IntArray
    branch: IntArray
    column: IntArray
    threshold: IntArray
    side_ptr: OffsetArray | None = None  # None: no node has sides
    sides: IntArray = field(default_factory=lambda: NO_SIDES)

    @property
    def n_nodes(self) -> int:
        """Nodes of the tree."""
        return len(self.parent)

    @property
    def is_leaf(self) -> AnyArray:
        """Which nodes have no children."""
        return self.column < 0

    @cached_property
    def first_child(self) -> OffsetArray:
        """The children of node i are ``first_child[i]:first_child[i + 1]``: siblings are adjacent, in level order."""
        return np.searchsorted(self.parent, np.arange(self.n_nodes + 1), side="left").astype(np.int64)

    @property
    def side_column(self) -> IntArray:
        """The column of each of ``sides``."""
        return NO_SIDES if self.side_ptr is None else np.repeat(self.column, np.diff(self.side_ptr))

    @cached_property
    def soft(self) -> bool:
        """Whether some threshold is."""
        return self.side_ptr is not None and bool((np.diff(self.side_ptr)[self.threshold >= 0] > 0).any())

    def is_soft(self, node: int) -> bool:
        """Whether a node has a threshold, and it is soft."""
        return bool(self.threshold[node] >= 0) and len(self.sides_at(node)) > 0

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in self._arrays)

    def same_as(self, other: SplitTable) -> bool:
        """Whether every row takes the same way in both."""
        return all(np.array_equal(a, b) for a, b in zip(self._arrays, other._arrays, strict=True))

    def sides_of(self, nodes: AnyArray) -> tuple[OffsetArray | None, IntArray]:
        """``side_ptr`` and ``sides`` of some nodes; a node -1 has none."""
        if self.side_ptr is None:
            return None, NO_SIDES
        start, end = (np.where(nodes < 0, 0, self.side_ptr[np.maximum(nodes, 0) + i]) for i in (0, 1))
        parts = [self.sides[a:b] for a, b in zip(start, end, strict=True)]
        return as_sides(parts)

    def apply(self, batch: CodedBatch, n_values: Sequence[int], threads: int = 1) -> IntArray:
        """The deepest node that each row reaches; ``n_values`` as in :func:`number_values`."""
        out = np.empty(batch.n_rows, np.int32)
        _kernels.reach_nodes(batch.codes, n_values, self.kernel_arrays, threads, out)
        return out

    def spread(
        self, batch: CodedBatch, n_values: Sequence[int], spreading: Spreading, threads: int = 1
    ) -> tuple[OffsetArray, IntArray, FloatArray]:
        """Rows, nodes and shares. A category that its node has not met, but others have, stays there."""
        row_ptr, node, share = _kernels.spread_rows(
            batch.codes, n_values, self.kernel_arrays, spreading, batch.n_rows, threads
        )
        return np.repeat(np.arange(batch.n_rows), np.diff(row_ptr)), node, share

    def sides_at(self, node: int) -> IntArray:
        """Those of one node."""
        return NO_SIDES if self.side_ptr is None else self.sides[slice(*self.side_ptr[node : node + 2])]

    def codes_of(self, node: int) -> IntArray:
        """The codes of a category that lead from a node's parent to it."""
        above, branch = int(self.parent[node]), self.branch[node]
        if self.threshold[above] != SUBSET:
            return self.branch[node : node + 1]
        own = self.sides_at(above)
        return own[(own & 1) == branch] >> 1

    @property
    def _arrays(self) -> tuple[AnyArray, ...]:
        return self.parent, self.branch, self.column, self.threshold, *self.kernel_arrays[2:4]

    @cached_property
    def kernel_arrays(self) -> tuple[IntArray, IntArray, OffsetArray, IntArray, AnyArray]:
        """The table as walks of the kernel take it."""
        side_ptr = np.zeros(self.n_nodes + 1, np.int64) if self.side_ptr is None else self.side_ptr
        return self._walk, self.branch, side_ptr, self.sides, self._masks

    @property
    def _masks(self) -> AnyArray:
        """For each node split in two sets the codes that it met, and those of branch 1: bits of two numbers.

        Both are 0 where a code is beyond ``MASKED``, and its sides have to be searched.
        """
        masks = np.zeros((self.n_nodes, 2), np.uint64)
        if self.side_ptr is not None:
            node = np.repeat(np.arange(self.n_nodes), np.diff(self.side_ptr))
            node, sides = node[self.threshold[node] == SUBSET], self.sides[self.threshold[node] == SUBSET]
            code = sides >> 1
            bit = np.uint64(1) << np.minimum(code, MASKED - 1).astype(np.uint64)
            np.bitwise_or.at(masks[:, 0], node, bit)
            np.bitwise_or.at(masks[:, 1], node, np.where(sides & 1, bit, np.uint64(0)))
            masks[node[code >= MASKED]] = 0
        return masks.reshape(-1)

    @cached_property
    def _walk(self) -> IntArray:
        """Column, threshold, first child and children of every node, side by side for the kernel.

        The number of children is negative where their branches are not 0, 1, 2, ...
        """
        first, n_children = self.first_child[:-1], np.diff(self.first_child)
        gap = np.zeros(self.n_nodes, bool)
        place = np.arange(1, self.n_nodes) - first[self.parent[1:]]
        gap[self.parent[1:][self.branch[1:] != place]] = True
        columns = (self.column, self.threshold, first, np.where(gap, -n_children, n_children))
        return np.stack(columns, axis=1).astype(np.int32).reshape(-1)


def as_sides(parts: Sequence[AnyArray]) -> tuple[OffsetArray | None, IntArray]:
    """``side_ptr`` and ``sides`` of a :class:`SplitTable` from those of each node."""
    n_sides = [len(part) for part in parts]
    if not any(n_sides):
        return None, NO_SIDES
    side_ptr = np.concatenate([[0], np.cumsum(n_sides)]).astype(np.int64)
    return side_ptr, np.concatenate(parts).astype(np.int32)


@dataclass(frozen=True, eq=False)
class SplitTree:
    """A count tree and how a row reaches its nodes: the same nodes in both."""

    counts: CountTree
    splits: SplitTable

    @property
    def n_leaves(self) -> int:
        """Nodes without children."""
        return int(np.count_nonzero(self.splits.is_leaf))

    @property
    def n_leaf_cells(self) -> int:
        """Classes that occurred in all leaves."""
        return int(np.diff(self.counts.cell_ptr)[self.splits.is_leaf].sum())

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.counts.nbytes + self.splits.nbytes

    def plus(self, other: SplitTree) -> SplitTree:
        """The counts of both, which have the same splits."""
        return added(self, other.counts)


def number_values(codec: Codec) -> list[int]:
    """For each column the bins of a number, 0 for a category; the code of that number is a missing value's."""
    return [column.n_bins if isinstance(column, NumberCodec) else 0 for column in codec.columns]


def known_values(codec: Codec) -> list[int]:
    """For each column the bins or categories; greater codes are of missing values, and of categories never met."""
    return [column.arity - column.has_missing for column in codec.columns]


def counted(splits: SplitTable, node: IntArray, target: AnyArray, weights: FloatArray | None, arity: int) -> CountTree:
    """The counts of rows that reach these nodes. A row that has not come to a leaf is left out.

    A node without rows has no cells, which smoothers do not expect: :func:`countwise.tree.prune.base.subtree`.
    """
    known = splits.is_leaf[node]
    times = np.ones(len(node)) if weights is None else weights
    return _sum_up(splits, node[known].astype(np.int64) * arity + target[known], times[known], arity)


def added(tree: SplitTree, other: CountTree) -> SplitTree:
    """The counts of both, which have the same splits."""
    cells = [_leaf_cells(one, tree.splits) for one in (tree.counts, other)]
    key, count = (np.concatenate(parts) for parts in zip(*cells, strict=True))
    both = _sum_up(tree.splits, key, count, other.arity)
    return SplitTree(replace(both, choices=tree.counts.choices), tree.splits)


def _leaf_cells(tree: CountTree, splits: SplitTable) -> tuple[OffsetArray, FloatArray]:
    at_leaf = splits.is_leaf[tree.cell_node]
    key = tree.cell_node[at_leaf].astype(np.int64) * tree.arity + tree.cell_value[at_leaf]
    return key, tree.cell_count[at_leaf]


def _sum_up(splits: SplitTable, key: OffsetArray, count: FloatArray, arity: int) -> CountTree:
    """The tree of the counts at the leaves; ``key`` is node x arity + value."""
    cells = cells_upwards(splits.parent, *summed(key, count), arity)
    return CountTree(splits.parent, levels_of(splits.parent), *cells, arity)


def levels_of(parent: IntArray) -> OffsetArray:
    """``level_ptr`` of a level-ordered tree.

    >>> levels_of(np.array([-1, 0, 0, 2, 2], np.int32)).tolist()
    [0, 1, 3, 5]
    """
    ends = [0, 1]
    while ends[-1] < len(parent):  # the next level are the children of this one
        ends.append(int(np.searchsorted(parent, ends[-1], side="left")))
    return np.array(ends, np.int64)
