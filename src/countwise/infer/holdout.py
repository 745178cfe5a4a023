"""Choosing among smoothers on held-out rows (paper 000, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from countwise.data.coded import CodedBatch, CodedData, PickedRows
from countwise.dtypes import FloatArray
from countwise.infer.network import Network, smooth_network
from countwise.smooth import Smoother
from countwise.tree.context import ContextTree, build_trees, merge_all

MAX_HELD = 5000


class HeldRows(PickedRows):
    """A random sample of the rows, picked up while a pass goes by: min(N / 10, 5000) of them."""

    def __init__(self, n_rows: int, seed: int) -> None:
        n_held = min(max(1, n_rows // 10), MAX_HELD)
        super().__init__(np.sort(np.random.default_rng(seed).choice(n_rows, n_held, replace=False)))

    def choose(
        self,
        candidates: Sequence[Smoother],
        data: CodedData,
        trees: Sequence[ContextTree],
        class_counts: FloatArray,
        seed: int,
        threads: int,
    ) -> Smoother:
        """The candidate of least mean (1 - p_true)^2 on the held rows, with these rows taken out of the counts.

        Ties go to the earlier candidate.
        """
        rest, classes = list(trees), class_counts.copy()
        families = [tree.family for tree in trees]
        for part in self.parts:
            assert part.target is not None
            held = build_trees(part, families, data.arity, data.n_classes, threads)
            rest = merge_all(rest, held, -1.0, threads)
            classes -= np.bincount(part.target, part.weights, minlength=data.n_classes)
        classes = np.where(classes > 1e-9, classes, 0.0)
        losses = []
        for candidate in candidates:
            parameters = smooth_network(rest, classes, candidate, seed, threads, row_weight=data.row_weight)
            network = Network(rest, parameters, data.arity, threads)
            losses.append(sum(_loss(network, part, threads) for part in self.parts))
        return candidates[int(np.argmin(losses))]


def _loss(network: Network, part: CodedBatch, threads: int) -> float:
    assert part.target is not None
    true = network.proba(part, threads)[np.arange(part.n_rows), part.target]
    weights = np.ones(part.n_rows) if part.weights is None else part.weights
    return float(weights @ (1.0 - true) ** 2)
