"""The pool: few networks of different structures and bins, and trees, their evidence weighed by leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from countwise.data.coarse import Coarsening, coarsening, joined_codec
from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch
from countwise.data.discretise import Discretiser, EqualFrequency, RandomMDLP
from countwise.data.discretise.base import RandomDiscretiser
from countwise.data.passes import MemberData, Steps
from countwise.data.recut import recut_codec
from countwise.data.sample import sample_rows
from countwise.data.shares import honest_shares, thinned_weights
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.estimators.door import check_tunable, check_whole
from countwise.estimators.ensemble import EnsembleClassifier, LearnedEnsemble
from countwise.estimators.learn import Plan
from countwise.estimators.members import CountBudget, Table, learn_apart, read_table
from countwise.estimators.pool_trees import count_forest, grow_forests
from countwise.infer.members import ForestMember, Member, NetworkMember
from countwise.infer.network import Parameters, fit_trees, log_prior, tuned_trees
from countwise.infer.pool import FittedForest, FittedNetwork, most_rows, tune_part
from countwise.infer.tuning import Tuning
from countwise.parallel import thread_map
from countwise.progress import progress_bar
from countwise.smooth import HDP
from countwise.smooth.hdp import HDPFit
from countwise.stats.information import class_information
from countwise.structure import Structure, sampled_order
from countwise.structure.parents import SEARCH_ROWS, SearchRows, class_structure, gain_structure
from countwise.tree.context import TreeCounter
from countwise.tree.splits import number_values

SAMPLE_ROWS = 250_000  # from which all is learned but the counts
SAMPLE_CODES = 50_000_000  # of them: fewer rows where there are many columns
CODE_BYTES = 8  # two for a code, in up to four copies while a sample is drawn
FEWEST_ROWS = 1000  # of a sample, however little memory there is
TUNE_ROWS = 12_000  # of a part
FOREST_SAY = 1 / 3  # of the trees of a part, before weights are tuned, beside that of its networks
FINE_BINS = 1000  # among whose cut points those that tell classes apart are chosen
GAIN_SHARE = 3  # of so many networks of a part one is searched for gain, the others for the class: one of five


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a member is made: from the rows outside its part, by which search, in which kind of order, by which bins."""

    part: int
    discriminative: bool
    informative_first: bool
    class_bins: bool
    cuts: np.random.SeedSequence
    search: np.random.SeedSequence


