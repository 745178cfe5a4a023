"""Selective kDB: the number of attributes and of parents chosen by exact leave-one-out (paper 004, Algorithm 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedData
from countwise.dtypes import FloatArray
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
    leave_one_out = _kernels.LeaveOneOut(class_counts, k + 1, m, len(trees))

    def set_counts(position: int) -> None:
        tree = trees[position]
        leave_one_out.set(
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
    shape = (len(trees) + 1, k + 1)
    scale = weight_scale(float(class_counts.sum()))
    total = np.zeros(shape, object)  # Python integers: no overflow, however many rows
    for batch in data.batches("leaving one out"):
        part = np.zeros(shape, np.int64)
        leave_one_out.losses(
            batch.codes, data.arity, batch.target, batch.weights, LOSSES[loss], scale, threads, part.reshape(-1)
        )
        total += part
    best = (0, 0)
    for position in np.ndindex(shape):
        if total[position] < total[best]:
            best = position
    mean = (total / (_kernels.LOSS_UNIT * scale * class_counts.sum())).astype(np.float64)
    return Selection(best[0], best[1], np.sqrt(mean) if loss == "rmse" else mean)
