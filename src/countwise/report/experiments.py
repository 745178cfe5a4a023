"""The sections on named experiments: the papers' tables beside ours, and their pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from countwise.errors import counted
from countwise.evaluate.compare import Table, paper_tables
from countwise.evaluate.experiments import Experiment, Line, Versus
from countwise.evaluate.measures import measure_of
from countwise.evaluate.pairs import DRAW_DECIMALS, win_draw_loss
from countwise.evaluate.papers import EXPERIMENTS
from countwise.evaluate.protocols import RepeatedFolds, TrainSizes
from countwise.evaluate.results import Results, ScoreTable
from countwise.plots import DifferenceBarsDisplay, ScatterDisplay, WinLossDisplay
from countwise.report.behaviour import MOST_CURVES, curve, largest_first, time_picture
from countwise.report.page import Item, Paragraph, Picture, Section
from countwise.report.scores import mean_dots
from countwise.report.sheets import sheet
from countwise.report.view import View, joined, known_measures

TITLE: Final = "Experiments"
FEW_LINES: Final = 3  # comparisons that all have pictures; of more, the first and the last
WHAT: Final = {"comparison": "wins, draws and losses", "model": "means", "line": "wins and losses along lines"}
HEADINGS: Final = {
    "comparison": "Comparison",
    "model": "Model",
    "line": "Line",
    "at": "At",
    "training rows": "Training rows",
    "data sets": "Data sets",
}


@dataclass(frozen=True, eq=False)
class Part:
    """What these results hold of an experiment; ``note`` says which data sets those are."""

    one: Experiment
    results: Results
    note: str


def experiments_section(
    view: View, named: Experiment | None = None, tables: Mapping[str, Sequence[str]] | None = None
) -> list[Section]:
    """All experiments that can be shown, or the one that is named; the others are told of.

    ``tables`` are the data sets of the papers' tables, by the names of the tables.
    """
    shown: list[Section] = []
    left: dict[str, list[str]] = {}
    for one in EXPERIMENTS.values() if named is None else [named]:
        part = part_of(view.results, one, tables, is_named=named is not None)
        if isinstance(part, Part):
            shown.append(Section(one.title, tuple(_contents(view, part)), level=3))
        else:
            left.setdefault(part, []).append(one.name)
    if shown:
        intro = "What was measured here, and beside it what the papers printed."
    else:
        intro = "These results hold none of the experiments." if named is None else "It cannot be shown."
    if left:
        said = [f"{reason}: {joined(names, most=30)}." for reason, names in left.items()]
        shown.append(Section("Experiments that are not shown", tuple(map(Paragraph, said)), level=3))
    return [Section(TITLE, (Paragraph(intro),)), *shown]


def part_of(
    results: Results, one: Experiment, tables: Mapping[str, Sequence[str]] | None, is_named: bool
) -> Part | str:
    """The part of the results that belongs to an experiment, or why there is none."""
    if isinstance(one.protocol, TrainSizes) != bool(results.train_sizes):
        return f"They are for {'cross-validation' if results.train_sizes else 'training sets of given sizes'}"
    models = [name for name in one.models if name in results.models]
    if not models:
        return "Their models are not in these results"
    datasets, note = _datasets(results, one, tables)
    if not datasets:
        return "Their data sets are not in these results"
    measures = tuple(name for name in one.measures if name in known_measures(results))
    if not measures:
        return "Their measures are not in these results"
    own = results.only(models=models, datasets=datasets)
    lines = _possible(own, replace(one, measures=measures))
    is_picture = one.picture == "curves" or (one.picture == "means" and is_named)
    if lines.versus or lines.averages or lines.lines or (is_picture and len(own.models) > 1):
        return Part(lines, own, note)
    return "Models that they compare are missing, or failed"


def _datasets(results: Results, one: Experiment, tables: Mapping[str, Sequence[str]] | None) -> tuple[list[str], str]:
    """The data sets of an experiment that there are, and a sentence about them."""
    every = results.datasets
    if isinstance(one.sets, str) and one.sets not in (tables or {}):
        if one.sets == "all":
            return every, ""
        why = "name a folder of data with --data" if tables is None else "the folder's manifest does not list them"
        own = f"The experiment's own are those of {one.sets!r}: {why}."
        return every, f"Over all {counted(len(every), 'data set')} of the results. {own}"
    listed = set(one.sets if not isinstance(one.sets, str) else (tables or {})[one.sets])
    there = [name for name in every if name in listed]
    some = "" if len(there) == len(listed) else f"{len(there)} of "
    return there, f"Over {some}the experiment's {counted(len(listed), 'data set')}."


def _possible(results: Results, one: Experiment) -> Experiment:
    """The experiment without the tables of which no line can be computed."""
    sizes: Sequence[int | None] = results.train_sizes or [None]

    def have(*models: str) -> bool:
        if not set(models) <= set(results.models):
            return False
        parts = [results.only(models=models, train_size=size) for size in sizes]
        whole = [part for part in parts if set(part.models) == set(models)]
        return any(part.table(measure).datasets for part in whole for measure in one.measures)

    there = [item.model for item in one.averages if item.model in results.models]
    # A table of means is over the data sets that all its models have, for every measure.
    has_means = bool(there) and all(results.table(measure, there).datasets for measure in one.measures)
    return replace(
        one,
        versus=one.versus if any(have(item.own, item.other) for item in one.versus) else (),
        averages=one.averages if has_means else (),
        lines=one.lines if any(have(a, b) for item in one.lines for _, a, b in item.points) else (),
        others=one.models,
    )


def _contents(view: View, part: Part) -> list[Item]:
    one = part.one
    items: list[Item] = [Paragraph(text) for text in (part.note, _about_protocol(part)) if text]
    results = _comparable(part.results, one)
    if results.rows and (one.versus or one.averages or one.lines):
        items += _sheets(one, paper_tables(results, one))
    if one.picture == "curves":
        return items + _curves(view, part)
    if one.picture == "means":
        return items + _means(view, part)
    return items if one.picture is None else items + PICTURES[one.picture](part)


def _sheets(one: Experiment, tables: Sequence[Table]) -> list[Item]:
    """The tables without lines and columns in which there is nothing, neither ours nor the paper's."""
    items: list[Item] = []
    for table in tables:
        names = list(dict.fromkeys(name for line in table.lines for name in line))
        numbers = [name for name in names if name not in HEADINGS]
        filled = [line for line in table.lines if any(line.get(name) is not None for name in numbers)]
        if not filled:
            continue
        kept = [name for name in names if any(line.get(name) is not None for line in filled)]
        lines = [{name: line.get(name) for name in kept} for line in filled]
        n_left = len(table.lines) - len(filled)
        note = f"{table.note} {counted(n_left, 'line')} left out, as models are missing." if n_left else table.note
        named = Table(f"{one.name}: {WHAT[names[0]]}", lines, note)
        items.append(sheet(named, headings=HEADINGS, text=("at",)))
    return items


