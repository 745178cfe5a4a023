"""Where a user's data enter: checked once, here; trusted after."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, validate_data

from countwise.data.files import FileSource, check_weights
from countwise.data.source import MemorySource, RawBatch, Source, check_unique, is_frame, native_names
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.estimators.labels import check_classes, check_target, distinct_labels
from countwise.smooth import HDP, Smoother

FAR_FROM_ONE = 10.0  # the mean of weights that were hardly meant as numbers of rows
FALLBACK_MEMORY = 4 * 2**30  # bytes of a machine that does not tell
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def machine_memory() -> int:
    """Bytes of memory of the machine; a guess where it does not tell (Windows)."""
    if not hasattr(os, "sysconf"):
        return FALLBACK_MEMORY
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def memory_bytes(max_memory: int | float | str | None) -> int:
    """``max_memory`` in bytes; None is half of the machine's memory.

    >>> memory_bytes("2GB"), memory_bytes("1.5 MB"), memory_bytes(4096)
    (2147483648, 1572864, 4096)
    """
    if max_memory is None:
        return machine_memory() // 2
    match = re.fullmatch(r"\s*(\d+\.?\d*(?:e[0-9]+)?)\s*([kmgt]?)i?b?\s*", str(max_memory).lower())
    size = float(match[1]) * UNITS[match[2]] if match else 0.0
    if not 1 <= size < 2.0**63:
        raise DataError(f"max_memory={max_memory!r}: expected a number of bytes or a text such as '2GB'")
    return int(size)


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse a parameter that is no whole number, or too small a one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise DataError(f"{name} must be a whole number >= {least}, got {value!r}")


def seed_of(random_state: Any) -> int:
    """``random_state`` as a number; None is 0, so that results repeat."""
    if random_state is None:
        return 0
    if not isinstance(random_state, Integral) or isinstance(random_state, bool) or random_state < 0:
        raise DataError(f"random_state must be None or an integer >= 0, got {random_state!r}")
    return int(random_state)


def wants_tuning(tune: Any, tune_rows: Any, smoother: Smoother) -> bool:
    """What ``tune`` means for this smoother; "auto" tunes where it can."""
    if tune not in ("auto", "loo", None):
        raise DataError(f"tune={tune!r} is not known; choose 'auto', 'loo' or None")
    check_whole("tune_rows", tune_rows, 1)
    if tune == "loo":
        check_tunable("tune='loo'", smoother)
    return tune is not None and _is_tunable(smoother)


def check_tunable(who: str, smoother: Smoother) -> None:
    """Refuse a smoother whose strength cannot be tuned by leave-one-out."""
    if not _is_tunable(smoother):
        raise DataError(f"{who} needs smoothing='hdp', by method 'vb' and tying 'level' or 'single'; got {smoother!r}")


def _is_tunable(smoother: Smoother) -> bool:
    return isinstance(smoother, HDP) and smoother.method == "vb" and smoother.tying in ("level", "single")


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """If learning fails, the estimator is what it was before: not fitted, or fitted by the call before."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_table(estimator: Any, X: Any, reset: bool) -> Any:
    """X as a frame or a two-dimensional array; feature names and number are kept or compared."""
    if not reset and _is_plain(estimator, X):
        return X
    X = _as_table(X)
    if is_frame(X):
        if len(X.shape) != 2:
            raise DataError(
                f"X is a {type(X).__name__} of shape {X.shape}, not a table with rows and columns: "
                "select one column with df[['name']], one row with df.iloc[[0]]. Reshape your data"
            )
        if X.shape[0] == 0 or X.shape[1] == 0:
            raise DataError(f"the table is empty: {X.shape[0]} rows, {X.shape[1]} columns")
        check_unique(native_names(X))
    else:
        X = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)
    return validate_data(estimator, X, skip_check_array=True, reset=reset)


