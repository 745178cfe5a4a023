"""Times and scores beside LightGBM's, as ratios within one run: ``python -m benchmarks.run --threads 1``."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.problems import NAMES, Problem, problems
from benchmarks.rivals import MODELS, RIVAL, Factory, versions, with_single_thread
from benchmarks.timing import show, timed
from countwise.evaluate import log_loss, rmse, zero_one_loss


@dataclass
class Measured:
    """Least seconds so far, and scores on the test set."""

    problem: str
    model: str
    fit_seconds: float = float("inf")
    first_predict_seconds: float = float("inf")  # of a model just fitted: it compiles its look-up tables
    predict_seconds: float = float("inf")
    log_loss: float = float("nan")
    rmse: float = float("nan")
    error: float = float("nan")


def measure(problem: Problem, models: Mapping[str, Factory], threads: int, repeats: int) -> list[Measured]:
    """All models in turn, then again: a disturbance of the machine meets each of them."""
    found = {name: Measured(problem.name, name) for name in models}
    for _ in range(repeats):
        for name, make in models.items():
            one = found[name]
            seconds, model = timed(lambda make=make: make(threads).fit(problem.X, problem.y))
            one.fit_seconds = min(one.fit_seconds, seconds)
            seconds, proba = timed(lambda model=model: model.predict_proba(problem.X_test))
            one.first_predict_seconds = min(one.first_predict_seconds, seconds)
            for _ in range(repeats):
                seconds, proba = timed(lambda model=model: model.predict_proba(problem.X_test))
                one.predict_seconds = min(one.predict_seconds, seconds)
            for score in (log_loss, rmse):
                setattr(one, score.__name__, score(problem.y_test, proba, model.classes_))
            one.error = zero_one_loss(problem.y_test, proba, model.classes_)
    return list(found.values())


def table(problem: Problem, found: list[Measured]) -> list[dict[str, Any]]:
    """A line for each model; ratios are the rival's best time by the model's: above 1 is faster than the rival."""
    rivals = [one for one in found if one.model.startswith(RIVAL)]
    fit, predict = (min((getattr(one, f"{x}_seconds") for one in rivals), default=None) for x in ("fit", "predict"))
    n_rows = len(problem.y_test)
    return [
        {
            "model": one.model,
            "fit s": one.fit_seconds,
            "fit x": fit / one.fit_seconds if fit else None,
            "rows/s": f"{n_rows / one.predict_seconds:,.0f}",
            "first rows/s": f"{n_rows / one.first_predict_seconds:,.0f}",
            "predict x": predict / one.predict_seconds if predict else None,
            "log loss": f"{one.log_loss:.4f}",
            "RMSE": f"{one.rmse:.4f}",
            "error": f"{one.error:.4f}",
        }
        for one in found
    ]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="of every model")
    parser.add_argument("--repeats", type=int, default=3, help="fits of each model; the fastest counts")
    parser.add_argument("--rows", type=int, help="most rows to learn from; else a million computed, all real ones")
    parser.add_argument("--problems", default=",".join(NAMES), help="names, separated by commas")
    parser.add_argument("--models", default=",".join(MODELS), help="names, separated by commas")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the real sets")
    parser.add_argument("--json", type=Path, help="write everything here too")
    options = parser.parse_args()
    for what, known in (("problems", NAMES), ("models", MODELS)):
        strange = [name for name in getattr(options, what).split(",") if name not in known]
        if strange:
            parser.error(f"--{what}: {strange[0]!r} is not one of {', '.join(known)}")
    return options


def main() -> None:
    options = arguments()
    models = {name: MODELS[name] for name in options.models.split(",")}
    if "lightgbm" not in versions() and models.pop(RIVAL, None):
        print("LightGBM is not installed (pip install '.[dev]'): no ratios")
    models = with_single_thread(models, options.threads)
    facts: dict[str, Any] = {"threads": options.threads, "repeats": options.repeats, "versions": versions()}
    print(", ".join(f"{key} {value}" for key, value in facts["versions"].items()))
    print(
        f"{options.threads} thread(s), fastest of {options.repeats}; x: {RIVAL}'s best time by the model's", end="\n\n"
    )
    facts["results"] = []
    for problem in problems(options.problems.split(","), options.data, options.rows):
        load = os.getloadavg()[0]
        print(f"{problem.title}; load of the machine before: {load:.1f}", flush=True)
        found = measure(problem, models, options.threads, options.repeats)
        show(table(problem, found))
        rows = {
            "n_rows": len(problem.y),
            "n_test": len(problem.y_test),
            "n_attributes": problem.X.shape[1],
            "load": load,
        }
        facts["results"] += [rows | asdict(one) for one in found]
        if options.json:
            options.json.write_text(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
