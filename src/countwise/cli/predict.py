"""``countwise predict``: class probabilities for new rows, batch by batch."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from countwise.cli.failure import Debug, failure, guarded
from countwise.cli.fit import INPUT
from countwise.cli.output import check_writable, log, reporter
from countwise.cli.tables import (
    STDIO,
    Delimiter,
    Null,
    format_of,
    input_files,
    open_tables,
    read_options,
    table_writer,
)
from countwise.progress import progress_bar, use_progress
from countwise.whole_files import replacing


@guarded
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file of `countwise fit`.")],
    new: Annotated[list[str], typer.Argument(metavar="NEW", help=INPUT)],
    out: Annotated[str, typer.Option(help="A .parquet, .csv(.gz) or .arrow file, or - for CSV.")] = STDIO,
    proba: Annotated[bool, typer.Option(help="A column p_<class> for each class.")] = True,
    as_log: Annotated[bool, typer.Option("--log", help="Natural logarithms, as log_p_<class>.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option("--id", metavar="COLUMN", help="Column to copy; may be repeated.")
    ] = None,
    null: Null = None,
    delimiter: Delimiter = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows in memory at a time.")] = 65_536,
    debug: Debug = False,
) -> None:
    """Predict the classes of the rows of NEW with MODEL, in the order of the rows.

    The output has the columns asked for with --id, then prediction, then p_<class> for each class. Columns
    that the model does not know, the target among them, are ignored.

    \b
    Examples:
      countwise predict label.cw new.parquet --out predictions.parquet --id customer
      countwise predict label.cw new.csv --no-proba | head
    """  # noqa: D301
    import countwise

    if out != STDIO:
        check_writable(Path(out), inputs=[str(model), *new])
    if as_log and not proba:
        raise typer.BadParameter("--log: is for probabilities, which --no-proba leaves out")
    classifier = countwise.load(model)
    began = time.perf_counter()
    with input_files(new) as files, _sink(out) as (path, kind), use_progress(reporter()):
        options = read_options(None, null, delimiter)
        source = open_tables(files, batch_rows=batch_size, **options).read_like(classifier.codec_)
        plan = _plan(classifier, source.schema, keep or [], None if not proba else "log_p_" if as_log else "p_")
        with table_writer(path, kind, plan.schema) as write, progress_bar("predict", source.count_rows()) as bar:
            n_rows = 0
            for table in _predictions(plan, source):
                write(table)
                n_rows += len(table)
                bar.advance(len(table))
    seconds = time.perf_counter() - began
    log().print(f"predicted {n_rows:,} rows in {seconds:.1f} s", markup=False)


@dataclass(frozen=True)
class Plan:
    """What is read and what is written: ``schema`` has the ``ids``, the prediction and the probabilities."""

    model: Any
    needed: list[str]
    ids: list[str]
    prefix: str | None
    schema: pa.Schema


def _plan(model: Any, source: pa.Schema, keep: list[str], prefix: str | None) -> Plan:
    """Check the columns before any work."""
    needed = [str(name) for name in getattr(model, "feature_names_in_", ())]
    ids = list(dict.fromkeys(keep))
    if not needed:
        raise failure("the model was fitted without column names", "predict with it in Python")
    missing = [repr(name) for name in (*needed, *ids) if name not in source.names]
    if missing:
        rest = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        have = ", ".join(source.names[:20])
        raise failure(f"columns missing from the new data: {', '.join(missing[:10])}{rest}", f"they have {have}")
    fields = [source.field(name) for name in ids]
    fields.append(pa.field("prediction", pa.array(np.asarray(model.classes_).tolist()).type))
    if prefix is not None:
        fields += [pa.field(f"{prefix}{label}", pa.float64()) for label in model.classes_]
    names = [field.name for field in fields]
    for name in ids:
        if names.count(name) > 1:
            raise failure(f"two output columns would be called {name!r}", "leave out the --id of that name")
    return Plan(model, needed, ids, prefix, pa.schema(fields))


def _predictions(plan: Plan, source: Any) -> Iterator[pa.Table]:
    """The output for each batch of the input, in order."""
    columns = list(dict.fromkeys(plan.needed + plan.ids))
    for batch in source.record_batches(columns):
        if batch.num_rows:
            table = pa.Table.from_batches([batch])
            yield _output(plan, table)


def _output(plan: Plan, table: pa.Table) -> pa.Table:
    is_log = plan.prefix is not None and plan.prefix.startswith("log")
    ask = plan.model.predict_log_proba if is_log else plan.model.predict_proba
    proba = ask(table.select(plan.needed))
    labels = np.asarray(plan.model.classes_)[proba.argmax(axis=1)]  # the first of equal probabilities
    values: list[Any] = [table.column(name).cast(plan.schema.field(name).type) for name in plan.ids]
    values.append(pa.array(labels.tolist(), plan.schema.field("prediction").type))
    if plan.prefix is not None:
        values += [pa.array(np.ascontiguousarray(column)) for column in proba.T]
    return pa.table(values, schema=plan.schema)


@contextmanager
def _sink(out: str) -> Iterator[tuple[Path | None, str]]:
    """Where to write, and in which format; nothing is left there if the block fails."""
    if out == STDIO:
        yield None, "csv"
        return
    kind = format_of(out)
    with replacing(Path(out)) as temporary:
        yield temporary, kind
