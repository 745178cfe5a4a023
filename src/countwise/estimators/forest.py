"""A forest of probability trees."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.data.sample import drawn_rows, draws
from countwise.dtypes import AnyArray, FloatArray, IntArray
from countwise.errors import DataError, MemoryLimitError
from countwise.estimators.door import check_whole
from countwise.estimators.trees import TreeClassifier, not_fitting
from countwise.infer.trees import TreeMean
from countwise.parallel import thread_map
from countwise.progress import progress_bar
from countwise.smooth import Smoothed, Smoother
from countwise.tree.grow import grow
from countwise.tree.grow_samples import grow_from_samples, sample_size
from countwise.tree.growth import Growth
from countwise.tree.splits import SplitTree, number_values


class ProbabilityForestClassifier(TreeClassifier):
    """Trees grown from bags of the rows, each node looking at some attributes drawn at random; each tree is smoothed.

    P(y | x) is the mean of the trees' probabilities. A bag holds as many rows as the table, drawn with replacement.
    Rows are drawn from the distinct rows in an order of their codes, so that a bag depends neither on the order
    of the table nor on whether a row comes twice or has a weight of 2.

    From a scan whose codes do not fit ``max_memory``, which a ResourceWarning says, each tree has a sample of the
    distinct rows, chosen by a hash of what they hold; its bag is drawn from that. The counts of all trees are then
    those of all rows, and there is no ``oob_score``.

    The parameters and attributes that all classifiers share are in :class:`CountClassifier`, those of growth in
    :class:`TreeClassifier`.

    Parameters
    ----------
    n_estimators : int, default 10
        Trees.
    max_features : "log2", int or None
        Attributes that a node looks at; "log2" is log2(attributes) + 1 (Breiman 2001), None all. A node that finds
        no split among them looks at more.
    bootstrap : bool, default True
        Bags; False grows every tree from all rows.
    oob_score : bool, default False
        Let each row be predicted by the trees whose bags do not hold it.

    Attributes
    ----------
    oob_proba_ : array of shape (n_rows, n_classes)
        With ``oob_score``: these predictions, of the rows of positive weight; NaN where all bags hold the row.
    oob_score_ : float
        With ``oob_score``: their accuracy; NaN if there are none.

    Examples
    --------
    >>> import countwise as cw
    >>> X, y = cw.datasets.load("iris")
    >>> model = cw.ProbabilityForestClassifier(oob_score=True).fit(X, y)
    >>> model.predict_proba(X[:1]).shape, model.oob_proba_.shape
    ((1, 3), (150, 3))

    """

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        max_features: str | int | None = "log2",
        bootstrap: bool = True,
        oob_score: bool = False,
        thresholds: str = "sharp",
        smoothing: str | Smoother = "hdp",
        **shared: Any,
    ) -> None:
        super().__init__(thresholds=thresholds, smoothing=smoothing, **shared)
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.oob_score = oob_score

    oob_proba_: AnyArray
    oob_score_: float

    def _check_params(self) -> None:
        super()._check_params()
        check_whole("n_estimators", self.n_estimators, 1)
        if self.max_features is not None and self.max_features != "log2":
            check_whole("max_features", self.max_features, 1)
        if self.oob_score and not self.bootstrap:
            raise DataError("oob_score=True needs bootstrap=True: without bags every tree has seen every row")

    def _n_features(self, n_columns: int) -> int | None:
        if self.max_features is None:
            return None
        return int(np.log2(n_columns)) + 1 if self.max_features == "log2" else int(self.max_features)

    def _grow(self, growth: Growth) -> list[SplitTree]:
        rules = replace(growth.rules, max_features=self._n_features(len(growth.codec.columns)))
        seeds = np.random.SeedSequence(growth.seed).generate_state(self.n_estimators, np.uint64).tolist()

        def one(rows: CodedBatch, t: int) -> SplitTree:
            if self.bootstrap:
                rows = drawn_rows(rows, _chance(growth.seed, t))
            tree = grow(rows, growth.codec, rules, seeds[t])
            bar.advance()
            return tree

        with progress_bar("growing trees", self.n_estimators) as bar:
            if not growth.fits:
                self._check_samples(growth)
                return grow_from_samples(growth, seeds, lambda rows, t: one(self._ready(rows), t))
            rows = self._ready(growth.data.rows())
            return thread_map(lambda t: one(rows, t), range(self.n_estimators), growth.threads)

    def _row_weight(self, growth: Growth) -> FloatArray | None:
        """Bags have as many rows as the table: there weights are relative to their mean."""
        row_weight, class_counts = growth.data.row_weight, growth.data.class_counts
        if row_weight is None or not (self.bootstrap and growth.fits):
            return row_weight
        assert class_counts is not None
        return row_weight * (growth.data.n_rows / class_counts.sum())

    def _ready(self, rows: CodedBatch) -> CodedBatch:
        """Rows that bags are drawn from, or that all trees have."""
        return rows.distinct() if self.bootstrap else rows

    def _check_samples(self, growth: Growth) -> None:
        """Say what is not as usual where the rows do not fit."""
        if self.oob_score:
            raise MemoryLimitError(
                f"{not_fitting(growth)}: trees are grown from samples and counted from all rows, so that no row is out "
                "of the bag; use oob_score=False, or raise max_memory"
            )
        warnings.warn(
            f"{not_fitting(growth)}: each tree is grown from a sample of {sample_size(growth)} distinct rows, "
            "in several passes over the data, and counted from all rows",
            ResourceWarning,
            stacklevel=2,
        )

    def _judge(self, growth: Growth, trees: list[SplitTree], smoothed: list[Smoothed]) -> dict[str, Any]:
        if not self.oob_score:
            return {}
        compiled = TreeMean(
            trees, smoothed, number_values(growth.codec), self.curtail, growth.threads, self._n_known(growth.codec)
        )
        batch = growth.data.rows()
        rows, place = batch.distinct_places()
        total, n_trees = np.zeros((rows.n_rows, compiled.n_classes)), np.zeros(rows.n_rows)
        for t in range(self.n_estimators):
            out = np.flatnonzero(draws(rows, _chance(growth.seed, t)) == 0)
            total[out] += compiled.tree_proba(rows.select(out), t, growth.threads)
            n_trees[out] += 1
        proba = np.divide(total, n_trees[:, None], out=np.full_like(total, np.nan), where=n_trees[:, None] > 0)[place]
        known = ~np.isnan(proba[:, 0])
        assert batch.target is not None
        right = np.argmax(proba[known], axis=1) == batch.target[known]
        weights = None if batch.weights is None else batch.weights[known]
        score = float(np.average(right, weights=weights)) if known.any() else float("nan")
        return {"oob_proba_": proba, "oob_score_": score}

    def apply(self, X: Any) -> IntArray:
        """The node of each row in each tree, rows x trees."""
        return self._apply(X)


def _chance(seed: int, t: int) -> np.random.Generator:
    """What draws the bag of a tree."""
    return np.random.default_rng(np.random.SeedSequence((seed, t)))
