"""A classifier that reads any table: what all rivals are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from countwise.dtypes import AnyArray, FloatArray
from countwise.estimators.labels import check_target, distinct_labels
from countwise.evaluate.folds import n_rows_of
from countwise.evaluate.rivals.tables import MatrixLike
from countwise.parallel import n_threads

CodeVector = np.ndarray[Any, np.dtype[np.int64]]


class TableClassifier(ClassifierMixin, BaseEstimator):
    """A classifier behind a reader of tables; a subclass adds what only the training table can tell.

    Labels of any type go to the classifier as 0 .. C - 1. If training rows are all of one class, its probability is 1:
    folds of small tables can be so, and some rivals refuse them.

    Parameters
    ----------
    estimator : classifier
        Takes what the reader gives.
    reader : transformer
        As in :mod:`countwise.evaluate.rivals.tables`; ``fit_transform`` gets the table and the classes as codes.
    n_jobs : int or None
        Threads; None is 1, -1 all cores. They limit OpenMP and BLAS too.
    threads_as : str or None
        The parameter of ``estimator`` that sets its threads; None if it has none.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    shares_ : float64 array of shape (n_classes,)
        Share of each class in training.
    reader_, estimator_ :
        As fitted; ``estimator_`` is None if there was nothing to learn but the shares.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from countwise.evaluate.rivals.tables import OneHotTable
    >>> table = pa.table({"colour": ["red", "blue", "blue", "red"]})
    >>> model = TableClassifier(DecisionTreeClassifier(), OneHotTable()).fit(table, ["yes", "no", "no", "no"])
    >>> model.classes_.tolist(), model.predict_proba(table).tolist()
    (['no', 'yes'], [[0.5, 0.5], [1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])

    """

    def __init__(
        self, estimator: Any, reader: Any, *, n_jobs: int | None = None, threads_as: str | None = None
    ) -> None:
        self.estimator = estimator
        self.reader = reader
        self.n_jobs = n_jobs
        self.threads_as = threads_as

    classes_: AnyArray
    shares_: FloatArray
    reader_: Any
    estimator_: Any

    def _params(self, data: MatrixLike, codes: CodeVector) -> dict[str, Any]:
        """Parameters of the estimator that depend on the training table."""
        return {}

    def _train(self, estimator: Any, data: MatrixLike, codes: CodeVector) -> Any:
        """The estimator, fitted; None if it cannot learn more than the shares of the classes."""
        return estimator.fit(data, codes)

    def _predict(self, data: MatrixLike) -> Any:
        return self.estimator_.predict_proba(data)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from a table and its labels."""
        self.classes_, codes = distinct_labels(check_target(self, y))
        counts = np.bincount(codes)
        self.shares_, self.estimator_ = counts / counts.sum(), None
        if len(self.classes_) == 1:
            return self
        self.reader_ = clone(self.reader)
        data = self.reader_.fit_transform(X, codes)
        threads = n_threads(self.n_jobs)
        estimator = clone(self.estimator).set_params(**self._params(data, codes))
        if self.threads_as is not None:
            estimator.set_params(**{self.threads_as: threads})
        with threadpool_limits(threads):
            self.estimator_ = self._train(estimator, data, codes)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """P(class | row), a column for each of ``classes_``."""
        check_is_fitted(self, "classes_")
        if self.estimator_ is None:
            return np.tile(self.shares_, (n_rows_of(X), 1))
        data = self.reader_.transform(X)
        with threadpool_limits(n_threads(self.n_jobs)):
            return np.asarray(self._predict(data), dtype=np.float64)

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; of equals the first."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
