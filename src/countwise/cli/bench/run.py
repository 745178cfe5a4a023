"""``countwise bench run``: an experiment, kept cell by cell."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from countwise.cli.bench.data import choose
from countwise.cli.bench.show import show, tell_failures
from countwise.cli.failure import Debug, failure, guarded
from countwise.cli.models import size_bytes, usage
from countwise.cli.output import log, reporter

if TYPE_CHECKING:
    from countwise.evaluate.experiments import Experiment
    from countwise.evaluate.protocols import Splits

QUICK = "1x2"  # the protocol of a quick look


@guarded
def run(
    experiment: Annotated[
        str | None, typer.Argument(metavar="EXPERIMENT", help="A named one; see countwise bench list.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of Parquet files; without it computed sets.")] = None,
    sets: Annotated[
        str | None,
        typer.Option(
            help="Names a,b,c, a table of the folder's manifest, development, confirmation, or all.", show_default=False
        ),
    ] = None,
    models: Annotated[str | None, typer.Option(help="Names, with parameters in brackets: tan-hdp,kdb(k=3),rf.")] = None,
    protocol: Annotated[str | None, typer.Option(help="5x2 (any RxF), 10-fold, sizes, curve.")] = None,
    prepare: Annotated[
        str | None, typer.Option(help="Done to whole tables first: none, discretised, imputed-quintiles.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results; what is there already is not done again.")] = Path(
        "results"
    ),
    once_above: Annotated[
        int | None, typer.Option(help="Sets of more rows are split once, not R times.", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="12 small sets, one repeat of two folds.")] = False,
    max_rows: Annotated[int | None, typer.Option(help="Larger sets are cut to a sample of so many rows.")] = None,
    workers: Annotated[int | None, typer.Option(help="Cells at a time; default: all cores.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each model.")] = 1,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for a cell.")] = None,
    memory_limit: Annotated[str | None, typer.Option(help="Memory of a worker: 4GB. Default: shares of 80 %.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of splits and models.")] = 0,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try failed cells again.")] = False,
    debug: Debug = False,
) -> None:
    """Fit and score models on many data sets.

    Every cell (data set, model, repeat, fold) is written to OUT as it ends, so a stopped run goes on where it
    was. A cell that fails, runs out of memory or of time is recorded as such, and the rest goes on.

    \b
    Examples:
      countwise bench run --quick
      countwise bench run --data FOLDER --models tan-hdp,skdb5-hdp,rf,xgboost --protocol 5x2 --out results
      countwise bench run paper000-table4 --data FOLDER --out results
      countwise bench run pool --data FOLDER --sets confirmation --out results
      countwise bench run --data FOLDER --sets adult --models kdb5 --workers 1 --threads 8
    """  # noqa: D301
    from countwise.errors import DataError, counted
    from countwise.evaluate.environment import n_cores
    from countwise.evaluate.models import make_models, split_specs
    from countwise.evaluate.run import benchmark
    from countwise.evaluate.store import STORE

    chosen = _experiment(experiment)
    specs = split_specs(models) if models is not None else _existing(chosen)
    try:
        estimators = make_models(specs, seed, threads)
        splits = _splits(protocol or (QUICK if quick else chosen.protocol), once_above)
    except DataError as error:
        raise usage(error) from None
    if not estimators:
        raise typer.BadParameter("--models: name at least one")
    tables = choose(data, sets, chosen.sets if experiment else None, quick)
    limit = None if memory_limit is None else size_bytes("--memory-limit", memory_limit)
    out.mkdir(parents=True, exist_ok=True)
    size = f"{counted(len(tables), 'data set')}, {counted(len(estimators), 'model')}, {splits}"
    log().print(f"{size}; results in {out}", markup=False)
    results = benchmark(
        estimators,
        tables,
        splits,
        prepare=prepare or chosen.prepare,
        max_rows=max_rows,
        random_state=seed,
        store=out / STORE,
        retry_failed=retry_failed,
        n_workers=workers or max(1, n_cores() // threads),
        threads=threads,
        time_limit=time_limit,
        memory_limit=limit,
        progress=reporter(),
    )
    show(results, chosen if experiment else None, list(tables), chosen.measures)
    tell_failures(results, "--retry-failed tries them again")


def _splits(protocol: "str | Splits", once_above: int | None) -> "Splits":
    from countwise.evaluate.protocols import RepeatedFolds, as_protocol

    splits = as_protocol(protocol)
    if once_above is None:
        return splits
    if not isinstance(splits, RepeatedFolds):
        raise typer.BadParameter("--once-above: is for protocols of folds, such as 5x2")
    return replace(splits, once_above=once_above)


def _experiment(name: str | None) -> "Experiment":
    from countwise.errors import DataError
    from countwise.evaluate.experiments import experiment
    from countwise.evaluate.papers import DEFAULT_EXPERIMENT

    try:
        return DEFAULT_EXPERIMENT if name is None else experiment(name)
    except DataError as error:
        raise usage(error) from None


def _existing(chosen: "Experiment") -> list[str]:
    """The experiment's models that there are; the others are told of."""
    from countwise.evaluate.experiments import absent_models

    absent = absent_models(chosen)
    there = [name for name in chosen.models if name not in absent]
    lines: list[Any] = [*chosen.versus, *chosen.averages, *chosen.lines]
    if absent and not any(_can_run(line, there) for line in lines):
        raise failure(
            f"{chosen.name} cannot be run yet: {'; '.join(absent.values())}",
            "countwise bench list shows which experiments can",
        )
    for reason in absent.values():
        log().print(f"left out: {reason}", markup=False, soft_wrap=True)
    return there


def _can_run(line: Any, there: list[str]) -> bool:
    from countwise.evaluate.experiments import Average, Line, Versus

    if isinstance(line, Versus):
        return {line.own, line.other} <= set(there)
    if isinstance(line, Line):
        return all({own, other} <= set(there) for _, own, other in line.points)
    assert isinstance(line, Average)
    return line.model in there
