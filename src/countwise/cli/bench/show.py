"""Results on a terminal: tables on stdout, what failed on stderr."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from countwise.cli.failure import DATA_ERROR, failure
from countwise.cli.output import log

if TYPE_CHECKING:
    from countwise.evaluate.compare import Table
    from countwise.evaluate.experiments import Experiment
    from countwise.evaluate.results import Results

MEGABYTE = 1e6


def read_results(path: Path) -> "Results":
    """The results of a run's folder, or of a store's file."""
    from countwise.evaluate.results import Results

    results = Results.read(path)
    if not results.rows:
        raise failure(f"{path}: no cell is done yet", "let countwise bench run go on")
    return results


def show(results: "Results", chosen: "Experiment | None", datasets: Sequence[str], measures: Sequence[str]) -> None:
    """The means, and the tables of an experiment beside the paper's."""
    from countwise.evaluate.compare import means, means_by_size, paper_tables

    for table in [means_by_size(results, m) for m in measures] if results.train_sizes else [means(results)]:
        print_table(table)
    if chosen is not None:
        for table in paper_tables(results, chosen, datasets):
            print_table(table)


def print_table(table: "Table") -> None:
    """A table with its title and note. Lines are not cut: a narrow terminal folds them, a pipe keeps them."""
    from countwise.evaluate.results import format_table

    lines = []
    for line in table.lines:
        shown = {name: value for name, value in line.items() if not name.endswith("_bytes")}
        sizes = {name: value for name, value in line.items() if name.endswith("_bytes")}
        shown |= {f"{n.removesuffix('_bytes')} MB": None if v is None else v / MEGABYTE for n, v in sizes.items()}
        lines.append(shown)
    typer.echo("\n".join(filter(None, (table.title, format_table(lines), table.note))) + "\n")


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
