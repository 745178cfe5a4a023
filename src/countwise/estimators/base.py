"""What all classifiers share: parameters, the ways in (rows to a source, rows to codes) and the ways out."""

from __future__ import annotations

import inspect
import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from countwise import _kernels
from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch, encode_batch
from countwise.data.discretise import Discretiser, as_discretiser
from countwise.data.one_row import ClassRows, pooled_row_weight
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.estimators.door import (
    all_or_nothing,
    memory_bytes,
    prediction_source,
    seed_of,
    training_source,
)
from countwise.estimators.learn import Plan, coded_memory
from countwise.infer.explain import Explanation, explanation
from countwise.infer.interval import check_level
from countwise.parallel import n_threads
from countwise.progress import use_progress
from countwise.smooth import Smoother, as_smoother
from countwise.tree.count_tree import single_node

LARGE_COUNTS = 2**28  # bytes of a model beside which giving memory back to the system takes no time
THREADED_VALUES = 2**14  # fewer are looked up faster than a thread is started


class Compiled(Protocol):
    """What predicts: a network or an ensemble."""

    intercept: FloatArray

    def proba(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """P(y | x), rows x classes."""

    def log_proba(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """Log P(y | x), rows x classes."""

    def contributions(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """What each attribute adds to the scores, rows x columns x classes."""


class Limits(Protocol):
    """What gives intervals."""

    def limits(self, batch: CodedBatch, level: float, threads: int = 1) -> FloatArray:
        """Limits of P(y | x), rows x classes x 2."""


class Derived:
    """What follows from the counts, made when first needed."""

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters
        self.compiled: Any = None
        self.spread: Any = None

    def let_go(self, smoother: Smoother, count_bytes: int) -> None:
        """Forget probabilities that have been compiled: they are smoothed again for intervals, if that is quick."""
        if not smoother.is_slow:
            self.parameters = None
            if count_bytes > LARGE_COUNTS:
                _kernels.release_memory()


class CountClassifier(ClassifierMixin, BaseEstimator):
    """Base of all classifiers; one network is a :class:`NetworkClassifier`, several are an :class:`EnsembleClassifier`.

    Parameters
    ----------
    smoothing : str or Smoother, default "hdp"
        How counts become probabilities: "hdp", "hls", "hgs", "hierarchical-dirichlet", "bdeu", "m-branch", "m",
        "laplace", "mle", or an object such as ``HDP(tying="single")``.
    discretiser : str or Discretiser, default "mdlp"
        How numbers become bins: "mdlp", "equal-width", "equal-frequency", "k-means", "tree", or an object.
    categorical_features : "from_dtype" or sequence, default "from_dtype"
        Columns that are categories: by type (category, string, bool), or names, positions or a mask.
    max_memory : int, str or None
        Limit for the counts of a network, such as ``"2GB"``; None is half of the machine's memory.
    n_jobs : int or None
        Threads; None is 1, -1 all cores. Results do not depend on it.
    random_state : int or None
        Seed of what is random (held-out rows); None is 0, so that results repeat.
    verbose : bool
        Show a progress bar on stderr.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_parameters_ : int
        Probabilities that the model holds.
    n_passes_ : int
        Passes over the data after the first one, those of tuning included.
    codec_ : Codec
        Categories and cut points of every column.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    """

    def __init__(
        self,
        *,
        smoothing: str | Smoother = "hdp",
        discretiser: str | Discretiser = "mdlp",
        categorical_features: str | Sequence[Any] = "from_dtype",
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.smoothing = smoothing
        self.discretiser = discretiser
        self.categorical_features = categorical_features
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __init_subclass__(cls, **options: Any) -> None:
        """The shared parameters are written once: a subclass takes them as ``**shared`` and shows them all."""
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__.__signature__ = _with_shared(cls)  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        """For pickles and copies: the counts; of what follows from them only the work of slow smoothers."""
        state = super().__getstate__()
        if "_derived" in state:
            state = state | {"_derived": Derived(self._derived.parameters if self.smoother_.is_slow else None)}
        return state

    codec_: Codec
    classes_: AnyArray
    class_counts_: FloatArray
    row_weight_: FloatArray | None  # what one row of each class weighs; None: 1
    smoother_: Smoother
    n_passes_: int
    rank_error_: float
    _derived: Derived

    def _check_params(self) -> None:
        """Raise a clear error for a wrong parameter, before any work; a subclass looks at its own."""

    @abstractmethod
    def _learn(self, source: Source, labels: AnyArray | None, plan: Plan) -> None:
        """Learn from a source and set what was learned; ``labels`` are the classes, None if the source tells them."""

    @abstractmethod
    def _add_counts(self, batch: CodedBatch, threads: int) -> None:
        """Add rows to the counts of the trees."""

    @property
    @abstractmethod
    def _compiled(self) -> Compiled:
        """What predicts, made when first needed."""

    @property
    @abstractmethod
    def _spread(self) -> Limits:
        """What gives intervals, made when first needed."""

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
            Row weights; an integer weight equals that many repetitions. Others weigh rows; best with a mean of 1,
            since priors, pools and tuned networks take a row of weight 1,000 for 1,000 rows.

        """
        return self._fit(X, y, sample_weight, None, partial=False)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the counts.

        The first call learns cut points, categories and structure, which stay fixed from then on; ``classes`` names
        labels that it may not contain. Values that the first call did not meet are left out of the counts of the
        attributes concerned. Smoothing runs at the next prediction.
        """
        if not hasattr(self, "codec_"):
            known = None if classes is None else np.unique(classes)
            return self._fit(X, y, sample_weight, known, partial=True)
        source, _ = training_source(self, X, y, sample_weight, reset=False, classes=self.classes_)
        if not source.in_memory:
            raise DataError("partial_fit takes tables in memory; use fit(source), or one call for each batch")
        threads = n_threads(self.n_jobs)
        batch = coded_memory(source, self.codec_, threads)
        assert batch.target is not None
        self._add_counts(batch, threads)
        added = ClassRows(len(self.classes_))
        added.add(batch.target, batch.weights)
        self._add_rows(added.total, added.row_weight)
        return self

    def _add_rows(self, class_counts: FloatArray, row_weight: FloatArray | None) -> None:
        """Rows that have been added to the counts of the trees."""
        self.row_weight_ = pooled_row_weight(self.row_weight_, self.class_counts_, row_weight, class_counts)
        self.class_counts_ = self.class_counts_ + class_counts
        self._derived = Derived()

    def _fit(self, X: Any, y: Any, sample_weight: Any, classes: AnyArray | None, partial: bool) -> Self:
        plan = self._plan(partial)
        with all_or_nothing(self), use_progress(True) if self.verbose else use_progress(None):
            source, labels = training_source(self, X, y, sample_weight, reset=True, classes=classes)
            self._learn(source, labels, plan)
        return self

    def _plan(self, partial: bool) -> Plan:
        """The parameters, checked."""
        smoother = as_smoother(self.smoothing)
        self._check_params()
        return Plan(
            smoother,
            as_discretiser(self.discretiser),
            self.categorical_features,
            n_threads(self.n_jobs),
            memory_bytes(self.max_memory),
            seed_of(self.random_state),
        )

    def _check_same_codec(self, other: CountClassifier) -> None:
        check_is_fitted(self, "codec_")
        check_is_fitted(other, "codec_")
        if not self.codec_.same_as(other.codec_):
            raise DataError("the models read tables differently (categories, cut points or classes)")

    # Prediction

    def predict_proba(self, X: Any) -> FloatArray:
        """P(class | row), rows x classes, in the order of ``classes_``."""
        return self._stack(X, self._compiled.proba)

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
        return self._stack(X, self._compiled.log_proba)

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; the first of ``classes_`` wins ties."""
        proba = self.predict_proba(X)
        return self.classes_[np.argmax(proba, axis=1)]

    def explain(self, X: Any) -> Explanation:
        """The additive contribution of each attribute to the log-odds of each class, exact in their sum."""
        compiled, names = self._compiled, self.codec_.names
        parts = [compiled.contributions(batch, threads) for batch, threads in self._rows(X)]
        stacked = _stacked(parts, (len(names), len(self.classes_)))
        return explanation(names, self.classes_, compiled.intercept, stacked)

    def _stack(self, X: Any, of_rows: Callable[[CodedBatch, int], FloatArray]) -> FloatArray:
        """Rows x classes."""
        return _stacked([of_rows(*rows) for rows in self._rows(X)], (len(self.classes_),))

    def _rows(self, X: Any) -> Iterator[tuple[CodedBatch, int]]:
        """The rows as codes, batch by batch, and the threads that a batch is worth."""
        check_is_fitted(self, "codec_")
        for raw in prediction_source(self, X).batches():
            threads = 1 if raw.n_rows * len(raw.columns) < THREADED_VALUES else n_threads(self.n_jobs)
            yield encode_batch(replace(raw, weights=None), self.codec_, None, threads), threads

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which :func:`countwise.load` reads; no pickle."""
        from countwise.estimators.persist import save_model

        check_is_fitted(self, "codec_")
        save_model(self, path)


def prior_precision(smoother: Smoother, class_counts: FloatArray, seed: int) -> float:
    """How sure the class prior is, as the weight of a Dirichlet distribution."""
    return float(smoother.smooth(single_node(class_counts), seed).precision[0])


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
