"""How often intervals hold the true class probability: ``python -m benchmarks.intervals``.

Networks with known tables are drawn, rows are drawn from each, and a classifier with the *true* structure is fitted,
so that only the parameters are uncertain. Printed are the shares of true probabilities of new rows within intervals
of several levels, and of the 90 % intervals the mean width and the mean distance of the truths that are outside.

Truths: ``dirichlet-W`` has tables from a hierarchical Dirichlet prior of weight W along (class, parent 1, ...);
``mixture`` has those of :func:`countwise.datasets.sample_network`, which no smoother assumes. Smoothing ``tuned`` is
``hdp`` with ``tune="loo"``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import countwise as cw
from benchmarks.timing import show
from countwise.datasets.network import Network, random_network

LEVELS = (0.5, 0.8, 0.9, 0.95)
MODELS = {"NB": 0, "1 parent": 1, "3 parents": 3}
N_ATTRIBUTES, ARITY = 10, (2, 6)


def dirichlet_network(n_classes: int, n_parents: int, strength: float, rng: np.random.Generator) -> Network:
    """Each node of an attribute's tree is a Dirichlet around its parent with this weight; the roots are uniform."""
    shape = random_network(
        n_attributes=N_ATTRIBUTES, arity=ARITY, n_classes=n_classes, n_parents=n_parents, random_state=rng
    )
    tables = []
    for table in shape.tables:
        proba = rng.dirichlet(np.ones(table.shape[-1]))
        for axis in table.shape[:-1]:
            draws = rng.gamma(strength * np.repeat(proba[..., None, :], axis, axis=-2))
            draws = np.maximum(draws, 1e-12)
            proba = draws / draws.sum(axis=-1, keepdims=True)
        tables.append(proba)
    return Network(shape.class_prior, shape.parents, tuple(tables))


def draw(truth: str, n_classes: int, n_parents: int, rng: np.random.Generator) -> Network:
    if truth == "mixture":
        return random_network(
            n_attributes=N_ATTRIBUTES, arity=ARITY, n_classes=n_classes, n_parents=n_parents, random_state=rng
        )
    return dirichlet_network(n_classes, n_parents, float(truth.removeprefix("dirichlet-")), rng)


def held(network: Network, smoothing: str, n_rows: int, n_test: int, seed: Sequence[int]) -> list[float] | None:
    """Shares within the intervals of each level, width and distance at 90 %; None if a class has no row."""
    rng = np.random.default_rng(seed)
    train, test = network.sample(n_rows, random_state=rng), network.sample(n_test, random_state=rng)
    if len(np.unique(train.y)) < network.n_classes:
        return None
    structure = {f"x{i}": [f"x{p}" for p in parents] for i, parents in enumerate(network.parents)}
    params = {"tune": "loo"} if smoothing == "tuned" else {"smoothing": smoothing, "tune": None}
    model = cw.BNClassifier(structure, **params).fit(train.X, train.y)
    true = network.class_proba(test.X)
    shares = []
    for level in LEVELS:
        low, high = np.moveaxis(model.predict_proba_interval(test.X, level=level), 2, 0)
        shares.append(float(((low <= true) & (true <= high)).mean()))
        if level == 0.9:
            outside = np.maximum(low - true, true - high)
            rest = [float((high - low).mean()), float(outside[outside > 0].mean()) if (outside > 0).any() else 0.0]
    return [*shares, *rest]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truths", nargs="+", default=["dirichlet-20", "dirichlet-5", "mixture"])
    parser.add_argument("--smoothing", nargs="+", default=["m", "hdp", "tuned"])
    parser.add_argument("--rows", nargs="+", type=int, default=[100, 1000, 10_000])
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--networks", type=int, default=10, help="networks of each kind")
    parser.add_argument("--test", type=int, default=300, help="new rows of each network")
    options = parser.parse_args()
    for truth in options.truths:
        print(f"{truth}: {options.networks} networks, {options.classes} classes, {N_ATTRIBUTES} attributes\n")
        lines = []
        for smoothing in options.smoothing:
            for name, n_parents in MODELS.items():
                for n_rows in options.rows:
                    runs = []
                    for i in range(options.networks):
                        rng = np.random.default_rng([i, n_parents])
                        network = draw(truth, options.classes, n_parents, rng)
                        runs.append(held(network, smoothing, n_rows, options.test, [i, n_rows]))
                    means = np.mean([run for run in runs if run is not None], axis=0)
                    shares = {f"{level:.0%}": f"{100 * m:.1f}" for level, m in zip(LEVELS, means, strict=False)}
                    rest = {"width": f"{means[-2]:.3f}", "outside by": f"{means[-1]:.3f}"}
                    lines.append({"smoothing": smoothing, "structure": name, "rows": n_rows} | shares | rest)
        show(lines)


if __name__ == "__main__":
    main()
