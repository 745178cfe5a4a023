"""The hierarchical Multinomial-Dirichlet model on the simulation of paper 003: ``python -m benchmarks.dirichlet``.

Tables are drawn from the model (section 3.2): alpha = |X| Dirichlet(1, ..), a column Dirichlet(alpha) for each of |Y|
contexts, n rows. Shown are mean errors of the estimates: to the exact posterior mean (by polynomials, for n up to
``--exact``) and to the columns that the rows were drawn from, beside BDeu. With ``--data`` also the time that a TAN of
the set ``adult`` takes.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import countwise as cw
from benchmarks.timing import fastest, show
from countwise.dtypes import FloatArray
from countwise.smooth import BDeu, HierarchicalDirichlet, Smoother, dense_proba

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracle.hierarchical_dirichlet import exact_mean, table_tree

VALUES = COLUMNS = (2, 4, 6, 8)
ROWS = (20, 40, 80, 160, 320, 640)
SMOOTHERS: dict[str, Smoother] = {
    "hierarchical": HierarchicalDirichlet(),
    "hierarchical eb": HierarchicalDirichlet("eb"),
    "BDeu 1": BDeu(1.0),
    "BDeu 10": BDeu(10.0),
}


def draw(rng: np.random.Generator, n_values: int, n_columns: int, n_rows: int) -> tuple[FloatArray, FloatArray]:
    """Counts and the distributions they come from, values x columns."""
    alpha = np.maximum(n_values * rng.dirichlet(np.ones(n_values)), 1e-6)
    theta = np.maximum(rng.dirichlet(alpha, size=n_columns), 1e-12)
    theta /= theta.sum(1, keepdims=True)
    rows = rng.multinomial(n_rows, np.full(n_columns, 1 / n_columns))
    return np.array([rng.multinomial(n, p) for n, p in zip(rows, theta, strict=True)]).T, theta.T


def estimates(smoother: Smoother, counts: FloatArray) -> FloatArray:
    """Of the columns that have rows, values x columns; BDeu is told of the others."""
    tree = replace(table_tree(counts), splits=(counts.shape[1],))
    return dense_proba(tree, smoother.smooth(tree))[1:].T


def distances(found: FloatArray, truth: FloatArray) -> dict[str, float]:
    """The three measures of section 3.2; Hellinger's distance is the mean over columns."""
    root = np.sqrt(found) - np.sqrt(truth)
    return {
        "MSE": float(((found - truth) ** 2).mean()),
        "KL": float((truth * np.log(truth / found)).sum(0).mean()),
        "H": float(np.sqrt((root**2).sum(0) / 2).mean()),
    }


def simulate(repeats: int, exact_rows: int) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for n_rows in ROWS:
        scores: dict[str, list[dict[str, float]]] = {name: [] for name in SMOOTHERS}
        gaps, steps = [], []
        for n_values, n_columns, _ in np.ndindex(len(VALUES), len(COLUMNS), repeats):
            counts, theta = draw(rng, VALUES[n_values], COLUMNS[n_columns], n_rows)
            full, size = counts[:, counts.sum(0) > 0], len(counts)
            for name, smoother in SMOOTHERS.items():
                scores[name].append(distances(estimates(smoother, counts), theta[:, counts.sum(0) > 0]))
            steps.append(HierarchicalDirichlet().posterior(table_tree(counts)).iterations)
            if n_rows <= exact_rows:
                kappa = exact_mean(full, size, [1] * size)
                exact = (full + size * kappa[:, None]) / (full.sum(0) + size)
                gaps.append(((estimates(SMOOTHERS["hierarchical"], counts) - exact) ** 2).mean())
        for name, found in scores.items():
            row: dict[str, object] = {"rows": n_rows, "model": name}
            row |= {key: f"{np.mean([s[key] for s in found]):.5f}" for key in found[0]}
            own = name == "hierarchical"
            row["MSE to exact"] = f"{np.mean(gaps):.1e}" if own and gaps else "-"
            row["greatest"] = f"{np.max(gaps):.1e}" if own and gaps else "-"
            row["steps"] = f"{np.mean(steps):.1f}" if own else "-"
            rows.append(row)
    show(rows)


def time_adult(folder: str) -> None:
    X, y = cw.datasets.load_folder(folder)["adult"]
    rows = []
    for name in ("m-branch", "bdeu", "hierarchical-dirichlet"):
        model = cw.TANClassifier(smoothing=name).fit(X, y)
        trees, smoother = [tree.counts for tree in model.trees_], model.smoother_
        fit = fastest(lambda name=name: cw.TANClassifier(smoothing=name).fit(X, y), 10)
        smooth = fastest(lambda trees=trees, smoother=smoother: [smoother.smooth(tree) for tree in trees], 10)
        rows.append(
            {"TAN on adult": name, "fit ms": f"{fit * 1e3:.1f}", "of which smoothing ms": f"{smooth * 1e3:.2f}"}
        )
    show(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--exact", type=int, default=160, help="greatest number of rows for the exact posterior")
    parser.add_argument("--data", help="folder of Parquet files with a column `class`")
    options = parser.parse_args()
    simulate(options.repeats, options.exact)
    if options.data:
        time_adult(options.data)


if __name__ == "__main__":
    main()
