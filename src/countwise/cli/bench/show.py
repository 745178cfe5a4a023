"""Results on a terminal: tables on stdout, what failed on stderr."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from countwise.cli.failure import DATA_ERROR, failure
from countwise.cli.output import log

if TYPE_CHECKING:
    from countwise.evaluate.compare import Table
    from countwise.evaluate.experiments import Experiment
    from countwise.evaluate.results import Results

STORE = "results.jsonl"  # in the folder of a run
PIPED_WIDTH = 160  # columns of a table that goes to a file
MEGABYTE = 1e6


def read_results(path: Path) -> "Results":
    """The results of a run's folder, or of a store's file."""
    from countwise.evaluate.results import Results

    file = path / STORE if path.is_dir() else path
    if not file.exists():
        raise failure(f"{path}: no results there", "countwise bench run --out makes such a folder")
    results = Results.read(file)
    if not results.rows:
        raise failure(f"{path}: no cell is done yet", "let countwise bench run go on")
    return results


def show(results: "Results", chosen: "Experiment | None", datasets: Sequence[str], measures: Sequence[str]) -> None:
    """The means, and the tables of an experiment beside the paper's."""
    from countwise.evaluate.compare import means, paper_tables

    if not results.train_sizes:
        print_table(means(results))
    if chosen is not None:
        for table in paper_tables(results, chosen, datasets):
            print_table(table)


def print_table(table: "Table") -> None:
    """A table with its title and note, ready to be piped."""
    from countwise.evaluate.results import format_value

    names = list(dict.fromkeys(name for line in table.lines for name in line))
    shown = RichTable(box=None, pad_edge=False)
    for name in names:
        is_text = any(isinstance(line.get(name), str) for line in table.lines[:1])
        header = f"{name.removesuffix('_bytes')} MB" if name.endswith("_bytes") else name
        shown.add_column(escape(header), justify="left" if is_text else "right", no_wrap=True)
    for line in table.lines:
        values = (line.get(name) for name in names)
        cells = [
            v / MEGABYTE if n.endswith("_bytes") and v is not None else v for n, v in zip(names, values, strict=True)
        ]
        shown.add_row(*(escape(format_value(cell)) for cell in cells))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    console.print(escape(table.title), style="bold", soft_wrap=True)
    console.print(shown)
    console.print(escape(table.note), end="\n\n" if table.note else "", soft_wrap=True)


def tell_failures(results: "Results", hint: str | None = None) -> None:
    """What failed, one line for each data set and model; the exit code is 1 then."""
    failed = results.failures
    if not failed:
        return
    typer.echo(f"error: {len(failed)} of {len(results.rows)} cells failed", err=True)
    first = {(row["dataset"], row["model"]): row["error"] for row in reversed(failed)}
    for (dataset, model), message in sorted(first.items()):
        log().print(f"  {model} on {dataset}: {message}", markup=False, soft_wrap=True)
    if hint is not None:
        typer.echo(f"hint: {hint}", err=True)
    raise typer.Exit(DATA_ERROR)
