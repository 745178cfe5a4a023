"""A forest of grown trees as one log-linear model, which a network can be averaged with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.infer.interval import gamma_distances, log_proba_distances
from countwise.infer.network import Parameters
from countwise.infer.trees import TreeMean
from countwise.infer.tuning import Tuning
from countwise.tree.splits import SplitTree


class Forest:
    """Compiled trees. Scores are log P(y) + bias_y + sum_t w_t (log P_t(y | x) - log P(y)), w_t = factor of tree t.

    Each tree adds what it knows beyond the class prior, as each attribute of a network does. A row is in one node of
    each tree. ``n_values`` as in :func:`number_values`.
    """

    def __init__(
        self, trees: Sequence[SplitTree], parameters: Parameters, n_values: Sequence[int], threads: int = 1
    ) -> None:
        smoothed, log_prior, tuning = parameters.trees, parameters.log_prior, parameters.tuning
        if tuning is None:
            tuning = Tuning(np.ones(1), 1.0 / len(trees), np.zeros(len(log_prior)))
        self.factors = tuning.term_factors(range(len(trees)))
        self.trees = TreeMean(trees, list(smoothed), n_values, threads=threads)
        self.log_prior = log_prior
        self.tables = [
            None if table is None else factor * np.log(table)
            for factor, table in zip(self.factors, self.trees.tables, strict=True)
        ]  # what a tree adds at every node, where all of them are written out
        self.start = log_prior + tuning.bias - self.factors.sum() * log_prior
        self.intercept = self.start + self.factors @ self.trees.start

    def scores(self, batch: CodedBatch) -> FloatArray:
        """What P(y | x) is the softmax of, rows x classes."""
        total = np.tile(self.start, (batch.n_rows, 1))
        for t, (factor, table) in enumerate(zip(self.factors, self.tables, strict=True)):
            nodes = self.trees.apply(batch, t)
            total += table[nodes] if table is not None else factor * np.log(self.trees.node_proba(t, nodes))
        return total

    def contributions(self, batch: CodedBatch) -> FloatArray:
        """What each attribute adds to the scores, from ``intercept`` on: the steps along the paths of all trees."""
        total = np.zeros((batch.n_rows, len(self.trees.n_values), len(self.start)))
        for t, factor in enumerate(self.factors):
            total += factor * self.trees.steps(batch, t)
        return total


class ForestSpread:
    """A compiled forest's limits: its trees count the same rows and err together, so their distances add up."""

    def __init__(self, forest: Forest, prior_precision: float) -> None:
        self.forest = forest
        self.prior_shape = np.exp(forest.log_prior) * prior_precision

    def distances(self, batch: CodedBatch, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The scores, and how far up and down their limits are: three times rows x classes."""
        forest = self.forest
        rise, fall = np.zeros((2, batch.n_rows, len(forest.start)))
        for t, factor in enumerate(forest.factors):
            nodes = forest.trees.apply(batch, t)
            log_p, precision = np.log(forest.trees.node_proba(t, nodes)), forest.trees.smoothed[t].precision[nodes]
            up, down = log_proba_distances(log_p, precision[:, None], level)
            rise += abs(factor) * (up if factor >= 0 else down)
            fall += abs(factor) * (down if factor >= 0 else up)
        prior_up, prior_down = gamma_distances(self.prior_shape, level)
        return forest.scores(batch), np.hypot(rise, prior_up), np.hypot(fall, prior_down)
