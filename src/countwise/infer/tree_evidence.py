"""What grown trees say of some of the rows that they count, each row left out along its own path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedBatch
from countwise.dtypes import AnyArray, CodeArray, FloatArray, IntArray
from countwise.parallel import thread_map
from countwise.smooth.hdp import ROOT_CONCENTRATION, HDPFit
from countwise.tree.splits import SplitTree


@dataclass(frozen=True, eq=False)
class KindsOfRows:
    """Rows that a tree can not tell apart: of one node and class, with as much to leave. ``place`` is that of each row.

    A tree says the same of them, and most leaves have several.
    """

    node: IntArray
    target: CodeArray
    left: FloatArray
    place: AnyArray

    @classmethod
    def of(cls, node: IntArray, target: CodeArray, left: FloatArray, n_classes: int) -> KindsOfRows:
        """The kinds of some rows."""
        amounts, amount = np.unique(left, return_inverse=True)
        key = (node.astype(np.int64) * n_classes + target) * len(amounts) + amount
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return cls(node[first], target[first], left[first], place)


class TreeEvidence:
    """Log P_t(y | x) - log P(y) of every tree t, as a function of how strongly to smooth.

    ``log_prior`` is log P(y) without the row, rows x classes. A row that has not come to a leaf is not in the counts of
    the tree, and leaves nothing.
    """

    def __init__(
        self,
        trees: Sequence[SplitTree],
        fits: Sequence[HDPFit],
        rows: CodedBatch,
        n_values: Sequence[int],
        log_prior: FloatArray,
        threads: int,
    ) -> None:
        self.trees, self.fits, self.log_prior, self.threads = trees, fits, log_prior, threads
        left = np.ones(rows.n_rows) if rows.left_out is None else rows.left_out
        target = rows.target
        assert target is not None

        def kinds(tree: SplitTree) -> KindsOfRows:
            node = tree.splits.apply(rows, n_values)
            return KindsOfRows.of(node, target, left * tree.splits.is_leaf[node], tree.counts.arity)

        self.kinds = thread_map(kinds, trees, threads)

    def terms(self, log_factor: float) -> FloatArray:
        """Every tree by itself, trees x rows x classes, with this factor on all concentrations."""
        out = np.empty((len(self.trees), *self.log_prior.shape))
        for t in range(len(self.trees)):
            np.subtract(self._log_proba(t, log_factor), self.log_prior, out=out[t])
        return out

    def mean(self, log_factor: float) -> FloatArray:
        """The mean over the trees, rows x classes."""
        total = np.zeros_like(self.log_prior)
        for t in range(len(self.trees)):
            total += self._log_proba(t, log_factor)
        return total / len(self.trees) - self.log_prior

    def _log_proba(self, t: int, log_factor: float) -> FloatArray:
        tree, fit, kinds = self.trees[t].counts, self.fits[t], self.kinds[t]
        out = np.empty((len(kinds.node), tree.arity))
        _kernels.left_out_log_proba(
            tree.kernel_arrays,
            fit.counts,
            fit.concentration[fit.group],
            ROOT_CONCENTRATION,
            float(np.exp(log_factor)),
            (kinds.node, kinds.target, kinds.left),
            self.threads,
            out.reshape(-1),
        )
        return out[kinds.place]
