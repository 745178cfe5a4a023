"""Times of ensembles and rivals over many real sets, as ratios within one run: ``python -m benchmarks.ensembles``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rivals import versions
from benchmarks.timing import show, timed
from countwise.datasets.folder import load_folder
from countwise.evaluate.folds import take_rows
from countwise.evaluate.models import make_model
from countwise.evaluate.problems import Problem, Problems
from countwise.evaluate.protocols import RepeatedFolds

BASE = "xgboost"
MODELS = "pool,tuned,eskdb-hdp,xgboost"


@dataclass
class Times:
    """Least seconds so far of one model on one set."""

    dataset: str
    model: str
    fit_seconds: float = float("inf")
    first_predict_seconds: float = float("inf")  # of a model just fitted: it compiles its look-up tables
    predict_seconds: float = float("inf")


def measure(problem: Problem, models: Sequence[str], threads: int, repeats: int) -> list[Times]:
    """One half of the rows learns, the other is predicted; all models in turn, then again."""
    split = next(iter(RepeatedFolds(1, 2).splits(problem.codes, 0)))
    X, y, X_test = take_rows(problem.X, split.train), problem.y[split.train], take_rows(problem.X, split.test)
    found = {name: Times(problem.name, name) for name in models}
    for _ in range(repeats):
        for name, one in found.items():
            model = make_model(name, 0, threads)
            seconds, _ = timed(lambda model=model: model.fit(X, y))
            one.fit_seconds = min(one.fit_seconds, seconds)
            seconds, _ = timed(lambda model=model: model.predict_proba(X_test))
            one.first_predict_seconds = min(one.first_predict_seconds, seconds)
            seconds, _ = timed(lambda model=model: model.predict_proba(X_test))
            one.predict_seconds = min(one.predict_seconds, seconds)
    return list(found.values())


def ratios(times: Sequence[Times], models: Sequence[str], base: str) -> list[dict[str, Any]]:
    """Geometric means over the sets of a model's time by the base's, and of predicted rows per second."""
    by = {(one.dataset, one.model): one for one in times}
    sets = sorted({one.dataset for one in times})
    lines = []
    for model in models:
        pairs = [(by[name, model], by[name, base]) for name in sets]
        fit = np.log([own.fit_seconds / other.fit_seconds for own, other in pairs])
        predict = np.log([other.predict_seconds / own.predict_seconds for own, other in pairs])
        first = np.log([other.predict_seconds / own.first_predict_seconds for own, other in pairs])
        lines.append(
            {
                "model": model,
                "sets": len(sets),
                "fit s, sum": float(sum(own.fit_seconds for own, _ in pairs)),
                f"fit time / {base}'s": float(np.exp(fit.mean())),
                "10 % of sets below": float(np.exp(np.quantile(fit, 0.1))),
                "90 % below": float(np.exp(np.quantile(fit, 0.9))),
                f"rows/s / {base}'s": float(np.exp(predict.mean())),
                "first call": float(np.exp(first.mean())),
            }
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Parquet files")
    parser.add_argument("--sets", help="names, separated by commas; else all")
    parser.add_argument("--models", default=MODELS, help="names, separated by commas")
    parser.add_argument("--base", default=BASE, help="what ratios are relative to")
    parser.add_argument("--max-rows", type=int, default=20_000, help="larger sets are cut to a sample")
    parser.add_argument("--threads", type=int, default=1, help="of every model")
    parser.add_argument("--repeats", type=int, default=2, help="fits of each model; the fastest counts")
    parser.add_argument("--json", type=Path, help="write every time here too")
    options = parser.parse_args()
    folder = load_folder(options.data)
    data = folder.select(options.sets.split(",")) if options.sets else folder
    models = options.models.split(",")
    print(", ".join(f"{key} {value}" for key, value in versions().items()))
    print(f"{options.threads} thread(s), fastest of {options.repeats}", end="\n\n")
    times: list[Times] = []
    for problem in Problems(data, max_rows=options.max_rows):
        times += measure(problem, models, options.threads, options.repeats)
        if options.json:
            options.json.write_text(json.dumps([asdict(one) for one in times], indent=1))
    show(ratios(times, models, options.base))


if __name__ == "__main__":
    main()
