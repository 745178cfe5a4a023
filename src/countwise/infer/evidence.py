"""What networks say about some of their training rows, each row left out of the counts along its own paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.infer.softmax_fit import judged_rows
from countwise.parallel import thread_map
from countwise.smooth.hdp import ROOT_CONCENTRATION, HDPFit
from countwise.tree.context import ContextTree

View = tuple[CodedBatch, Sequence[int]]  # rows in some codes, and the arity of the columns


class PathEvidence:
    """Log P(x_i | y, parents) of every tree (term), as a function of how strongly to smooth.

    ``fit_of`` and ``view_of`` give the HDP of a tree and the rows in its codes, by position: they are asked once.
    """

    def __init__(
        self,
        trees: Sequence[ContextTree],
        class_counts: FloatArray,
        rows: CodedBatch,
        fit_of: Callable[[int], HDPFit],
        view_of: Callable[[int], View],
        threads: int,
    ) -> None:
        assert rows.target is not None
        self.threads, self.n_classes, self.n_terms = threads, len(class_counts), len(trees)
        weights = None if rows.weights is None else rows.weights * rows.rows_per_weight
        self.rows = judged_rows(rows.target, weights)
        self.n_levels = max((tree.counts.n_levels for tree in trees), default=1)
        self.kernel = _kernels.PathLoss(
            class_counts, ROOT_CONCENTRATION, len(trees), self.n_levels, rows.target, weights, rows.left_out
        )
        self.strength = np.ones((len(trees), self.n_levels))  # of the HDP as fitted

        def add_term(position: int) -> None:
            tree, fit, (own_rows, arity) = trees[position], fit_of(position), view_of(position)
            family = tree.family.child, list(tree.family.parents)
            by_level = fit.concentration[np.minimum(np.arange(tree.counts.n_levels), len(fit.concentration) - 1)]
            self.kernel.add_term(position, family, own_rows.codes, arity, tree.kernel_arrays, fit.counts, by_level)
            self.strength[position, : len(by_level)] = by_level

        thread_map(add_term, range(len(trees)), threads)

    @property
    def log_prior(self) -> FloatArray:
        """Log P(y) without the row, rows x classes."""
        return np.asarray(self.kernel.log_prior).reshape(-1, self.n_classes)

    def terms(self, log_factor: float) -> FloatArray:
        """Every term by itself, terms x rows x classes, with this factor on all concentrations."""
        return self.sums(log_factor, range(self.n_terms), self.n_terms)

    def sums(self, log_factor: float, group: Sequence[int], n_groups: int) -> FloatArray:
        """The sums of the terms of each group, groups x rows x classes."""
        strength = self.strength.copy()
        strength[:, 1:] *= np.exp(log_factor)
        out = np.empty((n_groups, len(self.rows.target), self.n_classes))
        self.kernel.group_sums(strength.reshape(-1), list(group), n_groups, self.threads, out.reshape(-1))
        return out
