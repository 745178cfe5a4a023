"""Trees of other libraries with leaf probabilities of our own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, check_consistent_length, get_tags
from sklearn.utils.validation import _get_feature_names, _num_features, check_is_fitted, has_fit_parameter

from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.estimators.door import all_or_nothing, check_sample_weight, seed_of
from countwise.estimators.foreign import Partition, find_leaves, read_trees, reader_of, thawed
from countwise.estimators.labels import check_classes, check_target
from countwise.parallel import n_threads, thread_map
from countwise.smooth import Smoother, as_smoother, dense_proba
from countwise.tree.count_tree import CountTree
from countwise.tree.partition import partition_counts


class SmoothedTreeClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Trees of another library as partitions, with leaf probabilities that countwise smooths.

    ``fit`` lets the other library grow its trees, counts the classes of the training rows at every node of every tree,
    and smooths these counts. A row has the mean of the probabilities of its leaves, over all trees. The library's own
    leaf values are not used.

    All rows are counted in every tree, each once (or with its weight), also where a forest or bag has drawn some of
    them several times and others not at all: one rule for all libraries and for fitted models, and weights count
    exactly. So plain frequencies are a forest's own probabilities only without a bootstrap. See docs/design.md for
    what counting the drawn rows would change.

    Trees of gradient boosting are partitions like others; with several classes every round has one for each class.

    Parameters
    ----------
    estimator : classifier, optional
        ``DecisionTreeClassifier``, ``ExtraTreeClassifier``, ``RandomForestClassifier``, ``ExtraTreesClassifier``,
        ``GradientBoostingClassifier`` or ``BaggingClassifier`` (of any of these) of scikit-learn; ``LGBMClassifier``;
        ``XGBClassifier`` (not of linear functions); ``CatBoostClassifier`` (of symmetric trees). None is
        ``DecisionTreeClassifier(random_state=random_state)``.
    smoothing : str or Smoother, default "hdp"
        How counts become probabilities; see the table of smoothers in the README.
    prefit : bool, default False
        Whether ``estimator`` is fitted already: its trees are kept, and the rows given to ``fit`` are only counted.
        ``clone`` (hence cross-validation) forgets such a fit; ``FrozenEstimator(fitted)`` without ``prefit`` keeps it.
    n_jobs : int, optional
        Threads for smoothing; the estimator has its own.
    random_state : int, optional
        Seed of smoothers that sample, and of the tree where ``estimator`` is None; None is 0.

    Attributes
    ----------
    classes_ : array
        Those of ``y``; of a fitted estimator, its own.
    estimator_ : estimator
        The fitted one.
    trees_ : list of CountTree
        Class counts at every node that a row reached, except those whose rows all go to one child.
    leaf_proba_ : list of array
        For each tree, probabilities by the library's leaf numbers (node numbers for scikit-learn and XGBoost).
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = cw.datasets.make_waveform(1000, random_state=0)
    >>> X, y = data.X.to_pandas(), data.y
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X[:500], y[:500])
    >>> model = cw.SmoothedTreeClassifier(tree, prefit=True).fit(X[:500], y[:500])
    >>> [round(cw.evaluate.log_loss(y[500:], m.predict_proba(X[500:]), m.classes_), 2) for m in (tree, model)]
    [9.44, 1.05]

    """

    estimator_: Any
    classes_: AnyArray
    trees_: list[CountTree]
    leaf_proba_: list[FloatArray]
    n_features_in_: int

    def __init__(
        self,
        estimator: Any = None,
        smoothing: str | Smoother = "hdp",
        prefit: bool = False,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.smoothing = smoothing
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees (unless they are there), count the rows in them and smooth the counts.

        ``sample_weight`` goes to the estimator and to the counts.
        """
        with all_or_nothing(self):
            smoother, threads = self._smoother(), n_threads(self.n_jobs)
            if isinstance(X, Source):
                raise DataError("SmoothedTreeClassifier takes tables in memory: other libraries do not read a Source")
            labels = check_target(self, y)
            check_consistent_length(X, labels)
            weights = check_sample_weight(sample_weight, X)
            if not len(labels):
                raise DataError("the table is empty: 0 rows")
            classes = np.unique(labels if weights is None else labels[weights > 0])
            self.estimator_, self.classes_ = self._fitted(X, labels, classes, weights)
            self._note_columns(X)
            self._count(X, _codes(self.classes_, labels), weights, smoother, threads)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """P(class), rows x classes: the mean over the trees."""
        check_is_fitted(self)
        leaves = find_leaves(self.estimator_, X)
        proba = np.zeros((len(leaves), len(self.classes_)))
        for tree, leaf_proba in enumerate(self.leaf_proba_):
            proba += leaf_proba[leaves[:, tree]]
        return proba / len(self.leaf_proba_)

    def predict(self, X: Any) -> AnyArray:
        """The most probable class; of several, the first."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        estimator = _default_tree(None) if self.estimator is None else self.estimator
        if hasattr(estimator, "fit"):
            tags.input_tags = replace(get_tags(estimator).input_tags)
        return tags

    def _estimator(self) -> Any:
        """The estimator given, or the default one."""
        if self.estimator is None:
            return _default_tree(seed_of(self.random_state))
        return self.estimator

    def _smoother(self) -> Smoother:
        smoother = as_smoother(self.smoothing)
        if smoother.candidates:
            raise DataError(f"smoothing={smoother!r} chooses on held-out rows, which trees do not do; give it a number")
        return smoother

    def _fitted(self, X: Any, labels: AnyArray, classes: AnyArray, weights: FloatArray | None) -> tuple[Any, AnyArray]:
        """The fitted estimator, and the classes: a fitted one's own, so that its columns stay what they were."""
        given = self._estimator()
        model = thawed(given)
        reader = reader_of(model)
        if self.prefit or model is not given:
            _check_fitted(model)
            return model, _known_classes(model, classes)
        check_classes(classes)
        model = _unfitted(model)
        if weights is not None and not has_fit_parameter(model, "sample_weight"):
            raise DataError(f"{type(model).__name__} takes no sample_weight")
        target = _codes(classes, labels) if reader.takes_codes else labels
        return model.fit(X, target, **({} if weights is None else {"sample_weight": weights})), classes

    def _note_columns(self, X: Any) -> None:
        """The number of columns, and their names if they have some: other libraries make up names."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.n_features_in_ = int(getattr(self.estimator_, "n_features_in_", None) or _num_features(X))
        names = _get_feature_names(X)
        if names is not None:
            self.feature_names_in_ = names

    def _count(self, X: Any, codes: AnyArray, weights: FloatArray | None, smoother: Smoother, threads: int) -> None:
        partitions = read_trees(self.estimator_)
        if not partitions:
            raise DataError(f"the {type(self.estimator_).__name__} has no trees")
        leaves = find_leaves(self.estimator_, X)
        partitions = partitions[: leaves.shape[1]]
        seeds = np.random.SeedSequence(seed_of(self.random_state)).generate_state(len(partitions))
        n_classes = len(self.classes_)

        def learn(job: tuple[Partition, AnyArray, Any]) -> tuple[CountTree, FloatArray]:
            partition, leaf, seed = job
            tree, answers = partition_counts(partition.parent, partition.leaf_node[leaf], codes, weights, n_classes)
            proba = dense_proba(tree, smoother.smooth(tree, int(seed)))
            return tree, proba[answers[partition.leaf_node]]

        learned = thread_map(learn, zip(partitions, leaves.T, seeds, strict=True), threads)
        self.trees_, self.leaf_proba_ = [tree for tree, _ in learned], [proba for _, proba in learned]


def _default_tree(seed: int | None) -> Any:
    from sklearn.tree import DecisionTreeClassifier  # slow to import

    return DecisionTreeClassifier(random_state=seed)


def _unfitted(model: Any) -> Any:
    """A copy with the same parameters; CatBoost copies lists such as ``cat_features``, which ``clone`` refuses."""
    try:
        return clone(model)
    except RuntimeError:
        return type(model)(**model.get_params())


def _codes(classes: AnyArray, labels: AnyArray) -> AnyArray:
    """The position of each label among the classes, in whatever order; any for a label that only rows of weight 0 have.

    >>> _codes(np.array(["b", "c", "a"]), np.array(["a", "b", "c", "c"]))
    array([2, 0, 1, 1])
    """
    order = np.argsort(classes)
    return order[np.minimum(np.searchsorted(classes, labels, sorter=order), len(classes) - 1)]


def _check_fitted(model: Any) -> None:
    """Refuse a model that has no trees yet; CatBoost says so in its own way."""
    try:
        fitted = model.is_fitted() if hasattr(model, "is_fitted") else check_is_fitted(model) is None
    except NotFittedError:
        fitted = False
    if not fitted:
        raise DataError(
            f"prefit=True, but the {type(model).__name__} is not fitted; fit it first, pass prefit=False, or, "
            "where estimators are cloned (cross-validation), pass FrozenEstimator(fitted) and prefit=False"
        )


def _known_classes(model: Any, classes: AnyArray) -> AnyArray:
    """The classes of a fitted model, which must hold those of the rows."""
    if isinstance(model.classes_, list):
        raise DataError(f"the {type(model).__name__} was fitted to {len(model.classes_)} targets; one is needed")
    known = np.asarray(model.classes_)
    strangers = np.setdiff1d(classes, known)
    if len(strangers):
        raise DataError(
            f"y holds label(s) {strangers[:5].tolist()} that the fitted {type(model).__name__} does not know; "
            f"its classes are {known[:20].tolist()}"
        )
    return known
