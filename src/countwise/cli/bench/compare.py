"""``countwise bench compare``: wins, draws, losses and tests from stored results."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from countwise.cli.bench.data import names_in, restricted
from countwise.cli.bench.show import print_table, read_results
from countwise.cli.failure import Debug, guarded
from countwise.cli.models import parse_list


@guarded
def compare(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Folder of a run.")],
    base: Annotated[
        str | None, typer.Option(help="Model that the others are compared with; default: all pairs.")
    ] = None,
    models: Annotated[str | None, typer.Option(help="Only these: a,b,c.")] = None,
    sets: Annotated[
        str | None, typer.Option(help="Only these data sets: names, development, confirmation, a table of --data.")
    ] = None,
    measures: Annotated[
        str, typer.Option(help="Scores, bias, variance, fit_seconds, ...")
    ] = "rmse,zero_one_loss,log_loss",
    experiment: Annotated[str | None, typer.Option(help="Show a paper's table beside ours.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder whose manifest says which sets an experiment has; default: all.")
    ] = None,
    size: Annotated[int | None, typer.Option(help="Training rows, of results with several sizes.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the tables to this folder as CSV files too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Compare the models of a run: means, wins-draws-losses, sign test, Wilcoxon's test, ranks.

    \b
    Examples:
      countwise bench compare results --base rf
      countwise bench compare results --experiment pool --sets confirmation
      countwise bench compare results --models tan-m,tan-hdp,rf --measures rmse,bias,variance
      countwise bench compare results --experiment paper000-table4 --data FOLDER --csv tables
    """  # noqa: D301
    from countwise.evaluate.compare import Table, against, as_csv, means, means_by_size, pairwise, paper_tables, ranks
    from countwise.evaluate.experiments import experiment as named
    from countwise.report.names import slug
    from countwise.whole_files import write_text

    found = restricted(read_results(results), sets, data)
    if models is not None or size is not None:
        found = found.only(models=split(models), train_size=size)
    tables: list[Table] = []
    if experiment is not None:
        one = named(experiment)
        tables += paper_tables(found, one, None if data is None else names_in(data, one.sets))
    else:
        several = len(found.train_sizes) > 1
        tables += [means_by_size(found, m) for m in parse_list(measures)] if several else [means(found)]
        for measure in () if several else parse_list(measures):
            tables += [pairwise(found, measure)] if base is None else against(found, base, [measure])
            if len(found.models) > 2 and len(found.datasets) > 1:
                tables.append(ranks(found, measure))
    if csv is not None:
        csv.mkdir(parents=True, exist_ok=True)
        for table in tables:
            write_text(csv / f"{slug(table.title)}.csv", as_csv(table))
    if as_json:
        typer.echo(json.dumps([asdict(table) for table in tables]))
    else:
        for table in tables:
            print_table(table)


def split(models: str | None) -> list[str] | None:
    """Names of models; commas in brackets belong to a name."""
    from countwise.evaluate.models import split_specs

    return None if models is None else split_specs(models)
