"""An ensemble of selective kDBs."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from countwise.data.discretise import MDLP, Discretiser, RandomMDLP
from countwise.data.passes import MemberData, Steps
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.estimators.door import check_whole
from countwise.estimators.ensemble import EnsembleClassifier, LearnedEnsemble
from countwise.estimators.learn import Plan
from countwise.estimators.members import CountBudget, learn_apart, read_table
from countwise.estimators.skdb import check_loss, selecting_m
from countwise.infer.members import NetworkMember
from countwise.stats.information import conditional_mutual_information, mutual_information
from countwise.stats.pairs import pair_steps
from countwise.structure import LossName, Structure, information_order, kdb, sampled_order, shuffled_parents
from countwise.structure.skdb import LeaveOneOut
from countwise.tree.context import ContextTree, TreeCounter, cut_tree

MOST_TIMES = np.iinfo(np.uint16).max  # how often a row can be drawn into one bag


@dataclass(frozen=True, eq=False)
class Streams:
    """The random numbers of one member, a stream for each use: switching one use off leaves the others as they are."""

    cuts: np.random.SeedSequence
    order: np.random.SeedSequence
    parents: np.random.SeedSequence
    bag: np.random.SeedSequence
    features: np.random.SeedSequence


@dataclass(frozen=True, eq=False)
class LearnedMember:
    """A selective kDB and its leave-one-out loss, added up over the rows."""

    structure: Structure
    trees: list[ContextTree]
    class_counts: FloatArray
    loss: float


class ESKDBClassifier(EnsembleClassifier):
    """An ensemble of selective kDBs, made different by chance (paper 004, chapter 4, Algorithms 9 to 13 and 15).

    Each member draws its own cut points (:class:`RandomMDLP`) and its own attribute order, in proportion to mutual
    information with the class, and is then a :class:`SKDBClassifier`: the best number of attributes and parents by
    leave-one-out. The members' class probabilities are averaged. From files the members share three passes.

    The parameters and attributes that all classifiers share are in :class:`CountClassifier`.

    Parameters
    ----------
    n_estimators : int, default 10
        Members.
    k : int, default 5
        Greatest number of parents to consider, as in :class:`SKDBClassifier`.
    random_cuts : bool, default True
        Whether members draw cut points of their own; False gives all of them those of ``discretiser``.
    random_order : bool, default True
        Whether members draw an attribute order; False orders by mutual information, as a single selective kDB does.
    random_parents : bool, default False
        Whether each attribute's parents are put in random order (section 4.2.3, where it helped little).
    bootstrap : bool, default False
        Whether each member counts a bag of rows, drawn with replacement, as many as there are. Bags are drawn by
        the positions of rows: results then depend on the order of rows, and an integer weight, which multiplies the
        draws of its row, is no longer quite the same as repetition. Cut points come from all rows.
    max_features : int, float or None
        Attributes of each member, a number or a share, drawn at random; None is all of them.
    member_weights : {"uniform", "loo"}, default "uniform"
        "loo" weighs members by their leave-one-out losses: the weight is 1 / (1 + sum of the losses of all rows).
    loss : {"rmse", "zero-one", "log"}, default "rmse"
        What leave-one-out minimises, as in :class:`SKDBClassifier`.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.ESKDBClassifier(n_estimators=3).fit(X, y)
    >>> len(model.members_), model.predict_proba(X[:1]).shape
    (3, (1, 3))

    """

    def __init__(
        self,
        n_estimators: int = 10,
        k: int = 5,
        *,
        random_cuts: bool = True,
        random_order: bool = True,
        random_parents: bool = False,
        bootstrap: bool = False,
        max_features: int | float | None = None,
        member_weights: Literal["uniform", "loo"] = "uniform",
        loss: LossName = "rmse",
        **shared: Any,
    ) -> None:
        super().__init__(**shared)
        self.n_estimators = n_estimators
        self.k = k
        self.random_cuts = random_cuts
        self.random_order = random_order
        self.random_parents = random_parents
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.member_weights = member_weights
        self.loss = loss

    def _check_params(self) -> None:
        check_whole("n_estimators", self.n_estimators, 1)
        check_whole("k", self.k, 0)
        check_loss(self.loss)
        if self.member_weights not in ("uniform", "loo"):
            raise DataError(f"member_weights={self.member_weights!r} is not known; choose 'uniform' or 'loo'")
        if self.random_cuts and self.discretiser != "mdlp" and not isinstance(self.discretiser, MDLP):
            raise DataError(
                f"discretiser={self.discretiser!r}: random_cuts draws the cut points of MDLP; pass random_cuts=False"
            )
        _n_features(self.max_features, 1)

    def _learn_members(self, source: Source, labels: AnyArray | None, plan: Plan) -> LearnedEnsemble:
        spawned = np.random.SeedSequence(plan.seed).spawn(self.n_estimators)
        streams = [Streams(*member.spawn(5)) for member in spawned]
        table = read_table(source, labels, plan, [self._discretiser(own, plan) for own in streams])
        n_rows = table.data.n_rows
        times = [_bag(n_rows, own.bag) if self.bootstrap else None for own in streams]
        budget = CountBudget(self.n_estimators, plan)
        found = learn_apart(table, plan, lambda m, data: self._member_steps(data, streams[m], plan, budget), times)
        members = [
            NetworkMember(codec, own.trees, own.structure, group=m, weight=self._weight(own.loss))
            for m, (codec, own) in enumerate(zip(table.codecs, found, strict=True))
        ]
        class_counts = np.mean([own.class_counts for own in found], axis=0)
        return LearnedEnsemble(
            table.codec, members, class_counts, table.data.row_weight, table.data.n_passes, table.rank_error
        )

    def _member_steps(
        self, data: MemberData, streams: Streams, plan: Plan, budget: CountBudget
    ) -> Steps[LearnedMember]:
        """A selective kDB: pairs, contexts, leave-one-out."""
        stats = yield from pair_steps(data, 1, plan.memory)
        mi, cmi = mutual_information(stats), conditional_mutual_information(stats)
        order = sampled_order(mi, np.random.default_rng(streams.order)) if self.random_order else information_order(mi)
        if self.max_features is not None:
            n_kept = _n_features(self.max_features, len(order))
            kept = set(np.random.default_rng(streams.features).permutation(len(order))[:n_kept].tolist())
            order = [i for i in order if i in kept]
        structure = kdb(data.names, order, cmi, self.k)
        if self.random_parents:
            structure = shuffled_parents(structure, np.random.default_rng(streams.parents))
        counter = TreeCounter(data, structure.families, 1, plan.memory)
        yield counter
        trees, class_counts = counter.total.trees, counter.class_counts
        leave_one_out = LeaveOneOut(data, trees, class_counts, self.k, self.loss, selecting_m(self.smoothing), 1)
        yield leave_one_out
        chosen = leave_one_out.selection()
        least = float(chosen.surface[chosen.n_attributes, chosen.k])
        kept_trees = [cut_tree(tree, chosen.k) for tree in trees[: chosen.n_attributes]]
        budget.take(kept_trees)
        return LearnedMember(
            structure.restricted(chosen.n_attributes, chosen.k),
            kept_trees,
            class_counts,
            (least**2 if self.loss == "rmse" else least) * float(class_counts.sum()),
        )

    def _discretiser(self, streams: Streams, plan: Plan) -> Discretiser:
        if not self.random_cuts:
            return plan.discretiser
        return RandomMDLP(int(streams.cuts.generate_state(1, np.uint64)[0]))

    def _weight(self, loss: float) -> float:
        return 1.0 if self.member_weights == "uniform" else 1.0 / (1.0 + loss)


def _bag(n_rows: int, seed: np.random.SeedSequence) -> AnyArray:
    """How often each row is drawn, n_rows draws with replacement."""
    drawn = np.bincount(np.random.default_rng(seed).integers(0, n_rows, n_rows), minlength=n_rows)
    return np.minimum(drawn, MOST_TIMES).astype(np.uint16)


def _n_features(max_features: Any, n_attributes: int) -> int:
    """The attributes of a member; at least one."""
    if max_features is None:
        return n_attributes
    is_whole = isinstance(max_features, Integral) and not isinstance(max_features, bool)
    if is_whole and max_features >= 1:
        return min(int(max_features), n_attributes)
    if isinstance(max_features, Real) and not isinstance(max_features, Integral) and 0.0 < float(max_features) <= 1.0:
        return max(round(float(max_features) * n_attributes), 1)
    raise DataError(f"max_features must be None, a whole number >= 1 or a share in (0, 1], got {max_features!r}")
