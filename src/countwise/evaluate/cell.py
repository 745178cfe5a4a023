"""One cell of an experiment: a fit on the training rows, a prediction of the test rows, and what was measured."""

import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from countwise.dtypes import FloatArray
from countwise.evaluate.bias_variance import pack_codes
from countwise.evaluate.folds import take_rows
from countwise.evaluate.memory import PeakMemory
from countwise.evaluate.problems import Problem
from countwise.evaluate.protocols import Split
from countwise.evaluate.scores import ScoreFunction, reliability_bins, score_all
from countwise.evaluate.store import Key, Row


@dataclass(frozen=True, eq=False)
class Cell:
    """One fit and one prediction; ``sized``: measure how large the fitted model is, too."""

    dataset: str
    model_name: str
    model: Any
    split: Split
    sized: bool

    @property
    def key(self) -> Key:
        """What identifies the cell in a store."""
        return self.dataset, self.model_name, self.split.repeat, self.split.fold, self.split.train_size

    @property
    def task(self) -> tuple[str, str, int | None]:
        """What it has in common with the cells that take about as long: the other splits of the same size."""
        return self.dataset, self.model_name, self.split.train_size


def empty_row(cell: Cell, scores: Mapping[str, ScoreFunction]) -> Row:
    """The row of a cell of which nothing is known yet."""
    dataset, model, repeat, fold, train_size = cell.key
    row: Row = {"dataset": dataset, "model": model, "repeat": repeat, "fold": fold, "train_size": train_size}
    row |= {"n_train": len(cell.split.train), "n_test": len(cell.split.test)}
    row |= dict.fromkeys((*scores, "fit_seconds", "predict_seconds", "peak_bytes", "model_bytes"))
    return row | {"predicted": None, "reliability": None, "error": None}


def run_cell(problem: Problem, cell: Cell, scores: Mapping[str, ScoreFunction]) -> Row:
    """Fit, predict and score. A model's exception becomes the row's ``error``."""
    row = empty_row(cell, scores)
    try:
        row |= _measure(problem, cell, scores)
    except MemoryError as error:
        row["error"] = f"OutOfMemory: {error or 'the memory limit is reached'}"
    except Exception as error:  # any failure of a rival's code is a result too
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def _model_for(problem: Problem, cell: Cell) -> Any:
    """An estimator for the cell; a model with ``for_table`` has looked at the whole data set first, once."""
    if not hasattr(cell.model, "for_table"):
        return clone(cell.model)
    if cell.model_name not in problem.made:
        problem.made[cell.model_name] = cell.model.for_table(problem.X, problem.y)
    return clone(problem.made[cell.model_name])


def _measure(problem: Problem, cell: Cell, scores: Mapping[str, ScoreFunction]) -> Row:
    train, test = cell.split.train, cell.split.test
    X_train, X_test = take_rows(problem.X, train), take_rows(problem.X, test)
    model = _model_for(problem, cell)
    with PeakMemory() as memory:
        began = time.perf_counter()
        if len(np.unique(problem.codes[train])) > 1:
            model.fit(X_train, problem.y[train])
            seen = model.classes_
        else:  # a small draw of a set with a rare class: there is nothing to learn, for any model
            seen = problem.y[train][:1]
        fitted = time.perf_counter()
        proba = model.predict_proba(X_test) if len(seen) > 1 else np.ones((len(test), 1))
        predicted = time.perf_counter()
    wide = _spread(proba, seen, problem.classes)
    codes = problem.codes[test]
    columns = np.arange(len(problem.classes))
    values = {
        name: None if np.isnan(value) else value  # JSON has no NaN
        for name, value in score_all(codes, wide, columns, scores=scores).items()
    }
    bins = reliability_bins(codes, wide, columns)
    return {
        **values,
        "fit_seconds": fitted - began,
        "predict_seconds": predicted - fitted,
        "peak_bytes": memory.peak_bytes,
        "model_bytes": len(pickle.dumps(model, protocol=5)) if cell.sized else None,
        "predicted": pack_codes(wide.argmax(axis=1)),
        "reliability": [np.round(part, 6).tolist() for part in (bins.weight, bins.stated, bins.happened)],
    }


def _spread(proba: Any, seen: Any, classes: list[Any]) -> FloatArray:
    """Columns of the classes that the model saw, put into a table of all classes; the others are 0."""
    column = {label: i for i, label in enumerate(classes)}
    wide = np.zeros((len(proba), len(classes)))
    wide[:, [column[label] for label in np.asarray(seen).tolist()]] = proba
    return wide
