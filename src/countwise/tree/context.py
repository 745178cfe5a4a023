"""Context trees: the counts of an attribute below every observed prefix of (class, parent 1, parent 2, ...)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedBatch, CodedData
from countwise.dtypes import FloatArray, IntArray
from countwise.errors import MemoryLimitError, size_text
from countwise.narrow import NarrowPickles
from countwise.parallel import thread_map
from countwise.tree.count_tree import CountTree


@dataclass(frozen=True)
class Family:
    """An attribute and its parents besides the class, by column position; the class always comes first."""

    child: int
    parents: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ContextTree(NarrowPickles):
    """A count tree and how a row reaches a node: level 1 branches on the class, level d on ``parents[d - 2]``.

    ``branch`` is the code that leads from a node's parent to it, ascending among siblings.
    """

    family: Family
    branch: IntArray
    counts: CountTree

    @property
    def kernel_arrays(self) -> tuple[Any, ...]:
        """The arrays of the shape, in the order of the kernels."""
        tree = self.counts
        return tree.parent, self.branch, tree.level_ptr, tree.cell_ptr, tree.cell_value

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.branch.nbytes + self.counts.nbytes

    @property
    def n_leaf_cells(self) -> int:
        """Values in all contexts of the last level that occurred: the probabilities that the tree holds."""
        cells = self.counts.level_cells(self.counts.n_levels - 1)
        return cells.stop - cells.start

    def plus(self, other: ContextTree) -> ContextTree:
        """The counts of both, which are of the same family."""
        return merge_trees(self, other)


def _context_tree(family: Family, arity: int, splits: tuple[int, ...], arrays: tuple[Any, ...]) -> ContextTree:
    parent, branch, level_ptr, cell_ptr, cell_value, cell_count = arrays
    return ContextTree(family, branch, CountTree(parent, level_ptr, cell_ptr, cell_value, cell_count, arity, splits))


def build_trees(
    batch: CodedBatch, families: Sequence[Family], arity: Sequence[int], n_classes: int, threads: int = 1
) -> list[ContextTree]:
    """The trees of one batch. A row with an unseen code is left out of the trees that involve that column."""
    unseen = [i for i, codes in enumerate(batch.codes) if len(codes) and int(codes.max()) >= arity[i]]
    involved = [family for family in families if {family.child, *family.parents} & set(unseen)]
    if not involved:
        return _build_known(batch, families, arity, n_classes, threads)
    clean = [family for family in families if family not in involved]
    trees = {tree.family: tree for tree in _build_known(batch, clean, arity, n_classes, threads)}
    for family in involved:
        known = np.ones(batch.n_rows, bool)
        for i in {family.child, *family.parents} & set(unseen):
            known &= batch.codes[i] < arity[i]
        trees[family] = _build_known(batch.select(known), [family], arity, n_classes, threads)[0]
    return [trees[family] for family in families]


def _build_known(
    batch: CodedBatch, families: Sequence[Family], arity: Sequence[int], n_classes: int, threads: int
) -> list[ContextTree]:
    if not families:
        return []
    target = len(arity)
    built = _kernels.build_trees(
        [*batch.codes, batch.target],
        [*arity, n_classes],
        [[target, *family.parents] for family in families],
        [family.child for family in families],
        batch.weights,
        threads,
    )
    splits = [(n_classes, *(arity[p] for p in family.parents)) for family in families]
    return [_context_tree(f, arity[f.child], s, b) for f, s, b in zip(families, splits, built, strict=True)]


def merge_trees(a: ContextTree, b: ContextTree, sign: float = 1.0) -> ContextTree:
    """The counts of both; ``sign=-1`` takes the rows of ``b`` out of ``a`` again."""
    counts = b.counts.cell_count if sign == 1.0 else b.counts.cell_count * sign
    merged = _kernels.merge_trees(a.kernel_arrays, a.counts.cell_count, b.kernel_arrays, counts)
    return _context_tree(a.family, a.counts.arity, a.counts.splits, merged)


def merge_all(a: Sequence[ContextTree], b: Sequence[ContextTree], sign: float, threads: int) -> list[ContextTree]:
    """Merge tree by tree."""
    return thread_map(lambda pair: merge_trees(pair[0], pair[1], sign), zip(a, b, strict=True), threads)


class TreeSum:
    """A running total of the trees of many batches; never holds more than the total, one batch and one tree."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.trees: list[ContextTree] = []

    def add(self, batch: list[ContextTree]) -> None:
        """Add the trees of one batch. The list is emptied, so that a tree can go as soon as it is merged."""
        if not self.trees:
            self.trees = list(batch)
            batch.clear()
            return
        waiting: list[ContextTree | None] = list(batch)
        batch.clear()

        def merge_one(position: int) -> None:
            newer, waiting[position] = waiting[position], None
            assert newer is not None
            self.trees[position] = merge_trees(self.trees[position], newer)

        thread_map(merge_one, range(len(waiting)), self.threads)
        _kernels.release_memory()  # else what the batches took stays with the process

    @property
    def nbytes(self) -> int:
        """Memory of the total."""
        return sum(tree.nbytes for tree in self.trees)


