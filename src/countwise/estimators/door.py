"""Where a user's data enter: checked once, here; trusted after."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, validate_data

from countwise.data.columns import is_missing
from countwise.data.files import check_weights
from countwise.data.source import MemorySource, RawBatch, Source, is_frame
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def memory_bytes(max_memory: int | float | str | None) -> int:
    """``max_memory`` in bytes; None is half of the machine's memory.

    >>> memory_bytes("2GB"), memory_bytes("1.5 MB"), memory_bytes(4096)
    (2147483648, 1572864, 4096)
    """
    if max_memory is None:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    match = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?)i?b?\s*", str(max_memory).lower())
    size = float(match[1]) * UNITS[match[2]] if match else 0.0
    if size < 1:
        raise DataError(f"max_memory={max_memory!r}: expected a number of bytes or a text such as '2GB'")
    return int(size)


def check_table(estimator: Any, X: Any, reset: bool) -> Any:
    """X as a frame or a two-dimensional array; feature names and number are kept or compared."""
    if is_frame(X) and not isinstance(X, np.ndarray):
        if len(X.shape) != 2:
            raise DataError(f"X must be a table with rows and columns, got shape {X.shape}. Reshape your data")
        if X.shape[0] == 0 or X.shape[1] == 0:
            raise DataError(f"the table is empty: {X.shape[0]} rows, {X.shape[1]} columns")
    else:
        X = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)
    return validate_data(estimator, X, skip_check_array=True, reset=reset)


def check_target(estimator: Any, y: Any) -> AnyArray:
    """Y as a vector of labels without gaps."""
    if y is None:
        name = type(estimator).__name__
        raise DataError(f"This {name} estimator requires y to be passed, but the target y is None.")
    y = column_or_1d(y.to_numpy(zero_copy_only=False) if hasattr(y, "combine_chunks") else y, warn=True)
    if y.dtype.kind in "Of":
        missing = sum(is_missing(value) for value in y.tolist())
        if missing:
            raise DataError(f"Input y contains NaN: the target is missing in {missing} row(s); drop these rows")
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return y


def check_sample_weight(sample_weight: Any, X: Any) -> FloatArray | None:
    """Weights as float64, or None."""
    if sample_weight is None:
        return None
    weights = check_weights(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if not (weights > 0).any():
        raise DataError("all sample weights are zero: no row is left to learn from")
    return weights


def check_classes(classes: AnyArray) -> None:
    """A classifier needs something to tell apart."""
    if len(classes) < 2:
        raise DataError(f"the target has only one class ({classes[0]!r}); a classifier needs at least two")


def training_source(
    estimator: Any, X: Any, y: Any, sample_weight: Any, reset: bool, classes: AnyArray | None = None
) -> tuple[Source, AnyArray | None]:
    """The source to learn from and the classes; in memory the target is coded here, a scan finds its classes."""
    if isinstance(X, Source):
        if not X.has_target:
            raise DataError("the source has no target; pass scan(..., target='name of the column to predict')")
        if y is not None or sample_weight is not None:
            raise DataError("a Source brings its own target and weights; call fit(source) alone")
        note_source(estimator, X, reset)
        return X, None
    X = check_table(estimator, X, reset)
    y = check_target(estimator, y)
    check_consistent_length(X, y)
    weights = check_sample_weight(sample_weight, X)
    learned = y if weights is None else y[weights > 0]
    if classes is None:
        classes = np.unique(learned)
        check_classes(classes)
    codes = np.searchsorted(classes, y)
    known = classes[np.minimum(codes, len(classes) - 1)] == y
    if not (known if weights is None else known | (weights == 0)).all():
        strangers = np.unique(y[~known])[:5]
        raise DataError(f"y holds label(s) {list(strangers)} that are not among the classes {list(classes[:20])}")
    return MemorySource(X, codes.astype(np.int64), weights), classes


def prediction_source(estimator: Any, X: Any) -> Source:
    """The rows to predict, whatever form they come in."""
    if isinstance(X, Source):
        note_source(estimator, X, reset=False)
        return X
    return MemorySource(check_table(estimator, X, reset=False))


def note_source(estimator: Any, source: Source, reset: bool) -> None:
    """Keep or compare the column names of a source, as scikit-learn does for frames."""
    names = np.asarray(source.names, dtype=object)
    if reset:
        estimator.n_features_in_, estimator.feature_names_in_ = len(names), names
        return
    expected = list(getattr(estimator, "feature_names_in_", names))
    if list(names) != expected:
        absent = [name for name in expected if name not in set(names)]
        strange = [name for name in names if name not in set(expected)]
        raise DataError(
            f"the source's columns are not those of training: missing {absent}, not known {strange}"
            if absent or strange
            else "the source's columns are in another order than in training; pass columns=model.feature_names_in_"
        )


def first_batch(source: Source) -> RawBatch:
    """The only batch of a table in memory."""
    return next(iter(source.batches()))
