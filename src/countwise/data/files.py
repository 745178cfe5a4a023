"""Tables larger than memory: files, and any stream that can be started again."""

from __future__ import annotations

import copy
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.data.codec import CategoryCodec, Codec
from countwise.data.columns import as_numbers, raw_column
from countwise.data.readers import CsvReader, IpcReader, ParquetReader, Reader
from countwise.data.source import RawBatch, Source, check_unique, table_columns
from countwise.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

LEAST_WEIGHT = 1e-100  # of a row that counts at all
CONVERT = "convert the file, for example with iconv -f latin1 -t utf8"
BATCH_BYTES = 16 * 2**20  # of decoded columns; a few batches are in flight at once
BYTES_PER_VALUE = 16  # text is wider than that, dictionary codes and numbers are narrower
SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".arrow": "ipc",
    ".arrows": "ipc",
    ".feather": "ipc",
}
COMPRESSIONS = (".gz", ".bz2", ".zst")  # of CSV files
TYPES = ("text", "number")
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def scan(
    path: Paths,
    target: str | None = None,
    *,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    batch_rows: int | None = None,
    null_values: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> FileSource:
    """A table in files that is read in batches, once for each pass; every ``fit`` takes it in place of X.

    Parameters
    ----------
    path : path, glob or list of them
        Parquet, CSV or TSV (also ``.gz``, ``.bz2``, ``.zst``), Arrow or Feather files, or a folder of such files.
    target : str, optional
        The column to predict; needed to fit.
    weight : str, optional
        A column of row weights.
    columns : sequence of str, optional
        Attributes to use; by default all but the target and the weight.
    batch_rows : int, optional
        Rows to hold at a time; by default as many as take about 16 MB.
    null_values : sequence of str, optional
        More spellings of *missing* in CSV files, such as ``["?"]``.
    types : mapping of str to {"text", "number"}, optional
        What CSV columns hold, where the first rows do not tell. Whole numbers with leading zeros are text anyway.
    delimiter : str, optional
        What separates the columns of a CSV file; a comma by default, a tab in ``.tsv`` files.

    Examples
    --------
    >>> import countwise as cw, pyarrow as pa, pyarrow.parquet as pq, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pq.write_table(pa.table({"sky": ["sun", "rain"] * 20, "play": ["yes", "no"] * 20}), folder / "days.parquet")
    >>> model = cw.NBClassifier().fit(cw.scan(folder / "*.parquet", target="play"))
    >>> model.predict(pa.table({"sky": ["rain"]}))
    array(['no'], dtype=object)

    """
    files = _expand(path)
    reader = _reader(files[0], _texts(null_values, "null_values"), types or {}, delimiter)
    return FileSource(files, reader, target, weight, _texts(columns, "columns"), batch_rows)


class FileSource(Source):
    """See :func:`scan`."""

    def __init__(
        self,
        files: list[Path],
        reader: Reader,
        target: str | None,
        weight: str | None,
        columns: list[str] | None,
        batch_rows: int | None,
    ) -> None:
        self.files, self._reader = files, reader
        self.target, self.weight = target, weight
        self.schema = self._schema(files[0])
        self._checked: set[Path] = {files[0]}
        if isinstance(reader, CsvReader):  # later files and passes are read as the first one
            reader.types |= {f.name: f.type for f in self.schema if not _is_open(f.type)}
        present = list(self.schema.names)
        check_unique(present)
        if target is not None and target == weight:
            raise DataError(f"{target!r} cannot be both the target and the weight")
        for role, name in (("target", target), ("weight", weight)):
            if name is not None and name not in present:
                raise _absent(f"{role} column {name!r} is", files[0], present)
        self.names = columns if columns is not None else [n for n in present if n not in (target, weight)]
        self._check_names(present)
        width = max(1, len(self.names)) * BYTES_PER_VALUE
        if batch_rows is not None and batch_rows < 1:
            raise DataError(f"batch_rows must be at least 1, got {batch_rows!r}")
        self.batch_rows = batch_rows or int(np.clip(BATCH_BYTES // width, 1024, 2**17))

    def _check_names(self, present: list[str]) -> None:
        absent = [name for name in self.names if name not in present]
        if absent:
            raise _absent(f"column(s) {absent} are", self.files[0], present)
        check_unique(self.names)
        for role, name in (("target", self.target), ("weight", self.weight)):
            if name in self.names:
                raise DataError(f"columns names {name!r}, which is the {role}; leave it out")
        if not self.names:
            raise DataError(f"{self.files[0]}: no column is left to learn from; columns: {present[:20]}")

    def __repr__(self) -> str:
        files = str(self.files[0]) + (f" and {len(self.files) - 1} more" if len(self.files) > 1 else "")
        return f"<{files}: {len(self.names)} columns, target {self.target!r}>"

    def count_rows(self) -> int | None:
        """Number of rows where the files tell it at once; CSV would have to be read for it."""
        counts = [self._reader.count_rows(file) for file in self.files]
        return None if None in counts else sum(n for n in counts if n is not None)

    def read_like(self, codec: Codec) -> FileSource:
        """The same files with CSV columns read as a model knows them: text that looks like numbers stays text."""
        import pyarrow as pa
        import pyarrow.types as t

        if not isinstance(self._reader, CsvReader):
            return self
        types = dict(self._reader.types)
        for column in codec.columns:
            guess = self.schema.field(column.name).type if column.name in self.schema.names else pa.null()
            if isinstance(column, CategoryCodec):
                if t.is_string(column.categories.type):
                    types[column.name] = pa.string()
            elif column.measure == "number" and not t.is_temporal(guess):
                types[column.name] = pa.float64()
        other = copy.copy(self)
        other.schema = pa.schema([pa.field(f.name, types.get(f.name, f.type)) for f in self.schema])
        other._reader = CsvReader(self._reader.delimiter, self._reader.null_values, types)
        return other

    def _schema(self, file: Path) -> pa.Schema:
        import pyarrow as pa

        if file.stat().st_size == 0:
            raise DataError(f"{file} is empty")
        try:
            return self._reader.schema(file)
        except UnicodeDecodeError as error:
            raise DataError(f"{file}: the header is not UTF-8 text; {CONVERT}") from error
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{file} cannot be read as {self._reader.name}: {_reason(error)}") from error

    def record_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns of all files, batch by batch; a damaged file is an error that names it."""
        import pyarrow as pa

        for file in self.files:
            if file not in self._checked:
                present = self._schema(file).names
                absent = [name for name in columns if name not in present]
                if absent:
                    raise _absent(f"column(s) {absent} are", file, present)
                self._checked.add(file)
            try:
                yield from self._reader.batches(file, columns, self.batch_rows)
            except (pa.ArrowException, OSError) as error:
                raise DataError(f"{file} cannot be read to its end: {_reason(error)}") from error

    def batches(self) -> Iterator[RawBatch]:
        """All rows, from the first."""
        extra = [name for name in (self.target, self.weight) if name is not None]
        for batch in self.record_batches([*self.names, *extra]):
            self._check_encoding(batch)
            yield _raw_batch(batch, self.names, self.target, self.weight)

    def to_table(self) -> pa.Table:
        """All rows in memory: the columns to learn from, the target and the weight, in the order of the files."""
        import pyarrow as pa

        used = {*self.names, self.target, self.weight}
        schema = pa.schema([field for field in self.schema if field.name in used])
        tables = [as_declared(pa.Table.from_batches([batch]), schema) for batch in self.record_batches(schema.names)]
        return pa.concat_tables([schema.empty_table(), *tables], promote_options="permissive")

    def _check_encoding(self, batch: pa.RecordBatch) -> None:
        """Arrow reads a CSV column that is not UTF-8 as bytes."""
        import pyarrow.types as t

        for field in batch.schema if isinstance(self._reader, CsvReader) else ():
            if t.is_binary(field.type):
                raise DataError(f"{self.files[0]}: column {field.name!r} is not UTF-8 text; {CONVERT}")


def as_declared(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with text that was read as a dictionary as text again, where the schema has it so."""
    import pyarrow.types as t

    for i, field in enumerate(table.schema):
        declared = schema.field(field.name).type
        if t.is_dictionary(field.type) and not t.is_dictionary(declared):
            table = table.set_column(i, field.name, table.column(i).cast(declared))
    return table


def _is_open(dtype: pa.DataType) -> bool:
    """Whether a guessed type may turn out to be another one."""
    import pyarrow.types as t

    return bool(t.is_null(dtype) or t.is_integer(dtype) or t.is_binary(dtype))


def _reader(file: Path, null_values: list[str] | None, types: Mapping[str, str], delimiter: str | None) -> Reader:
    import pyarrow as pa

    kind = SUFFIXES[_suffix(file)]
    if kind not in ("csv", "tsv"):
        return ParquetReader() if kind == "parquet" else IpcReader()
    strange = {name: value for name, value in types.items() if value not in TYPES}
    if strange:
        raise DataError(f"types={strange}: a column is 'text' or 'number'")
    known = {name: pa.string() if value == "text" else pa.float64() for name, value in types.items()}
    return CsvReader(delimiter or ("\t" if kind == "tsv" else ","), null_values or [], known)


def _texts(value: Sequence[str] | None, name: str) -> list[str] | None:
    """A list of texts; one text alone would be taken for its letters."""
    if isinstance(value, str):
        raise DataError(f"{name} must be a list of texts, got {value!r}; write [{value!r}]")
    return None if value is None else [str(item) for item in value]


def _absent(what: str, file: Path, present: Sequence[str]) -> DataError:
    """The error for a column that a file does not have."""
    hint = ""
    if len(present) == 1:
        found = next((c for c in ";\t|" if c in present[0]), None)
        hint = f"; if they are separated by {found!r}, say delimiter={found!r} (--delimiter)" if found else ""
    return DataError(f"{what} not in {file}; columns: {list(present[:20])}{hint}")


def _reason(error: Exception) -> str:
    """Arrow's message without the parts that repeat what ours says."""
    text = str(error).removeprefix("[Errno 5] ").split("Detail:")[0].strip()
    columns = "; if the columns are separated otherwise, say delimiter=... (--delimiter)"
    return text + columns if "CSV parse error: " in text and "columns, got" in text else text


def _raw_batch(batch: Any, names: Sequence[str], target: str | None, weight: str | None) -> RawBatch:
    columns = [raw_column(batch.column(name), name) for name in names]
    weights = None if weight is None else check_weights(as_numbers(batch.column(weight), weight))
    return RawBatch(columns, None if target is None else batch.column(target), weights, batch.num_rows)


def check_weights(weights: Any) -> Any:
    """Weights are finite, not negative, and not so small that their squares vanish."""
    if not np.isfinite(weights).all():
        raise DataError("sample weights contain NaN or infinity; give every row a finite weight")
    if (weights < 0).any():
        raise DataError(f"sample weights must not be negative; {int((weights < 0).sum())} row(s) are")
    tiny = (weights > 0) & (weights < LEAST_WEIGHT)
    if tiny.any():
        raise DataError(
            f"sample weights must be 0 or at least {LEAST_WEIGHT}, {int(tiny.sum())} row(s) have less; "
            "pass weights with a mean of 1"
        )
    return np.ascontiguousarray(weights, np.float64)


class StreamSource(Source):
    """Batches from memory-sized pieces: a re-iterable of tables, or a function that starts a new Arrow stream.

    Parameters
    ----------
    batches : re-iterable of frames, or callable
        Anything that can be iterated again from the start (a list, an object with ``__iter__``), or a function
        without arguments that returns an object with ``__arrow_c_stream__`` or an iterable of tables.
    target, weight : str
        As in :func:`scan`.

    """

    def __init__(
        self, batches: Iterable[Any] | Callable[[], Any], target: str | None = None, weight: str | None = None
    ) -> None:
        if isinstance(batches, Iterator):
            raise DataError(
                "the batches can be read only once, and learning takes several passes; "
                "pass a list, a re-iterable object, or a function that starts a new stream"
            )
        self._source, self.target, self.weight = batches, target, weight
        first = next(self._tables(), None)
        if first is None:
            raise DataError("the stream holds no batch")
        names = table_columns(first)[0]
        for role, name in (("target", target), ("weight", weight)):
            if name is not None and name not in names:
                raise DataError(f"{role} column {name!r} is not in the stream; columns: {names[:20]}")
        self.names = [name for name in names if name not in (target, weight)]

    def _tables(self) -> Iterator[Any]:
        stream = self._source() if callable(self._source) else self._source
        if hasattr(stream, "__arrow_c_stream__"):
            import pyarrow as pa

            return iter(pa.RecordBatchReader.from_stream(stream))
        return iter(stream)

    def batches(self) -> Iterator[RawBatch]:
        """All rows, from the first."""
        empty = True
        for table in self._tables():
            empty = False
            names, columns, n_rows = table_columns(table)
            by_name = dict(zip(names, columns, strict=True))
            absent = [n for n in [*self.names, self.target, self.weight] if n is not None and n not in by_name]
            if absent:
                raise DataError(f"a batch of the stream lacks column(s) {absent}")
            weights = None if self.weight is None else check_weights(as_numbers(by_name[self.weight], self.weight))
            target = None if self.target is None else by_name[self.target]
            yield RawBatch([by_name[name] for name in self.names], target, weights, n_rows)
        if empty:
            raise DataError(
                "the stream gave no batch when it was read again: it can be read only once; "
                "pass a function that starts a new stream each time"
            )


def _suffix(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _expand(path: Paths) -> list[Path]:
    """Files of a path, folder, glob or list of them, sorted."""
    items = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not items:
        raise DataError("path is an empty list")
    files = [file for item in items for file in _matches(os.fspath(item))]
    strange = [file for file in files if _suffix(file) not in SUFFIXES]
    if strange:
        known = f"{', '.join(sorted(SUFFIXES))}; CSV also with {', '.join(COMPRESSIONS)}"
        raise DataError(f"{strange[0]}: unknown file type; known: {known}")
    if len({SUFFIXES[_suffix(file)] for file in files}) > 1:
        raise DataError(f"{path!s} matches files of several formats; scan one format at a time")
    return files


def _matches(text: str) -> list[Path]:
    if os.path.isdir(text):
        found = sorted(p for p in Path(text).iterdir() if _suffix(p) in SUFFIXES)
        if not found:
            raise DataError(
                f"folder {text} holds no file of a known type ({', '.join(sorted(SUFFIXES))}); "
                f"files in folders below it are matched by {text}/**/*.parquet"
            )
        return found
    if os.path.exists(text):
        return [Path(text)]
    found = [Path(match) for match in sorted(glob.glob(text, recursive=True))]
    if not found:
        raise DataError(f"no file matches {text} (looked in {os.getcwd()})")
    return found
