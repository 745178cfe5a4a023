"""Reading tables batch by batch, and writing them as they come."""

import gzip
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import pyarrow as pa
import typer

from countwise.cli.failure import failure
from countwise.errors import DataError

if TYPE_CHECKING:  # `--help` needs none of it
    from countwise.data.files import FileSource

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "tsv",
    ".tsv.gz": "tsv",
    ".arrow": "ipc",
    ".feather": "ipc",
}
STDIO = "-"

Write = Callable[[pa.Table], None]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="COLUMN=TYPE", help="What a CSV column holds: text or number; may be repeated."),
]
Null = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="A text that means missing in CSV, such as ?; may be repeated.")
]
Drop = Annotated[str | None, typer.Option(help="Columns to leave out, such as the rows' names: a,b,c.")]
Delimiter = Annotated[str | None, typer.Option(metavar="TEXT", help="What separates the columns of a CSV file.")]


@contextmanager
def input_files(paths: Sequence[str]) -> Iterator[list[str]]:
    """The files that the arguments name; ``-`` is stdin put into a temporary file.

    Learning reads its data several times, and a pipe can be read once.
    """
    if list(paths) != [STDIO]:
        yield list(paths)
        return
    with tempfile.TemporaryDirectory(prefix="countwise-") as folder:
        spool = Path(folder) / "stdin.csv"
        with spool.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if spool.stat().st_size == 0:
            raise failure("standard input is empty", "pipe a CSV table with a header line into it")
        try:
            yield [str(spool)]
        except DataError as error:
            raise DataError(str(error).replace(str(spool), "standard input")) from error


def read_options(types: list[str] | None, null: list[str] | None, delimiter: str | None) -> dict[str, Any]:
    """The options of :func:`countwise.scan` for CSV files.

    >>> read_options(["zip=text"], ["?"], None)
    {'types': {'zip': 'text'}, 'null_values': ['?'], 'delimiter': None}
    """
    named = dict(pair.rpartition("=")[::2] for pair in types or [])
    if any(not name or value not in ("text", "number") for name, value in named.items()):
        raise typer.BadParameter(f"--type: expected COLUMN=text or COLUMN=number, got {' '.join(types or [])}")
    return {"types": named, "null_values": null, "delimiter": delimiter}


def format_of(path: str) -> str:
    """Format by extension.

    >>> format_of("a/b.csv.gz"), format_of("B.PARQUET")
    ('csv', 'parquet')
    """
    name = path.lower()
    for extension, kind in FORMATS.items():
        if name.endswith(extension):
            return kind
    raise failure(f"{path}: the format is not known", f"known extensions: {', '.join(FORMATS)}")


def open_tables(files: Sequence[str], drop: Sequence[str] = (), **options: Any) -> "FileSource":
    """The files as one table on disk without some columns; ``options`` are those of :func:`countwise.scan`."""
    import countwise

    source = countwise.scan(list(files), **options)
    if not drop:
        return source
    absent = [name for name in drop if name not in source.names]
    if absent:
        raise failure(f"--drop: {absent[0]!r} is not an attribute", f"there are {', '.join(source.names[:20])}")
    return countwise.scan(list(files), columns=[name for name in source.names if name not in drop], **options)


@contextmanager
def table_writer(path: Path | None, kind: str, schema: pa.Schema) -> Iterator[Write]:
    """A function that appends tables of the given schema to a file; ``path`` None: CSV on stdout."""
    if kind in {"csv", "tsv"}:
        with _binary(path) as file:
            yield _csv_writer(file, schema, "," if kind == "csv" else "\t")
    elif kind == "parquet":
        from pyarrow.parquet import ParquetWriter

        with ParquetWriter(path, schema) as writer:
            yield writer.write_table
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
            yield writer.write_table


@contextmanager
def _binary(path: Path | None) -> Iterator[Any]:
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb") as file:
            yield file


def _csv_writer(file: BinaryIO, schema: pa.Schema, delimiter: str) -> Write:
    import pyarrow.csv

    options = pyarrow.csv.WriteOptions(include_header=False, delimiter=delimiter)

    def write(table: pa.Table) -> None:
        buffer = pa.BufferOutputStream()
        pyarrow.csv.write_csv(table, buffer, options)
        file.write(buffer.getvalue())

    file.write((delimiter.join(map(_quoted, schema.names)) + "\n").encode())
    return write


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"\t\n\r') else name
