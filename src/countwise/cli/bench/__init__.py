"""``countwise bench``: models on many data sets, by the protocols of the papers."""

import typer

from countwise.cli.bench.compare import compare
from countwise.cli.bench.known import known
from countwise.cli.bench.report import report
from countwise.cli.bench.run import run

bench = typer.Typer(
    help="Compare models on many data sets: run experiments, compare and report their results.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)
bench.command()(run)
bench.command()(compare)
bench.command()(report)
bench.command("list")(known)
