"""Tables that compare models, as lists of dictionaries: ready for a terminal, a CSV file and a page."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from countwise.errors import DataError
from countwise.evaluate.experiments import Experiment
from countwise.evaluate.measures import MEASURES, measure_of
from countwise.evaluate.pairs import WinDrawLoss, geometric_mean_ratio, wilcoxon, win_draw_loss
from countwise.evaluate.ranks import friedman
from countwise.evaluate.results import COSTS, Results, ScoreTable
from countwise.evaluate.store import Row

SIGNIFICANT = 0.05
FLOOR = 1e-4  # what stands in for smaller scores in ratios: the draws' resolution


@dataclass(frozen=True, eq=False)
class Table:
    """A title, lines, and a note for the reader."""

    title: str
    lines: list[Row]
    note: str = ""


def means(results: Results) -> Table:
    """Mean of every measure over the data sets on which no model failed."""
    scores = [name for name in MEASURES if name in results.scores]
    scores += [name for name in results.scores if name not in MEASURES]
    tables = {name: results.table(name) for name in (*scores, *COSTS) if _is_known(results, name)}
    lines = []
    for model in results.models:
        line: Row = {"model": model}
        for name, table in tables.items():
            line[name] = float(table.column(model).mean()) if table.datasets else None
        lines.append(line)
    n_all, used = len(results.datasets), sorted({len(table.datasets) for table in tables.values()} or {0})
    note = f"Plain means over {' to '.join(map(str, used[:: max(1, len(used) - 1)]))} data sets" + (
        f" of {n_all}; on the others a cell failed or is not done." if used[0] < n_all else "."
    )
    return Table("Means over data sets", lines, note)


def means_by_size(results: Results, measure: str) -> Table:
    """Means at each training size, over the data sets that have it."""
    lines: dict[str, Row] = {model: {"model": model} for model in results.models}
    used = []
    for size in results.train_sizes:
        table = results.only(train_size=size).table(measure)
        used.append(f"{size}: {len(table.datasets)}")
        for model in table.models if table.datasets else ():
            lines[model][str(size)] = float(table.column(model).mean())
    note = f"Data sets that have so many rows and on which no model failed: {', '.join(used)}."
    return Table(f"Mean {measure_of(measure).title} by training rows", list(lines.values()), note)


def ranks(results: Results, measure: str) -> Table:
    """Average ranks of all models, with Friedman's test."""
    table = results.table(measure)
    if len(table.models) < 3 or len(table.datasets) < 2:
        raise DataError("ranks need at least 3 models and 2 data sets")
    found = friedman(table.values, higher_is_better=measure_of(measure).higher_is_better)
    order = np.argsort(found.average_ranks, kind="stable")
    lines = [{"model": table.models[i], "average rank": float(found.average_ranks[i])} for i in order]
    note = (
        f"{len(table.datasets)} data sets; Friedman chi-square {found.chi_square:.1f}, p {p_text(found.p_value)}; "
        f"Iman and Davenport's F {found.iman_davenport:.1f}, p {p_text(found.iman_davenport_p_value)}."
    )
    return Table(f"Average ranks by {measure_of(measure).title}", lines, note)


def against(results: Results, base: str, measures: Sequence[str]) -> list[Table]:
    """Every model against one: wins-draws-losses, sign test, Wilcoxon's test, ratio of geometric means."""
    return [_against(results.table(measure), base) for measure in measures]


def _against(table: ScoreTable, base: str) -> Table:
    measure = measure_of(table.measure)
    other = table.column(base)
    lines = []
    for model in table.models:
        if model == base or not table.datasets:
            continue
        own = table.column(model)
        found = win_draw_loss(own, other, higher_is_better=measure.higher_is_better)
        lines.append(
            {
                "model": model,
                "wins-draws-losses": str(found),
                "sign test p": p_text(found.sign_test()),
                "Wilcoxon p": p_text(wilcoxon(own, other)),
                "ratio": float(geometric_mean_ratio(own, other, floor=FLOOR)),
                "mean": float(own.mean()),
                f"mean of {base}": float(other.mean()),
            }
        )
    note = (
        f"{len(table.datasets)} data sets. A draw: equal to 4 decimals. Tests are two-sided; draws are left out. "
        f"Ratio: geometric mean of model / {base}, values below {FLOOR:g} taken as that."
    )
    return Table(f"{measure.title} against {base}", lines, note)


def pairwise(results: Results, measure: str) -> Table:
    """Wins-draws-losses of every model (line) against every other (column)."""
    table = results.table(measure)
    higher = measure_of(measure).higher_is_better
    lines = []
    for own in table.models:
        line: Row = {"model": own}
        for other in table.models:
            same = own == other or not table.datasets
            line[other] = "" if same else starred(_wdl(table, own, other, higher))
        lines.append(line)
    note = f"{len(table.datasets)} data sets; * two-sided sign test p <= 0.05, ** p <= 0.001."
    return Table(f"Wins-draws-losses by {measure_of(measure).title}", lines, note)