class TreeCounter:
    """The trees of all families and the class counts, in one pass. ``watch`` sees each batch go by."""

    label = "counting contexts"

    def __init__(
        self,
        data: CodedData,
        families: Sequence[Family],
        threads: int,
        max_memory: int,
        watch: Callable[[CodedBatch], None] | None = None,
    ) -> None:
        self.data, self.families, self.threads, self.max_memory, self.watch = data, families, threads, max_memory, watch
        self.clear()

    def clear(self) -> None:
        """As if there had been no rows."""
        self.total, self.class_counts = TreeSum(self.threads), np.zeros(self.data.n_classes)

    def add(self, batch: CodedBatch, threads: int) -> None:
        """Add the trees of one batch; refused when the total passes ``max_memory``."""
        if self.watch is not None:
            self.watch(batch)
        assert batch.target is not None
        n_classes = self.data.n_classes
        self.class_counts += np.bincount(batch.target, batch.weights, minlength=n_classes)
        self.total.add(build_trees(batch, self.families, self.data.arity, n_classes, threads))
        if self.nbytes > self.max_memory:
            raise MemoryLimitError(
                f"the counts take more than max_memory = {size_text(self.max_memory)}; lower k, use fewer bins, "
                "or raise max_memory"
            )

    @property
    def nbytes(self) -> int:
        """Memory of the trees."""
        return self.total.nbytes


def count_trees(
    data: CodedData,
    families: Sequence[Family],
    threads: int,
    max_memory: int,
    watch: Callable[[CodedBatch], None] | None = None,
) -> tuple[list[ContextTree], FloatArray]:
    """One pass: the trees of all families, and the class counts. ``watch`` sees each batch go by."""
    counter = TreeCounter(data, families, threads, max_memory, watch)
    for batch in data.batches(counter.label):
        counter.add(batch, threads)
    return counter.total.trees, counter.class_counts


def cut_tree(tree: ContextTree, n_parents: int) -> ContextTree:
    """The tree with only the first ``n_parents`` parents: its upper levels."""
    if n_parents >= len(tree.family.parents):
        return tree
    counts = tree.counts
    levels = n_parents + 2
    nodes = int(counts.level_ptr[levels])
    cells = int(counts.cell_ptr[nodes])
    upper = replace(  # copies, so that the lower levels are let go
        counts,
        parent=counts.parent[:nodes].copy(),
        level_ptr=counts.level_ptr[: levels + 1].copy(),
        cell_ptr=counts.cell_ptr[: nodes + 1].copy(),
        cell_value=counts.cell_value[:cells].copy(),
        cell_count=counts.cell_count[:cells].copy(),
        splits=counts.splits[: levels - 1],
    )
    branch = tree.branch[:nodes].copy()
    return ContextTree(Family(tree.family.child, tree.family.parents[:n_parents]), branch, upper)
