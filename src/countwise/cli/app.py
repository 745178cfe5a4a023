"""The application: its commands and ``--version``."""

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from countwise.cli.bench import bench
from countwise.cli.evaluate import evaluate
from countwise.cli.fit import fit
from countwise.cli.inspect import inspect
from countwise.cli.predict import predict

app = typer.Typer(
    help="Accurate class probabilities on tables of categories and numbers, learned from counts.",
    epilog="Exit codes: 0 done, 1 an error in data or model, 2 wrong usage, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: examples keep their lines
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (fit, predict, evaluate, inspect):
    app.command()(command)
app.add_typer(bench, name="bench")


def _version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        typer.echo(f"countwise {version('countwise')}")
    except PackageNotFoundError:  # run from a source tree that is not installed
        typer.echo("countwise (not installed)")
    raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options before the command."""
