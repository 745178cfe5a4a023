"""``countwise bench report``: tables and pictures of a run as one page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from countwise.cli.bench.compare import split
from countwise.cli.bench.data import restricted
from countwise.cli.bench.show import read_results
from countwise.cli.failure import Debug, failure, guarded
from countwise.cli.models import parse_list, usage
from countwise.cli.output import check_writable, log, reporter


@guarded
def report(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Folder of a run.")],
    out: Annotated[Path, typer.Option(help="HTML page to write.")] = Path("report.html"),
    files: Annotated[
        Path | None, typer.Option(help="Write the tables as CSV and the pictures as PNG and SVG to this folder too.")
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(help="Show this experiment of the papers; default: all that there are.")
    ] = None,
    models: Annotated[str | None, typer.Option(help="Only these, in this order: a,b,c.")] = None,
    sets: Annotated[
        str | None, typer.Option(help="Only these data sets: names, development, confirmation, a table of --data.")
    ] = None,
    measures: Annotated[
        str | None,
        typer.Option(help="Of ranks, pairs and pictures, the main one first. Default: rmse,zero_one_loss,log_loss."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of Parquet files, whose manifest names the data sets of the papers.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a page with the tables and pictures of a run: one HTML file that needs no other.

    \b
    Examples:
      countwise bench report results --out page.html
      countwise bench report results --out page.html --files docs/results --data FOLDER
      countwise bench report results --models tan-m,tan-hdp,rf --measures rmse,roc_auc
    """  # noqa: D301
    from countwise.plots.style import need_matplotlib
    from countwise.progress import use_progress
    from countwise.report import html_text, page_of, write_files
    from countwise.whole_files import write_text

    check_writable(out)
    if files is not None and files.exists() and not files.is_dir():
        raise failure(f"{files}: is a file", "name a folder")
    need_matplotlib()
    _check_experiment(experiment)
    found = restricted(read_results(results), sets, data)
    with use_progress(reporter()):
        page = page_of(
            found,
            models=split(models),
            measures=None if measures is None else parse_list(measures),
            experiment=experiment,
            tables=_tables(data),
        )
        write_text(out, html_text(page))
        log().print(f"page in {out}", markup=False, soft_wrap=True)
        if files is not None:
            n_files = len(write_files(page, files))
            log().print(f"{n_files} files in {files}", markup=False, soft_wrap=True)


def _check_experiment(name: str | None) -> None:
    from countwise.errors import DataError
    from countwise.evaluate.experiments import experiment

    try:
        if name is not None:
            experiment(name)
    except DataError as error:
        raise usage(error) from None


def _tables(data: Path | None) -> Mapping[str, Sequence[str]] | None:
    """The data sets of the papers' tables, as a folder's manifest has them."""
    from countwise.datasets import load_folder

    if data is None:
        return None
    folder = load_folder(data)
    return {table: folder.listed_in(table) for table in folder.tables}
