"""Class labels as users give them: checked, and numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from countwise.data.columns import is_missing
from countwise.dtypes import AnyArray
from countwise.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


def check_target(estimator: Any, y: Any) -> AnyArray:
    """Y as a vector of labels without gaps."""
    if y is None:
        name = type(estimator).__name__
        raise DataError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if isinstance(y, str):
        raise DataError(f"y is the text {y!r}; pass the labels themselves, for example X[{y!r}]")
    y = column_or_1d(_label_array(y), warn=True)
    texts = arrow_texts(y)
    if texts is not None and texts.null_count == 0:
        return y  # whatever texts say, they are labels
    if y.dtype.kind in "Of":
        missing = sum(is_missing(value) for value in y.tolist())
        if missing:
            raise DataError(f"Input y contains NaN: the target is missing in {missing} row(s); drop these rows")
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    if y.dtype.kind == "O":
        kinds = sorted({type(value).__name__ for value in y.tolist()})
        if len(kinds) > 1 and "str" in kinds:
            raise DataError(f"Unknown label type: y mixes {' and '.join(kinds)}; make all labels text or all numbers")
    check_classification_targets(y)
    return y


def _label_array(y: Any) -> Any:
    """Labels of an Arrow array or of a nullable pandas series with the type that they have there."""
    if hasattr(y, "combine_chunks") or hasattr(y, "dictionary_decode"):
        return y.to_numpy(zero_copy_only=False)
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)  # of Int64, boolean and the like
    if isinstance(plain, np.dtype) and plain.kind in "iub" and not y.isna().any():
        return y.to_numpy(dtype=plain)
    return y


def arrow_texts(y: AnyArray) -> pa.Array | None:
    """Labels that are texts, with nulls for what is missing; None if others are among them."""
    import pyarrow as pa

    if y.dtype.kind not in "OU":
        return None
    try:
        found = pa.array(y, from_pandas=True)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        return None
    return found if pa.types.is_string(found.type) or pa.types.is_large_string(found.type) else None


def distinct_labels(y: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The labels that occur, sorted, and for each row the number of its own.

    Texts are looked up in a dictionary: to sort a million of them takes as long as all counting.

    >>> distinct_labels(np.array(["b", "a", "b"], object))
    (array(['a', 'b'], dtype=object), array([1, 0, 1]))
    """
    texts = arrow_texts(y)
    if texts is None:
        labels, number = np.unique(y, return_inverse=True)
        return labels, number
    coded = texts.dictionary_encode()
    found = coded.dictionary.to_numpy(zero_copy_only=False).astype(y.dtype)
    order = np.argsort(found)
    rank = np.empty(len(found), np.int64)
    rank[order] = np.arange(len(found))
    return found[order], rank[coded.indices.to_numpy(zero_copy_only=False)]


def check_classes(classes: AnyArray) -> None:
    """A classifier needs something to tell apart."""
    if len(classes) < 2:
        raise DataError(f"the target has only one class ({classes.tolist()[0]!r}); a classifier needs at least two")
