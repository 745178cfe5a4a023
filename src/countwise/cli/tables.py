"""Reading tables batch by batch, and writing them as they come."""

import glob
import gzip
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from countwise.cli.failure import failure

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
STDIO = "-"

Types = Mapping[str, pa.DataType]
Write = Callable[[pa.Table], None]


@contextmanager
def input_files(paths: Sequence[str]) -> Iterator[list[str]]:
    """The files that the arguments name: globs are expanded, ``-`` is stdin put into a temporary file.

    Learning reads its data several times, and a pipe can be read once.
    """
    if list(paths) != [STDIO]:
        yield [file for path in paths for file in _expanded(path)]
        return
    with tempfile.TemporaryDirectory(prefix="countwise-") as folder:
        spool = Path(folder) / "stdin.csv"
        with spool.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if spool.stat().st_size == 0:
            raise failure("standard input is empty", "pipe a CSV table with a header line into it")
        yield [str(spool)]


def _expanded(path: str) -> list[str]:
    if Path(path).is_dir():
        inside = (file for file in Path(path).rglob("*") if file.is_file())
        files = sorted(str(file) for file in inside if not file.name.startswith(("_", ".")))
    elif Path(path).exists():
        files = [path]
    else:
        files = sorted(glob.glob(path, recursive=True))
    if not files:
        raise failure(f"{path}: no such file", "globs may be quoted; - is CSV on standard input")
    return files


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


def open_tables(files: Sequence[str], types: Types | None = None) -> pyarrow.dataset.Dataset:
    """The files as one table on disk; ``types`` are those of CSV columns, where known."""
    kinds = {format_of(file) for file in files}
    if len(kinds) > 1:
        raise failure(f"files of different formats: {', '.join(sorted(kinds))}", "convert them to one format")
    kind: Any = kinds.pop()
    if kind == "csv":
        options = pyarrow.csv.ConvertOptions(column_types=dict(types or {}), strings_can_be_null=True)
        kind = pyarrow.dataset.CsvFileFormat(convert_options=options)
    return pyarrow.dataset.dataset(list(files), format=kind)


@contextmanager
def table_writer(path: Path | None, kind: str, schema: pa.Schema) -> Iterator[Write]:
    """A function that appends tables of the given schema to a file; ``path`` None: CSV on stdout."""
    if kind == "csv":
        with _binary(path) as file:
            yield _csv_writer(file, schema)
    elif kind == "parquet":
        with pyarrow.parquet.ParquetWriter(path, schema) as writer:
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


def _csv_writer(file: BinaryIO, schema: pa.Schema) -> Write:
    options = pyarrow.csv.WriteOptions(include_header=False)

    def write(table: pa.Table) -> None:
        buffer = pa.BufferOutputStream()
        pyarrow.csv.write_csv(table, buffer, options)
        file.write(buffer.getvalue())

    file.write((",".join(map(_quoted, schema.names)) + "\n").encode())
    return write


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"\n\r') else name
