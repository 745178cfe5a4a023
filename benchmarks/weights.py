"""Rows whose weights balance the classes, smoothed as rows or by their weights: ``python -m benchmarks.weights``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

import countwise as cw
from benchmarks.timing import show
from countwise.datasets.folder import load_folder
from countwise.estimators.base import CountClassifier, Derived
from countwise.evaluate import log_loss
from countwise.evaluate.folds import take_rows
from countwise.evaluate.problems import Problem, Problems
from countwise.evaluate.protocols import RepeatedFolds

MODELS = {
    "tree, HGS": cw.ProbabilityTreeClassifier(),
    "tree, HLS": cw.ProbabilityTreeClassifier(smoothing="hls"),
    "tree, HDP": cw.ProbabilityTreeClassifier(smoothing="hdp"),
    "tree, m-branch": cw.ProbabilityTreeClassifier(smoothing="m-branch"),
    "forest, HDP": cw.ProbabilityForestClassifier(),
    "NB, HDP": cw.NBClassifier(tune=None),
    "kDB-2, m": cw.KDBClassifier(k=2, smoothing="m"),
    "kDB-2, HDP": cw.KDBClassifier(k=2, tune=None),
    "kDB-2, HGS": cw.KDBClassifier(k=2, smoothing="hgs"),
    "AODE": cw.AnDEClassifier(),
    "ESKDB": cw.ESKDBClassifier(),
}


def losses(problem: Problem, model: CountClassifier) -> tuple[float, float]:
    """Log loss on the other half, weighed alike, of a model smoothed by weights and by rows."""
    split = next(iter(RepeatedFolds(1, 2).splits(problem.codes, 0)))
    X, y, X_test = take_rows(problem.X, split.train), problem.y[split.train], take_rows(problem.X, split.test)
    model = clone(model).fit(X, y, sample_weight=compute_sample_weight("balanced", y))
    y_test = problem.y[split.test]
    by_class = dict(zip(*np.unique(y_test, return_counts=True), strict=True))
    weights = np.array([1.0 / by_class[label] for label in y_test])
    by_rows = log_loss(y_test, model.predict_proba(X_test), model.classes_, sample_weight=weights)
    model.row_weight_, model._derived = None, Derived()
    return log_loss(y_test, model.predict_proba(X_test), model.classes_, sample_weight=weights), by_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Parquet files")
    parser.add_argument("--models", default=";".join(MODELS), help="names, separated by semicolons")
    parser.add_argument("--max-rows", type=int, default=3000, help="larger sets are cut to a sample")
    options = parser.parse_args()
    lines: list[dict[str, Any]] = []
    problems = list(Problems(load_folder(options.data), max_rows=options.max_rows))
    for name in options.models.split(";"):
        weighed, rows = np.array([losses(problem, MODELS[name]) for problem in problems]).T
        changed = np.abs(weighed - rows) > 5e-5
        lines.append(
            {
                "model": name,
                "sets": len(problems),
                "log loss by weights": float(weighed.mean()),
                "by rows": float(rows.mean()),
                "rows better-same-worse": f"{(rows < weighed)[changed].sum()}-{(~changed).sum()}-"
                f"{(rows > weighed)[changed].sum()}",
                "ratio of the middle set": float(np.median((rows / weighed)[changed])),
            }
        )
    show(lines)


if __name__ == "__main__":
    main()
