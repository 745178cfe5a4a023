"""Repeated stratified cross-validation of many models on many data sets, with results kept as they come."""

import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.evaluate.folds import column_types, n_rows_of, stratified_folds, take_rows
from countwise.evaluate.results import Results
from countwise.evaluate.scores import SCORES, ScoreFunction, label_codes, score_all
from countwise.evaluate.store import Row, Store
from countwise.progress import Progress, progress_bar, use_progress


@dataclass(frozen=True, eq=False)
class Problem:
    """One data set, read once: ``classes[codes[i]]`` is the label ``y[i]``."""

    name: str
    X: Any
    y: AnyArray
    classes: list[Any]
    codes: npt.NDArray[np.int64]


def cross_validate(
    models: Mapping[str, Any],
    data: Any,
    *,
    n_repeats: int = 5,
    n_splits: int = 2,
    random_state: int = 0,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    scores: Sequence[str] | Mapping[str, ScoreFunction] = tuple(SCORES),
) -> Results:
    """Fit and score every model on every fold of every data set.

    Parameters
    ----------
    models : dict of str to estimator
        Anything with ``fit`` and ``predict_proba``; a fresh clone is fitted for every fold.
    data : object with ``name``, ``X`` and ``y``, a list of those, or dict of name to ``(X, y)``
        As of ``countwise.datasets``. ``X`` is of NumPy, SciPy sparse, pandas, polars or pyarrow.
    n_repeats, n_splits : int
        5 times 2 folds, as in the papers; but stratified, see :func:`stratified_folds`.
    random_state : int
        The folds of repeat r depend on ``(random_state, r)`` and the labels alone: they are the same for all
        models, and a later run with more repeats goes on where this one ended.
    store : path of a ``.jsonl`` file, optional
        Each result is appended as it is made, and a second run takes up what is there. Failed cells are tried
        again. Rows of the same model and data set names made with other settings (splits, seed, scores,
        parameters, or data of another shape, types or labels) are refused with an error before any work.
    progress : bool or Progress, optional
        True for a text bar on stderr; None for the reporter in use, see :mod:`countwise.progress`.
    scores : names in ``SCORES``, or dict of name to function
        Functions are called as ``score(y, proba, classes, sample_weight)`` with labels ``0 .. C - 1``.

    Returns
    -------
    Results
        One row for each (data set, model, repeat, fold). A model that raises gives a row whose ``error`` is
        the message, and the run goes on. A class that was absent from the training fold has probability 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> results = cross_validate({"gnb": GaussianNB()}, {"iris": load_iris(return_X_y=True)}, n_repeats=2)
    >>> len(results.rows), results.summary()[0]["rmse"] < 0.25
    (4, True)

    """
    functions = dict(scores) if isinstance(scores, Mapping) else {name: _score(name) for name in scores}
    protocol = {"n_splits": n_splits, "random_state": random_state, "scores": list(functions)}
    problems = _problems(data)
    if not models or n_repeats < 1:
        raise DataError("cross_validate: at least one model and n_repeats=1 are needed")
    with Store(store) as kept:
        plans = [_identity(problem, name, model) | protocol for problem in problems for name, model in models.items()]
        for plan in plans:  # before any work, so that a wrong store costs nothing
            kept.check_settings(plan)
        for plan in plans:
            kept.add_settings(plan)
        total = len(plans) * n_repeats * n_splits
        with use_progress(progress), progress_bar("cross-validate", total) as bar:
            rows = []
            for cell in _cells(problems, models, n_repeats, n_splits, random_state):
                rows.append(kept.finished(cell.key) or _run(cell, functions, kept))
                bar.advance()
    return Results(rows, tuple(functions))


