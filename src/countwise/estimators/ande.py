"""Averaged n-dependence estimators: AODE, A2DE."""

from __future__ import annotations

from itertools import combinations
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError, MemoryLimitError, size_text
from countwise.estimators.ensemble import EnsembleClassifier, LearnedEnsemble
from countwise.estimators.learn import Plan
from countwise.estimators.members import Table, count_members, read_table, tree_bytes
from countwise.infer.ensemble import Combine, LogWeight
from countwise.infer.members import NetworkMember
from countwise.stats.information import conditional_mutual_information
from countwise.stats.pairs import pair_statistics
from countwise.structure import Structure, naive, one_super_parent, two_super_parents


class AnDEClassifier(EnsembleClassifier):
    """Averaged n-dependence: each attribute (AODE, n = 1) or pair of them (A2DE, n = 2) is a parent of all others once.

    Each super-parent s makes a network with P(y, x) = P(y, x_s) prod_i P(x_i | y, x_s), and these joint probabilities
    are averaged (Webb, Boughton and Wang 2005; paper 004, section 3.1.3.5). A super-parent whose value in a row
    was seen fewer than ``min_support`` times says nothing about that row; where none is left, naive Bayes answers.
    Every table is smoothed along its tree, class first. With n = 2 an attribute's tree branches first on the one of the
    pair that it depends on more. One pass for n = 0 and 1, two for n = 2.

    The parameters and attributes that all classifiers share are in :class:`CountClassifier`.

    Parameters
    ----------
    n : {0, 1, 2}, default 1
        Attributes that are parents of all others; 0 is naive Bayes.
    min_support : float, default 1
        Least weight of the rows with a super-parent's value; for n = 2, with both values. Tables of few rows are
        smoothed towards naive Bayes's already, so the default asks no more than that the value is known. Webb et al.
        ask for 30.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.AnDEClassifier().fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)

    """

    _combine: ClassVar[Combine] = "joint"
    members_: list[NetworkMember]

    def __init__(self, n: int = 1, *, min_support: float = 1, **shared: Any) -> None:
        super().__init__(**shared)
        self.n = n
        self.min_support = min_support

    def _check_params(self) -> None:
        if self.n not in (0, 1, 2) or isinstance(self.n, bool):
            raise DataError(f"n must be 0, 1 or 2, got {self.n!r}")
        if not isinstance(self.min_support, Real) or not 0 <= self.min_support < np.inf:
            raise DataError(f"min_support must be a number >= 0, got {self.min_support!r}")

    def _learn_members(self, source: Source, labels: AnyArray | None, plan: Plan) -> LearnedEnsemble:
        table = read_table(source, labels, plan, [plan.discretiser])
        structures = [*self._super_parents(table, plan), naive(table.codec.names)]  # naive Bayes comes last
        self._check_memory(table, structures, plan)
        members, class_counts = count_members(table, plan, structures)
        return LearnedEnsemble(
            table.codec, members, class_counts, table.data.row_weight, table.data.n_passes, table.rank_error
        )

    def _super_parents(self, table: Table, plan: Plan) -> list[Structure]:
        names = table.codec.names
        if self.n == 0 or len(names) < self.n:
            return []
        if self.n == 1:
            return [one_super_parent(names, i) for i in range(len(names))]
        cmi = conditional_mutual_information(pair_statistics(table.data, plan.threads, plan.memory))
        return [two_super_parents(names, pair, cmi) for pair in combinations(range(len(names)), 2)]

    def _check_memory(self, table: Table, structures: list[Structure], plan: Plan) -> None:
        """Refuse before anything is counted: with n = 2 tables grow with the cube of the attributes."""
        families = {family for structure in structures for family in structure.families}
        need = tree_bytes(families, table.codec.arity, len(table.codec.classes), table.data.n_rows)
        if need > plan.memory:
            raise MemoryLimitError(
                f"n={self.n} has {len(families)} tables of up to {size_text(need)} together, more than max_memory = "
                f"{size_text(plan.memory)}; use a smaller n, fewer columns or bins, or raise max_memory"
            )

    def _log_weight(self) -> LogWeight | None:
        """0 for super-parents with enough support, -inf for others; naive Bayes where there is no other."""
        supports = [Support(member, self.n, self.min_support) for member in self.members_[:-1]]

        def log_weight(batch: CodedBatch) -> FloatArray:
            out = np.full((batch.n_rows, len(self.members_)), -np.inf)
            for m, support in enumerate(supports):
                out[support.enough(batch), m] = 0.0
            out[np.isneginf(out[:, :-1]).all(axis=1), -1] = 0.0
            return out

        return log_weight


class Support:
    """Which values of a member's super-parents were seen often enough; those never seen count as 0."""

    def __init__(self, member: NetworkMember, n: int, least: float) -> None:
        self.parents, tree = member.structure.order[:n], member.trees[n - 1]
        counts = tree.counts
        begin, end = (0, 1) if n == 1 else counts.level_ptr[2:4]  # all rows, or the contexts (class, first of the pair)
        cells = slice(int(counts.cell_ptr[begin]), int(counts.cell_ptr[end]))
        self.width = member.codec.columns[self.parents[-1]].arity + 1  # *unseen* included
        keys = counts.cell_value[cells].astype(np.int64)
        if n == 2:
            first = np.repeat(tree.branch[begin:end], np.diff(counts.cell_ptr[begin : end + 1]))
            keys += self.width * first.astype(np.int64)
        met, place = np.unique(keys, return_inverse=True)
        self.often = met[np.bincount(place, counts.cell_count[cells]) >= least]  # ascending
        self.all = least <= 0

    def enough(self, batch: CodedBatch) -> AnyArray:
        """Of every row."""
        key = batch.codes[self.parents[0]].astype(np.int64)
        for i in self.parents[1:]:
            key = key * self.width + batch.codes[i]
        if self.all:
            return np.ones(len(key), bool)
        at = np.minimum(np.searchsorted(self.often, key), len(self.often) - 1)
        return self.often[at] == key if len(self.often) else np.zeros(len(key), bool)