def _about_protocol(part: Part) -> str:
    """What the protocol was here, if it is not the experiment's."""
    settings = [part.results.settings.get((row["dataset"], row["model"]), {}) for row in part.results.rows]
    said = []
    if isinstance(part.one.protocol, RepeatedFolds):
        folds = sorted({item["n_splits"] for item in settings if "n_splits" in item} - {part.one.protocol.n_splits})
        if folds:
            said.append(f"The experiment has {part.one.protocol.n_splits} folds; here they are {joined(folds)}.")
    prepared = sorted({item["prepare"] for item in settings if "prepare" in item} - {part.one.prepare})
    if prepared:
        said.append(f"The experiment prepares tables by {part.one.prepare!r}; here it was {joined(prepared)!r}.")
    return " ".join(said)


def _comparable(results: Results, one: Experiment) -> Results:
    """Without training sizes at which two models that are to be compared have no data set in common."""
    pairs = [(v.own, v.other) for v in one.versus if {v.own, v.other} <= set(results.models)]
    empty = set()
    for size in results.train_sizes:
        at = results.only(train_size=size)
        there = [pair for pair in pairs if set(pair) <= set(at.models)]
        if any(not at.table(measure, pair).datasets for pair in there for measure in one.measures):
            empty.add(size)
    return replace(results, rows=[row for row in results.rows if row.get("train_size") not in empty or not empty])


def _scatter(part: Part) -> list[Item]:
    one, there = part.one, _present(part)
    if len(there) > FEW_LINES:
        there = [there[0], there[-1]]
    items: list[Item] = []
    for item in there:
        for measure in one.measures:
            table = part.results.table(measure, [item.own, item.other])
            if table.datasets:
                items.append(Picture(f"{one.name}: {_pair(item, measure)}", _points(table, item)))
    return items


def _points(table: ScoreTable, item: Versus) -> ScatterDisplay:
    own = measure_of(table.measure)
    return ScatterDisplay(
        table.column(item.other),
        table.column(item.own),
        item.other,
        item.own,
        labels=tuple(table.datasets),
        higher_is_better=own.higher_is_better,
        score=own.title,
    )


def _win_loss(part: Part) -> list[Item]:
    items: list[Item] = []
    for measure in part.one.measures:
        lines = {item.label: _wins_losses(part.results, item, measure) for item in part.one.lines}
        # A picture's lines have the same places, so that a line with others (there is none in the papers) is left out.
        places = [x for x, _, _ in part.one.lines[0].points] if part.one.lines else []
        drawn = {k: v for k, v in lines.items() if v.shape == (len(places), 2) and not np.isnan(v).all()}
        if drawn:
            both = np.array(list(drawn.values()))
            display = WinLossDisplay(both[:, :, 0], both[:, :, 1], tuple(drawn), points=tuple(places))
            items.append(Picture(f"{part.one.name}: wins and losses by {measure_of(measure).title}", display))
    return items


