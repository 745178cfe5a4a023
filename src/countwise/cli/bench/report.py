"""``countwise bench report``: tables and pictures of a run as one page."""

from pathlib import Path
from typing import Annotated

import typer

from countwise.cli.bench.show import read_results
from countwise.cli.failure import Debug, guarded


@guarded
def report(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Folder of a run.")],
    out: Annotated[Path, typer.Option(help="HTML page to write.")] = Path("report.html"),
    debug: Debug = False,
) -> None:
    """Write a page."""
    read_results(results)