class PoolClassifier(EnsembleClassifier):
    """A pool of networks and trees, weighed by honest leave-one-out: the best probabilities countwise has.

    Networks differ in their bins (three of five have :class:`RandomQuantiles`, two such as tell classes apart, by
    :class:`RandomMDLP`), in the order of attributes (two of five by chance, three in proportion to mutual information)
    and in how parents are chosen: one of five by what they tell about an attribute, the others by what they tell about
    the class. Trees differ in their bags of rows, in the attributes that a node may split on, and in what it splits
    for. The rows are dealt into parts. The networks and trees of a part get their structures, and bins that tell
    classes apart, from the rows outside it and their counts from all rows; the rows of the part, each left out of the
    counts in turn, say how strongly to smooth and how far to trust each tree and each attribute of each network. Within
    a part scores are averaged, over parts probabilities.

    The parameters and attributes that all classifiers share are in :class:`CountClassifier`; ``smoothing`` is "hdp" or
    an ``HDP`` object by "vb", and ``discretiser`` one that does not look at the classes, for the networks whose bins do
    not. Beyond 250,000 rows (of more than 200 columns: 50 million values) structures and weights are learned from a
    sample, chosen by a hash of the rows; counts always come from all rows.

    Parameters
    ----------
    n_members : int, default 5
        Networks of each part. More are a little better, and take as much longer.
    n_parts : int, default 3
        Parts of the rows; at least 2.
    k : int, default 5
        Greatest number of parents besides the class, in networks.
    n_trees : int, default 8
        Grown trees of each part; 0 for networks alone.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.PoolClassifier().fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)

    """

    def __init__(
        self,
        n_members: int = 5,
        n_parts: int = 3,
        k: int = 5,
        n_trees: int = 8,
        *,
        discretiser: str | Discretiser = "random-quantiles",
        **shared: Any,
    ) -> None:
        super().__init__(discretiser=discretiser, **shared)
        self.n_members = n_members
        self.n_parts = n_parts
        self.k = k
        self.n_trees = n_trees

    def _check_params(self) -> None:
        check_whole("n_members", self.n_members, 1)
        check_whole("n_parts", self.n_parts, 2)
        check_whole("k", self.k, 0)
        check_whole("n_trees", self.n_trees, 0)

    def _plan(self, partial: bool) -> Plan:
        plan = super()._plan(partial)
        check_tunable("PoolClassifier", plan.smoother)
        if plan.discretiser._supervised:
            raise DataError(
                f"discretiser={self.discretiser!r} looks at the classes, also of rows that are to tune the pool; "
                "use 'random-quantiles' or 'equal-frequency'"
            )
        return plan

    def _learn_members(self, source: Source, labels: AnyArray | None, plan: Plan) -> LearnedEnsemble:
        recipes = self._recipes(plan.seed)
        table = read_table(source, labels, plan, [_first_bins(plan.discretiser, own) for own in recipes])
        rows = sample_rows(table.data, _sample_limit(len(table.codec.columns), plan.memory), plan.seed)
        inside = honest_shares(rows, self.n_parts)
        outside = (1.0 if rows.weights is None else rows.weights) - inside
        table = _with_class_bins(table, recipes, rows, outside, plan)
        searched = [rows.weighted(thinned_weights(rows, own, SEARCH_ROWS)) for own in outside]

        def search(m: int) -> Structure:
            codec, own = table.codecs[m], table.views[m].recode(searched[recipes[m].part])
            found = self._search(SearchRows(own, codec.names, codec.arity, len(codec.classes)), recipes[m])
            bar.advance()
            return found

        with progress_bar("searching parents", len(recipes)) as bar:
            structures = thread_map(search, range(len(recipes)), plan.threads)
        forests = grow_forests(table.codec, rows, outside, self.n_trees, plan.seed, plan.threads)
        table = table.with_more([codec for codec, _ in forests])
        budget = CountBudget(len(table.codecs), plan)

        def count(m: int, data: MemberData) -> Steps[Member]:
            if m < len(recipes):
                return _count(data, table.codecs[m], structures[m], recipes[m].part, plan, budget)
            part = m - len(recipes)
            return count_forest(data, *forests[part], part, FOREST_SAY * self.n_members, budget)

        members = learn_apart(table, plan, count, [None] * len(table.codecs))
        class_counts, smoother = table.data.class_counts, plan.smoother
        assert class_counts is not None
        assert isinstance(smoother, HDP)
        fitted = iter(fit_trees([tree for member in members for tree in member.trees], smoother, plan.threads))
        fits = [[next(fitted) for _ in member.trees] for member in members]
        tunings = self._tune(members, fits, class_counts, rows, table.views, inside, plan)
        prior = log_prior(class_counts, smoother, plan.seed)
        parameters = [
            Parameters(prior, tuned_trees(member.trees, own, tuning), tuning)
            for member, own, tuning in zip(members, fits, tunings, strict=True)
        ]
        members = [replace(member, tuning=tuning) for member, tuning in zip(members, tunings, strict=True)]
        codec = joined_codec(table.codecs)  # without cut points that were not chosen
        return LearnedEnsemble(
            codec,
            members,
            class_counts,
            table.data.row_weight,
            table.data.n_passes,
            table.rank_error,
            parameters=parameters,
        )

    def _recipes(self, seed: int) -> list[Recipe]:
        """Members part by part: searches for gain first, then for the class; orders and bins in turn, four pairs."""
        spawned = iter(np.random.SeedSequence(seed).spawn(self.n_parts * self.n_members))
        return [
            Recipe(part, m >= self.n_members // GAIN_SHARE, m % 2 == 0, m % 4 in (1, 2), *next(spawned).spawn(2))
            for part in range(self.n_parts)
            for m in range(self.n_members)
        ]

    def _search(self, rows: SearchRows, recipe: Recipe) -> Structure:
        rng = np.random.default_rng(recipe.search)
        if recipe.informative_first:
            order = sampled_order(class_information(rows.batch, rows.arity, rows.n_classes), rng)
        else:
            order = [int(i) for i in rng.permutation(len(rows.arity))]
        if recipe.discriminative:
            return class_structure(rows, order, self.k, rng)
        return gain_structure(rows, order, self.k)

    def _tune(
        self,
        members: Sequence[Member],
        fits: Sequence[list[HDPFit]],
        class_counts: FloatArray,
        rows: CodedBatch,
        views: Sequence[Coarsening],
        inside: FloatArray,
        plan: Plan,
    ) -> list[Tuning]:
        tunings: dict[int, Tuning] = {}
        with progress_bar("tuning parts", self.n_parts) as bar:
            for p in range(self.n_parts):
                own = [m for m, member in enumerate(members) if member.group == p]
                n_terms = sum(len(members[m].trees) for m in own)
                n_rows = min(TUNE_ROWS, most_rows(n_terms, len(class_counts)))
                judging = rows.weighted(thinned_weights(rows, inside[p], n_rows))
                judged = [views[m].recode(judging) for m in own]
                part = [_fitted(members[m], fits[m]) for m in own]
                tunings |= zip(own, tune_part(part, class_counts, judged, len(rows.codes), plan.threads), strict=True)
                bar.advance()
        return [tunings[m] for m in range(len(members))]


def _sample_limit(n_columns: int, memory: int) -> int:
    """Rows of the sample: of many columns fewer, but enough to search by, and no more than there is memory for."""
    useful = max(SAMPLE_CODES // max(1, n_columns), SEARCH_ROWS)
    return max(min(SAMPLE_ROWS, useful, memory // (CODE_BYTES * max(1, n_columns))), FEWEST_ROWS)


def _own_discretiser(discretiser: Discretiser, seed: np.random.SeedSequence) -> Discretiser:
    """One that draws gets a stream for the member."""
    if not isinstance(discretiser, RandomDiscretiser):
        return discretiser
    return type(discretiser)(int(seed.generate_state(1, np.uint64)[0]))


def _first_bins(discretiser: Discretiser, recipe: Recipe) -> Discretiser:
    """Bins to code the rows by: those of the member, or fine ones to be joined when parts are known."""
    return EqualFrequency(FINE_BINS) if recipe.class_bins else _own_discretiser(discretiser, recipe.cuts)


def _with_class_bins(
    table: Table, recipes: Sequence[Recipe], rows: CodedBatch, outside: FloatArray, plan: Plan
) -> Table:
    """The table with bins that tell classes apart for the members that have such, from the rows outside their parts."""

    def own_codec(m: int) -> Codec:
        recipe = recipes[m]
        if not recipe.class_bins:
            return table.codecs[m]
        random_mdlp, otherwise = (_own_discretiser(d, recipe.cuts) for d in (RandomMDLP(), plan.discretiser))
        return recut_codec(table.codec, rows.weighted(outside[recipe.part]), random_mdlp, otherwise)

    codecs = thread_map(own_codec, range(len(recipes)), plan.threads)
    return replace(table, codecs=codecs, views=[coarsening(table.codec, own) for own in codecs])


def _count(
    data: MemberData, codec: Codec, structure: Structure, part: int, plan: Plan, budget: CountBudget
) -> Steps[Member]:
    counter = TreeCounter(data, structure.families, 1, plan.memory)
    yield counter
    budget.take(counter.total.trees)
    return NetworkMember(codec, counter.total.trees, structure, group=part)


def _fitted(member: Member, fits: list[HDPFit]) -> FittedNetwork | FittedForest:
    """What tuning needs to know of a member."""
    if isinstance(member, ForestMember):
        return FittedForest(member.trees, fits, number_values(member.codec), member.weight)
    assert isinstance(member, NetworkMember)
    return FittedNetwork(member.trees, fits, member.codec.arity)
