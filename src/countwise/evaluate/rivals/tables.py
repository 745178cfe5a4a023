"""How rivals read tables: the same columns are categories as for countwise, and their values are those of training.

Columns are read whole, as Arrow or NumPy arrays: no loop looks at cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from countwise.data.codec import CategoryCodec
from countwise.data.columns import RawColumn, as_numbers
from countwise.data.schema import CategoryStats, column_kinds
from countwise.data.source import MemorySource
from countwise.dtypes import AnyArray, CodeArray
from countwise.estimators.door import check_table

if TYPE_CHECKING:
    import pandas as pd

MatrixLike = Any  # numpy.ndarray, scipy.sparse matrix or pandas.DataFrame: what a rival takes


class TableReader(TransformerMixin, BaseEstimator, ABC):
    """Base of the readers; a subclass lays out the columns.

    Numbers are float64 with NaN for missing; those of a column that was empty in training are 0, for some rivals refuse
    empty columns. Categories are codes: first the values that training met, sorted, then *missing*, if training met
    that, then *unseen*.

    Attributes
    ----------
    codecs_ : list of CategoryCodec or None
        The values of each category; None for a number.
    is_empty_ : list of bool
        Numbers without a value in training.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    """

    codecs_: list[CategoryCodec | None]
    is_empty_: list[bool]
    _keeps_matrix = False  # whether a matrix of float64 is what the rival takes

    @abstractmethod
    def _lay_out(self, columns: list[AnyArray]) -> MatrixLike:
        """What the rival takes, from numbers and codes."""

    def _learn(self, columns: list[AnyArray]) -> None:
        """Keep more of the training columns than their values."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which columns are categories, and their values."""
        self._fit_columns(check_table(self, X, reset=True))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> MatrixLike:
        """The training table; read once."""
        X = check_table(self, X, reset=True)
        return self._laid_out(X, self._fit_columns(X))

    def transform(self, X: Any) -> MatrixLike:
        """A table with the columns of the training table."""
        X = check_table(self, X, reset=False)
        return self._laid_out(X, self._read(MemorySource(X)))

    @property
    def is_category(self) -> list[bool]:
        """Which attributes are categories."""
        return [codec is not None for codec in self.codecs_]

    def _fit_columns(self, X: Any) -> list[AnyArray]:
        source = MemorySource(X)
        kinds = column_kinds(source.names, source.batch.columns, "from_dtype")
        self.codecs_ = [
            _category_codec(name, column) if kind == "category" else None
            for name, kind, column in zip(source.names, kinds, source.batch.columns, strict=True)
        ]
        columns = self._read(source)
        self.is_empty_ = [
            codec is None and bool(np.isnan(column).all()) for codec, column in zip(self.codecs_, columns, strict=True)
        ]
        self._learn(self._filled(columns))
        return columns

    def _read(self, source: MemorySource) -> list[AnyArray]:
        return [
            as_numbers(column, name) if codec is None else codec.encode(column)
            for name, codec, column in zip(source.names, self.codecs_, source.batch.columns, strict=True)
        ]

    def _filled(self, columns: list[AnyArray]) -> list[AnyArray]:
        return [np.zeros_like(c) if is_empty else c for c, is_empty in zip(columns, self.is_empty_, strict=True)]

    def _laid_out(self, X: Any, columns: list[AnyArray]) -> MatrixLike:
        is_matrix = isinstance(X, np.ndarray) and X.dtype == np.float64
        if is_matrix and self._keeps_matrix and not any(self.is_category) and not any(self.is_empty_):
            return X
        return self._lay_out(self._filled(columns))


def _category_codec(name: str, column: RawColumn) -> CategoryCodec:
    stats = CategoryStats(name)
    stats.update(column)
    return stats.codec()


