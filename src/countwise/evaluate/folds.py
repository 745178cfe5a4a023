"""Stratified folds that never fail, and rows of any kind of table."""

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from countwise.errors import DataError


def stratified_folds(codes: npt.ArrayLike, n_splits: int, seed: Any = 0) -> npt.NDArray[np.int64]:
    """Fold number of every row: the folds, and each class within them, differ in size by at most one row.

    The rows are shuffled, put together by class (the classes in random order) and dealt out to the folds like
    cards. Classes with fewer members than folds are simply absent from some folds. ``seed`` is anything that
    ``numpy.random.default_rng`` takes; equal seeds give equal folds.

    >>> folds = stratified_folds([0, 0, 0, 0, 1, 1, 2], n_splits=2, seed=1)
    >>> [int((folds[:4] == f).sum()) for f in (0, 1)], sorted(folds[4:6].tolist())
    ([2, 2], [0, 1])
    """
    codes = np.asarray(codes)
    if not 2 <= n_splits <= len(codes):
        raise DataError(f"n_splits={n_splits}: between 2 and the number of rows ({len(codes)}) is possible")
    rng = np.random.default_rng(seed)
    n_classes = int(codes.max()) + 1
    place = rng.permutation(n_classes)[codes]  # position of the row's class in a random order of classes
    shuffled = rng.permutation(len(codes))
    dealt = shuffled[np.argsort(place[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[dealt] = rng.permutation(n_splits)[np.arange(len(codes)) % n_splits]
    return folds


def take_rows(X: Any, rows: npt.NDArray[np.int64]) -> Any:
    """The given rows of a matrix (NumPy, SciPy) or of any frame that narwhals knows, as the same type.

    >>> take_rows([[1, 2], [3, 4]], np.array([1]))
    array([[3, 4]])
    """
    if isinstance(X, list):
        X = np.asarray(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows, :].to_native() if isinstance(frame, nw.DataFrame) else X[rows]


def n_rows_of(X: Any) -> int:
    """Number of rows of anything that :func:`take_rows` takes."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def column_types(X: Any) -> list[str]:
    """``name: type`` of every column: what identifies a table beside its rows.

    >>> column_types(np.zeros((3, 2)))
    ['float64 x 2']
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [f"{name}: {dtype}" for name, dtype in frame.schema.items()]
    X = np.asarray(X) if isinstance(X, list) else X
    return [f"{X.dtype} x {X.shape[1] if X.ndim > 1 else 1}"]
