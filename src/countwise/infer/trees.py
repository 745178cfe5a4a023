"""Prediction by grown trees: codes to nodes, nodes to probabilities; several trees are averaged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.sparse import csr_array
from scipy.special import betaincinv

from countwise import _kernels
from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray, IntArray
from countwise.infer.chunks import in_chunks
from countwise.infer.interval import around
from countwise.infer.path import path_integrals, spread_remainder
from countwise.smooth import Smoothed
from countwise.tree.count_tree import CountTree
from countwise.tree.splits import SplitTree, Spreading

TABLE_VALUES = 2**23  # nodes x classes of all trees that are written out once; beyond, those that a batch meets
CHUNK_VALUES = 2**20  # rows x columns x classes of explanations at once
SMALL_STEP = 1e-8  # below, a series says more than a quotient
LEAST_SHAPE = 1e-9  # of a Beta distribution: its limits are those of 0 and 1 already


class TreeMean:
    """Compiled trees of one codec; P(y | x) is the mean of theirs. ``n_values`` as in :func:`number_values`.

    Nodes of a weight below ``least_rows`` do not answer: their nearest ancestor does that has it, or the root. With
    ``n_known`` (:func:`known_values`) rows whose value is not known take all branches, and rows near a soft threshold
    both: a tree's answer is the mean over their nodes.
    """

    def __init__(
        self,
        trees: Sequence[SplitTree],
        smoothed: Sequence[Smoothed],
        n_values: Sequence[int],
        least_rows: float = 0.0,
        threads: int = 1,
        n_known: Sequence[int] = (),
    ) -> None:
        self.trees, self.smoothed, self.n_values = list(trees), list(smoothed), list(n_values)
        self.spreading = [Spreading(list(n_known), tree.counts.total, tree.splits.soft) for tree in trees]
        self.answers = [_answers(tree.counts, least_rows) if least_rows > 0 else None for tree in trees]
        self.n_classes = trees[0].counts.arity
        self.tables = [
            self._written_out(t, np.arange(tree.counts.n_nodes, dtype=np.int32), threads)
            if tree.counts.n_nodes * self.n_classes * len(trees) <= TABLE_VALUES
            else None
            for t, tree in enumerate(trees)
        ]
        root = np.zeros(1, np.int32)
        self.start = np.log(np.stack([self.node_proba(t, root)[0] for t in range(len(trees))]))
        self.intercept = np.log(np.exp(self.start).mean(axis=0))

    def apply(self, batch: CodedBatch, t: int, threads: int = 1) -> IntArray:
        """The node of tree ``t`` that answers for each row."""
        nodes, answers = self.trees[t].splits.apply(batch, self.n_values, threads), self.answers[t]
        return nodes if answers is None else answers[nodes]

    def _spreads(self, t: int) -> bool:
        """Whether rows may be in several nodes of tree ``t``."""
        return bool(self.spreading[t].n_known) or self.spreading[t].soft

    def shares(self, batch: CodedBatch, t: int, threads: int = 1) -> csr_array:
        """What part of each row is in each node that answers, rows x nodes."""
        tree, answers = self.trees[t], self.answers[t]
        if not self._spreads(t):
            rows, nodes = np.arange(batch.n_rows), tree.splits.apply(batch, self.n_values, threads)
            share: FloatArray = np.ones(batch.n_rows)
        else:
            rows, nodes, share = tree.splits.spread(batch, self.n_values, self.spreading[t], threads)
        nodes = nodes if answers is None else answers[nodes]
        return csr_array((share, (rows, nodes)), shape=(batch.n_rows, tree.counts.n_nodes))

    def tree_proba(self, batch: CodedBatch, t: int, threads: int = 1) -> FloatArray:
        """P(y | x) of one tree, rows x classes."""
        if not self._spreads(t):
            return self.node_proba(t, self.apply(batch, t, threads), threads)
        table, splits = self.tables[t], self.trees[t].splits
        if table is None:
            return self._mixed(self.shares(batch, t, threads), lambda nodes: self.node_proba(t, nodes, threads))
        answers = table if self.answers[t] is None else table[self.answers[t]]
        out = np.empty((batch.n_rows, self.n_classes))
        _kernels.spread_proba(
            batch.codes,
            self.n_values,
            splits.kernel_arrays,
            self.spreading[t],
            answers.reshape(-1),
            batch.n_rows,
            threads,
            out.reshape(-1),
        )
        return out

    @staticmethod
    def _mixed(shares: csr_array, of_nodes: Callable[[IntArray], FloatArray]) -> FloatArray:
        """The mean over the nodes of each row of what a function says of nodes."""
        nodes, column = np.unique(shares.indices, return_inverse=True)
        narrow = csr_array((shares.data, column, shares.indptr), shape=(shares.shape[0], len(nodes)))
        values = of_nodes(nodes.astype(np.int32))
        return np.asarray(narrow @ values.reshape(len(nodes), -1)).reshape(shares.shape[0], *values.shape[1:])

    def node_proba(self, t: int, nodes: IntArray, threads: int = 1) -> FloatArray:
        """The probabilities of nodes of tree ``t``, nodes x classes."""
        table = self.tables[t]
        if table is not None:
            return table[nodes]
        distinct, same = np.unique(nodes, return_inverse=True)
        return self._written_out(t, distinct, threads)[same]

    def _written_out(self, t: int, nodes: IntArray, threads: int) -> FloatArray:
        tree, smoothed = self.trees[t].counts, self.smoothed[t]
        out = np.empty((len(nodes), self.n_classes))
        _kernels.node_proba(
            tree.kernel_arrays,
            smoothed.cell_proba,
            smoothed.absent,
            smoothed.base,
            smoothed.hierarchical,
            nodes,
            threads,
            out.reshape(-1),
        )
        return out

    def proba(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """P(y | x), rows x classes."""
        total = self.tree_proba(batch, 0, threads)
        for t in range(1, len(self.trees)):
            total += self.tree_proba(batch, t, threads)
        return total if len(self.trees) == 1 else total / len(self.trees)

    def log_proba(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """Log P(y | x), rows x classes."""
        return np.log(self.proba(batch, threads))

    def contributions(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """What each attribute adds to the scores, rows x columns x classes, from ``intercept`` on.

        In a tree each step from a node to its child adds log p(child) - log p(node) to the attribute of the node. Of
        several trees they are Aumann-Shapley values (:mod:`countwise.infer.path`).
        """
        shape = (len(self.n_values), self.n_classes)
        step = max(1, CHUNK_VALUES // (len(self.trees) * max(shape[0], shape[1]) * shape[1]))
        return in_chunks(batch, step, threads, shape, self._contributions)

    def _contributions(self, batch: CodedBatch) -> FloatArray:
        own = [self.steps(batch, t) for t in range(len(self.trees))]
        if len(own) == 1:
            return own[0]
        slope = np.stack([steps.sum(axis=1) for steps in own], axis=1)  # rows x trees x classes
        even = np.full((batch.n_rows, len(own)), -np.log(len(own)))
        share, cross = path_integrals(self.start, slope, even, True)
        assert cross is not None
        out = np.zeros_like(own[0])
        for t, steps in enumerate(own):
            out += share[:, None, t, :] * steps - steps @ cross[:, t].transpose(0, 2, 1)
        goal = self.log_proba(batch) - self.intercept
        return spread_remainder(out, goal - out.sum(axis=1))

    def steps(self, batch: CodedBatch, t: int) -> FloatArray:
        """The steps along the paths of one tree, added up by column."""
        if self._spreads(t):
            return self._shared_steps(batch, t)
        splits = self.trees[t].splits
        out = np.zeros((batch.n_rows, len(self.n_values), self.n_classes))
        node, rows = self.apply(batch, t), np.arange(batch.n_rows)
        log_p = np.log(self.node_proba(t, node))
        while True:
            inside = node > 0
            if not inside.all():
                node, rows, log_p = node[inside], rows[inside], log_p[inside]
            if len(node) == 0:
                return out
            above = splits.parent[node]
            above_log_p = np.log(self.node_proba(t, above))
            out[rows, splits.column[above]] += log_p - above_log_p  # one node of each row: no row comes twice
            node, log_p = above, above_log_p

    def _shared_steps(self, batch: CodedBatch, t: int) -> FloatArray:
        """The same where a row is in several nodes of a level, which moves its answer q by the sum of their steps.

        Each step has the part of log q' - log q that it has of q' - q (a logarithmic mean), level by level from below.
        """
        tree = self.trees[t]
        level = np.repeat(np.arange(tree.counts.n_levels), np.diff(tree.counts.level_ptr))
        shares = self.shares(batch, t).tocoo()
        rows, node, share = shares.row, shares.col.astype(np.int32), shares.data[:, None]
        out = np.zeros((batch.n_rows, len(self.n_values), self.n_classes))
        q = self.tree_proba(batch, t)
        for depth in range(tree.counts.n_levels - 1, 0, -1):
            here = np.flatnonzero(level[node] == depth)
            above = tree.splits.parent[node[here]]
            moved = share[here] * (self.node_proba(t, node[here]) - self.node_proba(t, above))
            step = np.zeros_like(out)
            np.add.at(step, (rows[here], tree.splits.column[above]), moved)
            before = np.maximum(q - step.sum(axis=1), np.finfo(float).tiny)
            out += step * _log_slope(before, q)[:, None, :]
            q, node = before, node.copy()
            node[here] = above
        return out

    def _node_limits(self, t: int, level: float, threads: int, nodes: IntArray) -> FloatArray:
        p, precision = self.node_proba(t, nodes, threads), self.smoothed[t].precision[nodes, None]
        a, b = np.maximum(p * precision, LEAST_SHAPE), np.maximum((1.0 - p) * precision, LEAST_SHAPE)
        tails = ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
        return around(np.stack([betaincinv(a, b, tail) for tail in tails], axis=2), p)

    def limits(self, batch: CodedBatch, level: float, threads: int = 1) -> FloatArray:
        """Limits of P(y | x), rows x classes x 2: of each class those of the Beta distribution with the mean and
        precision of the node; of several trees, which err together, their means.
        """
        total = np.zeros((batch.n_rows, self.n_classes, 2))
        for t in range(len(self.trees)):
            total += self._mixed(self.shares(batch, t, threads), partial(self._node_limits, t, level, threads))
        return around(total / len(self.trees), self.proba(batch, threads))


def _log_slope(a: FloatArray, b: FloatArray) -> FloatArray:
    """(log b - log a) / (b - a), 1 / a where they are equal: the inverse of the logarithmic mean."""
    r = (b - a) / a
    return np.where(np.abs(r) < SMALL_STEP, 1.0 - r / 2.0, np.log1p(r) / np.where(r == 0.0, 1.0, r)) / a


def _answers(tree: CountTree, least_rows: float) -> IntArray:
    """For each node itself or its nearest ancestor of at least this weight; the root if there is none."""
    answers = np.arange(tree.n_nodes, dtype=np.int32)
    for level in range(1, tree.n_levels):
        nodes = slice(int(tree.level_ptr[level]), int(tree.level_ptr[level + 1]))
        few = tree.total[nodes] < least_rows
        answers[nodes] = np.where(few, answers[tree.parent[nodes]], answers[nodes])
    return answers