class OneHotTable(TableReader):
    """Numbers as they are, categories as indicators; *missing* is a category, *unseen* is all zeros.

    The matrix is of float32, which is what trees of scikit-learn turn everything into.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"colour": ["red", "blue", None], "size": [1.0, None, 3.0]})
    >>> OneHotTable().fit_transform(table)
    array([[ 0.,  1.,  0.,  1.],
           [ 1.,  0.,  0., nan],
           [ 0.,  0.,  1.,  3.]], dtype=float32)

    """

    def _lay_out(self, columns: list[AnyArray]) -> MatrixLike:
        return one_hot(columns, [None if codec is None else codec.arity for codec in self.codecs_])


def one_hot(columns: list[AnyArray], arity: list[int | None]) -> AnyArray:
    """Columns with an arity as that many indicators, those without as they are.

    A code outside ``0 .. arity - 1`` has no indicator.

    >>> one_hot([np.array([0, 2, 1]), np.array([0.5, 1.5, 2.5])], [2, None])
    array([[1. , 0. , 0.5],
           [0. , 0. , 1.5],
           [0. , 1. , 2.5]], dtype=float32)
    """
    width = [1 if size is None else size for size in arity]
    starts = np.cumsum([0, *width])
    matrix = np.zeros(
        (len(columns[0]), starts[-1]), np.float32
    )  # trees are grown faster on whole rows: many fit a cache
    for column, size, start in zip(columns, arity, starts, strict=False):
        if size is None:
            matrix[:, start] = column
        else:
            rows = np.flatnonzero(column < size)
            matrix[rows, start + column[rows].astype(np.int64)] = 1.0
    return matrix


class OrdinalTable(TableReader):
    """Numbers as they are, categories as codes; missing and unseen categories are NaN, as missing numbers are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> OrdinalTable().fit_transform(pa.table({"colour": ["red", "blue", None], "size": [1, 2, 3]}))
    array([[ 1.,  1.],
           [ 0.,  2.],
           [nan,  3.]])

    """

    _keeps_matrix = True

    def _lay_out(self, columns: list[AnyArray]) -> MatrixLike:
        matrix = np.empty((len(columns[0]), len(columns)), order="F")
        for i, (column, codec) in enumerate(zip(columns, self.codecs_, strict=True)):
            matrix[:, i] = column if codec is None else np.where(column < len(codec.categories), column, np.nan)
        return matrix


class FrameTable(TableReader):
    """A pandas frame whose categories are of the dtype "category", with the values of training and no others.

    Columns are named by their position: some rivals refuse names with brackets or quotes. For the same reason
    categories are given as their codes. A table of numbers alone is a matrix.

    Parameters
    ----------
    missing : "nan" or "value"
        Missing and unseen categories are missing values, or one category each, of which training meets the first
        alone, if any.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"colour": ["red", "blue", None], "size": [1, 2, 3]})
    >>> FrameTable().fit_transform(table)
        x0   x1
    0    1  1.0
    1    0  2.0
    2  NaN  3.0
    >>> FrameTable(missing="value").fit(table).transform(pa.table({"colour": [None, "pink"], "size": [1, 2]}))
      x0   x1
    0  2  1.0
    1  3  2.0

    """

    _keeps_matrix = True

    def __init__(self, missing: str = "nan") -> None:
        self.missing = missing

    def _lay_out(self, columns: list[AnyArray]) -> MatrixLike:
        if not any(self.is_category):
            return np.column_stack(columns)
        import pandas as pd

        values = (
            column if codec is None else self._category(column, codec)
            for column, codec in zip(columns, self.codecs_, strict=True)
        )
        return pd.DataFrame({f"x{i}": value for i, value in enumerate(values)}, copy=False)

    def _category(self, codes: CodeArray, codec: CategoryCodec) -> pd.Categorical:
        import pandas as pd

        if self.missing == "value":  # as text: CatBoost takes text and whole numbers, and makes text of the latter
            names = [str(code) for code in range(codec.arity + 1)]
            return pd.Categorical.from_codes(codes.astype(np.int32), categories=names)
        size = len(codec.categories)
        known = np.where(codes < size, codes.astype(np.int32), -1)
        return pd.Categorical.from_codes(known, categories=pd.RangeIndex(size))
