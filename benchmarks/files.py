"""Sizes of model files, and times to save, load and use them: ``python -m benchmarks.files``."""

from __future__ import annotations

import argparse
import pickle
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.timing import show, timed
from countwise import load
from countwise.datasets.folder import load_folder
from countwise.evaluate.folds import take_rows
from countwise.evaluate.models import make_model
from countwise.evaluate.problems import Problem, Problems

SETS = "breast-cancer,soybean,adult,satellite,letter"
MODELS = "pool,tuned,eskdb-hdp"
RIVAL = "xgboost"  # by its pickle, as scikit-learn's users keep models
MB = 1e6
FIRST_ROWS = list(range(10))


def measure(problem: Problem, name: str, folder: Path, repeats: int) -> dict[str, Any]:
    """One model of one set: what its file takes, and how soon a loaded one has predicted ten rows."""
    model = make_model(name, 0, 1).fit(problem.X, problem.y)
    rows, path = take_rows(problem.X, FIRST_ROWS), folder / "model.cw"
    saving, loading, first = [], [], []
    for _ in range(repeats):
        saving.append(timed(lambda: model.save(path))[0])
        seconds, loaded = timed(lambda: load(path))
        loading.append(seconds)
        first.append(timed(lambda loaded=loaded: loaded.predict_proba(rows))[0])
    return {
        "set": problem.name,
        "rows": len(problem.y),
        "model": name,
        "file MB": path.stat().st_size / MB,
        "save s": min(saving),
        "load s": min(loading),
        "first rows s": min(first),
        "pickle MB": len(pickle.dumps(model, protocol=5)) / MB,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Parquet files")
    parser.add_argument("--sets", default=SETS, help="names, separated by commas")
    parser.add_argument("--models", default=MODELS, help="names, separated by commas")
    parser.add_argument("--max-rows", type=int, default=20_000, help="larger sets are cut to a sample")
    parser.add_argument("--repeats", type=int, default=3, help="the fastest counts")
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for problem in Problems(load_folder(options.data).select(options.sets.split(",")), max_rows=options.max_rows):
            models = options.models.split(",")
            lines += [measure(problem, name, Path(folder), options.repeats) for name in models]
            rival = make_model(RIVAL, 0, 1).fit(problem.X, problem.y)
            size = len(pickle.dumps(rival, protocol=5)) / MB
            lines.append(dict.fromkeys(lines[0]) | {"set": problem.name, "model": RIVAL, "pickle MB": size})
    show(lines)


if __name__ == "__main__":
    main()
