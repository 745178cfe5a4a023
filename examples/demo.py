"""Train, cross-validate, save and explain models on data that the package computes itself.

Run with ``make demo``; it takes less than a minute on two cores. The numbers are the same on every run: all
chance has a seed. A model is left in ``demo/``.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np

import countwise as cw
from countwise import datasets
from countwise.evaluate import Results, cross_validate
from countwise.evaluate.results import format_table
from countwise.evaluate.rivals import RIVALS

OUT = Path("demo")
SHOWN = {"rmse": "RMSE", "log_loss": "log loss", "zero_one_loss": "error"}


def problems() -> list[Any]:
    """Six problems: three complete tables and three samples."""
    return [
        datasets.load("tic-tac-toe"),
        datasets.load("balance-scale"),
        datasets.load("monks-1"),
        datasets.make_led(2000, random_state=0),
        datasets.make_waveform(2000, random_state=0),
        datasets.make_poker(5000, random_state=0),
    ]


def models() -> dict[str, Any]:
    """From no dependence between attributes to a pool of networks and trees, and a forest as a yardstick."""
    return {
        "NB": cw.NBClassifier(),
        "TAN": cw.TANClassifier(),
        "kDB-1": cw.KDBClassifier(k=1),
        "kDB-2": cw.KDBClassifier(k=2),
        "SkDB": cw.SKDBClassifier(k=5),
        "pool": cw.PoolClassifier(n_jobs=-1),
        "random forest": RIVALS["rf"](0, -1),
    }


def show_scores(results: Results) -> None:
    """A table per score: data sets down, models across; the best of each line has a star."""
    summary = results.summary()
    names = list(dict.fromkeys(line["model"] for line in summary))
    for score, title in SHOWN.items():
        lines = []
        for dataset in dict.fromkeys(line["dataset"] for line in summary):
            values = {line["model"]: line[score] for line in summary if line["dataset"] == dataset}
            best = min((value for value in values.values() if value is not None), default=None)
            cells = {name: _cell(values[name], best) for name in names}
            lines.append({title: dataset} | cells)
        print(format_table(lines), end="\n\n")
    for row in results.failures:
        print(f"failed: {row['model']} on {row['dataset']}: {row['error']}")


def _cell(value: float | None, best: float | None) -> str:
    return "-" if value is None else f"{value:.4f}{'*' if value == best else ' '}"


def save_load_explain(dataset: Any) -> None:
    """The way of a model into a program: fit, save, load, predict, and say why."""
    path = OUT / f"skdb-{dataset.name}.cw"
    cw.SKDBClassifier(k=5).fit(dataset.X, dataset.y).save(path)
    model = cw.load(path)
    print(f"{path}: {path.stat().st_size:,} bytes, loaded back as {type(model).__name__}")
    rows = dataset.X.take([0, len(dataset.y) // 2, len(dataset.y) - 1])
    proba, why = model.predict_proba(rows), model.explain(rows)
    for i, p in enumerate(proba):
        best = int(p.argmax())
        print(f"  row {i}: {', '.join(f'P({c}) = {x:.3f}' for c, x in zip(model.classes_, p, strict=True))}")
        parts = why.contributions[i, :, best]
        for a in np.argsort(-np.abs(parts))[:3]:
            value = rows.column(why.names[a])[i].as_py()
            verb = "for" if parts[a] > 0 else "against"
            print(f"    {why.names[a]} = {value} speaks {verb} {model.classes_[best]} ({parts[a]:+.2f})")


def main() -> None:
    """Everything, with the time it took."""
    began = time.perf_counter()
    OUT.mkdir(exist_ok=True)
    data = problems()
    print("\n".join(map(str, data)), end="\n\n")
    print("2 times 2-fold stratified cross-validation; small is good", end="\n\n", flush=True)
    results = cross_validate(models(), data, n_repeats=2, random_state=0, progress=True)
    show_scores(results)
    save_load_explain(data[0])
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
