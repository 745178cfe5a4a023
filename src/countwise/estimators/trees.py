"""What classifiers of grown trees share: reading rows, growth rules, counts that follow, prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch
from countwise.data.discretise import Discretiser
from countwise.data.schema import learn_schema
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray, IntArray
from countwise.errors import DataError, MemoryLimitError, size_text
from countwise.estimators.base import CountClassifier, Derived
from countwise.estimators.door import check_whole, seed_of
from countwise.estimators.labels import check_classes
from countwise.estimators.learn import Plan, coded_data
from countwise.infer.trees import TreeMean
from countwise.parallel import n_threads, thread_map
from countwise.progress import progress_bar
from countwise.smooth import Smoothed, Smoother
from countwise.smooth.weighed import smooth_classes
from countwise.tree.grow import CATEGORY_SPLITS, CRITERIA, MISSING_VALUES, THRESHOLDS, GrowthRules, only_used_cuts
from countwise.tree.growth import Growth
from countwise.tree.splits import SplitTree, Spreading, added, counted, known_values, number_values


class TreeClassifier(CountClassifier):
    """Base of the classifiers of grown trees; a subclass adds its parameters and :meth:`_grow`.

    The other parameters, which all classifiers share, are in :class:`CountClassifier`; ``smoothing`` is "hgs" for
    a tree and "hdp" for a forest, and ``discretiser`` "every-value", so that numbers are split exactly. Thresholds of a
    forest are sharp: its trees differ in them.

    Parameters
    ----------
    criterion : {"gain_ratio", "entropy", "gini"}, default "gain_ratio"
        What splits are chosen by. "gain_ratio" is C4.5's: the best ratio of gain to the information of the branches,
        among the attributes of at least average gain; a threshold's gain is less log2(thresholds) / rows.
        "entropy" and "gini" take the greatest fall of these; "entropy" too less the bits that a choice among subsets of
        categories takes.
    category_splits : {"multiway", "binary"}, default "multiway"
        A branch for each category, or two sets of categories: of all sets the best for two classes, of those along
        the main direction of the class shares for more.
    missing : {"value", "fractional"}, default "value"
        A missing value is a value of its own, or its row takes all branches, each with a share of its weight in
        proportion to the rows whose value is known (C4.5), when trees are grown and when they predict; so does a row
        with a category that training has not met.
    thresholds : {"soft", "sharp"}
        Where the classes leave open at which value a node should be split, a number takes both branches, each with the
        probability that the threshold lies on that side of it; or always the one on its side of the best threshold.
        Trees are grown and counted alike; only predictions differ. Those by "gini" are always sharp, as it does not
        say how likely classes are.
    min_samples_leaf : float, default 2
        Rows (weight) that at least two branches of a split must have.
    max_depth : int or None
        Most splits between the root and a leaf.
    curtail : float, default 0
        A node of fewer rows (weight) does not answer: its nearest ancestor with as many does (paper 004, section
        3.2.3.2, where 100 to 400 is advised).

    """

    def __init__(
        self,
        *,
        criterion: str = "gain_ratio",
        category_splits: str = "multiway",
        missing: str = "value",
        thresholds: str = "soft",
        min_samples_leaf: float = 2,
        max_depth: int | None = None,
        curtail: float = 0,
        smoothing: str | Smoother = "hgs",
        discretiser: str | Discretiser = "every-value",
        **shared: Any,
    ) -> None:
        super().__init__(smoothing=smoothing, discretiser=discretiser, **shared)
        self.criterion = criterion
        self.category_splits = category_splits
        self.missing = missing
        self.thresholds = thresholds
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.curtail = curtail

    trees_: list[SplitTree]

    @abstractmethod
    def _grow(self, growth: Growth) -> list[SplitTree]:
        """Trees from rows that fit into memory or not."""

    def _row_weight(self, growth: Growth) -> FloatArray | None:
        """What one row of each class weighs in the counts of the trees."""
        return growth.data.row_weight

    def _judge(self, growth: Growth, trees: list[SplitTree], smoothed: list[Smoothed]) -> dict[str, Any]:
        """Attributes to set from what the trees say of the rows that they were grown from."""
        return {}

    def _check_params(self) -> None:
        if self.criterion not in CRITERIA:
            raise DataError(f"criterion={self.criterion!r} is not known; choose one of {', '.join(CRITERIA)}")
        choices = {"category_splits": CATEGORY_SPLITS, "missing": MISSING_VALUES, "thresholds": THRESHOLDS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise DataError(f"{name}={getattr(self, name)!r} is not known; choose one of {', '.join(known)}")
        least = self.min_samples_leaf
        if not isinstance(least, Real) or isinstance(least, bool) or not 0 < least < np.inf:
            raise DataError(f"min_samples_leaf must be a number > 0, got {least!r}")
        if self.max_depth is not None:
            check_whole("max_depth", self.max_depth, 0)
        if not isinstance(self.curtail, Real) or not 0 <= self.curtail < np.inf:
            raise DataError(f"curtail must be a number >= 0, got {self.curtail!r}")

    def _plan(self, partial: bool) -> Plan:
        plan = super()._plan(partial)
        if plan.smoother.candidates:
            raise DataError(f"smoothing={self.smoothing!r}: a tree holds no rows out to choose by; give a number")
        return plan

    def _rules(self) -> GrowthRules:
        return GrowthRules(
            self.criterion,
            self.min_samples_leaf,
            self.max_depth,
            category_splits=self.category_splits,
            missing=self.missing,
            thresholds=self.thresholds,
        )

    def _learn(self, source: Source, labels: AnyArray | None, plan: Plan) -> None:
        schema = learn_schema(source, plan.discretiser, plan.categorical, plan.threads)
        codec = schema.codec if labels is None else replace(schema.codec, classes=labels)
        check_classes(codec.classes)
        target = schema.target if labels is None else None
        data = coded_data(source, codec, target, schema.n_rows, plan.threads)
        memory = None if source.in_memory else plan.memory
        growth = Growth(data, codec, self._rules(), plan.seed, plan.threads, memory)
        if growth.fits:
            growth = growth.of_rows(data.rows())
        elif self.missing == "fractional":
            raise MemoryLimitError(
                f"missing='fractional' grows from the codes of all rows, {size_text(data.n_rows * growth.row_bytes)}, "
                f"more than max_memory = {size_text(plan.memory)}; raise max_memory or use missing='value'"
            )
        trees = self._grow(growth)
        assert data.class_counts is not None
        self.codec_, self.trees_ = only_used_cuts(codec, trees)
        self.classes_, self.smoother_, self.class_counts_ = codec.classes, plan.smoother, data.class_counts
        self.n_passes_, self.rank_error_ = data.n_passes, schema.rank_error
        self.row_weight_ = self._row_weight(growth)
        smoothed = smooth_trees(self.trees_, plan.smoother, plan.seed, plan.threads, self.row_weight_)
        self._derived = Derived(smoothed)
        for name, value in self._judge(growth, trees, smoothed).items():
            setattr(self, name, value)

    def _add_counts(self, batch: CodedBatch, threads: int) -> None:
        n_values, n_classes = number_values(self.codec_), len(self.classes_)
        n_known = self._n_known(self.codec_)

        def add(tree: SplitTree) -> SplitTree:
            assert batch.target is not None
            if not n_known:
                nodes = tree.splits.apply(batch, n_values)
                return added(tree, counted(tree.splits, nodes, batch.target, batch.weights, n_classes))
            rows, nodes, share = tree.splits.spread(batch, n_values, Spreading(n_known, tree.counts.total, False))
            weights = share if batch.weights is None else share * batch.weights[rows]
            return added(tree, counted(tree.splits, nodes, batch.target[rows], weights, n_classes))

        self.trees_ = thread_map(add, self.trees_, threads)

    def _n_known(self, codec: Codec) -> list[int]:
        """:func:`known_values` where others take all branches, else nothing."""
        return known_values(codec) if self.missing == "fractional" else []

    def merge(self, other: TreeClassifier) -> Self:
        """Add the counts of a model of the same codec and splits, trained on other rows."""
        self._check_same_codec(other)
        if len(self.trees_) != len(other.trees_):
            raise DataError("the models have different numbers of trees")
        pairs = list(zip(self.trees_, other.trees_, strict=True))
        if not all(a.splits.same_as(b.splits) for a, b in pairs):
            raise DataError("the models have different splits")
        self.trees_ = [added(a, b.counts) for a, b in pairs]
        self._add_rows(other.class_counts_, other.row_weight_)
        return self

    @property
    def n_parameters_(self) -> int:
        """Probabilities that the model holds: of each class that occurred in each leaf."""
        check_is_fitted(self, "codec_")
        return sum(tree.n_leaf_cells for tree in self.trees_)

    @property
    def _parameters(self) -> list[Smoothed]:
        check_is_fitted(self, "codec_")
        if self._derived.parameters is None:
            seed, threads = seed_of(self.random_state), n_threads(self.n_jobs)
            self._derived.parameters = smooth_trees(self.trees_, self.smoother_, seed, threads, self.row_weight_)
        return self._derived.parameters

    @property
    def _compiled(self) -> TreeMean:
        parameters = self._parameters
        if self._derived.compiled is None:
            n_values = number_values(self.codec_)
            threads, n_known = n_threads(self.n_jobs), self._n_known(self.codec_)
            self._derived.compiled = TreeMean(self.trees_, parameters, n_values, self.curtail, threads, n_known)
        return self._derived.compiled

    @property
    def _spread(self) -> TreeMean:
        return self._compiled

    def _apply(self, X: Any) -> IntArray:
        """The node of each row in each tree, rows x trees."""
        compiled = self._compiled
        parts = [
            np.stack([compiled.apply(batch, t, threads) for t in range(len(self.trees_))], axis=1)
            for batch, threads in self._rows(X)
        ]
        return np.concatenate(parts) if parts else np.empty((0, len(self.trees_)), np.int32)


def not_fitting(growth: Growth) -> str:
    """What is wrong where the rows do not fit, for warnings and errors."""
    assert growth.max_memory is not None
    codes, limit = size_text(growth.data.n_rows * growth.row_bytes), size_text(growth.max_memory)
    return f"the codes of all rows take {codes}, more than max_memory = {limit}"


def smooth_trees(
    trees: Sequence[SplitTree], smoother: Smoother, seed: int, threads: int, row_weight: FloatArray | None
) -> list[Smoothed]:
    """Smooth every tree; each has its own seed, spawned by position. ``row_weight`` as in :func:`smooth_classes`."""
    seeds = np.random.SeedSequence(seed).generate_state(len(trees))

    def smooth(job: tuple[SplitTree, np.integer]) -> Smoothed:
        smoothed = smooth_classes(job[0].counts, smoother, int(job[1]), row_weight)
        bar.advance()
        return smoothed

    with progress_bar("smoothing", len(trees)) as bar:
        return thread_map(smooth, zip(trees, seeds, strict=True), threads)