def paper_tables(results: Results, one: Experiment, datasets: Sequence[str] | None = None) -> list[Table]:
    """An experiment's tables with the paper's figures beside ours; lines whose models are absent have ``-``."""
    known = results.datasets if datasets is None else [name for name in results.datasets if name in set(datasets)]
    own = results.only(datasets=known) if known else results
    if own.train_sizes:
        return [_sized(own, one)] if one.versus else []
    tables = []
    if one.versus:
        tables.append(_versus(own, one))
    if one.averages:
        tables.append(_averages(own, one))
    if one.lines:
        tables.append(_lines(own, one))
    return tables


def _versus(results: Results, one: Experiment) -> Table:
    lines, used = [], 0
    for item in one.versus:
        line: Row = {"comparison": item.label}
        there = {item.own, item.other} <= set(results.models)
        for measure in one.measures:
            title = measure_of(measure).title
            line[title] = line[f"{title} p"] = None
            if there:
                table = results.table(measure, [item.own, item.other])
                used = max(used, len(table.datasets))
                if table.datasets:
                    found = _wdl(table, item.own, item.other, measure_of(measure).higher_is_better)
                    line[title], line[f"{title} p"] = str(found), p_text(found.sign_test(one.tail))
            line[f"{title}, paper"] = item.paper.get(measure)
        lines.append(line)
    tail = "two-sided" if one.tail == "two-sided" else "one-sided"
    return Table(one.title, lines, _note(one, f"Wins-draws-losses on {used} data sets, {tail} sign test"))


def _averages(results: Results, one: Experiment) -> Table:
    there = [item.model for item in one.averages if item.model in results.models]
    tables = {measure: results.table(measure, there) for measure in one.measures} if there else {}
    lines = []
    for item in one.averages:
        line: Row = {"model": item.label}
        for measure in one.measures:
            title = measure_of(measure).title
            known = item.model in there and tables[measure].datasets
            line[title] = float(tables[measure].column(item.model).mean()) if known else None
            line[f"{title}, paper"] = item.paper.get(measure)
        lines.append(line)
    used = len(next(iter(tables.values())).datasets) if tables else 0
    return Table(one.title, lines, _note(one, f"Means over {used} data sets"))


def _lines(results: Results, one: Experiment) -> Table:
    lines = []
    for item in one.lines:
        for x, own, other in item.points:
            line: Row = {"line": item.label, "at": x}
            for measure in one.measures:
                found = None
                if {own, other} <= set(results.models):
                    table = results.table(measure, [own, other])
                    found = _wdl(table, own, other, measure_of(measure).higher_is_better) if table.datasets else None
                line[measure_of(measure).title] = found if found is None else starred(found)
            lines.append(line)
    return Table(one.title, lines, _note(one, "Wins-draws-losses; * two-sided sign test p <= 0.05, ** p <= 0.001"))


def _sized(results: Results, one: Experiment) -> Table:
    """Wins, draws, losses and the mean gain at each training size."""
    lines = []
    for size in results.train_sizes:
        at = results.only(train_size=size)
        for item in one.versus:
            if not {item.own, item.other} <= set(at.models):
                continue
            line: Row = {"comparison": item.label, "training rows": size}
            for measure in one.measures:
                table = at.table(measure, [item.own, item.other])
                title = measure_of(measure).title
                line |= {title: None, f"{title} p": None, f"{title} gain": None, "data sets": len(table.datasets)}
                if table.datasets:
                    higher = measure_of(measure).higher_is_better
                    found = _wdl(table, item.own, item.other, higher)
                    gain = float((table.column(item.own) - table.column(item.other)).mean()) * (1 if higher else -1)
                    line |= {title: str(found), f"{title} p": p_text(found.sign_test(one.tail)), f"{title} gain": gain}
            lines.append(line)
    return Table(one.title, lines, _note(one, "Wins-draws-losses; gains are means, positive where the first is better"))


def _note(one: Experiment, what: str) -> str:
    return (
        f"{what}"
        + (f"; the paper's are on {one.n_sets}." if one.n_sets else ".")
        + (f" {one.differs}" if one.differs else "")
    )


def _wdl(table: ScoreTable, own: str, other: str, higher_is_better: bool) -> WinDrawLoss:
    return win_draw_loss(table.column(own), table.column(other), higher_is_better=higher_is_better)


def starred(found: WinDrawLoss) -> str:
    """Wins-draws-losses with stars for significance.

    >>> starred(WinDrawLoss(30, 1, 4)), starred(WinDrawLoss(5, 0, 4))
    ('30-1-4**', '5-0-4')
    """
    p = found.sign_test()
    return f"{found}{'**' if p <= 0.001 else '*' if p <= SIGNIFICANT else ''}"


def p_text(p: float) -> str:
    """A p-value as papers print it.

    >>> p_text(0.0123), p_text(0.00004)
    ('0.012', '<0.001')
    """
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _is_known(results: Results, name: str) -> bool:
    """Costs that were measured nowhere (memory, but on Linux) have no column."""
    return any(row.get(name) is not None for row in results.rows)


def as_csv(table: Table) -> str:
    """The lines as CSV text."""
    names = list(dict.fromkeys(name for line in table.lines for name in line))
    return csv_text(names, [[line.get(name) for name in names] for line in table.lines])


def csv_text(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Rows as CSV text; numbers with 6 digits, None as nothing.

    >>> csv_text(["model", "rmse"], [["nb", 1 / 3], ["a, b", None]])
    'model,rmse\nnb,0.333333\n"a, b",\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([["" if v is None else f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows])
    return text.getvalue()
