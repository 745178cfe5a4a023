"""Well-known classifiers of scikit-learn as yardsticks, made to read any table."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from countwise.dtypes import AnyArray, FloatArray


class TableEncoder(TransformerMixin, BaseEstimator):
    """Any table as a matrix of floats: numbers as they are, categories as codes or as indicator columns.

    Missing numbers stay NaN; a missing category is one more category; categories unseen in training are code
    -1 or all zeros.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"colour": ["red", "blue", None], "size": [1.0, None, 3.0]})
    >>> TableEncoder("onehot").fit_transform(table)
    array([[ 1.,  0.,  0.,  1.],
           [nan,  0.,  1.,  0.],
           [ 3.,  1.,  0.,  0.]])

    """

    def __init__(self, encoding: str = "ordinal") -> None:
        self.encoding = encoding

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the categories."""
        _, categories = _split(X)
        if self.encoding == "onehot":
            self.encoder_ = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        else:
            self.encoder_ = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        if categories.shape[1]:
            self.encoder_.fit(categories)
        return self

    def transform(self, X: Any) -> FloatArray:
        """The matrix: columns of numbers, then those of categories."""
        numbers, categories = _split(X)
        if not categories.shape[1]:
            return numbers
        return np.hstack([numbers, self.encoder_.transform(categories)])


def _split(X: Any) -> tuple[FloatArray, AnyArray]:
    """Numbers with NaN for missing, and categories as text with ``""`` for missing."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return np.asarray(X, dtype=np.float64), np.empty((len(X), 0), dtype=object)
    numbers, categories = [np.empty((len(frame), 0))], [np.empty((len(frame), 0), dtype=object)]
    for name, dtype in frame.schema.items():
        column = frame[name]
        if dtype.is_numeric():
            numbers.append(np.array(column.cast(nw.Float64).to_list(), dtype=np.float64)[:, None])
        else:
            text = ["" if value is None else str(value) for value in column.to_list()]
            categories.append(np.array(text, dtype=object)[:, None])
    return np.hstack(numbers), np.hstack(categories)


def _forest(seed: int, jobs: int | None) -> Pipeline:
    return make_pipeline(TableEncoder("onehot"), RandomForestClassifier(random_state=seed, n_jobs=jobs))


def _boosting(seed: int, jobs: int | None) -> Pipeline:
    return make_pipeline(TableEncoder("ordinal"), HistGradientBoostingClassifier(random_state=seed))


def _logistic(seed: int, jobs: int | None) -> Pipeline:
    steps = (SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression(max_iter=1000))
    return make_pipeline(TableEncoder("onehot"), *steps)


RIVALS: Final[Mapping[str, Callable[[int, int | None], Pipeline]]] = {
    "rf": _forest,
    "hgb": _boosting,
    "logistic": _logistic,
}
