"""Tables read as countwise reads them: bins and categories of its codec."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from countwise.data.codec import Codec, NumberCodec
from countwise.data.coded import encode_batch
from countwise.data.discretise import Discretiser, as_discretiser
from countwise.data.schema import learn_schema
from countwise.data.source import MemorySource
from countwise.dtypes import AnyArray
from countwise.errors import DataError
from countwise.estimators.door import check_table
from countwise.evaluate.rivals.tables import one_hot
from countwise.parallel import n_threads

LAYOUTS = ("codes", "onehot")


class CodedTable(TransformerMixin, BaseEstimator):
    """Every attribute as the codes that countwise's own models count; cut points are learned from the rows of ``fit``.

    Paper 000, section 6.4, runs its random forest on such tables.

    Parameters
    ----------
    layout : "codes" or "onehot"
        - "codes": the codes themselves; a value that training never met is one code more than a column has values.
        - "onehot": bins as ordered numbers, *missing* after the last of them, and NaN for missing values if training
          met none; categories, *missing* among them, as indicators, all zeros for what training never met.
    discretiser : str or Discretiser, default "mdlp"
        How numbers become bins, as of countwise's models.
    n_jobs : int or None
        Threads that learn cut points.

    Attributes
    ----------
    codec_ : Codec
        Categories and cut points of every column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"colour": ["red", "blue"] * 4, "size": [1, 2, 3, 4, 5, 6, 7, None]})
    >>> CodedTable("codes").fit(table, [0, 0, 0, 1, 1, 1, 1, 0]).transform(table[-3:])
    array([[0, 1],
           [1, 1],
           [0, 2]], dtype=uint32)

    """

    def __init__(
        self, layout: str = "onehot", *, discretiser: str | Discretiser = "mdlp", n_jobs: int | None = None
    ) -> None:
        self.layout = layout
        self.discretiser = discretiser
        self.n_jobs = n_jobs

    codec_: Codec

    def fit(self, X: Any, y: Any) -> Self:
        """Learn categories and cut points; ``y`` are the labels, of which nothing but equality matters."""
        self._fit_source(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> AnyArray:
        """The training table; read once."""
        return self._lay_out(self._fit_source(X, y))

    def transform(self, X: Any) -> AnyArray:
        """A table with the columns of the training table."""
        return self._lay_out(MemorySource(check_table(self, X, reset=False)))

    def _fit_source(self, X: Any, y: Any) -> MemorySource:
        if self.layout not in LAYOUTS:
            raise DataError(f"layout={self.layout!r} is not known; choose {' or '.join(map(repr, LAYOUTS))}")
        classes, codes = np.unique(y, return_inverse=True)
        source = MemorySource(check_table(self, X, reset=True), codes.astype(np.int64))
        schema = learn_schema(source, as_discretiser(self.discretiser), threads=n_threads(self.n_jobs))
        self.codec_ = Codec(schema.codec.columns, classes)
        return source

    def _lay_out(self, source: MemorySource) -> AnyArray:
        codes = encode_batch(source.batch, self.codec_, threads=n_threads(self.n_jobs)).codes
        if self.layout == "codes":
            return np.column_stack(codes).astype(np.uint32)
        columns: list[AnyArray] = []
        arity: list[int | None] = []
        for column, codec in zip(codes, self.codec_.columns, strict=True):
            is_number = isinstance(codec, NumberCodec)
            columns.append(np.where(column < codec.arity, column, np.nan) if is_number else column)
            arity.append(None if is_number else codec.arity)
        return one_hot(columns, arity)
