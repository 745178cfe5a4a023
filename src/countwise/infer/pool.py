"""Tuning a part of a pool: networks whose evidence is added up, judged by rows that chose none of them.

With L_t,ry = log P(x_i | y, parents) of term t, row r left out, scores are

    S_ry = log P(y) + bias_y + temperature / M * sum_t weight_t L_t,ry

Two steps. First the factor on all concentrations; for each one tried, temperature and biases are at their best, so
that a search in one variable is enough. Then, with the factor as it is, S is linear in what is left: a weight for each
term and the biases. All have normal priors around no change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.infer.factor import best_factor
from countwise.infer.softmax_fit import fit_weights, judged_rows
from countwise.infer.tuning import Tuning, add_tree
from countwise.parallel import thread_map
from countwise.smooth.hdp import ROOT_CONCENTRATION, HDPFit
from countwise.tree.context import ContextTree

PATH_BYTES = 2**28  # of what is held of the rows of a part; more rows are left out
ENTRY_BYTES = 48  # of a row, term and class: its log probability, and about two levels of counts


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A network's trees and the HDP of each, with the arity of its columns."""

    trees: list[ContextTree]
    fits: list[HDPFit]
    arity: list[int]


class PartEvidence:
    """The evidence of networks on some of their training rows, each row left out, as a function of the factor."""

    def __init__(
        self, networks: Sequence[FittedNetwork], class_counts: FloatArray, rows: Sequence[CodedBatch], threads: int
    ) -> None:
        """``rows`` are the same for all networks, in the codes of each."""
        jobs = [(m, tree, fit) for m, net in enumerate(networks) for tree, fit in zip(net.trees, net.fits, strict=True)]
        self.n_networks, self.threads = len(networks), threads
        self.group = np.array([m for m, _, _ in jobs], np.int64)
        self.shape = rows[0].n_rows, len(class_counts)
        n_levels = max((tree.counts.n_levels for _, tree, _ in jobs), default=1)
        self.kernel = _kernels.PathLoss(
            class_counts, ROOT_CONCENTRATION, len(jobs), n_levels, rows[0].target, rows[0].weights
        )
        self.strength = np.ones((len(jobs), n_levels))

        def add_term(position: int) -> None:
            m, tree, fit = jobs[position]
            by_level = add_tree(self.kernel, position, tree, fit, rows[m], networks[m].arity)
            self.strength[position, : len(by_level)] = by_level

        thread_map(add_term, range(len(jobs)), threads)
        self.log_prior = self.kernel.log_prior.reshape(self.shape)

    def networks(self, log_factor: float) -> FloatArray:
        """The sums of each network, networks x rows x classes."""
        return self._sums(log_factor, self.group, self.n_networks)

    def terms(self, log_factor: float) -> FloatArray:
        """Every term by itself, terms x rows x classes."""
        return self._sums(log_factor, np.arange(len(self.group)), len(self.group))

    def _sums(self, log_factor: float, group: np.ndarray, n_groups: int) -> FloatArray:
        strength = self.strength.copy()
        strength[:, 1:] *= np.exp(log_factor)
        out = np.empty((n_groups, *self.shape))
        self.kernel.group_sums(strength.reshape(-1), group.tolist(), n_groups, self.threads, out.reshape(-1))
        return out


def most_rows(n_terms: int, n_classes: int) -> int:
    """How many rows a part may have, so that memory is bounded."""
    return max(1, PATH_BYTES // (ENTRY_BYTES * max(1, n_terms) * n_classes))


def tune_part(
    networks: Sequence[FittedNetwork],
    class_counts: FloatArray,
    rows: Sequence[CodedBatch],
    n_columns: int,
    threads: int,
) -> list[Tuning]:
    """A tuning for each network of a part; the mean of their tuned scores is the part's."""
    evidence = PartEvidence(networks, class_counts, rows, threads)
    assert rows[0].target is not None
    judged = judged_rows(rows[0].target, rows[0].weights)
    log_factor, at = best_factor(
        judged, evidence.log_prior, lambda log_factor: evidence.networks(log_factor).mean(axis=0)
    )
    terms = evidence.terms(log_factor)
    terms *= at.temperature / len(networks)
    weight, bias = fit_weights(judged, evidence.log_prior + at.bias, terms, evidence.group, threads)
    tunings = []
    for m, network in enumerate(networks):
        by_column = np.ones(n_columns)
        by_column[[tree.family.child for tree in network.trees]] = weight[evidence.group == m]
        tunings.append(Tuning(np.exp([log_factor]), at.temperature, at.bias + bias, by_column))
    return tunings
