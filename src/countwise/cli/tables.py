"""Reading tables batch by batch, and writing them as they come."""

import glob
import gzip
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa

from countwise.cli.failure import failure

if TYPE_CHECKING:  # its import takes half a second, and `--help` needs none of it
    import pyarrow.dataset

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
        files = sorted(str(f) for f in Path(path).iterdir() if f.name.lower().endswith(tuple(FORMATS)))
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


def open_tables(files: Sequence[str], types: Types | None = None) -> "pyarrow.dataset.Dataset":
    """The files as one table on disk; ``types`` are those of CSV columns, where known."""
    import pyarrow.csv
    import pyarrow.dataset

    kinds = {format_of(file) for file in files}
    if len(kinds) > 1:
        raise failure(f"files of different formats: {', '.join(sorted(kinds))}", "convert them to one format")
    kind: Any = kinds.pop()
    if kind in {"csv", "tsv"}:
        convert = pyarrow.csv.ConvertOptions(column_types=dict(types or {}), strings_can_be_null=True)
        parse = pyarrow.csv.ParseOptions(delimiter="," if kind == "csv" else "\t")
        kind = pyarrow.dataset.CsvFileFormat(parse_options=parse, convert_options=convert)
    return pyarrow.dataset.dataset(list(files), format=kind)


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
