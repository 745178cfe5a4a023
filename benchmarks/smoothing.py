"""Which smoothing gives the best probabilities: ``python -m benchmarks.smoothing --data FOLDER --store FILE``.

5 times 2-fold cross-validation of every network with every smoother on real sets. Prints the means over the sets, and
how often each smoother is better than the m-estimate whose m was chosen on held-out rows, with two-sided sign tests:
paper 000, Table 4, with more columns. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.stats import binomtest

import countwise as cw
from benchmarks.timing import show

SETS = [
    "post-operative",
    "echocardiogram",
    "lymphography",
    "iris",
    "tae",
    "hepatitis",
    "wine",
    "autos",
    "sonar",
    "glass",
    "new-thyroid",
    "hungarian",
    "cleveland",
    "haberman",
    "bupa",
    "ionosphere",
    "dermatology",
    "house-votes-84",
    "chess",
    "balance-scale",
    "credit-approval",
    "breast-cancer-w",
    "pima",
    "vehicle",
    "annealing",
    "tic-tac-toe",
    "led",
    "cmc",
    "yeast",
    "volcanoes",
    "car",
    "segment",
    "kr-vs-kp",
    "abalone",
    "sick",
]
NETWORKS: dict[str, Callable[..., Any]] = {
    "NB": cw.NBClassifier,
    "TAN": cw.TANClassifier,
    **{f"kDB-{k}": lambda k=k, **p: cw.KDBClassifier(k=k, **p) for k in range(1, 6)},
    "SkDB": lambda **p: cw.SKDBClassifier(k=5, **p),
}
SMOOTHERS: dict[str, dict[str, Any]] = {
    "m": {"smoothing": cw.MEstimate("holdout")},
    "m-branch": {"smoothing": "m-branch"},
    "vb": {"smoothing": "hdp", "tune": None},
    "gibbs": {"smoothing": cw.HDP("gibbs")},
    "tuned": {"smoothing": "hdp", "tune": "loo"},
    "dirichlet": {"smoothing": "hierarchical-dirichlet"},
    "bdeu-1": {"smoothing": cw.BDeu(1)},
    "bdeu-10": {"smoothing": cw.BDeu(10)},
    "hls": {"smoothing": "hls"},
}
BASE = "m"
MEASURES = {"rmse": "RMSE", "zero_one_loss": "0-1 loss", "log_loss": "log loss"}
DECIMALS = 4  # sets on which two smoothers agree to so many are draws
PAPER = {  # paper 000, Table 4: HDP by 5,000 Gibbs sweeps against m-estimates, 68 sets; 0-1 loss, RMSE
    "NB": ("41-4-23", "40-0-28"),
    "TAN": ("45-4-19", "52-1-15"),
    "kDB-1": ("45-4-19", "50-1-17"),
    "kDB-2": ("54-2-12", "54-0-14"),
    "kDB-3": ("52-4-12", "53-2-13"),
    "kDB-4": ("56-4-8", "56-0-12"),
    "kDB-5": ("60-4-4", "60-2-6"),
    "SkDB": ("45-4-19", "54-0-14"),
}


def scores_of(name: str, folder: str, smoothers: list[str], repeats: int, store: Path) -> list[dict[str, Any]]:
    """All networks and smoothers on one set; the store is a file for each set."""
    models = {f"{n} {s}": make(**SMOOTHERS[s]) for n, make in NETWORKS.items() for s in smoothers}
    data = {name: tuple(cw.datasets.load_folder(folder)[name])}
    file = store / f"{name}.jsonl"
    return cw.evaluate.cross_validate(models, data, n_repeats=repeats, n_splits=2, store=file).summary()


def versus(own: np.ndarray, other: np.ndarray) -> tuple[int, int, int, float]:
    """Wins, draws, losses, and the two-sided sign test over wins and losses."""
    difference = np.round(own, DECIMALS) - np.round(other, DECIMALS)
    wins, losses = int((difference < 0).sum()), int((difference > 0).sum())
    p = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    return wins, len(own) - wins - losses, losses, float(p)


def report(score: dict[tuple[str, str], dict[str, Any]], sets: list[str], smoothers: list[str]) -> None:
    """Means, then wins, draws and losses against the m-estimate and, of the tuned HDP, against plain HDP."""

    def column(network: str, smoother: str, measure: str) -> np.ndarray:
        return np.array([score[name, f"{network} {smoother}"][measure] for name in sets])

    for measure, title in MEASURES.items():
        print(f"Mean {title} of {len(sets)} sets\n")
        show([{"network": n} | {s: f"{column(n, s, measure).mean():.4f}" for s in smoothers} for n in NETWORKS])
    for base in (BASE, "vb"):
        rivals = [s for s in smoothers if s != base]
        for measure, title in MEASURES.items():
            print(f"Wins-draws-losses on {title} against {base}; * p < 0.05, ** p < 0.001, two-sided sign test\n")
            lines = []
            for network in NETWORKS:
                line = {"network": network}
                for smoother in rivals:
                    wins, draws, losses, p = versus(*(column(network, s, measure) for s in (smoother, base)))
                    line[smoother] = f"{wins}-{draws}-{losses}{'**' if p < 0.001 else '*' if p < 0.05 else ''}"
                if base == BASE and measure != "log_loss":
                    line["paper 000"] = PAPER[network][measure == "rmse"]
                lines.append(line)
            show(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="data", help="folder of Parquet files with a column `class`")
    parser.add_argument("--store", type=Path, default=Path("smoothing-results"), help="folder for the scores")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="sets at a time")
    parser.add_argument("--smoothers", default=",".join(SMOOTHERS), help="names, separated by commas")
    options = parser.parse_args()
    options.store.mkdir(exist_ok=True)
    known = cw.datasets.load_folder(options.data).names
    sets, smoothers = [name for name in SETS if name in known], options.smoothers.split(",")
    work = (joblib.delayed(scores_of)(s, options.data, smoothers, options.repeats, options.store) for s in sets)
    found = joblib.Parallel(options.jobs, verbose=5)(work)
    score = {(line["dataset"], line["model"]): line for lines in found for line in lines}
    report(score, sets, smoothers)


if __name__ == "__main__":
    main()
