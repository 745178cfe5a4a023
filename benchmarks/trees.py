"""Times and sizes of grown trees beside scikit-learn's, as ratios within one run: ``python -m benchmarks.trees``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.rivals import versions
from benchmarks.timing import fastest, show, timed
from countwise.datasets.folder import load_folder
from countwise.estimators.names import make
from countwise.evaluate.problems import Problem, Problems
from countwise.evaluate.rivals.tables import OrdinalTable


def rival_of(name: str, threads: int) -> Any:
    """scikit-learn's counterpart: a tree, or as large a forest."""
    if name.startswith("forest"):
        trees = make(name).n_estimators
        return RandomForestClassifier(trees, min_samples_leaf=2, max_features="log2", n_jobs=threads, random_state=0)
    return DecisionTreeClassifier(min_samples_leaf=2, random_state=0)


def measure(problem: Problem, name: str, threads: int, repeats: int) -> dict[str, Any]:
    """Fit and prediction of all rows; categories are numbers to the rival, before the clock starts."""
    numbers = OrdinalTable().fit(problem.X).transform(problem.X)
    codes = np.unique(np.asarray(problem.y), return_inverse=True)[1]
    model, rival = make(name, {"n_jobs": threads}), rival_of(name, threads)
    fit, own_fit = np.inf, np.inf
    for _ in range(repeats):  # in turn, so that a disturbance meets both
        fit = min(fit, timed(lambda: rival.fit(numbers, codes))[0])
        own_fit = min(own_fit, timed(lambda: model.fit(problem.X, problem.y))[0])
    predict = fastest(lambda: rival.predict_proba(numbers), repeats)
    own_predict = fastest(lambda: model.predict_proba(problem.X), repeats)
    return {
        "set": problem.name,
        "rows": len(problem.y),
        "columns": numbers.shape[1],
        "fit s": own_fit,
        "scikit-learn's": fit,
        "fit ratio": own_fit / fit,
        "predict ratio": own_predict / predict,
        "leaves": sum(tree.n_leaves for tree in model.trees_),
        "its leaves": sum(t.get_n_leaves() for t in getattr(rival, "estimators_", [rival])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Parquet files")
    parser.add_argument("--sets", default="letter,magic,covertype", help="names, separated by commas")
    parser.add_argument("--models", default="tree", help="tree, forest, with a smoothing or not; separated by commas")
    parser.add_argument("--threads", type=int, default=1, help="of both")
    parser.add_argument("--repeats", type=int, default=3, help="the fastest counts")
    options = parser.parse_args()
    print(", ".join(f"{key} {value}" for key, value in versions().items()))
    print(f"{options.threads} thread(s), fastest of {options.repeats}", end="\n\n")
    data = load_folder(options.data).select(options.sets.split(","))
    for name in options.models.split(","):
        print(f"{name}\n")
        show([measure(problem, name, options.threads, options.repeats) for problem in Problems(data)])


if __name__ == "__main__":
    main()
