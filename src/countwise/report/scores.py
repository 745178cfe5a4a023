"""Sections on scores: means, ranks, pairs of models, and every data set by itself."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from countwise.errors import counted
from countwise.evaluate import compare
from countwise.evaluate.measures import measure_of
from countwise.evaluate.ranks import friedman, nemenyi
from countwise.evaluate.results import COSTS, Results
from countwise.plots import CriticalDifferenceDisplay, MeanDotsDisplay
from countwise.report.page import Column, Item, Paragraph, Picture, Section, Sheet
from countwise.report.sheets import NONE, mark_columns, mark_lines, measure_column, measure_heading, plain_column, sheet
from countwise.report.view import View, joined

MOST_RANKED: Final = 25  # models of a critical difference diagram
PAIRS: Final = "Each line is a model against those at the top: wins-draws-losses. A draw is equal to 4 decimals."
FEW_MODELS: Final = 8  # whose table of all pairs is open


def means_section(view: View) -> Section:
    """Means over data sets: a table of all measures, and a picture for each chosen one."""
    items: list[Item] = []
    if view.size is not None:
        items.append(Paragraph(f"{view.about_size()} The means at other sizes are with the learning curves."))
    table = means_sheet(view)
    if any(text != NONE for column in table.columns[1:] for text in column.texts):
        items.append(table)
    pictures = {measure: mean_dots(view.at, measure) for measure in view.measures}
    items += [picture for picture in pictures.values() if picture is not None]
    none = view.about_common([measure for measure, picture in pictures.items() if picture is None])
    return Section("Means", (*items, *([Paragraph(none)] if none else [])))


def means_sheet(view: View) -> Sheet:
    """The table of means, sorted by the first measure, the best of each column marked."""
    table = compare.means(view.at)
    first = measure_of(view.measures[0])
    lines = table.lines
    if all(line.get(first.name) is not None for line in lines):
        lines = sorted(lines, key=lambda line: line[first.name], reverse=first.higher_is_better)
    names = [name for name in lines[0] if name != "model"]
    columns = [measure_column(name, [line[name] for line in lines]) for name in names]
    note = f"{table.note} Sorted by {first.title}; the best of each column is marked."
    if set(COSTS) & set(names):
        note += (
            " Costs are those of a cell: times without reading the data, memory on top of what held the data, "
            "and the size of the pickled model."
        )
    model = plain_column("Model", [line["model"] for line in lines], is_text=True)
    return Sheet(table.title, (model, *mark_columns(columns, names)), note)


def mean_dots(
    results: Results, measure: str, title: str = "", labels: Mapping[str, str] | None = None
) -> Picture | None:
    """Means with standard errors; None where no data set has the scores of all models. ``labels`` rename models."""
    table = results.table(measure)
    if not table.datasets:
        return None
    own = measure_of(measure)
    display = MeanDotsDisplay.from_scores(
        [(labels or {}).get(model, model) for model in table.models],
        table.values.T,
        score=f"{own.title}, {own.unit}" if own.unit else own.title,
        higher_is_better=own.higher_is_better,
    )
    return Picture(
        title or f"{own.title}: mean of every model", display, f"{counted(len(table.datasets), 'data set')}."
    )


def ranks_section(view: View) -> Section:
    """Average ranks with the critical difference, for each chosen measure."""
    items: list[Item] = [Paragraph(view.about_size())] if view.size is not None else []
    if len(view.at.models) < 3 or len(view.at.datasets) < 2:
        there = f"{counted(len(view.at.models), 'model')} and {counted(len(view.at.datasets), 'data set')}"
        items.append(Paragraph(f"Ranks need at least 3 models and 2 data sets; there are {there}."))
        return Section("Ranks", tuple(items))
    for measure in view.measures:
        items += _ranked(view, measure)
    return Section("Ranks", tuple(items))


def _ranked(view: View, measure: str) -> list[Item]:
    title, higher = measure_of(measure).title, measure_of(measure).higher_is_better
    table = view.at.table(measure)
    if len(table.datasets) < 2:
        n = counted(len(table.datasets), "data set")
        return [Paragraph(f"{title}: ranks need 2 data sets with the scores of all models; there are {n}.")]
    items: list[Item] = []
    results = view.at
    if len(table.models) > MOST_RANKED:
        order = np.argsort(friedman(table.values, higher).average_ranks, kind="stable")
        best, others = ([table.models[i] for i in part] for part in (order[:MOST_RANKED], order[MOST_RANKED:]))
        items.append(Paragraph(f"{title}: the {MOST_RANKED} models of the best ranks, without {joined(others)}."))
        results = view.at.only(models=best)
        table = results.table(measure)
    found = friedman(table.values, higher)
    post_hoc = nemenyi(found)
    display = CriticalDifferenceDisplay(
        tuple(table.models), found.average_ranks, post_hoc.critical_difference, post_hoc.cliques
    )
    caption = "Models joined by a bar do not differ significantly: Nemenyi's test at 0.05."
    items.append(Picture(f"{title}: critical difference diagram", display, caption))
    return [*items, _rank_sheet(compare.ranks(results, measure))]


def _rank_sheet(table: compare.Table) -> Sheet:
    models, ranks = ([line[name] for line in table.lines] for name in ("model", "average rank"))
    column = Column("Average rank", tuple(ranks), tuple(f"{rank:.2f}" for rank in ranks))
    return Sheet(table.title, (plain_column("Model", models, True), column), table.note, len(models) > FEW_MODELS)


def pairs_section(view: View) -> Section:
    """Wins-draws-losses of every model against every other."""
    items: list[Item] = [Paragraph(view.about_size())] if view.size is not None else []
    n = len(view.at.models)
    if n < 2:
        return Section("Pairs of models", (*items, Paragraph("There is one model only: nothing to compare it with.")))
    there = [measure for measure in view.measures if view.at.table(measure).datasets]
    none = view.about_common([measure for measure in view.measures if measure not in there])
    items += [Paragraph(text) for text in (PAIRS if there else "", none) if text]
    tables = [compare.pairwise(view.at, measure) for measure in there]
    items += [sheet(table, headings={"model": "Model"}, folded=n > FEW_MODELS) for table in tables]
    return Section("Pairs of models", tuple(items))


def datasets_section(view: View) -> Section:
    """Each chosen measure on each data set."""
    items: list[Item] = [Paragraph(view.about_size())] if view.size is not None else []
    items += [dataset_sheet(view, measure) for measure in view.measures]
    return Section("By data set", tuple(items))


def dataset_sheet(view: View, measure: str) -> Sheet:
    """Data sets, smallest first, with their sizes and one measure of every model, the best of each line marked."""
    own = measure_of(measure)
    facts = view.results.problems
    datasets = sorted(view.at.datasets, key=lambda name: (facts.get(name, {}).get("n_rows", 0), name))
    values = _values(view, measure)
    columns = [plain_column("Data set", datasets, is_text=True)]
    for key, heading in {"n_rows": "Rows", "n_attributes": "Attributes", "n_classes": "Classes"}.items():
        if any(key in facts.get(name, {}) for name in datasets):
            columns.append(plain_column(heading, [facts.get(name, {}).get(key) for name in datasets]))
    models: list[Column] = [
        measure_column(measure, [values.get((name, model)) for name in datasets], heading=model)
        for model in view.at.models
    ]
    note = "The best of each line is marked. A dash stands for a model that failed or is not done there."
    title = f"{measure_heading(own)}: every data set"
    return Sheet(title, (*columns, *mark_lines(models, own.higher_is_better)), note, folded=True)


def _values(view: View, measure: str) -> dict[tuple[str, str], float | None]:
    """By data set and model; None where a cell failed."""
    if measure in (*view.results.scores, *COSTS):
        lines = [line for line in view.lines if line.get("train_size") == view.size]
        return {(n["dataset"], n["model"]): None if n["n_failed"] else n.get(measure) for n in lines}
    table = view.at.table(measure)  # bias and variance: of all repeats together
    return {
        (dataset, model): float(value)
        for dataset, line in zip(table.datasets, table.values, strict=True)
        for model, value in zip(table.models, line, strict=True)
    }
