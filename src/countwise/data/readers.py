"""One file in, record batches out: a reader for each format, none of which holds more than a few batches.

Arrow's data sets would read all of these too, but far ahead of a slow consumer: several row groups are decoded
while counting works on the first. These readers decode a batch when it is asked for.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from countwise.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

CSV_BLOCK = 4 * 2**20  # bytes that are parsed at a time; types are guessed from the first block
CONVERSION = re.compile(r"In CSV column #(\d+): Row #(\d+): CSV conversion error to (\S+): invalid value '(.*)'", re.S)
ARROW_MAGIC = b"ARROW1"
LEADING_ZERO = r"^[+-]?0[0-9]"


class Reader(ABC):
    """How files of one format are read."""

    name: str

    @abstractmethod
    def schema(self, file: Path) -> pa.Schema:
        """Names and types of a file's columns."""

    @abstractmethod
    def batches(self, file: Path, columns: Sequence[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """The named columns of a file, at most ``batch_rows`` rows at a time."""

    def count_rows(self, file: Path) -> int | None:
        """Number of rows where the file tells it at once."""
        return None


class ParquetReader(Reader):
    """Parquet, page by page: a row group may be larger than memory."""

    name = "Parquet"

    def schema(self, file: Path) -> pa.Schema:
        """As the footer has it."""
        with closing(self._open(file)) as parquet:
            return parquet.schema_arrow

    def batches(self, file: Path, columns: Sequence[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """All row groups in turn."""
        import pyarrow.types as t

        texts = [f.name for f in self.schema(file) if t.is_string(f.type) or t.is_large_string(f.type)]
        with closing(self._open(file, texts)) as parquet:  # text as it is stored, looked up once for each word
            yield from parquet.iter_batches(batch_rows, columns=list(columns), use_threads=False)

    def count_rows(self, file: Path) -> int | None:
        """As the footer has it."""
        with closing(self._open(file)) as parquet:
            return int(parquet.metadata.num_rows)

    @staticmethod
    def _open(file: Path, dictionaries: Sequence[str] = ()) -> Any:
        from pyarrow.parquet import ParquetFile

        return ParquetFile(file, read_dictionary=list(dictionaries), buffer_size=2**20, pre_buffer=False)


class IpcReader(Reader):
    """Arrow and Feather files; also Arrow streams that were written to a file."""

    name = "Arrow"

    def schema(self, file: Path) -> pa.Schema:
        """As the file's beginning or end has it."""
        with _arrow_file(file) as (schema, _):
            return schema

    def batches(self, file: Path, columns: Sequence[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """The record batches of the file, large ones in parts."""
        with _arrow_file(file) as (_, stored):
            for batch in stored:
                for start in range(0, batch.num_rows, batch_rows):
                    yield batch.slice(start, batch_rows).select(list(columns))


@contextmanager
def _arrow_file(file: Path) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """An open Arrow file: its schema and its batches."""
    import pyarrow as pa

    with pa.OSFile(str(file)) as source:
        is_stream = source.read(len(ARROW_MAGIC)) != ARROW_MAGIC
        source.seek(0)
        if is_stream:
            stream = pa.ipc.open_stream(source)
            yield stream.schema, iter(stream)
        else:
            stored = pa.ipc.open_file(source)
            yield stored.schema, (stored.get_batch(i) for i in range(stored.num_record_batches))


class CsvReader(Reader):
    """CSV with a header line. ``types`` are those of columns that must not be guessed.

    A column that starts with whole numbers may go on with fractions, and one that starts empty with anything: it is
    then read on with the wider type, which is kept in ``types`` for the next time.
    """

    name = "CSV"

    def __init__(self, delimiter: str, null_values: Sequence[str], types: dict[str, pa.DataType]) -> None:
        self.delimiter, self.null_values, self.types = delimiter, list(null_values), dict(types)
        self.fixed = set(types)  # not guessed
        self._empty: set[str] = set()  # columns that started without a value

    def schema(self, file: Path) -> pa.Schema:
        """Guessed from the first block; whole numbers with leading zeros, such as postcodes, are text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        with closing(self._open(file, None, self.types)) as reader:
            schema = reader.schema
        whole = {f.name: pa.string() for f in schema if pa.types.is_integer(f.type) and f.name not in self.types}
        if len(set(schema.names)) < len(schema) or not whole:
            return schema
        with closing(self._open(file, list(whole), self.types | whole)) as reader:
            first: Any = next(iter(reader), None)
        for name in whole if first is not None else ():
            if pc.any(pc.match_substring_regex(first.column(name), LEADING_ZERO)).as_py():
                schema = schema.set(schema.get_field_index(name), pa.field(name, pa.string()))
        return schema

    def batches(self, file: Path, columns: Sequence[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Block by block, large ones in parts."""
        import pyarrow as pa

        done = 0
        while True:
            to_skip = done
            try:
                with closing(self._open(file, columns, self.types)) as reader:
                    for block in reader:
                        skipped = min(to_skip, block.num_rows)
                        to_skip -= skipped
                        for start in range(skipped, block.num_rows, batch_rows):
                            part = block.slice(start, batch_rows)
                            yield part
                            done += part.num_rows
                return
            except pa.ArrowInvalid as error:
                self._widen(file, error)

    def _open(self, file: Path, columns: Sequence[str] | None, types: dict[str, pa.DataType]) -> Any:
        from pyarrow import csv

        convert = csv.ConvertOptions(strings_can_be_null=True, column_types=types, include_columns=columns)
        convert.null_values = [*convert.null_values, *self.null_values]
        return csv.open_csv(
            file,
            read_options=csv.ReadOptions(block_size=CSV_BLOCK, use_threads=False),  # so that errors know their row
            parse_options=csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            convert_options=convert,
        )

    def _widen(self, file: Path, error: pa.ArrowInvalid) -> None:
        """Take the next wider type for the column that ``error`` is about, or say what the user can do."""
        import pyarrow as pa

        found = CONVERSION.search(str(error))
        if found is None:
            raise error
        with closing(self._open(file, None, {})) as reader:
            name = reader.schema.names[int(found[1])]
        wider = {"null": pa.float64(), "int64": pa.float64()}.get(found[3])
        if found[3] == "null":
            self._empty.add(name)
        elif name in self._empty and found[3] == "double":  # the first value after all the gaps is no number
            wider = pa.string()
            self._empty.remove(name)
        if wider is None:
            raise self._contradiction(file, name, found) from error
        self.types[name] = wider

    def _contradiction(self, file: Path, name: str, found: re.Match[str]) -> DataError:
        """The error for a value that is not of the column's type."""
        _, row, dtype, value = found.groups()
        kind = {"double": "a number", "bool": "true or false"}.get(dtype, f"of type {dtype}")
        is_text = f"if the column is text, say types={{{name!r}: 'text'}} (--type {name}=text); "
        return DataError(
            f"{file}, row {row}: column {name!r} holds {value!r}, which is not {kind}; "
            f"{'' if name in self.fixed else is_text}"
            f"if it means missing, say null_values=[{value!r}] (--null {value!r})"
        )
