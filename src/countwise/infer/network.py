"""Prediction: smoothed trees compiled into look-ups, rows of codes in, log probabilities out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.infer.tuning import Tuning
from countwise.parallel import thread_map
from countwise.progress import progress_bar
from countwise.smooth import HDP, Smoothed, Smoother, dense_proba
from countwise.smooth.hdp import HDPFit
from countwise.smooth.weighed import smooth_contexts
from countwise.tree.context import ContextTree
from countwise.tree.count_tree import CountedTree, single_node

THREADED_CELLS = 2**20  # fewer are smoothed sooner than another thread gets hold of the interpreter


class SmoothedTrees(Protocol):
    """The distributions of several trees, by position."""

    def __len__(self) -> int: ...

    def __getitem__(self, position: int, /) -> Smoothed: ...

    def __iter__(self) -> Iterator[Smoothed]: ...


class OnDemand:
    """Distributions made when asked for, and anew each time: in memory are those that are being worked on."""

    def __init__(self, make: Callable[[int], Smoothed], n_trees: int) -> None:
        self.make, self.n_trees = make, n_trees

    def __len__(self) -> int:
        return self.n_trees

    def __getitem__(self, position: int, /) -> Smoothed:
        if not 0 <= position < self.n_trees:
            raise IndexError(position)
        return self.make(position)

    def __iter__(self) -> Iterator[Smoothed]:
        return map(self.make, range(self.n_trees))


@dataclass(frozen=True, eq=False)
class Parameters:
    """The smoothed distributions of a network, or of a forest: of the class, and of each tree in turn.

    The concentrations behind ``trees`` are tuned already; bias, temperature and weights of ``tuning`` enter the scores.
    """

    log_prior: FloatArray
    trees: SmoothedTrees
    tuning: Tuning | None = None


def smooth_network(
    trees: Sequence[CountedTree],
    class_counts: FloatArray,
    smoother: Smoother,
    seed: int,
    threads: int,
    tuning: Tuning | None = None,
    done: dict[int, Smoothed] | None = None,
    row_weight: FloatArray | None = None,
) -> Parameters:
    """Smooth every tree; each has its own seed, spawned by position. ``tuning`` is for HDP smoothing.

    ``row_weight`` as in :func:`smooth_contexts`; a tuning has been fitted to the weights as they are.
    ``done``, by the identity of trees, holds what networks before this one have smoothed, and takes what is new.
    """
    seeds = np.random.SeedSequence(seed).generate_state(len(trees) + 1)
    prior = log_prior(class_counts, smoother, int(seeds[0]))
    if tuning is not None:
        assert isinstance(smoother, HDP)
        return Parameters(prior, tuned_trees(trees, fit_trees(trees, smoother, threads), tuning), tuning)
    known = {} if done is None else done

    def smooth_tree(job: tuple[CountedTree, np.integer]) -> Smoothed:
        tree, own_seed = job
        assert isinstance(tree, ContextTree)  # grown trees beside networks are tuned
        if id(tree) not in known:
            known[id(tree)] = smooth_contexts(tree, smoother, int(own_seed), row_weight)
        bar.advance()
        return known[id(tree)]

    with progress_bar("smoothing", len(trees)) as bar:
        jobs = zip(trees, seeds[1:], strict=True)
        return Parameters(prior, tuple(thread_map(smooth_tree, jobs, _worth(threads, trees, smoother))))


def fit_trees(trees: Sequence[CountedTree], smoother: HDP, threads: int) -> list[HDPFit]:
    """The HDP of every tree, before tuning."""

    def fit(tree: CountedTree) -> HDPFit:
        found = smoother.fit_tree(tree.counts)
        bar.advance()
        return found

    with progress_bar("smoothing", len(trees)) as bar:
        return thread_map(fit, trees, _worth(threads, trees, smoother))


def tuned_trees(trees: Sequence[CountedTree], fits: Sequence[HDPFit], tuning: Tuning) -> OnDemand:
    """The distributions of fitted trees under a tuning; the fits take half of their memory."""

    def smooth_tree(position: int) -> Smoothed:
        counts = trees[position].counts
        return fits[position].smoothed(counts, tuning.factor_of(counts.level))

    return OnDemand(smooth_tree, len(trees))


def _worth(threads: int, trees: Sequence[CountedTree], smoother: Smoother) -> int:
    """The threads that smoothing these trees is worth."""
    return threads if smoother.is_slow or sum(tree.counts.n_cells for tree in trees) >= THREADED_CELLS else 1


def log_prior(class_counts: FloatArray, smoother: Smoother, seed: int) -> FloatArray:
    """Log P(y), smoothed."""
    prior = single_node(class_counts)
    return np.log(dense_proba(prior, smoother.smooth(prior, seed))[0])


def softmax(scores: FloatArray, threads: int = 1) -> FloatArray:
    """Scores (rows x classes) to probabilities, in their place."""
    _kernels.softmax_rows(scores.shape[0], scores.shape[1], threads, scores.reshape(-1))
    return scores


def log_softmax(scores: FloatArray) -> FloatArray:
    """Scores (rows x classes) to logarithms of probabilities."""
    top = scores.max(axis=1, keepdims=True)
    return scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))


class Network:
    """A compiled classifier. ``arity`` are the codes of all columns of a batch, used or not."""

    def __init__(
        self, trees: Sequence[ContextTree], parameters: Parameters, arity: Sequence[int], threads: int = 1
    ) -> None:
        self.arity = list(arity)
        tuning = parameters.tuning
        self.log_prior = parameters.log_prior
        self.children = [tree.family.child for tree in trees]
        self.intercept = self.log_prior if tuning is None else self.log_prior + tuning.bias
        self.factors = np.ones(len(trees)) if tuning is None else tuning.term_factors(self.children)
        self.lookup = _kernels.Lookup(len(self.log_prior), len(trees))

        def compile_term(position: int) -> None:
            tree, smoothed = trees[position], parameters.trees[position]
            self.lookup.set(
                position,
                tree.family.child,
                list(tree.family.parents),
                self.arity,
                tree.kernel_arrays,
                smoothed.cell_proba,
                smoothed.absent,
                smoothed.hierarchical,
                smoothed.base,
            )

        thread_map(compile_term, range(len(trees)), threads)

    def log_joint(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """Log P(x, y) for every row and class, before any tuning."""
        return self._sums(batch, self.log_prior, None, threads)

    def scores(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """What P(y | x) is the softmax of, for every row and class: log P(x, y), tuned."""
        return self._sums(batch, self.intercept, self.factors, threads)

    def _sums(self, batch: CodedBatch, start: FloatArray, factors: FloatArray | None, threads: int) -> FloatArray:
        out = np.empty((batch.n_rows, len(start)))
        self.lookup.log_joint(batch.codes, self.arity, start, factors, batch.n_rows, threads, out.reshape(-1))
        return out

    def proba(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """P(y | x) for every row and class."""
        return softmax(self.scores(batch, threads), threads)

    def log_proba(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """Log P(y | x) for every row and class; finite where P is too small for a number."""
        return log_softmax(self.scores(batch, threads))

    def contributions(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """What each attribute adds to the scores: rows x columns x classes, 0 for columns that are not used."""
        out = np.zeros((batch.n_rows, len(self.arity), len(self.log_prior)))
        out[:, self.children] = self._terms(batch, self.factors, threads)
        return out

    def terms(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """Log P(x_i | y, parents) of the columns that are used, in the order of ``children``, before any tuning."""
        return self._terms(batch, None, threads)

    def _terms(self, batch: CodedBatch, factors: FloatArray | None, threads: int) -> FloatArray:
        out = np.empty((batch.n_rows, len(self.children), len(self.log_prior)))
        self.lookup.contributions(batch.codes, self.arity, factors, batch.n_rows, threads, out.reshape(-1))
        return out
