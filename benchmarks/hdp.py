"""What HDP smoothing costs: ``python -m benchmarks.hdp --data FOLDER``.

For the trees of kDB-5, one thread: counting, smoothing by vb, sampling by gibbs and crt, whole fits. Ratios within one
run; times are of the processor, so that other work on the machine disturbs them less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import countwise as cw
from benchmarks.problems import NETWORK
from benchmarks.timing import show
from countwise.estimators.door import training_source
from countwise.estimators.learn import coded_memory
from countwise.tree.context import ContextTree, build_trees

SETS = ("network", "covertype", "adult", "connect-4", "letter")
SAMPLED = {"network": 2, "covertype": 2}  # of the last trees are sampled from, of the others all


def seconds(function: Callable[[], Any], repeats: int) -> float:
    """The least processor time of several calls."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        function()
        found.append(time.process_time() - began)
    return min(found)


def load(name: str, folder: Path) -> tuple[Any, np.ndarray]:
    """The attributes and classes of one set; ``network`` is computed."""
    if name == "network":
        return tuple(cw.datasets.sample_network(1_000_000, random_state=0, **NETWORK)[0])
    return tuple(cw.datasets.load_folder(folder)[name])


def active_cells(trees: list[ContextTree]) -> int:
    return sum(int((tree.counts.cell_count > 1).sum()) for tree in trees)


def smoothing_costs(name: str, X: Any, y: np.ndarray, repeats: int, sweeps: int) -> dict[str, Any]:
    """Counting the trees, smoothing them, sampling them."""
    model = cw.KDBClassifier(k=5, smoothing="m").fit(X, y)
    source, _ = training_source(model, X, y, None, reset=False, classes=model.classes_)
    batch = coded_memory(source, model.codec_, 1)
    families, trees = model.structure_.families, model.trees_
    count = seconds(lambda: build_trees(batch, families, model.codec_.arity, len(model.classes_)), repeats)
    hdp, part = cw.HDP(), trees[-SAMPLED.get(name, len(trees)) :]
    vb = seconds(lambda: [hdp.smooth(tree.counts) for tree in trees], repeats)
    vb_part = seconds(lambda: [hdp.smooth(tree.counts) for tree in part], repeats)
    n_sweeps = np.mean([hdp.fit_tree(tree.counts).n_sweeps for tree in trees])
    line: dict[str, Any] = {
        "trees of": f"{name}, {len(y):,} rows",
        "cells": f"{sum(tree.counts.n_cells for tree in trees):,}",
        "counting s": count,
        "vb s": vb,
        "vb / counting": f"{vb / count:.2f}",
        "sweeps": f"{n_sweeps:.1f}",
    }
    for method in ("gibbs", "crt"):
        sampler = cw.HDP(method, n_iter=sweeps, burn_in=sweeps // 10)
        spent = seconds(lambda sampler=sampler: [sampler.smooth(tree.counts) for tree in part], 1)
        line[f"{method} ns"] = f"{spent / sweeps / active_cells(part) * 1e9:.0f}"
        line[f"{method} / vb"] = f"{spent * 1000 / sweeps / vb_part:,.0f}"
    return line


def fit_costs(name: str, X: Any, y: np.ndarray, repeats: int) -> dict[str, Any]:
    """Whole fits of selective kDB and of TAN."""

    def fit(model: Any) -> float:
        return seconds(lambda: model.fit(X, y), repeats)

    skdb = {s: fit(cw.SKDBClassifier(k=5, smoothing=s, tune=None)) for s in ("m", "hdp")}
    tuned = fit(cw.SKDBClassifier(k=5))
    tan = fit(cw.TANClassifier(smoothing="hierarchical-dirichlet"))
    return {
        "fit of": name,
        "SkDB-5 m s": skdb["m"],
        "hdp / m": f"{skdb['hdp'] / skdb['m']:.2f}",
        "tuned / m": f"{tuned / skdb['m']:.2f}",
        "TAN hierarchical-dirichlet s": tan,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of Parquet files")
    parser.add_argument("--sets", default=",".join(SETS), help="names, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sweeps", type=int, default=50, help="of the samplers; ratios are for 1,000")
    options = parser.parse_args()
    sets = {name: load(name, options.data) for name in options.sets.split(",")}
    print("kDB-5, one thread; ns: for a cell of two or more rows and a sweep; gibbs / vb: 1,000 sweeps\n")
    show([smoothing_costs(name, X, y, options.repeats, options.sweeps) for name, (X, y) in sets.items()])
    show([fit_costs(name, X, y, options.repeats) for name, (X, y) in sets.items()])


if __name__ == "__main__":
    main()
