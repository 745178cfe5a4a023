"""Growth of a tree from more rows than memory holds.

The nodes of a level that have too many rows are split by counts: one pass counts, for each of them, the codes of every
column with the classes. Nodes whose rows fit are put aside; at the end their rows are collected, as many nodes at a
time as fit, and their subtrees grown in memory. The splits are those that all rows in memory would give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from countwise import _kernels
from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch, CodedData, joined
from countwise.dtypes import AnyArray, FloatArray, IntArray, OffsetArray
from countwise.errors import MemoryLimitError, size_text
from countwise.tree.count_tree import CountTree
from countwise.tree.grow import CRITERIA, GrowthRules, grow, likely_cuts, middle_cuts, split_choices
from countwise.tree.splits import MISSING, NO_SIDES, SUBSET, SplitTable, SplitTree, as_sides, levels_of, number_values


@dataclass(eq=False)
class Top:
    """The nodes that are split by counts, and their children, in level order."""

    parent: list[int] = field(default_factory=list)
    branch: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    low: list[int] = field(default_factory=list)
    high: list[int] = field(default_factory=list)
    counts: list[FloatArray] = field(default_factory=list)  # of every class
    n_rows: list[float] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    sides: dict[int, IntArray] = field(default_factory=dict)  # of the nodes that have any

    def append(self, parent: int, branch: int, counts: FloatArray, n_rows: float) -> int:
        """A leaf, for the time being."""
        values = (parent, branch, -1, -1, -1, counts, n_rows, 0 if parent < 0 else self.depth[parent] + 1)
        lists = (self.parent, self.branch, self.column, self.low, self.high, self.counts, self.n_rows, self.depth)
        for own, value in zip(lists, values, strict=True):
            own.append(value)  # type: ignore[attr-defined]
        return len(self.parent) - 1

    def splits(self) -> SplitTable:
        """As rows find their ways; no row is between two thresholds that divide alike."""
        lists = (self.parent, self.branch, self.column, self.low)
        parent, branch, column, low = (np.array(values, np.int32) for values in lists)
        return SplitTable(parent, branch, column, low, *as_sides(self.all_sides()))

    def all_sides(self) -> list[IntArray]:
        """Of every node, see :class:`SplitTable`."""
        return [self.sides.get(node, NO_SIDES) for node in range(len(self.parent))]


@dataclass(frozen=True, eq=False)
class Passes:
    """Rows to read again and again, how to grow, and the memory for it."""

    data: CodedData
    codec: Codec
    rules: GrowthRules
    row_bytes: int  # that a row takes in memory while a tree is grown
    max_memory: int
    threads: int = 1

    def grow(self) -> SplitTree:
        """The tree."""
        top = Top()
        level = [top.append(-1, -1, np.zeros(self.n_classes), float(self.data.n_rows))]
        small: list[int] = []
        while level:
            small += [node for node in level if self._fits(top, node)]
            below: list[int] = []
            for group in self._groups([node for node in level if not self._fits(top, node)]):
                below += self._split(top, group)
            level = [node for node in below if self._may_split(top, node)]
        return _joined(top, self._subtrees(top, small), self.codec, self.rules)

    @property
    def n_classes(self) -> int:
        """Classes of the target."""
        return self.data.n_classes

    def _fits(self, top: Top, node: int) -> bool:
        return node > 0 and top.n_rows[node] * self.row_bytes <= self.max_memory

    def _may_split(self, top: Top, node: int) -> bool:
        counts, most = top.counts[node], self.rules.max_depth
        enough = counts.sum() >= 2 * self.rules.min_samples_leaf and np.count_nonzero(counts) > 1
        return bool(enough and (most is None or top.depth[node] < most))

    def _groups(self, nodes: Sequence[int]) -> Iterator[list[int]]:
        """As many nodes as can be counted in one pass."""
        one = 8 * sum(self.data.arity) * (self.n_classes + 1)
        most = self.max_memory // one
        if nodes and most < 1:
            raise MemoryLimitError(
                f"the counts of one node take {size_text(one)}, more than max_memory = {size_text(self.max_memory)}; "
                "use fewer bins, such as discretiser=EveryValue(max_bins=256), or raise max_memory"
            )
        for start in range(0, len(nodes), max(most, 1)):
            yield list(nodes[start : start + most])

    def _split(self, top: Top, group: list[int]) -> list[int]:
        """One pass, and the children of the nodes that it lets split."""
        tables, n_rows = self._count(top.splits(), group)
        whole = all(bool((table == np.floor(table)).all()) for table in tables)
        if group == [0]:
            top.counts[0] = tables[0].sum(axis=(0, 1))
        column, low, high = (np.empty(len(group), np.int32) for _ in range(3))
        criterion, least = CRITERIA[self.rules.criterion], float(self.rules.min_samples_leaf)
        total = float(top.counts[0].sum())
        options = (criterion, least, self.rules.subsets, self.rules.soft, total, whole, self.threads)
        n_values, flat = number_values(self.codec), [table.reshape(-1) for table in tables]
        side_ptr, sides = _kernels.choose_splits(
            flat, self.data.arity, n_values, self.n_classes, options, column, low, high
        )
        side_ptr, sides = likely_cuts(self.codec, column, low, side_ptr, sides)
        below = []
        for slot, node in enumerate(group):
            chosen = int(column[slot])
            if chosen < 0 or not self._may_split(top, node):
                continue
            top.column[node], top.low[node], top.high[node] = chosen, int(low[slot]), int(high[slot])
            counts, rows = tables[chosen][slot], n_rows[chosen][slot]
            codes = np.arange(len(rows))
            number = n_values[chosen]
            branch = np.where(codes >= number, MISSING, codes > low[slot]) if number else codes
            own_sides = top.sides[node] = sides[side_ptr[slot] : side_ptr[slot + 1]]
            if low[slot] == SUBSET:
                branch[own_sides >> 1] = own_sides & 1
            for name in np.unique(branch[rows > 0]):
                own = branch == name
                below.append(top.append(node, int(name), counts[own].sum(axis=0), float(rows[own].sum())))
        return below

    def _count(self, splits: SplitTable, group: list[int]) -> tuple[list[FloatArray], list[FloatArray]]:
        """For each column nodes x codes x classes (weights), and nodes x codes (rows)."""
        slot_of = np.full(splits.n_nodes, -1)
        slot_of[group] = np.arange(len(group))
        tables = [np.zeros((len(group), arity, self.n_classes)) for arity in self.data.arity]
        n_rows = [np.zeros((len(group), arity)) for arity in self.data.arity]
        for rows, slot in self._rows_of(splits, slot_of, "counting splits"):
            assert rows.target is not None
            weights: Any = 1.0 if rows.weights is None else rows.weights
            for codes, table, count in zip(rows.codes, tables, n_rows, strict=True):
                place: OffsetArray = slot * count.shape[1] + codes
                np.add.at(count.reshape(-1), place, 1.0)
                place = place * self.n_classes + rows.target
                np.add.at(table.reshape(-1), place, weights)
        return tables, n_rows

    def _rows_of(self, splits: SplitTable, slot_of: AnyArray, label: str) -> Iterator[tuple[CodedBatch, AnyArray]]:
        """One pass over the rows of some nodes: those whose slot is not negative."""
        n_values = number_values(self.codec)
        for batch in self.data.batches(label):
            slot = slot_of[splits.apply(batch, n_values, self.threads)]
            mine = np.flatnonzero(slot >= 0)
            if len(mine):
                yield batch.select(mine), slot[mine]

    def _subtrees(self, top: Top, nodes: list[int]) -> dict[int, SplitTree]:
        """The rows of nodes collected, as many nodes at a time as fit, and their subtrees."""
        found: dict[int, SplitTree] = {}
        splits, waiting = top.splits(), list(nodes)
        while waiting:
            group: list[int] = []
            held = 0.0
            while waiting and (not group or held + top.n_rows[waiting[0]] * self.row_bytes <= self.max_memory):
                held += top.n_rows[waiting[0]] * self.row_bytes
                group.append(waiting.pop(0))
            slot_of = np.full(splits.n_nodes, -1)
            slot_of[group] = np.arange(len(group))
            parts = list(self._rows_of(splits, slot_of, "collecting rows"))
            batch, slot = joined([rows for rows, _ in parts]), np.concatenate([own for _, own in parts])
            for s, node in enumerate(group):
                depth, most = top.depth[node], self.rules.max_depth
                rules = replace(self.rules, max_depth=None if most is None else most - depth)
                found[node] = grow(batch.select(np.flatnonzero(slot == s)), self.codec, rules, 0, self.threads)
        return found


def _joined(top: Top, subtrees: dict[int, SplitTree], codec: Codec, rules: GrowthRules) -> SplitTree:
    """The whole tree, in level order: the subtrees take the places of their roots."""
    own = top.splits()
    threshold = middle_cuts(codec, own.column, np.array(top.low, np.int32), np.array(top.high, np.int32))
    parts = {"parent": [own.parent], "branch": [own.branch], "column": [own.column], "threshold": [threshold]}
    dense = np.stack(top.counts)
    node, value = np.nonzero(dense)
    cells: list[tuple[AnyArray, AnyArray, FloatArray]] = [(node, value, dense[node, value])]
    n_nodes, sides = own.n_nodes, top.all_sides()
    for root, tree in subtrees.items():
        splits, counts = tree.splits, tree.counts
        below_sides = [splits.sides_at(node) for node in range(splits.n_nodes)]
        sides[root] = below_sides[0]
        sides += below_sides[1:]
        parts["column"][0][root], parts["threshold"][0][root] = splits.column[0], splits.threshold[0]
        number = np.concatenate([[root], np.arange(n_nodes, n_nodes + splits.n_nodes - 1)])
        parts["parent"].append(number[splits.parent[1:]].astype(np.int32))
        for name in ("branch", "column", "threshold"):
            parts[name].append(getattr(splits, name)[1:])
        below = slice(int(counts.cell_ptr[1]), None)
        cells.append((number[counts.cell_node[below]], counts.cell_value[below], counts.cell_count[below]))
        n_nodes += splits.n_nodes - 1
    arrays = {name: np.concatenate(values) for name, values in parts.items()}
    at, values, counts_of = (np.concatenate([part[i] for part in cells]) for i in range(3))
    whole = _level_ordered(arrays, sides, (at, values, counts_of), len(codec.classes))
    return replace(whole, counts=replace(whole.counts, choices=split_choices(codec, rules)))


def _level_ordered(
    arrays: dict[str, IntArray],
    sides: list[IntArray],
    cells: tuple[AnyArray, AnyArray, FloatArray],
    n_classes: int,
) -> SplitTree:
    """Nodes sorted by level, then by their parents' places, then by branch."""
    node, value, count = cells
    order = [np.zeros(1, np.int64)]
    place = np.full(len(arrays["parent"]), -1, np.int64)
    place[0], n_done = 0, 1
    children = np.argsort(arrays["parent"], kind="stable")  # of node i: bounds[i] to bounds[i + 1]
    bounds = np.searchsorted(arrays["parent"][children], np.arange(len(place) + 1))
    while len(order[-1]):
        level = np.concatenate([children[bounds[i] : bounds[i + 1]] for i in order[-1]])
        level = level[np.lexsort((arrays["branch"][level], place[arrays["parent"][level]]))]
        place[level] = np.arange(n_done, n_done + len(level))
        n_done += len(level)
        order.append(level)
    by_place = np.concatenate(order)
    parent = np.concatenate([[-1], place[arrays["parent"][by_place[1:]]]]).astype(np.int32)
    own_sides = as_sides([sides[i] for i in by_place])
    branch, column, threshold = (arrays[name][by_place] for name in ("branch", "column", "threshold"))
    splits = SplitTable(parent, branch, column, threshold, *own_sides)
    cell = np.lexsort((value, place[node]))
    cell_ptr = np.searchsorted(place[node][cell], np.arange(len(parent) + 1)).astype(np.int64)
    counts = CountTree(parent, levels_of(parent), cell_ptr, value[cell].astype(np.int32), count[cell], n_classes)
    return SplitTree(counts, splits)
