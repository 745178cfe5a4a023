"""Which smoothing is the better default: ``python -m benchmarks.smoothing --data FOLDER``.

Two-fold cross-validation of each classifier with each smoother on real sets, and the means over the sets.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import countwise as cw
from benchmarks.timing import show

SETS = [
    "abalone",
    "adult",
    "audiology",
    "balance-scale",
    "car",
    "cmc",
    "credit-approval",
    "glass",
    "house-votes-84",
    "iris",
    "kr-vs-kp",
    "lymphography",
    "magic",
    "pima",
    "satellite",
    "segment",
    "sonar",
    "splice",
    "tic-tac-toe",
    "vehicle",
    "waveform-5000",
    "yeast",
]
MODELS: dict[str, Callable[[str], object]] = {
    "NB": lambda smoothing: cw.NBClassifier(smoothing=smoothing),
    "TAN": lambda smoothing: cw.TANClassifier(smoothing=smoothing),
    "kDB-5": lambda smoothing: cw.KDBClassifier(k=5, smoothing=smoothing),
    "SkDB-5": lambda smoothing: cw.SKDBClassifier(k=5, smoothing=smoothing),
}
SMOOTHERS = ("mle", "laplace", "m", "m-branch")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="data", help="folder of Parquet files with a column `class`")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    folder = cw.datasets.load_folder(options.data)
    sets = {name: tuple(folder[name]) for name in SETS if name in folder.names}
    models = {f"{m} {s}": make(s) for m, make in MODELS.items() for s in SMOOTHERS}
    results = cw.evaluate.cross_validate(models, sets, n_repeats=options.repeats, n_splits=2)
    score = {(row["dataset"], row["model"]): row for row in results.summary()}
    print(
        f"\n{len(sets)} sets, {options.repeats} times 2-fold; wins: sets on which it is better than m in that measure\n"
    )
    rows = []
    for name in models:
        versus = f"{name.split()[0]} m"
        row: dict[str, object] = {"model": name}
        for measure in ("rmse", "log_loss", "zero_one_loss"):
            own = np.array([score[d, name][measure] for d in sets])
            row[measure] = f"{own.mean():.4f}"
            row[f"{measure} wins"] = int((own < [score[d, versus][measure] for d in sets]).sum())
        rows.append(row)
    show(rows)


if __name__ == "__main__":
    main()