@dataclass(frozen=True, eq=False)
class Cell:
    """One fit and one prediction."""

    problem: Problem
    model_name: str
    model: Any
    repeat: int
    fold: int
    is_test: npt.NDArray[np.bool_]

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What identifies the cell in a store."""
        return self.problem.name, self.model_name, self.repeat, self.fold


def _cells(
    problems: list[Problem], models: Mapping[str, Any], n_repeats: int, n_splits: int, random_state: int
) -> Iterator[Cell]:
    for problem in problems:
        for repeat in range(n_repeats):
            folds = stratified_folds(problem.codes, n_splits, seed=(random_state, repeat))
            for fold in range(n_splits):
                for name, model in models.items():
                    yield Cell(problem, name, model, repeat, fold, folds == fold)


def _run(cell: Cell, functions: Mapping[str, ScoreFunction], store: Store) -> Row:
    """Fit, predict, score, keep; a model's exception becomes the row's ``error``."""
    train, test = np.flatnonzero(~cell.is_test), np.flatnonzero(cell.is_test)
    dataset, model, repeat, fold = cell.key
    row: Row = {"dataset": dataset, "model": model, "repeat": repeat, "fold": fold}
    row |= {"n_train": len(train), "n_test": len(test), "fit_seconds": None, "predict_seconds": None}
    row |= dict.fromkeys(functions)
    row["error"] = None
    try:
        row |= _measure(cell, train, test, functions)
    except Exception as error:  # any failure of a rival's code is a result too
        row["error"] = f"{type(error).__name__}: {error}"
    store.add(row)
    return row


def _measure(
    cell: Cell,
    train: npt.NDArray[np.int64],
    test: npt.NDArray[np.int64],
    functions: Mapping[str, ScoreFunction],
) -> Row:
    problem = cell.problem
    X_train, X_test = take_rows(problem.X, train), take_rows(problem.X, test)
    model = clone(cell.model)
    began = time.perf_counter()
    model.fit(X_train, problem.y[train])
    fitted = time.perf_counter()
    proba = model.predict_proba(X_test)
    predicted = time.perf_counter()
    proba = _spread(proba, model.classes_, problem.classes)
    values = score_all(problem.codes[test], proba, np.arange(len(problem.classes)), scores=functions)
    return {"fit_seconds": fitted - began, "predict_seconds": predicted - fitted, **values}


def _spread(proba: Any, seen: Any, classes: list[Any]) -> FloatArray:
    """Columns of the classes that the model saw, put into a table of all classes; the others are 0."""
    column = {label: i for i, label in enumerate(classes)}
    wide = np.zeros((len(proba), len(classes)))
    wide[:, [column[label] for label in np.asarray(seen).tolist()]] = proba
    return wide


def _score(name: str) -> ScoreFunction:
    if name not in SCORES:
        raise DataError(f"score {name!r} is not known; there are {', '.join(SCORES)}")
    return SCORES[name]


def _identity(problem: Problem, name: str, model: Any) -> Row:
    """What the model and the data are; the values of X are not looked at, only their shape and types."""
    columns = "; ".join(column_types(problem.X))
    labels = repr(problem.classes).encode() + problem.codes.astype("<i8").tobytes()
    return {
        "dataset": problem.name,
        "model": name,
        "params": _description(model),
        "n_rows": len(problem.y),
        "n_classes": len(problem.classes),
        "labels": hashlib.sha256(labels).hexdigest()[:16],
        "columns": hashlib.sha256(columns.encode()).hexdigest()[:16],
    }


def _description(value: Any) -> str:
    """An estimator's class and parameters, all the way down, without memory addresses (``<f at 0x7f..>``)."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_description, value))}]"
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = (f"{k}={_description(v)}" for k, v in sorted(value.get_params(deep=False).items()))
        return f"{type(value).__name__}({', '.join(params)})"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _problems(data: Any) -> list[Problem]:
    if isinstance(data, Mapping):
        return [_problem(str(name), *value) for name, value in data.items()]
    many: Iterable[Any] = [data] if hasattr(data, "X") else data
    problems = [_problem(item.name, item.X, item.y) for item in many]
    names = [problem.name for problem in problems]
    if len(set(names)) < len(names):
        raise DataError(f"data sets need different names: {', '.join(names)}")
    return problems


def _problem(name: str, X: Any, y: Any) -> Problem:
    labels = np.asarray(y)
    try:
        classes, codes = label_codes(labels)
    except DataError as error:
        raise DataError(f"data set {name!r}: {error}") from None
    if n_rows_of(X) != len(labels):
        raise DataError(f"data set {name!r}: {n_rows_of(X)} rows but {len(labels)} labels")
    return Problem(name, X, labels, classes, codes)
