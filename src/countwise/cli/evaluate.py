"""``countwise evaluate``: compare models by repeated cross-validation."""

import json
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from countwise.cli.bench.show import print_table, tell_failures
from countwise.cli.failure import Debug, failure, guarded
from countwise.cli.fit import INPUT
from countwise.cli.models import parse_list, usage
from countwise.cli.output import reporter
from countwise.cli.tables import STDIO, Delimiter, Drop, Null, Types, input_files, open_tables, read_options

SHOWN = (
    "dataset",
    "model",
    "rmse",
    "log_loss",
    "zero_one_loss",
    "brier",
    "ece",
    "roc_auc",
    "fit_seconds",
    "predict_seconds",
)
MODEL_HELP = "Names a,b,c, ours and rivals; see countwise bench list."


@guarded
def evaluate(
    data: Annotated[list[str] | None, typer.Argument(metavar="DATA", help=INPUT)] = None,
    target: Annotated[str | None, typer.Option(help="Column that holds the class.")] = None,
    dataset: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A computed set; may be repeated.")] = None,
    models: Annotated[str, typer.Option(help=MODEL_HELP)] = "pool,nb,tan,skdb",
    repeats: Annotated[int, typer.Option(min=1, help="Times that the data are split.")] = 5,
    folds: Annotated[int, typer.Option(min=2, help="Parts of each split.")] = 2,
    seed: Annotated[int, typer.Option(help="Seed of the splits.")] = 0,
    categorical: Annotated[str | None, typer.Option(help="Number columns that are categories: a,b,c.")] = None,
    drop: Drop = None,
    types: Types = None,
    null: Null = None,
    delimiter: Delimiter = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; -1 for all cores.")] = None,
    store: Annotated[Path | None, typer.Option(help="Keep results here (.jsonl) and go on from them.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print rows and summary as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Compare models on DATA by repeated stratified cross-validation.

    Shows scores of the class probabilities; small is good, but for the area under the ROC. A model that fails
    is told of and makes the exit code 1; the others go on. Many data sets: countwise bench.

    \b
    Examples:
      countwise evaluate train.parquet --target label --models pool,nb,tan,rf
      countwise evaluate --dataset tic-tac-toe --dataset monks-1 --models nb,kdb2 --store results.jsonl
    """  # noqa: D301
    from countwise.errors import DataError
    from countwise.evaluate import cross_validate
    from countwise.evaluate.compare import Table
    from countwise.evaluate.models import make_models, split_specs

    try:
        chosen = make_models(split_specs(models), seed, jobs)
    except DataError as error:
        raise usage(error) from None
    if not chosen:
        raise typer.BadParameter("--models: name at least one")
    if bool(data) == bool(dataset):
        raise typer.BadParameter("give either DATA with --target, or --dataset")
    options = read_options(types, null, delimiter) | {"drop": parse_list(drop)}
    problems = _named(dataset) if dataset else _files(data or [], target, parse_list(categorical), options)
    results = cross_validate(
        chosen,
        problems,
        n_repeats=repeats,
        n_splits=folds,
        random_state=seed,
        store=store,
        progress=reporter(),
    )
    if as_json:
        typer.echo(json.dumps({"summary": results.summary(), "rows": results.rows}))
    else:
        lines = [{name: line[name] for name in SHOWN} for line in results.summary()]
        print_table(Table(f"{repeats} times {folds}-fold stratified cross-validation", lines))
    tell_failures(results)


def _named(names: list[str]) -> list[Any]:
    from countwise import datasets

    return [datasets.load(name) for name in names]


def _files(
    paths: list[str], target: str | None, categorical: list[str], options: dict[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """The files as one data set, in memory."""
    if target is None:
        raise typer.BadParameter("--target: name the column that holds the class")
    with input_files(paths) as files:
        table = open_tables(files, **options).to_table()
    for name in (target, *categorical):
        if name not in table.column_names:
            have = ", ".join(table.column_names[:20])
            raise failure(f"column {name!r} is not in the data", f"they have {have}")
    for name in categorical:
        at = table.column_names.index(name)
        table = table.set_column(at, name, table.column(name).cast(pa.string()))
    title = "stdin" if paths == [STDIO] else Path(paths[0]).name.split(".")[0]
    return {title: (table.drop_columns([target]), table.column(target))}
