"""Selective kDB: the number of attributes and of parents chosen by exact leave-one-out (paper 004, Algorithm 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedBatch, CodedData
from countwise.data.one_row import beyond_chance
from countwise.dtypes import FloatArray, OffsetArray
from countwise.parallel import thread_map
from countwise.tree.context import ContextTree

LossName = Literal["rmse", "zero-one", "log"]
GREATEST_LOSS = 461.0  # of a row: log loss is cut at -log(1e-200)
LOSSES: dict[str, int] = {"rmse": 0, "zero-one": 1, "log": 2}  # numbers as in the kernel


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen sub-model and the loss of every one: ``surface[a, k]``, a attributes, at most k parents each."""

    n_attributes: int
    k: int
    surface: FloatArray


def weight_scale(total_weight: float) -> float:
    """A power of two, at most 1, by which weights are multiplied so that the sum of all losses fits 62 bits.

    It is 1 up to two million rows; there an integer weight equals that many rows to the last bit.

    >>> weight_scale(1e6), weight_scale(1e9)
    (1.0, 0.001953125)
    """
    bits = math.log2(total_weight * GREATEST_LOSS * _kernels.LOSS_UNIT)
    return float(2.0 ** min(0, math.floor(62 - bits)))


def select(
    data: CodedData,
    trees: Sequence[ContextTree],
    class_counts: FloatArray,
    k: int,
    loss: LossName,
    m: float,
    threads: int,
) -> Selection:
    """One pass: every row is left out of the counts and predicted by every sub-model at once.

    Estimates are m-estimates; a context that held no other row is gone without it, so the context above speaks.
    Fewer attributes, then fewer parents win ties. Losses are added as whole numbers, so the
    result does not depend on the order of the rows.
    """
    counter = LeaveOneOut(data, trees, class_counts, k, loss, m, threads)
    for batch in data.batches(counter.label):
        counter.add(batch, threads)
    return counter.selection()


def _one_row(trees: Sequence[ContextTree], n_classes: int) -> FloatArray | None:
    """The weight of one row by class, None if a row is all of its weight, as in ``one_row.py``.

    The deepest counts stand for the distinct rows, which nobody has listed: what divides all of them.
    """
    n_cells, divisor = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    for tree in trees:
        counts, ends = tree.counts.cell_count, _deepest_cells(tree, n_classes)
        if bool((counts != np.floor(counts)).any()):
            return None
        found = np.diff(ends) > 0  # classes
        by_class = np.gcd.reduceat(counts.astype(np.int64), ends[:-1][found])
        n_cells, divisor[found] = np.maximum(n_cells, np.diff(ends)), np.gcd(divisor[found], by_class)
    one_row = [beyond_chance(int(d), int(n)) for d, n in zip(divisor, n_cells, strict=True)]
    return np.array(one_row, np.float64)


def _deepest_cells(tree: ContextTree, n_classes: int) -> OffsetArray:
    """Where the counts of the contexts of all parents begin, by class: nodes of a level are in the order of classes."""
    counts = tree.counts
    node_class = tree.branch[counts.level_ptr[1] : counts.level_ptr[2]]
    for start, above, end in zip(counts.level_ptr[2:-1], counts.level_ptr[1:], counts.level_ptr[3:], strict=False):
        node_class = node_class[counts.parent[start:end] - above]
    first_node = counts.level_ptr[-2] + np.searchsorted(node_class, np.arange(n_classes + 1))
    return np.asarray(counts.cell_ptr[first_node])


class LeaveOneOut:
    """The losses of all sub-models, in one pass; see :func:`select`."""

    label = "leaving one out"

    def __init__(
        self,
        data: CodedData,
        trees: Sequence[ContextTree],
        class_counts: FloatArray,
        k: int,
        loss: LossName,
        m: float,
        threads: int,
    ) -> None:
        self.arity, self.loss, self.total_weight = data.arity, loss, float(class_counts.sum())
        self.scale = weight_scale(self.total_weight)
        self.one_row = _one_row(trees, data.n_classes)
        self.nbytes = sum(tree.nbytes for tree in trees)
        self.kernel = _kernels.LeaveOneOut(class_counts, k + 1, m, len(trees))
        self.shape = (len(trees) + 1, k + 1)
        self.clear()

        def set_counts(position: int) -> None:
            tree = trees[position]
            self.kernel.set(
                position,
                tree.family.child,
                list(tree.family.parents),
                data.arity,
                data.n_classes,
                tree.kernel_arrays,
                tree.counts.cell_count,
                tree.counts.total,
            )

        thread_map(set_counts, range(len(trees)), threads)

    def clear(self) -> None:
        """As if there had been no rows."""
        self.total = np.zeros(self.shape, object)  # Python integers: no overflow, however many rows

    def add(self, batch: CodedBatch, threads: int) -> None:
        """Add the losses of some rows."""
        part = np.zeros(self.shape, np.int64)
        self.kernel.losses(
            batch.codes,
            self.arity,
            batch.target,
            batch.weights,
            self.one_row,
            LOSSES[self.loss],
            self.scale,
            threads,
            part.reshape(-1),
        )
        self.total += part

    def selection(self) -> Selection:
        """The best sub-model."""
        best = (0, 0)
        for position in np.ndindex(self.shape):
            if self.total[position] < self.total[best]:
                best = position
        mean = (self.total / (_kernels.LOSS_UNIT * self.scale * self.total_weight)).astype(np.float64)
        return Selection(best[0], best[1], np.sqrt(mean) if self.loss == "rmse" else mean)
