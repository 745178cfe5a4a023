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
from countwise.estimators.base import CountClassifier, Derived, prior_precision
from countwise.estimators.door import seed_of
from countwise.estimators.learn import Plan
from countwise.infer.ensemble import Combine, Ensemble, LogWeight
from countwise.infer.ensemble_limits import EnsembleSpread
from countwise.infer.members import Member
from countwise.infer.network import Parameters
from countwise.parallel import n_threads, thread_map
from countwise.progress import progress_bar
from countwise.smooth import Smoothed
from countwise.tree.context import ContextTree, Family
from countwise.tree.count_tree import CountedTree


@dataclass(frozen=True, eq=False)
class LearnedEnsemble:
    """What :meth:`EnsembleClassifier._learn_members` hands over; ``codec`` joins those of the members."""

    codec: Codec
    members: Sequence[Member]
    class_counts: FloatArray
    row_weight: FloatArray | None
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
        Each with its codec, counts, group and weight; a network with its structure.

    """

    _combine: ClassVar[Combine] = "score"
    members_: Sequence[Member]

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
        self.class_counts_, self.row_weight_ = learned.class_counts, learned.row_weight
        self.smoother_ = plan.smoother
        self.n_passes_, self.rank_error_ = learned.n_passes, learned.rank_error
        self._derived = Derived(learned.parameters)
        self._derived = Derived(self._parameters)  # smoothed now, so that what fails fails in fit

    def _add_counts(self, batch: CodedBatch, threads: int) -> None:
        done: dict[int, dict[Family, ContextTree]] = {}  # by codec: members of one codec may share trees

        def counted(member: Member) -> Member:
            own = coarsening(self.codec_, member.codec).recode(batch, threads)
            return member.counted(own, len(self.classes_), threads, done.setdefault(id(member.codec), {}))

        self._merge_members([counted(member) for member in self.members_], threads)

    def merge(self, other: EnsembleClassifier) -> Self:
        """Add the counts of a model of the same codec and members, trained on other rows."""
        self._check_same_codec(other)
        pairs = list(zip(self.members_, other.members_, strict=False))
        if len(self.members_) != len(other.members_) or not all(a.same_shape(b) for a, b in pairs):
            raise DataError("the models have different members")
        self._merge_members(other.members_, n_threads(self.n_jobs))
        self._add_rows(other.class_counts_, other.row_weight_)
        return self

    def _merge_members(self, others: Sequence[Member], threads: int) -> None:
        pairs = [list(zip(a.trees, b.trees, strict=True)) for a, b in zip(self.members_, others, strict=True)]
        distinct = {(id(a), id(b)): (a, b) for own in pairs for a, b in own}  # shared trees stay shared
        sums = thread_map(lambda pair: pair[0].plus(pair[1]), distinct.values(), threads)
        merged: dict[tuple[int, int], CountedTree] = dict(zip(distinct, sums, strict=True))
        self.members_ = [
            replace(member, trees=[merged[id(a), id(b)] for a, b in own])
            for member, own in zip(self.members_, pairs, strict=True)
        ]

    @property
    def _count_bytes(self) -> int:
        return sum(tree.nbytes for member in self.members_ for tree in member.trees)

    @property
    def n_parameters_(self) -> int:
        """Probabilities that the model holds: of each class, and of each value in each context of each member."""
        check_is_fitted(self, "codec_")
        return sum(tree.n_leaf_cells for member in self.members_ for tree in member.trees) + len(self.classes_)

    @property
    def _parameters(self) -> list[Parameters]:
        check_is_fitted(self, "codec_")
        found = self._derived.parameters  # which another thread may let go meanwhile
        if found is None:
            seeds = np.random.SeedSequence(seed_of(self.random_state)).generate_state(len(self.members_))
            counts, smoother, threads = self.class_counts_, self.smoother_, n_threads(self.n_jobs)
            done: dict[int, Smoothed] = {}  # a tree that members share is smoothed once
            with progress_bar("smoothing", len(self.members_)) as bar:
                found = []
                for member, seed in zip(self.members_, seeds, strict=True):
                    found.append(member.smoothed(counts, smoother, int(seed), threads, done, self.row_weight_))
                    bar.advance()
            self._derived.parameters = found
        return found

    @property
    def _compiled(self) -> Ensemble:
        check_is_fitted(self, "codec_")
        if self._derived.compiled is None:
            self._derived.compiled = Ensemble(
                self.codec_,
                self.members_,
                self._parameters,
                self._combine,
                self._log_weight(),
                n_threads(self.n_jobs),
            )
            self._derived.let_go(self.smoother_, self._count_bytes)
        return self._derived.compiled

    @property
    def _spread(self) -> EnsembleSpread:
        ensemble = self._compiled
        if self._derived.spread is None:
            precision = prior_precision(self.smoother_, self.class_counts_, seed_of(self.random_state))
            self._derived.spread = EnsembleSpread(
                ensemble, self.members_, self._parameters, precision, n_threads(self.n_jobs)
            )
            self._derived.let_go(self.smoother_, self._count_bytes)
        return self._derived.spread
