"""Sections on how models behave: calibration, time, and scores as training data grow."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError, counted
from countwise.evaluate.measures import measure_of
from countwise.evaluate.results import Results
from countwise.plots import LearningCurveDisplay, ReliabilityDisplay, TimeDisplay
from countwise.report.page import Item, Paragraph, Picture, Section, Sheet
from countwise.report.sheets import mark_columns, measure_column, measure_heading, plain_column
from countwise.report.view import View, joined

MOST_CURVES: Final = 12  # pictures, one for each data set
MOST_SIZES: Final = 12  # columns of a table


def calibration_section(view: View) -> Section:
    """Stated probabilities against what happened, of a few models."""
    datasets = view.at.only(models=view.shown).table(view.measures[0]).datasets
    bins, without = {}, []
    for model in view.shown:
        try:
            bins[model] = view.at.reliability(model, datasets or None)
        except DataError:  # it has no cell that ended well, or the results were put together without bins
            without.append(model)
    said = [view.about_size(), view.about_shown()]
    if without:
        said.append(f"Stated probabilities are not kept, or no cell ended well, of {joined(without)}.")
    items: list[Item] = [Paragraph(text) for text in said if text]
    if bins:
        over = counted(len(datasets), "data set") if datasets else "every model's own data sets"
        caption = (
            f"How often the predicted class was right against the probability stated for it, over {over}, each "
            "counting alike. On the diagonal a model means what it says; below it, it says too much. Intervals "
            "take a row once, however many repeats predicted it."
        )
        display = ReliabilityDisplay.from_bins(bins)
        items.append(Picture("Reliability diagram", display, caption))
    return Section("Calibration", tuple(items))


def cost_section(view: View) -> Section:
    """Seconds to fit against rows of training."""
    picture = time_picture(view.results, view.shown)
    if picture is None:
        return Section("Cost", (Paragraph("No cell has a time to fit."),))
    text = f"{view.about_shown()} Times, peak memory and sizes of all models are in the table of means.".strip()
    return Section("Cost", (Paragraph(text), picture))


def time_picture(results: Results, models: Sequence[str], labels: Mapping[str, str] | None = None) -> Picture | None:
    """Seconds to fit against training rows, of models that may have labels of their own; None if none is timed."""
    places: dict[tuple[str, int | None], list[int]] = {}
    seconds: dict[tuple[str, str, int | None], list[float]] = {}
    for row in results.rows:
        if row["error"] is None and row.get("fit_seconds"):
            key = (row["dataset"], row.get("train_size"))
            places.setdefault(key, []).append(row["n_train"])
            seconds.setdefault((row["model"], *key), []).append(row["fit_seconds"])
    table = np.array([[np.mean(seconds.get((m, *key), [np.nan])) for key in places] for m in models])
    timed = [i for i in range(len(models)) if places and not np.isnan(table[i]).all()]
    if not timed:
        return None
    n_rows = np.array([np.mean(sizes) for sizes in places.values()])
    names = tuple((labels or {}).get(models[i], models[i]) for i in timed)
    display = TimeDisplay(n_rows, table[timed], names, y_label="seconds to fit", x_label="training rows")
    caption = "A point is the mean of a data set's cells of one size."
    return Picture("Time to fit against training rows", display, caption)


def curves_section(view: View) -> Section | None:
    """Scores against training rows, over data sets and for each; None for cross-validation."""
    if not view.results.train_sizes:
        return None
    items: list[Item] = [Paragraph(view.about_shown())] if view.about_shown() else []
    for measure in view.measures:
        items.append(sizes_sheet(view, measure))
        mean = mean_curve(view, measure)
        items += [mean] if mean is not None else []
    results = view.results.only(models=view.shown)
    ordered = largest_first(results)
    drawn, left = ordered[:MOST_CURVES], ordered[MOST_CURVES:]
    if left:
        items.append(Paragraph(f"By data set: the {MOST_CURVES} largest, without {joined(left)}."))
    items += [picture for name in drawn if (picture := curve(results, name, view.measures[0])) is not None]
    return Section("Learning curves", tuple(items))


def curve(results: Results, dataset: str, measure: str) -> Picture | None:
    """Mean and standard error over draws against training rows, on one data set; None if no cell ended well."""
    rows = [row for row in results.rows if row["dataset"] == dataset and row.get(measure) is not None]
    sizes = sorted({row["train_size"] for row in rows})
    models = [model for model in results.models if any(row["model"] == model for row in rows)]
    if not models:
        return None
    runs = np.full((len(models), len(sizes), 1 + max(row["repeat"] for row in rows)), np.nan)
    for row in rows:
        runs[models.index(row["model"]), sizes.index(row["train_size"]), row["repeat"]] = row[measure]
    own = measure_of(measure)
    display = LearningCurveDisplay.from_runs(sizes, runs, models, y_label=measure_heading(own))
    facts = results.problems.get(dataset, {})
    caption = f"{facts['n_rows']:,} rows, {facts['n_classes']} classes." if facts else ""
    return Picture(f"{own.title}: learning curve on {dataset}", display, caption)


def mean_curve(view: View, measure: str) -> Picture | None:
    """Means over the data sets that have every size; None if these are less than two, or it is one size."""
    models = view.shown
    sizes, datasets = _common(view.results)
    if len(sizes) < 2 or len(datasets) < 2:
        return None
    results = view.results.only(models=models, datasets=datasets)
    tables = [results.only(train_size=size).table(measure) for size in sizes]
    kept = [name for name in datasets if all(name in table.datasets for table in tables)]
    if len(kept) < 2:
        return None
    mean = np.array([table.values[[table.datasets.index(name) for name in kept]].mean(axis=0) for table in tables])
    own = measure_of(measure)
    display = LearningCurveDisplay(
        np.array(sizes, dtype=np.float64), mean.T, tuple(tables[0].models), y_label=measure_heading(own)
    )
    return Picture(f"{own.title}: mean learning curve", display, f"{counted(len(kept), 'data set')}.")


def sizes_sheet(view: View, measure: str) -> Sheet:
    """Means at each training size, over the data sets that have it."""
    sizes = view.results.train_sizes
    tables = {size: view.results.only(train_size=size).table(measure) for size in sizes}
    tables = {size: table for size, table in tables.items() if table.datasets}
    # Sizes of one data set only, such as the last of a learning curve, say nothing about the others.
    several = {size: table for size, table in tables.items() if len(table.datasets) > 1} or tables
    chosen = dict(list(several.items())[:MOST_SIZES])
    models = view.results.models
    columns = [
        measure_column(measure, _means(table.models, table.values, models), f"{size:,} ({len(table.datasets)})")
        for size, table in chosen.items()
    ]
    note = "Training rows at the top, and in brackets the data sets that have so many and on which no model failed"
    if len({tuple(table.datasets) for table in chosen.values()}) > 1:
        note += "; means of different sizes are of different data sets"
    note += ". The best of each column is marked."
    if len(chosen) < len(sizes):
        note += f" {counted(len(sizes) - len(chosen), 'size')} of {len(sizes)} not shown."
    model = plain_column("Model", models, is_text=True)
    title = f"{measure_heading(measure_of(measure))}: means by training rows"
    return Sheet(title, (model, *mark_columns(columns, [measure] * len(columns))), note)


def _means(there: Sequence[str], values: FloatArray, models: Sequence[str]) -> list[float | None]:
    """The means of a table's columns, in the order of ``models``."""
    mean = dict(zip(there, values.mean(axis=0).tolist(), strict=True))
    return [mean.get(model) for model in models]


def _common(results: Results) -> tuple[list[int], list[str]]:
    """The sizes that most data sets have, and the data sets that have them all."""
    having: dict[str, set[int]] = {}
    for row in results.rows:
        having.setdefault(row["dataset"], set()).add(row["train_size"])
    shared = {size: sum(size in own for own in having.values()) for size in results.train_sizes}
    half = [size for size, n in shared.items() if 2 * n > len(having)]
    return half, [name for name, own in having.items() if own >= set(half)]


def largest_first(results: Results) -> list[str]:
    """Data sets, the largest first."""
    return sorted(results.datasets, key=lambda name: (-results.problems.get(name, {}).get("n_rows", 0), name))
