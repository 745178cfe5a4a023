"""Sections on what was run and on what failed."""

import re
from collections.abc import Iterable
from typing import Any, Final

from countwise.errors import counted
from countwise.evaluate.compare import Table
from countwise.evaluate.measures import measure_of
from countwise.evaluate.store import Row
from countwise.report.page import Facts, Item, Paragraph, Section, Sheet
from countwise.report.sheets import MEGABYTE, plain_column, sheet
from countwise.report.view import View, joined

NAMES: Final = {"cpu": "CPU", "memory_bytes": "Memory", "load": "Load at the start", "n_workers": "Workers"}
NAMES_OF_SETTINGS: Final = {"prepare": "Preparation", "random_state": "Seed"}
MOST_RUNS: Final = 12  # values of one fact of the machine, such as times at which runs were started


def overview_section(view: View) -> Section:
    """Numbers of data sets, models and cells; the protocol; models with their parameters; facts of the machine."""
    results = view.results
    items: list[Item] = [Facts("What was run", tuple(_facts(view)))]
    items += [Paragraph(text) for text in _unfinished(view)]
    used = {model: params for (_, model), item in results.settings.items() if (params := item.get("params"))}
    if any(model in used for model in results.models):
        columns = (
            plain_column("Model", results.models, is_text=True),
            plain_column("Parameters", [used.get(model) for model in results.models], is_text=True),
        )
        items.append(Sheet("Models and their parameters", columns, folded=True))
    if results.runs:
        items.append(Facts("Machine and versions", tuple(_machine(results.runs))))
    return Section("What was run", tuple(items))


def _facts(view: View) -> Iterable[tuple[str, str]]:
    results = view.results
    yield "Data sets", f"{len(results.datasets):,}{_sizes(view)}"
    yield "Models", f"{len(results.models):,}"
    n_failed = len(results.failures)
    yield (
        "Cells",
        f"{len(results.rows):,}, {n_failed:,} of them failed" if n_failed else f"{len(results.rows):,}, none failed",
    )
    yield "Protocol", _protocol(view)
    settings = _settings(view)
    for key, name in NAMES_OF_SETTINGS.items():
        values = _distinct(item.get(key) for item in settings)
        if values:
            yield name, joined(values)
    yield "Measures", joined([measure_of(name).title for name in results.scores], most=30)


def _sizes(view: View) -> str:
    rows = [view.results.problems[name]["n_rows"] for name in view.results.datasets if name in view.results.problems]
    if not rows:
        return ""
    return f", of {min(rows):,} to {max(rows):,} rows" if min(rows) < max(rows) else f", of {rows[0]:,} rows"


def _protocol(view: View) -> str:
    """The protocol, as the rows and settings tell it."""
    results = view.results
    repeats: dict[str, int] = {}
    for row in results.rows:
        repeats[row["dataset"]] = max(repeats.get(row["dataset"], 0), row["repeat"] + 1)
    fewest, most = min(repeats.values()), max(repeats.values())
    n = f"{most}" if fewest == most else f"{fewest} to {most}"
    if results.train_sizes:
        tested = _distinct(item.get("test_rows") for item in _settings(view))
        text = f"{n} draws of {joined(results.train_sizes)} training rows"
        return text + (f"; test rows: {joined([_tested(value) for value in tested])}" if tested else "")
    folds = _distinct(item.get("n_splits") for item in _settings(view)) or [
        1 + max(row["fold"] for row in results.rows)
    ]
    return f"{'1 repeat' if n == '1' else f'{n} repeats'} of stratified {joined(folds)}-fold cross-validation"


def _tested(value: Any) -> str:
    return f"at most {value:,}" if isinstance(value, int) else f"the {value}"


def _settings(view: View) -> list[Row]:
    """Of the data sets and models of this page."""
    models, datasets = set(view.results.models), set(view.results.datasets)
    return [item for (d, m), item in view.results.settings.items() if d in datasets and m in models]


def _unfinished(view: View) -> list[str]:
    """Sentences on cells that are not there yet."""
    results = view.results
    models = set(results.models)
    planned = {key for key in results.settings if key[1] in models}
    cells: dict[tuple[str, int | None], dict[str, int]] = {}
    for row in results.rows:
        own = cells.setdefault((row["dataset"], row.get("train_size")), dict.fromkeys(results.models, 0))
        own[row["model"]] += 1
    begun = {(name, model) for (name, _), own in cells.items() for model, n in own.items() if n}
    said = []
    missing = planned - begun
    if missing:
        sets = sorted({name for name, _ in missing})
        said.append(
            f"Not run yet: {len(missing):,} of {len(planned):,} pairs of a data set and a model, on "
            f"{counted(len(sets), 'data set')} ({joined(sets)})."
        )
    uneven = sorted({name for (name, _), own in cells.items() if len({n for n in own.values() if n}) > 1})
    if uneven:
        said.append(
            f"On {counted(len(uneven), 'data set')} models have different numbers of cells, as of a run that goes on "
            f"({joined(uneven)}); their scores are of the cells there are."
        )
    return said


def _machine(runs: Iterable[Row]) -> Iterable[tuple[str, str]]:
    """Each fact once, with all values that it had."""
    runs = list(runs)
    for key in dict.fromkeys(key for run in runs for key in run):
        values = _distinct(_said(key, run.get(key)) for run in runs if run.get(key) is not None)
        if values:
            yield NAMES.get(key, key.replace("_", " ").capitalize()), "; ".join(_first_and_last(values))


def _said(key: str, value: Any) -> str:
    """A fact as one line of text.

    >>> _said("memory_bytes", 8_000_000_000), _said("versions", {"numpy": "2.1", "scipy": "1.14"})
    ('8,000 MB', 'numpy 2.1, scipy 1.14')
    """
    if key.endswith("_bytes") and isinstance(value, int | float):
        return f"{value / MEGABYTE:,.0f} MB"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_said(name, own)}" for name, own in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_said("", own) for own in value)
    return re.sub(r"\s+", " ", str(value)).strip()


def _first_and_last(values: list[Any]) -> list[str]:
    """All values, or of many the first and the last."""
    texts = list(map(str, values))
    return texts if len(texts) <= MOST_RUNS else [texts[0], f"({len(texts) - 2} more)", texts[-1]]


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(value for value in values if value is not None))


def failures_section(view: View) -> Section:
    """Which cells failed, and what they said."""
    failed = view.results.failures
    if not failed:
        return Section("Failures", (Paragraph(f"None of {counted(len(view.results.rows), 'cell')} failed."),))
    n_cells: dict[tuple[str, str], int] = {}
    for row in view.results.rows:
        key = (row["dataset"], row["model"])
        n_cells[key] = n_cells.get(key, 0) + 1
    counts: dict[tuple[str, str, str], int] = {}
    for row in failed:
        what = (row["dataset"], row["model"], row["error"])
        counts[what] = counts.get(what, 0) + 1
    lines: list[Row] = [
        {"Data set": name, "Model": model, "Failed": n, "Cells": n_cells[name, model], "Message": message}
        for (name, model, message), n in sorted(counts.items())
    ]
    said = (
        f"{len(failed):,} of {counted(len(view.results.rows), 'cell')} failed. Means, ranks and pairs leave out "
        "the data sets on which a model failed."
    )
    table = sheet(Table("Failures", lines), text=("Model", "Message"))
    return Section("Failures", (Paragraph(said), table))
