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

from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.infer.evidence import PathEvidence
from countwise.infer.factor import best_factor
from countwise.infer.softmax_fit import fit_weights
from countwise.infer.tuning import Tuning
from countwise.smooth.hdp import HDPFit
from countwise.tree.context import ContextTree

# Rows x terms x classes of a part; more rows are left out. Each takes 8 bytes for its log probability, and 20 for every
# level at which its class has seen the context: with k = 5 up to 720 MB, mostly less than half of it.
MOST_ENTRIES = 5_592_405


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A network's trees and the HDP of each, with the arity of its columns."""

    trees: list[ContextTree]
    fits: list[HDPFit]
    arity: list[int]


class PartEvidence(PathEvidence):
    """The evidence of several networks on the same rows."""

    def __init__(
        self, networks: Sequence[FittedNetwork], class_counts: FloatArray, rows: Sequence[CodedBatch], threads: int
    ) -> None:
        """``rows`` are the same for all networks, in the codes of each."""
        trees = [tree for network in networks for tree in network.trees]
        fits = [fit for network in networks for fit in network.fits]
        views = [(own, network.arity) for own, network in zip(rows, networks, strict=True)]
        self.n_networks = len(networks)
        self.group = np.repeat(np.arange(len(networks)), [len(network.trees) for network in networks])
        super().__init__(trees, class_counts, rows[0], fits.__getitem__, lambda i: views[self.group[i]], threads)

    def mean(self, log_factor: float) -> FloatArray:
        """The mean over the networks of their sums, rows x classes."""
        return self.sums(log_factor, [0] * self.n_terms, 1)[0] / self.n_networks


def most_rows(n_terms: int, n_classes: int) -> int:
    """How many rows a part may have, so that memory is bounded."""
    return max(1, MOST_ENTRIES // (max(1, n_terms) * n_classes))


def tune_part(
    networks: Sequence[FittedNetwork],
    class_counts: FloatArray,
    rows: Sequence[CodedBatch],
    n_columns: int,
    threads: int,
) -> list[Tuning]:
    """A tuning for each network of a part; the mean of their tuned scores is the part's."""
    evidence = PartEvidence(networks, class_counts, rows, threads)
    log_factor, at = best_factor(evidence.rows, evidence.log_prior, evidence.mean, n_columns)
    terms = evidence.terms(log_factor)
    terms *= at.temperature / len(networks)
    weight, bias = fit_weights(evidence.rows, evidence.log_prior + at.bias, terms, evidence.group, threads)
    tunings = []
    for m, network in enumerate(networks):
        by_column = np.ones(n_columns)
        by_column[[tree.family.child for tree in network.trees]] = weight[evidence.group == m]
        tunings.append(Tuning(np.exp([log_factor]), at.temperature, at.bias + bias, by_column))
    return tunings
