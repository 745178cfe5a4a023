"""Memory of a pool on a large table, after the fit and once it predicts: ``python -m benchmarks.pool_memory``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import countwise as cw
from benchmarks.problems import NAMES, REAL, Problem, problems
from benchmarks.timing import show, timed
from countwise.evaluate import log_loss

GB = 2**30


def status(key: str) -> float:
    """GB of this process: VmRSS now, VmHWM at most so far (Linux)."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 / GB for line in file if line.startswith(key))


def measure(problem: Problem, k: int, threads: int) -> dict[str, Any]:
    """One fit and three predictions; memory is above that of the process with the table in it."""
    before = status("VmRSS")
    model = cw.PoolClassifier(k=k, n_jobs=threads)
    fit_seconds, _ = timed(lambda: model.fit(problem.X, problem.y))
    fitted, peak_of_fit = status("VmRSS") - before, status("VmHWM") - before
    first_seconds, proba = timed(lambda: model.predict_proba(problem.X_test))
    seconds = min(timed(lambda: model.predict_proba(problem.X_test))[0] for _ in range(2))
    trees = [tree for member in model.members_ for tree in member.trees]
    return {
        "k": k,
        "million contexts": sum(tree.counts.n_nodes for tree in trees) / 1e6,
        "counts GB": sum(tree.nbytes for tree in trees) / GB,
        "fit, most GB": peak_of_fit,
        "fitted GB": fitted,
        "predicts GB": status("VmRSS") - before,
        "most GB": status("VmHWM") - before,
        "fit s": fit_seconds,
        "first prediction s": first_seconds,
        "rows/s": f"{len(proba) / seconds:,.0f}",
        "log loss": f"{log_loss(problem.y_test, proba, model.classes_):.4f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the real sets")
    parser.add_argument("--problem", choices=NAMES, default=REAL[-1])
    parser.add_argument("--rows", type=int, help="most rows to learn from")
    parser.add_argument("--k", type=int, default=5, help="parents of the pool's networks")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    for problem in problems([options.problem], options.data, options.rows):
        print(problem.title, flush=True)
        facts = measure(problem, options.k, options.threads)
        show([facts])
        if options.json:
            options.json.write_text(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