def _is_plain(estimator: Any, X: Any) -> bool:
    """Whether X needs no more looks: a matrix of float64 for a model that was fitted without names."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    )


def _as_table(X: Any) -> Any:
    """X, with forms that would lose something in a plain conversion turned into better ones."""
    if isinstance(X, (str, os.PathLike)):
        raise DataError(f"X is the path {os.fspath(X)!r}; pass countwise.scan({os.fspath(X)!r}, target=...) to read it")
    if type(X) is dict:  # some sparse matrices of SciPy are dicts too
        raise DataError("X is a dict; make it a table: pandas.DataFrame(X) or pyarrow.table(X)")
    if isinstance(X, np.ma.MaskedArray):  # the mask would be dropped
        is_number = X.dtype.kind in "iufb"
        return np.ma.filled(X.astype(np.float64 if is_number else object), np.nan if is_number else None)
    if isinstance(X, (list, tuple)):
        array = np.asarray(X, dtype=None if not _mixes_text(X) else object)
        return array if array.ndim == 2 else X
    if isinstance(X, np.ndarray):
        return X
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise DataError(f"X is a lazy frame ({type(X).__name__}); collect it first: X.collect()")
    import pyarrow as pa

    if isinstance(X, pa.RecordBatch):  # scikit-learn finds the column names of tables only
        return pa.Table.from_batches([X])
    return pa.table(X) if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "shape") else X


def _mixes_text(rows: Any) -> bool:
    """Whether rows hold texts beside other values: NumPy would make all of them text."""
    values = [value for row in rows if isinstance(row, (list, tuple)) for value in row]
    n_texts = sum(isinstance(value, str) for value in values)
    return 0 < n_texts < len(values)


def check_sample_weight(sample_weight: Any, X: Any) -> FloatArray | None:
    """Weights as float64, or None."""
    if sample_weight is None:
        return None
    try:
        weights = check_weights(_check_sample_weight(sample_weight, X, dtype=np.float64))
    except (TypeError, ValueError) as error:
        if "weight" in str(error).lower():
            raise
        raise DataError(f"sample_weight must hold one number for each row: {error}") from error
    if not (weights > 0).any():
        raise DataError("all sample weights are zero: no row is left to learn from")
    _warn_of_unit(weights[weights > 0])
    return weights


def _warn_of_unit(weights: FloatArray) -> None:
    """Weights that are not whole weigh rows, and only their ratios matter to whoever made them."""
    mean = float(weights.mean())
    if not 1 / FAR_FROM_ONE <= mean <= FAR_FROM_ONE and bool((weights != np.floor(weights)).any()):
        warnings.warn(
            f"the mean of sample_weight is {mean:.4g}, and priors and tuning take each row for {mean:.4g} rows; "
            "if weights only say how rows compare, pass sample_weight / sample_weight.mean()",
            UserWarning,
            stacklevel=2,
        )


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
    if X.shape[0] != len(y):
        raise DataError(f"X and y have inconsistent numbers of samples: X has {X.shape[0]} rows, y has {len(y)}")
    weights = check_sample_weight(sample_weight, X)
    labels, number = distinct_labels(y)
    learned = np.bincount(number, None if weights is None else weights > 0) > 0
    if classes is None:
        classes = labels[learned]
        check_classes(classes)
    code = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    strangers = labels[(classes[code] != labels) & learned]
    if len(strangers):
        raise DataError(
            f"y holds label(s) {strangers[:5].tolist()} that are not among the classes {classes[:20].tolist()}"
        )
    return MemorySource(X, code[number], weights), classes


def prediction_source(estimator: Any, X: Any) -> Source:
    """The rows to predict, whatever form they come in."""
    if isinstance(X, Source):
        note_source(estimator, X, reset=False)
        return X.read_like(estimator.codec_) if isinstance(X, FileSource) else X
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
            f"the source lacks column(s) {absent[:20]} that the model was trained on"
            if absent
            else f"the source has column(s) {strange[:20]} that the model does not know; "
            "pass scan(..., columns=model.feature_names_in_)"
            if strange
            else "the source's columns are in another order than in training; "
            "pass scan(..., columns=model.feature_names_in_)"
        )


def first_batch(source: Source) -> RawBatch:
    """The only batch of a table in memory."""
    return next(iter(source.batches()))
