"""What grown trees say of some of the rows that they count, each row left out along its own path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.parallel import thread_map
from countwise.smooth.hdp import ROOT_CONCENTRATION, HDPFit
from countwise.tree.splits import SplitTree


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
        nodes = thread_map(lambda tree: tree.splits.apply(rows, n_values), trees, threads)
        pairs = zip(trees, nodes, strict=True)
        self.rows = [(node, rows.target, left * tree.splits.is_leaf[node]) for tree, node in pairs]

    def terms(self, log_factor: float) -> FloatArray:
        """Every tree by itself, trees x rows x classes, with this factor on all concentrations."""
        out = np.empty((len(self.trees), *self.log_prior.shape))
        for t in range(len(self.trees)):
            self._log_proba(t, log_factor, out[t])
        return out - self.log_prior

    def mean(self, log_factor: float) -> FloatArray:
        """The mean over the trees, rows x classes."""
        total, own = np.zeros_like(self.log_prior), np.empty_like(self.log_prior)
        for t in range(len(self.trees)):
            self._log_proba(t, log_factor, own)
            total += own
        return total / len(self.trees) - self.log_prior

    def _log_proba(self, t: int, log_factor: float, out: FloatArray) -> None:
        tree, fit = self.trees[t].counts, self.fits[t]
        _kernels.left_out_log_proba(
            tree.kernel_arrays,
            fit.counts,
            fit.concentration[fit.group],
            ROOT_CONCENTRATION,
            float(np.exp(log_factor)),
            self.rows[t],
            self.threads,
            out.reshape(-1),
        )