def _wins_losses(results: Results, item: Line, measure: str) -> np.ndarray:
    """Wins and losses at every point of a line; NaN where a model is missing."""
    found = np.full((len(item.points), 2), np.nan)
    for i, (_, own, other) in enumerate(item.points):
        if {own, other} <= set(results.models):
            table = results.table(measure, [own, other])
            if table.datasets:
                higher = measure_of(measure).higher_is_better
                count = win_draw_loss(table.column(own), table.column(other), higher_is_better=higher)
                found[i] = count.wins, count.losses
    return found


def _differences(part: Part) -> list[Item]:
    """Bars of the gain on every data set, a panel for each training size if there are several."""
    items: list[Item] = []
    for item in _present(part):
        for measure in part.one.measures:
            display = _bars(part.results, item, measure)
            if display is not None:
                n_left = max(0, len(part.results.train_sizes) - len(display.difference))
                caption = f"{counted(n_left, 'size')} left out that one data set alone has." if n_left else ""
                items.append(Picture(f"{part.one.name}: {_pair(item, measure)}", display, caption))
    return items


def _bars(results: Results, item: Versus, measure: str) -> DifferenceBarsDisplay | None:
    sign = 1.0 if measure_of(measure).higher_is_better else -1.0
    datasets = results.datasets
    panels: dict[str, np.ndarray] = {}
    steps: Sequence[int | None] = results.train_sizes or [None]
    for size in steps:
        at = results if size is None else results.only(train_size=size)
        if not {item.own, item.other} <= set(at.models):
            continue
        table = at.table(measure, [item.own, item.other])
        gain = np.full(len(datasets), np.nan)
        for i, name in enumerate(table.datasets):
            own, other = (np.round(table.column(model)[i], DRAW_DECIMALS) for model in (item.own, item.other))
            gain[datasets.index(name)] = sign * (own - other)  # rounded first: a draw of the table is one here
        if len(table.datasets) > min(1, len(datasets) - 1):  # not the last size of a single learning curve
            panels["" if size is None else f"{size:,} rows"] = gain
    if not panels:
        return None
    sizes = [results.problems.get(name, {}).get("n_rows") for name in datasets]
    return DifferenceBarsDisplay(
        np.array(list(panels.values())),
        item.own,
        item.other,
        score=measure_of(measure).title,
        sizes=None if None in sizes else np.array(sizes, dtype=np.float64),
        labels=tuple(datasets),
        panels=tuple(panels) if results.train_sizes else None,
    )


def _means(view: View, part: Part) -> list[Item]:
    """Means of the experiment's models, unless the section on means has the same."""
    if len(part.results.models) < 2:
        return []
    same = set(part.results.models) == set(view.at.models) and set(part.results.datasets) == set(view.at.datasets)
    if same and set(part.one.measures) <= set(view.measures):
        return [Paragraph("Its pictures are those of the section on means.")]
    drawn = [measure for measure in part.one.measures if not measure_of(measure).log_scale]  # costs have a section
    titles = {measure: f"{part.one.name}: mean {measure_of(measure).title}" for measure in drawn}
    labels = {item.model: item.label for item in part.one.averages}  # as the paper calls them
    found = [mean_dots(part.results, measure, title, labels) for measure, title in titles.items()]
    return [picture for picture in found if picture is not None]


def _curves(view: View, part: Part) -> list[Item]:
    """A curve for each data set, unless the section on learning curves has the same."""
    one, drawn = part.one, largest_first(part.results)
    there = set(largest_first(view.results)[:MOST_CURVES])
    if set(part.results.models) == set(view.shown) and set(drawn) <= there and set(one.measures) <= {view.measures[0]}:
        return [Paragraph("Its pictures are those of the section on learning curves.")]
    found = [curve(part.results, name, measure) for name in drawn[:MOST_CURVES] for measure in one.measures]
    return [replace(item, title=f"{one.name}: {item.title}") for item in found if item is not None]


def _times(part: Part) -> list[Item]:
    labels = {item.model: item.label for item in part.one.averages}
    picture = time_picture(part.results, [name for name in part.one.models if name in part.results.models], labels)
    return [] if picture is None else [replace(picture, title=f"{part.one.name}: {picture.title.lower()}")]


def _present(part: Part) -> list[Versus]:
    """The comparisons whose two models are there."""
    return [item for item in part.one.versus if {item.own, item.other} <= set(part.results.models)]


def _pair(item: Versus, measure: str) -> str:
    return f"{measure_of(measure).title} of {item.own} against {item.other}"


PICTURES: Final[Mapping[str, Callable[[Part], list[Item]]]] = {
    "scatter": _scatter,
    "win-loss": _win_loss,
    "differences": _differences,
    "times": _times,
}
