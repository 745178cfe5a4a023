"""Logistic regression of scikit-learn."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from countwise.dtypes import AnyArray, FloatArray
from countwise.evaluate.rivals.classifier import TableClassifier
from countwise.evaluate.rivals.tables import MatrixLike, TableReader


class StandardTable(TableReader):
    """Numbers of mean 0 and variance 1, the mean for missing ones; categories as indicators of variance 1.

    Indicators are not centred, so that a table with categories can be a sparse matrix: numbers first, then indicators.
    A model with an intercept is the same.

    Attributes
    ----------
    mean_, scale_ : list of float64
        Of each number.
    indicator_scale_ : float64 array
        Of each indicator.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"colour": ["red", "blue", None, "red"], "size": [1.0, 3.0, None, 2.0]})
    >>> StandardTable().fit_transform(table).toarray().round(2)
    array([[-1.41,  0.  ,  2.  ,  0.  ],
           [ 1.41,  2.31,  0.  ,  0.  ],
           [ 0.  ,  0.  ,  0.  ,  2.31],
           [ 0.  ,  0.  ,  2.  ,  0.  ]])

    """

    def _learn(self, columns: list[AnyArray]) -> None:
        numbers = self._numbers(columns)
        known = ~np.isnan(numbers)
        self.mean_ = np.where(known, numbers, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        self.scale_ = _or_one(np.where(known, numbers - self.mean_, 0.0).std(axis=0))
        counts = [
            np.bincount(column, minlength=codec.arity)[: codec.arity]
            for column, codec in zip(columns, self.codecs_, strict=True)
            if codec is not None
        ]
        share = np.concatenate([np.zeros(0), *counts]) / len(columns[0])
        self.indicator_scale_ = _or_one(np.sqrt(share * (1.0 - share)))

    def _lay_out(self, columns: list[AnyArray]) -> MatrixLike:
        numbers = self._numbers(columns)
        numbers = np.where(np.isnan(numbers), 0.0, (numbers - self.mean_) / self.scale_)
        if not any(self.is_category):
            return numbers
        return sparse.hstack([sparse.csr_array(numbers), self._indicators(columns)], format="csr")

    def _numbers(self, columns: list[AnyArray]) -> FloatArray:
        found = [column for column, codec in zip(columns, self.codecs_, strict=True) if codec is None]
        return np.column_stack(found) if found else np.empty((len(columns[0]), 0))

    def _indicators(self, columns: list[AnyArray]) -> sparse.csr_array:
        found = [(c.astype(np.int32), codec.arity) for c, codec in zip(columns, self.codecs_, strict=True) if codec]
        codes, arity = np.column_stack([column for column, _ in found]), np.array([size for _, size in found])
        known = codes < arity  # unseen values have no indicator
        places = (codes + np.cumsum([0, *arity[:-1]], dtype=np.int32))[known]
        row_ptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        shape = (len(codes), int(arity.sum()))
        return sparse.csr_array((1.0 / self.indicator_scale_[places], places, row_ptr), shape=shape)


def _or_one(scale: FloatArray) -> FloatArray:
    """What does not vary is left as it is."""
    return np.where(scale > 0.0, scale, 1.0)


def logistic_regression(seed: int, jobs: int | None) -> TableClassifier:
    """The default penalty (L2, C = 1), and up to 1,000 steps; it has no chance, and threads are those of BLAS."""
    return TableClassifier(LogisticRegression(max_iter=1000), StandardTable(), n_jobs=jobs)
