"""Classifiers of several networks, learned from the same rows and averaged."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from countwise.data.coarse import coarsening
from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.estimators.base import CountClassifier, Derived, n_leaf_cells, prior_precision
from countwise.estimators.door import seed_of
from countwise.estimators.learn import Plan
from countwise.infer.ensemble import Combine, Ensemble, LogWeight, Member
from countwise.infer.ensemble_limits import EnsembleSpread
from countwise.infer.network import Parameters, smooth_network
from countwise.parallel import n_threads
from countwise.smooth import Smoothed
from countwise.tree.context import ContextTree, Family, build_trees, merge_all


@dataclass(frozen=True, eq=False)
class LearnedEnsemble:
    """What :meth:`EnsembleClassifier._learn_members` hands over; ``codec`` joins those of the members."""

    codec: Codec
    members: list[Member]
    class_counts: FloatArray
    n_passes: int
    rank_error: float
    parameters: list[Parameters] | None = None  # of the members, where learning has smoothed them already


class EnsembleClassifier(CountClassifier):
    """Base of the ensembles; a subclass adds its parameters and :meth:`_learn_members`.

    ``_combine`` says how members become one prediction, see :mod:`countwise.infer.ensemble`. The parameters, which all
    classifiers share, are in :class:`CountClassifier`.

    Attributes
    ----------
    members_ : list of Member
        The networks: each with its codec, structure, counts, group and weight.

    """

    _combine: ClassVar[Combine] = "score"
    members_: list[Member]

    @abstractmethod
    def _learn_members(self, source: Source, labels: AnyArray | None, plan: Plan) -> LearnedEnsemble:
        """All passes over the data; ``labels`` are the classes, None if the source tells them."""

    def _log_weight(self) -> LogWeight | None:
        """For ``_combine = "joint"``: logarithms of weights, rows x members, of rows in codes of ``codec_``.

        -inf leaves a member out; a row that leaves all members out takes all of them.
        """
        return None

    def _plan(self, partial: bool) -> Plan:
        plan = super()._plan(partial)
        if plan.smoother.candidates:
            raise DataError(f"smoothing={self.smoothing!r}: an ensemble holds no rows out to choose by; give a number")
        return plan

    def _learn(self, source: Source, labels: AnyArray | None, plan: Plan) -> None:
        learned = self._learn_members(source, labels, plan)
        self.codec_, self.classes_, self.members_ = learned.codec, learned.codec.classes, learned.members
        self.class_counts_, self.smoother_ = learned.class_counts, plan.smoother
        self.n_passes_, self.rank_error_ = learned.n_passes, learned.rank_error
        self._derived = Derived(learned.parameters)
        self._derived = Derived(self._parameters)  # smoothed now, so that what fails fails in fit

    def _add_counts(self, batch: CodedBatch, threads: int) -> None:
        built: dict[tuple[int, Family], ContextTree] = {}  # by codec: members of one codec may share trees
        for member in self.members_:
            codec = id(member.codec)
            families = [family for family in member.structure.families if (codec, family) not in built]
            own = coarsening(self.codec_, member.codec).recode(batch, threads)
            trees = build_trees(own, families, member.codec.arity, len(self.classes_), threads)
            built |= {(codec, tree.family): tree for tree in trees}
        keys = [[(id(member.codec), family) for family in member.structure.families] for member in self.members_]
        self._merge_trees([[built[key] for key in own] for own in keys], threads)

    def merge(self, other: EnsembleClassifier) -> Self:
        """Add the counts of a model of the same codec and members, trained on other rows."""
        self._check_same_codec(other)
        pairs = list(zip(self.members_, other.members_, strict=False))
        if len(self.members_) != len(other.members_) or not all(_same_shape(a, b) for a, b in pairs):
            raise DataError("the models have different members")
        self._merge_trees([member.trees for member in other.members_], n_threads(self.n_jobs))
        self.class_counts_ = self.class_counts_ + other.class_counts_
        self._derived = Derived()
        return self

    def _merge_trees(self, added: Sequence[list[ContextTree]], threads: int) -> None:
        pairs = [list(zip(own.trees, trees, strict=True)) for own, trees in zip(self.members_, added, strict=True)]
        distinct = {(id(a), id(b)): (a, b) for own in pairs for a, b in own}
        sums = merge_all([a for a, _ in distinct.values()], [b for _, b in distinct.values()], 1.0, threads)
        merged = dict(zip(distinct, sums, strict=True))
        self.members_ = [
            replace(member, trees=[merged[id(a), id(b)] for a, b in own])
            for member, own in zip(self.members_, pairs, strict=True)
        ]

    @property
    def n_parameters_(self) -> int:
        """Probabilities that the model holds: of each class, and of each value in each context of each member."""
        check_is_fitted(self, "codec_")
        return sum(n_leaf_cells(member.trees) for member in self.members_) + len(self.classes_)

    @property
    def _parameters(self) -> list[Parameters]:
        check_is_fitted(self, "codec_")
        if self._derived.parameters is None:
            seeds = np.random.SeedSequence(seed_of(self.random_state)).generate_state(len(self.members_))
            counts, smoother, threads = self.class_counts_, self.smoother_, n_threads(self.n_jobs)
            done: dict[int, Smoothed] = {}  # a tree that members share is smoothed once
            self._derived.parameters = [
                smooth_network(member.trees, counts, smoother, int(seed), threads, member.tuning, done)
                for member, seed in zip(self.members_, seeds, strict=True)
            ]
        return self._derived.parameters

    @property
    def _compiled(self) -> Ensemble:
        parameters = self._parameters
        if self._derived.compiled is None:
            self._derived.compiled = Ensemble(
                self.codec_,
                self.members_,
                parameters,
                self._combine,
                self._log_weight(),
                n_threads(self.n_jobs),
            )
        return self._derived.compiled

    @property
    def _spread(self) -> EnsembleSpread:
        ensemble = self._compiled
        if self._derived.spread is None:
            precision = prior_precision(self.smoother_, self.class_counts_, seed_of(self.random_state))
            self._derived.spread = EnsembleSpread(
                ensemble, self.members_, self._parameters, precision, n_threads(self.n_jobs)
            )
        return self._derived.spread


def _same_shape(a: Member, b: Member) -> bool:
    """Whether the counts of both can be added."""
    return a.codec.same_as(b.codec) and a.structure == b.structure and (a.group, a.weight) == (b.group, b.weight)
