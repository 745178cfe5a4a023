"""What all classifiers share. ``fit`` reads like the data-flow table of the design: source, schema, codes,
structure, counts, smoothing; prediction is codes, look-up, normalisation.
"""

from __future__ import annotations

import inspect
import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch, CodedData, encode_batch
from countwise.data.discretise import Discretiser, as_discretiser
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.estimators.door import (
    all_or_nothing,
    memory_bytes,
    prediction_source,
    seed_of,
    training_source,
    wants_tuning,
)
from countwise.estimators.learn import Plan, coded_memory, learn, tune_honestly
from countwise.infer.explain import Explanation, explanation
from countwise.infer.interval import Spread, check_level
from countwise.infer.network import Network, Parameters, smooth_network
from countwise.infer.tuning import Tuning
from countwise.parallel import n_threads
from countwise.progress import use_progress
from countwise.smooth import Smoother, as_smoother
from countwise.structure import Structure
from countwise.tree.context import ContextTree, build_trees, merge_all
from countwise.tree.count_tree import single_node

THREADED_VALUES = 2**14  # fewer are looked up faster than a thread is started


class Derived:
    """What follows from the counts, made when first needed; a compiled network is not pickled."""

    def __init__(self, parameters: Parameters | None = None) -> None:
        self.parameters = parameters
        self.network: Network | None = None
        self.spread: Spread | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"parameters": self.parameters, "network": None, "spread": None}


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """Base of the Bayesian network classifiers; a subclass adds its parameters and :meth:`_learn_structure`.

    Parameters
    ----------
    smoothing : str or Smoother, default "hdp"
        How counts become probabilities: "hdp", "hls", "hierarchical-dirichlet", "bdeu", "m-branch", "m", "laplace",
        "mle", or an object such as ``HDP(tying="single")``.
    discretiser : str or Discretiser, default "mdlp"
        How numbers become bins: "mdlp", "equal-width", "equal-frequency", "k-means", "tree", or an object.
    categorical_features : "from_dtype" or sequence, default "from_dtype"
        Columns that are categories: by type (category, string, bool), or names, positions or a mask.
    tune : "auto", "loo" or None, default "auto"
        "loo" fits how strongly to smooth, how far to trust the sum of the evidence (temperature) and class biases by
        the leave-one-out log loss of the class, on rows that did not choose structure and cut points. It needs
        ``smoothing="hdp"``. "auto" does so in ``fit`` where the smoothing allows it, and not in ``partial_fit``,
        whose first rows may be few. None leaves the network as smoothed, and is faster.
    tune_rows : int, default 15000
        Most rows to tune by.
    max_memory : int, str or None
        Limit for the counts of a network, such as ``"2GB"``; None is half of the machine's memory. While tuning, the
        counts of a second network are held.
    n_jobs : int or None
        Threads; None is 1, -1 all cores. Results do not depend on it.
    random_state : int or None
        Seed of what is random (held-out rows); None is 0, so that results repeat.
    verbose : bool
        Show a progress bar on stderr.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    structure_ : Structure
        Attributes in use, their order and parents.
    n_parameters_ : int
        Probabilities that the model holds.
    n_passes_ : int
        Passes over the data after the first one, those of tuning included.
    codec_ : Codec
        Categories and cut points of every column.
    tuning_ : Tuning or None
        What ``tune`` has found.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    """

    def __init__(
        self,
        *,
        smoothing: str | Smoother = "hdp",
        discretiser: str | Discretiser = "mdlp",
        categorical_features: str | Sequence[Any] = "from_dtype",
        tune: str | None = "auto",
        tune_rows: int = 15_000,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.smoothing = smoothing
        self.discretiser = discretiser
        self.categorical_features = categorical_features
        self.tune = tune
        self.tune_rows = tune_rows
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __init_subclass__(cls, **options: Any) -> None:
        """The shared parameters are written once: a subclass takes them as ``**shared`` and shows them all."""
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__.__signature__ = _with_shared(cls)  # type: ignore[attr-defined]

    codec_: Codec
    classes_: AnyArray
    structure_: Structure
    trees_: list[ContextTree]
    class_counts_: FloatArray
    smoother_: Smoother
    tuning_: Tuning | None
    _derived: Derived

    def _check_params(self) -> None:
        """Raise a clear error for a wrong parameter, before any work; a subclass looks at its own."""

    @abstractmethod
    def _learn_structure(self, data: CodedData, names: list[str]) -> Structure:
        """The structure to count, from as many passes as it takes."""

    _selects = False  # whether _select looks at the counts

    def _select(
        self, data: CodedData, structure: Structure, trees: list[ContextTree], class_counts: FloatArray
    ) -> tuple[Structure, list[ContextTree], dict[str, Any]]:
        """A part of the structure that is kept, and attributes to set; all of it unless a subclass selects."""
        return structure, trees, {}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array, frame, Arrow table or Source
            Attributes; a Source (see :func:`countwise.scan`) brings its own target.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), optional
            Row weights; an integer weight equals that many repetitions.

        """
        return self._fit(X, y, sample_weight, None, self.tune)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the counts.

        The first call learns cut points, categories and structure, which stay fixed from then on; ``classes`` names
        labels that it may not contain. Values that the first call did not meet are left out of the counts of the
        attributes concerned. Smoothing runs at the next prediction.
        """
        if not hasattr(self, "codec_"):
            known, tune = None if classes is None else np.unique(classes), None if self.tune == "auto" else self.tune
            return self._fit(X, y, sample_weight, known, tune)
        source, _ = training_source(self, X, y, sample_weight, reset=False, classes=self.classes_)
        if not source.in_memory:
            raise DataError("partial_fit takes tables in memory; use fit(source), or one call for each batch")
        threads = n_threads(self.n_jobs)
        batch = coded_memory(source, self.codec_, threads)
        assert batch.target is not None
        n_classes = len(self.classes_)
        trees = build_trees(batch, self.structure_.families, self.codec_.arity, n_classes, threads)
        self.trees_ = merge_all(self.trees_, trees, 1.0, threads)
        self.class_counts_ = self.class_counts_ + np.bincount(batch.target, batch.weights, minlength=n_classes)
        self._derived = Derived()
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, classes: AnyArray | None, tune: str | None) -> Self:
        smoother = as_smoother(self.smoothing)
        tuned = wants_tuning(tune, self.tune_rows, smoother)
        self._check_params()
        plan = Plan(
            as_discretiser(self.discretiser),
            self.categorical_features,
            n_threads(self.n_jobs),
            memory_bytes(self.max_memory),
            seed_of(self.random_state),
        )
        with all_or_nothing(self), use_progress(True) if self.verbose else use_progress(None):
            source, labels = training_source(self, X, y, sample_weight, reset=True, classes=classes)
            learned = learn(self, source, labels, plan, hold=bool(smoother.candidates))
            trees, class_counts = learned.trees, learned.class_counts
            if learned.held is not None:
                candidates = smoother.candidates
                smoother = learned.held.choose(candidates, learned.data, trees, class_counts, plan.seed, plan.threads)
            tuning = tune_honestly(self, source, labels, learned, smoother, plan) if tuned else None
            parameters = smooth_network(trees, class_counts, smoother, plan.seed, plan.threads, tuning)
        self.codec_, self.classes_, self.structure_ = learned.codec, learned.codec.classes, learned.structure
        self.trees_, self.class_counts_ = trees, class_counts
        self.smoother_, self.tuning_ = smoother, tuning
        self.n_passes_, self.rank_error_ = learned.data.n_passes, learned.rank_error
        self._derived = Derived(parameters)
        for name, value in learned.attributes.items():
            setattr(self, name, value)
        return self

    def merge(self, other: NetworkClassifier) -> Self:
        """Add the counts of a model of the same codec and structure, trained on other rows."""
        check_is_fitted(self, "codec_")
        check_is_fitted(other, "codec_")
        if not self.codec_.same_as(other.codec_):
            raise DataError("the models read tables differently (categories, cut points or classes)")
        if self.structure_ != other.structure_:
            raise DataError("the models have different structures")
        self.trees_ = merge_all(self.trees_, other.trees_, 1.0, n_threads(self.n_jobs))
        self.class_counts_ = self.class_counts_ + other.class_counts_
        self._derived = Derived()
        return self

    # Prediction

    def predict_proba(self, X: Any) -> FloatArray:
        """P(class | row), rows x classes, in the order of ``classes_``."""
        return self._stack(X, self._network.proba)

    def predict_proba_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Limits between which P(class | row) lies with about this probability, given the structure.

        They say what the *counts* leave open: few rows in the contexts that a row meets give a wide interval, more
        data a narrow one. They say nothing of what more data would not cure: attributes that depend on each other in
        ways that the structure leaves out, other cut points of the bins, new data unlike the old. Where such errors
        prevail, as with naive Bayes on dependent attributes, the interval may be narrow and wrong.

        A closed form, without sampling: :mod:`countwise.infer.interval`. In simulations with the true structure, 90 %
        intervals of networks smoothed by HDP held the truth 87 to 98 % of the time, of tuned ones 69 to 92 %: a
        temperature moves all probabilities at once, which the counts know nothing of (``benchmarks/intervals.py``).
        The estimate is inside always. Weights count as rows, so they should add up to the number of rows.

        Parameters
        ----------
        X : array, frame, Arrow table or Source
            Rows, as for :meth:`predict_proba`.
        level : float between 0 and 1
            How often an interval is to hold the probability.

        Returns
        -------
        limits : array of shape (n_rows, n_classes, 2)
            ``limits[..., 0]`` is the lower and ``limits[..., 1]`` the upper limit; ``predict_proba`` lies between.

        Examples
        --------
        >>> import countwise as cw
        >>> X, y = cw.datasets.load("iris")
        >>> model = cw.TANClassifier().fit(X, y)
        >>> model.predict_proba(X[83:84]).round(2)
        array([[0.02, 0.67, 0.31]])
        >>> model.predict_proba_interval(X[83:84]).round(2)
        array([[[0.  , 0.06],
                [0.4 , 0.86],
                [0.13, 0.58]]])

        """
        level = check_level(level)
        parts = [self._spread.limits(batch, level, threads) for batch, threads in self._rows(X)]
        return _stacked(parts, (len(self.classes_), 2))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Log P(class | row); always finite."""
        joint = self._stack(X, self._network.scores)
        top = joint.max(axis=1, keepdims=True)
        return joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; the first of ``classes_`` wins ties."""
        proba = self.predict_proba(X)
        return self.classes_[np.argmax(proba, axis=1)]

    def log_likelihood(self, X: Any) -> FloatArray:
        """Log P(row) under the network, the class summed out; values never met in training are summed out too.

        Temperature and class biases of ``tune`` sharpen or flatten P(class | row) and have no part in it.
        """
        joint = self._stack(X, self._network.log_joint)
        top = joint.max(axis=1)
        return top + np.log(np.exp(joint - top[:, None]).sum(axis=1))

    def explain(self, X: Any) -> Explanation:
        """The exact additive contribution of each attribute to the log-odds of each class."""
        network, names = self._network, self.codec_.names
        parts = [network.contributions(batch, threads) for batch, threads in self._rows(X)]
        stacked = _stacked(parts, (len(names), len(self.classes_)))
        return explanation(names, self.classes_, network.intercept, stacked)

    @property
    def n_parameters_(self) -> int:
        """Probabilities that the model holds: of each class, and of each value in each context that occurred."""
        check_is_fitted(self, "codec_")
        leaves = [tree.counts.level_cells(tree.counts.n_levels - 1) for tree in self.trees_]
        return sum(cells.stop - cells.start for cells in leaves) + len(self.classes_)

    def _stack(self, X: Any, of_rows: Callable[[CodedBatch, int], FloatArray]) -> FloatArray:
        """Rows x classes."""
        return _stacked([of_rows(*rows) for rows in self._rows(X)], (len(self.classes_),))

    def _rows(self, X: Any) -> Iterator[tuple[CodedBatch, int]]:
        """The rows as codes, batch by batch, and the threads that a batch is worth."""
        check_is_fitted(self, "codec_")
        for raw in prediction_source(self, X).batches():
            threads = 1 if raw.n_rows * len(raw.columns) < THREADED_VALUES else n_threads(self.n_jobs)
            yield encode_batch(replace(raw, weights=None), self.codec_, None, threads), threads

    @property
    def _parameters(self) -> Parameters:
        check_is_fitted(self, "codec_")
        if self._derived.parameters is None:
            seed = seed_of(self.random_state)
            self._derived.parameters = smooth_network(
                self.trees_, self.class_counts_, self.smoother_, seed, n_threads(self.n_jobs), self.tuning_
            )
        return self._derived.parameters

    @property
    def _network(self) -> Network:
        parameters = self._parameters
        if self._derived.network is None:
            self._derived.network = Network(self.trees_, parameters, self.codec_.arity, n_threads(self.n_jobs))
        return self._derived.network

    @property
    def _spread(self) -> Spread:
        network = self._network
        if self._derived.spread is None:
            prior = self.smoother_.smooth(single_node(self.class_counts_), seed_of(self.random_state))
            self._derived.spread = Spread(
                network, self.trees_, self._parameters, float(prior.precision[0]), n_threads(self.n_jobs)
            )
        return self._derived.spread

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which :func:`countwise.load` reads; no pickle."""
        from countwise.estimators.persist import save_model

        save_model(self, path)


def _with_shared(cls: type) -> inspect.Signature:
    """The signature of a constructor with its parent's parameters in place of ``**shared``.

    scikit-learn, ``help()`` and editors read a constructor's parameters from its signature.
    """
    own = inspect.signature(cls.__init__)  # type: ignore[misc]
    parent = inspect.signature(cls.__mro__[1].__init__)  # type: ignore[misc]
    named = {name: p for name, p in own.parameters.items() if p.kind is not p.VAR_KEYWORD}
    shared = [p.replace(kind=p.KEYWORD_ONLY) for name, p in parent.parameters.items() if name not in named]
    return own.replace(parameters=[*named.values(), *shared])


def _stacked(parts: list[FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """The results of all batches; ``shape`` is that of one row, for a source without rows."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty((0, *shape))
