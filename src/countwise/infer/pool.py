"""Tuning a part of a pool: networks and trees whose evidence is added up, judged by rows that chose none of them.

A term t of a network says L_t,ry = log P(x_i | y, parents), a tree log P_t(y | x) - log P(y), row r left out. With v
the weights of the members, which sum to 1, scores are

    S_ry = log P(y) + bias_y + sum_m v_m temperature_m sum_(t in m) weight_t L_t,ry

Two steps. First the factors on all concentrations, of the networks and of the forest, each by itself: for each one
tried, temperature and biases are at their best, so that a search in one variable is enough. Then, with factors and
temperatures as they are, S is linear in what is left: a weight for each term and the biases. All have normal priors
around no change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray, IntArray
from countwise.infer.evidence import PathEvidence
from countwise.infer.factor import best_factor
from countwise.infer.softmax_fit import fit_weights
from countwise.infer.tree_evidence import TreeEvidence
from countwise.infer.tuning import Tuning
from countwise.smooth.hdp import HDPFit
from countwise.tree.context import ContextTree
from countwise.tree.splits import SplitTree

# Rows x terms x classes of a part; more rows are left out. Each takes 8 bytes for its log probability, and 20 for every
# level at which its class has seen the context: with k = 5 up to 720 MB, mostly less than half of it.
MOST_ENTRIES = 5_592_405


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A network's trees and the HDP of each, with the arity of its columns."""

    trees: Sequence[ContextTree]
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
        self.group = np.repeat(np.arange(len(networks), dtype=np.int32), [len(network.trees) for network in networks])
        super().__init__(trees, class_counts, rows[0], fits.__getitem__, lambda i: views[self.group[i]], threads)

    def mean(self, log_factor: float) -> FloatArray:
        """The mean over the networks of their sums, rows x classes."""
        return self.sums(log_factor, [0] * self.n_terms, 1)[0] / self.n_networks


@dataclass(frozen=True, eq=False)
class FittedForest:
    """Grown trees and the HDP of each, with the bins of the columns (:func:`number_values`) and its weight."""

    trees: Sequence[SplitTree]
    fits: list[HDPFit]
    n_values: list[int]
    weight: float  # a network's is 1


class Evidence(Protocol):
    """What some models say of the rows of a part, each row left out, at a log factor on all concentrations."""

    def mean(self, log_factor: float) -> FloatArray:
        """The mean over the models, rows x classes."""

    def terms(self, log_factor: float) -> FloatArray:
        """Every term by itself, terms x rows x classes."""


@dataclass(frozen=True, eq=False)
class Voice:
    """Models that are smoothed and tempered alike: ``size`` of them, with a weight in the mean of the part.

    ``group`` is the member of each term; a priori as much is told as by sqrt(``n_apart``) independent terms.
    """

    evidence: Evidence
    group: IntArray
    size: int
    weight: float
    n_apart: int


def most_rows(n_terms: int, n_classes: int) -> int:
    """How many rows a part may have, so that memory is bounded."""
    return max(1, MOST_ENTRIES // (max(1, n_terms) * n_classes))


def tune_part(
    members: Sequence[FittedNetwork | FittedForest],
    class_counts: FloatArray,
    rows: Sequence[CodedBatch],
    n_columns: int,
    threads: int,
) -> list[Tuning]:
    """A tuning for each member of a part, whose score is the mean of theirs: networks first, then one forest or none.

    ``rows`` are the same for all, in the codes of each.
    """
    networks = [member for member in members if isinstance(member, FittedNetwork)]
    evidence = PartEvidence(networks, class_counts, rows[: len(networks)], threads)
    judged, log_prior = evidence.rows, evidence.log_prior
    voices = [Voice(evidence, evidence.group, len(networks), float(len(networks)), n_columns)]
    for m, forest in enumerate(members):
        if isinstance(forest, FittedForest):
            of_trees = TreeEvidence(forest.trees, forest.fits, rows[m], forest.n_values, log_prior, threads)
            n_trees = len(forest.trees)
            voices.append(Voice(of_trees, np.full(n_trees, m, np.int32), n_trees, forest.weight, 1))
    total = sum(voice.weight for voice in voices)
    start, terms, found = np.zeros(len(class_counts)), [], []
    for voice in voices:
        log_factor, at = best_factor(judged, log_prior, voice.evidence.mean, voice.n_apart)
        start = start + at.bias * (voice.weight / total)
        terms.append(voice.evidence.terms(log_factor) * (at.temperature / voice.size * voice.weight / total))
        found.append((log_factor, at.temperature))
    group = np.concatenate([voice.group for voice in voices])
    weight, bias = fit_weights(judged, log_prior + start, np.concatenate(terms), group, threads)
    tunings = []
    for m, member in enumerate(members):
        own = weight[group == m]
        if isinstance(member, FittedForest):
            log_factor, temperature = found[1]
            temperature /= len(own)  # its score is the sum over its trees
        else:
            log_factor, temperature = found[0]
            own, by_term = np.ones(n_columns), own
            own[[tree.family.child for tree in member.trees]] = by_term
        tunings.append(Tuning(np.exp([log_factor]), temperature, start + bias, own))
    return tunings
