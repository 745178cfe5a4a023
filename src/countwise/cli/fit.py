"""``countwise fit``: learn a model from files and save it."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from countwise.cli.describe import describe, structure_line
from countwise.cli.failure import Debug, guarded
from countwise.cli.models import build, optional, parse_list, parse_params, size_bytes
from countwise.cli.output import check_writable, log, reporter
from countwise.cli.tables import STDIO, Delimiter, Drop, Null, Types, input_files, open_tables, read_options
from countwise.data.codec import CategoryCodec, ColumnCodec
from countwise.progress import use_progress
from countwise.whole_files import replacing

INPUT = "Parquet, CSV(.gz) or Arrow files, a glob, or - for CSV on stdin."


@guarded
def fit(
    train: Annotated[list[str], typer.Argument(metavar="TRAIN", help=INPUT)],
    target: Annotated[str, typer.Option(help="Column that holds the class.")],
    out: Annotated[Path, typer.Option(help="Model file to write.")],
    model: Annotated[
        str,
        typer.Option(
            help="pool, the best probabilities; tuned, the best single network; or nb, tan, kdb (k by --param), "
            "kdb1 ... kdb5, skdb, eskdb, kdf, aode, a2de, tree, forest; a smoothing may follow: tan-m."
        ),
    ] = "pool",
    param: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="A parameter; may be repeated.")] = None,
    smoothing: Annotated[
        str | None,
        typer.Option(
            help="From counts to probabilities: hdp, hls, hgs, hierarchical-dirichlet, bdeu, m-branch, m, laplace, "
            "mle; the pool takes hdp only."
        ),
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune/--no-tune", help="Tune smoothing and confidence of a network by leave-one-out.")
    ] = True,
    categorical: Annotated[str | None, typer.Option(help="Number columns that are categories: a,b,c.")] = None,
    drop: Drop = None,
    weight: Annotated[str | None, typer.Option(help="Column that holds the rows' weights.")] = None,
    types: Types = None,
    null: Null = None,
    delimiter: Delimiter = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; -1 for all cores.")] = None,
    max_memory: Annotated[str | None, typer.Option(help="Limit for the counts: 500MB, 2GB.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all chance.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was learned as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Learn a model from TRAIN and save it.

    \b
    Examples:
      countwise fit train.parquet --target label --out label.cw
      countwise fit train.parquet --target label --model pool --param n_members=12 --out label.cw
      countwise fit loans.csv --target lost --drop customer,date --model tree --out loans.cw
      countwise fit 'parts/*.csv.gz' --target label --model kdb --param k=3 --out label.cw
      zcat log.csv.gz | countwise fit - --target clicked --model nb --out clicks.cw
    """  # noqa: D301
    settings = {
        "smoothing": smoothing,
        "categorical_features": parse_list(categorical) or None,
        "n_jobs": jobs,
        "max_memory": max_memory,
    }
    if max_memory is not None:
        size_bytes("--max-memory", max_memory)
    options = read_options(types, null, delimiter)
    params: dict[str, Any] = {key: value for key, value in settings.items() if value is not None}
    if not tune:
        if not optional(model, {"tune": None}):
            raise typer.BadParameter(f"--no-tune: is for single networks such as skdb, not for {model}")
        params["tune"] = None
    params |= parse_params(param or [])
    estimator = build(model, optional(model, {"random_state": seed}) | params)
    check_writable(out, force, train)
    with replacing(out) as temporary:
        began = time.perf_counter()
        with input_files(train) as files, use_progress(reporter()):
            estimator.fit(open_tables(files, parse_list(drop), target=target, weight=weight, **options))
            seconds = time.perf_counter() - began
            estimator.save(temporary)
        whole = time.perf_counter() - began
    facts = describe(estimator) | {
        "seconds": seconds,
        "save_seconds": whole - seconds,
        "file": str(out),
        "bytes": out.stat().st_size,
    }
    if as_json:
        typer.echo(json.dumps(facts))
    _tell(facts, "standard input" if train == [STDIO] else ", ".join(train))
    for note in text_of_numbers(estimator.codec_.columns):
        log().print(f"note    {note}", markup=False, soft_wrap=True)


def text_of_numbers(columns: Sequence[ColumnCodec]) -> list[str]:
    """What to say of columns that hold numbers and were read as text, for a few values that are none.

    >>> import pyarrow as pa
    >>> from countwise.data.codec import CategoryCodec
    >>> text_of_numbers([CategoryCodec("age", pa.array(["31", "4", "?", "56", "7.5"]), False)])
    ["column 'age' was read as text, as it holds '?'; if that means missing, say --null '?'"]
    """
    notes = []
    for column in columns:
        values = column.categories.to_pylist() if isinstance(column, CategoryCodec) else []
        if not values or not all(isinstance(value, str) for value in values):
            continue
        others = [value for value in values if not _is_number(value)]
        if others and len(others) <= len(values) / 5:
            say = f"column {column.name!r} was read as text, as it holds {others[0]!r}"
            notes.append(f"{say}; if that means missing, say --null {others[0]!r}")
        elif others and all(_is_number(value.replace(",", ".", 1)) for value in values):
            notes.append(
                f"column {column.name!r} was read as text: numbers need points, not commas, such as {others[0]!r}"
            )
    return notes


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _tell(facts: dict[str, Any], source: str) -> None:
    rows = f"{sum(facts['class_counts']):,.10g} rows{' by weight' if facts['weighted'] else ''}, "
    lines = [
        f"read    {source}: {rows}{facts['n_attributes']} attributes, {len(facts['classes'])} classes",
        f"model   {facts['kind']}: {structure_line(facts)}; {facts['seconds']:.1f} s",
        f"saved   {facts['file']}: {facts['bytes']:,} bytes; {facts['save_seconds']:.1f} s",
    ]
    for line in lines:
        log().print(line, markup=False, soft_wrap=True)
