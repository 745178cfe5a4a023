"""Classifiers of one network. Learning reads like the data-flow table of the design: source, schema, codes,
structure, counts, smoothing; prediction is codes, look-up, normalisation.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from countwise.data.coded import CodedBatch, CodedData
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.estimators.base import CountClassifier, Derived, prior_precision
from countwise.estimators.door import seed_of, wants_tuning
from countwise.estimators.learn import Plan, learn, tune_honestly
from countwise.infer.interval import Spread
from countwise.infer.network import Network, Parameters, smooth_network
from countwise.infer.tuning import Tuning
from countwise.parallel import n_threads
from countwise.structure import Structure
from countwise.tree.context import ContextTree, build_trees, merge_all


class NetworkClassifier(CountClassifier):
    """Base of the Bayesian network classifiers; a subclass adds its parameters and :meth:`_learn_structure`.

    The other parameters, which all classifiers share, are in :class:`CountClassifier`.

    Parameters
    ----------
    tune : "auto", "loo" or None, default "auto"
        "loo" fits how strongly to smooth, how far to trust the sum of the evidence (temperature) and class biases by
        the leave-one-out log loss of the class, on rows that did not choose structure and cut points. It needs
        ``smoothing="hdp"``. "auto" does so in ``fit`` where the smoothing allows it, and not in ``partial_fit``,
        whose first rows may be few. None leaves the network as smoothed, and is faster. While tuning, the counts of a
        second network are held.
    tune_rows : int, default 15000
        Most rows to tune by.

    Attributes
    ----------
    structure_ : Structure
        Attributes in use, their order and parents.
    tuning_ : Tuning or None
        What ``tune`` has found.

    """

    def __init__(self, *, tune: str | None = "auto", tune_rows: int = 15_000, **shared: Any) -> None:
        super().__init__(**shared)
        self.tune = tune
        self.tune_rows = tune_rows

    structure_: Structure
    trees_: list[ContextTree]
    tuning_: Tuning | None

    @abstractmethod
    def _learn_structure(self, data: CodedData, names: list[str]) -> Structure:
        """The structure to count, from as many passes as it takes."""

    _selects = False  # whether _select looks at the counts
    _weighs = False  # whether tuning weighs attributes

    def _select(
        self, data: CodedData, structure: Structure, trees: list[ContextTree], class_counts: FloatArray
    ) -> tuple[Structure, list[ContextTree], dict[str, Any]]:
        """A part of the structure that is kept, and attributes to set; all of it unless a subclass selects."""
        return structure, trees, {}

    def _plan(self, partial: bool) -> Plan:
        plan = super()._plan(partial)
        tune = None if partial and self.tune == "auto" else self.tune
        return replace(plan, tune=wants_tuning(tune, self.tune_rows, plan.smoother))

    def _learn(self, source: Source, labels: AnyArray | None, plan: Plan) -> None:
        smoother = plan.smoother
        learned = learn(self, source, labels, plan, hold=bool(smoother.candidates))
        trees, class_counts = learned.trees, learned.class_counts
        if learned.held is not None:
            candidates = smoother.candidates
            smoother = learned.held.choose(candidates, learned.data, trees, class_counts, plan.seed, plan.threads)
        tuning = tune_honestly(self, source, labels, learned, smoother, plan) if plan.tune else None
        row_weight = learned.data.row_weight
        parameters = smooth_network(
            trees, class_counts, smoother, plan.seed, plan.threads, tuning, row_weight=row_weight
        )
        self.codec_, self.classes_, self.structure_ = learned.codec, learned.codec.classes, learned.structure
        self.trees_, self.class_counts_, self.row_weight_ = trees, class_counts, row_weight
        self.smoother_, self.tuning_ = smoother, tuning
        self.n_passes_, self.rank_error_ = learned.data.n_passes, learned.rank_error
        self._derived = Derived(parameters)
        for name, value in learned.attributes.items():
            setattr(self, name, value)

    def _add_counts(self, batch: CodedBatch, threads: int) -> None:
        trees = build_trees(batch, self.structure_.families, self.codec_.arity, len(self.classes_), threads)
        self.trees_ = merge_all(self.trees_, trees, 1.0, threads)

    def merge(self, other: NetworkClassifier) -> Self:
        """Add the counts of a model of the same codec and structure, trained on other rows."""
        self._check_same_codec(other)
        if self.structure_ != other.structure_:
            raise DataError("the models have different structures")
        self.trees_ = merge_all(self.trees_, other.trees_, 1.0, n_threads(self.n_jobs))
        self._add_rows(other.class_counts_, other.row_weight_)
        return self

    def log_likelihood(self, X: Any) -> FloatArray:
        """Log P(row) under the network, the class summed out; values never met in training are summed out too.

        Temperature and class biases of ``tune`` sharpen or flatten P(class | row) and have no part in it.
        """
        joint = self._stack(X, self._compiled.log_joint)
        top = joint.max(axis=1)
        return top + np.log(np.exp(joint - top[:, None]).sum(axis=1))

    @property
    def _count_bytes(self) -> int:
        return sum(tree.nbytes for tree in self.trees_)

    @property
    def n_parameters_(self) -> int:
        """Probabilities that the model holds: of each class, and of each value in each context that occurred."""
        check_is_fitted(self, "codec_")
        return sum(tree.n_leaf_cells for tree in self.trees_) + len(self.classes_)

    @property
    def _parameters(self) -> Parameters:
        check_is_fitted(self, "codec_")
        found = self._derived.parameters  # which another thread may let go meanwhile
        if found is None:
            seed = seed_of(self.random_state)
            found = self._derived.parameters = smooth_network(
                self.trees_,
                self.class_counts_,
                self.smoother_,
                seed,
                n_threads(self.n_jobs),
                self.tuning_,
                row_weight=self.row_weight_,
            )
        return found

    @property
    def _compiled(self) -> Network:
        check_is_fitted(self, "codec_")
        if self._derived.compiled is None:
            threads = n_threads(self.n_jobs)
            self._derived.compiled = Network(self.trees_, self._parameters, self.codec_.arity, threads)
            self._derived.let_go(self.smoother_, self._count_bytes)
        return self._derived.compiled

    @property
    def _spread(self) -> Spread:
        network = self._compiled
        if self._derived.spread is None:
            precision = prior_precision(self.smoother_, self.class_counts_, seed_of(self.random_state))
            self._derived.spread = Spread(network, self.trees_, self._parameters, precision, n_threads(self.n_jobs))
            self._derived.let_go(self.smoother_, self._count_bytes)
        return self._derived.spread
