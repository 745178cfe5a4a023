"""Tables larger than memory: files through Arrow data sets, and any stream that can be started again."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.data.columns import as_numbers, raw_column
from countwise.data.source import RawBatch, Source, check_unique, table_columns
from countwise.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 16 * 2**20  # of decoded columns; a few batches are in flight at once
BYTES_PER_VALUE = 16  # text is wider than that, dictionary codes and numbers are narrower
SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".arrow": "ipc",
    ".feather": "ipc",
}
COMPRESSIONS = (".gz", ".bz2", ".zst", ".xz")


def scan(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str | None = None,
    *,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    batch_rows: int | None = None,
    null_values: Sequence[str] | None = None,
) -> FileSource:
    """A table in files that is read in batches, once for each pass; every ``fit`` takes it in place of X.

    Parameters
    ----------
    path : path, glob or list of them
        Parquet, CSV or TSV (also ``.gz``), Arrow or Feather files, or a folder of such files.
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

    Examples
    --------
    >>> import countwise as cw, pyarrow as pa, pyarrow.parquet as pq, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pq.write_table(pa.table({"sky": ["sun", "rain"] * 20, "play": ["yes", "no"] * 20}), folder / "days.parquet")
    >>> model = cw.NBClassifier().fit(cw.scan(folder / "*.parquet", target="play"))
    >>> model.predict(pa.table({"sky": ["rain"]}))
    array(['no'], dtype=object)

    """
    return FileSource(path, target, weight, columns, batch_rows, null_values)


class FileSource(Source):
    """See :func:`scan`."""

    def __init__(
        self,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        target: str | None,
        weight: str | None,
        columns: Sequence[str] | None,
        batch_rows: int | None,
        null_values: Sequence[str] | None,
    ) -> None:
        self.files = _expand(path)
        self.target, self.weight = target, weight
        self._null_values = list(null_values or [])
        self._dataset = self._open()
        present = list(self._dataset.schema.names)
        check_unique(present)
        for role, name in (("target", target), ("weight", weight)):
            if name is not None and name not in present:
                raise DataError(f"{role} column {name!r} is not in {self.files[0]}; columns: {present[:20]}")
        self.names = list(columns) if columns is not None else [n for n in present if n not in (target, weight)]
        absent = [name for name in self.names if name not in present]
        if absent:
            raise DataError(f"column(s) {absent} are not in {self.files[0]}; columns: {present[:20]}")
        self.column_names = present
        width = max(1, len(self.names)) * BYTES_PER_VALUE
        self.batch_rows = batch_rows or int(np.clip(BATCH_BYTES // width, 1024, 2**17))

    @property
    def has_target(self) -> bool:
        """Whether a target column was named."""
        return self.target is not None

    @property
    def weighted(self) -> bool:
        """Whether a weight column was named."""
        return self.weight is not None

    def _open(self) -> Any:
        import pyarrow as pa
        import pyarrow.dataset as ds

        suffix = _suffix(self.files[0])
        kind: Any = SUFFIXES[suffix]
        if kind == "csv":
            kind = self._csv_format("\t" if suffix == ".tsv" else ",")
        try:
            return ds.dataset([str(file) for file in self.files], format=kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
            raise DataError(f"{self.files[0]} cannot be read as {SUFFIXES[suffix]}: {error}") from error

    def _csv_format(self, delimiter: str) -> Any:
        import pyarrow.dataset as ds
        from pyarrow import csv

        convert = csv.ConvertOptions(strings_can_be_null=True)
        if self._null_values:
            convert.null_values = [*convert.null_values, *self._null_values]
        # A block is what Arrow parses at a time: types are guessed from the first one.
        read = csv.ReadOptions(block_size=4 * 2**20)
        return ds.CsvFileFormat(
            parse_options=csv.ParseOptions(delimiter=delimiter), convert_options=convert, read_options=read
        )

    def record_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns of all files, batch by batch; a damaged file is an error that names it."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        kind = SUFFIXES[_suffix(self.files[0])]
        options = (
            ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False) if kind == "parquet" else None
        )
        for fragment in self._dataset.get_fragments():
            scanner = fragment.scanner(
                schema=self._dataset.schema,
                columns=list(columns),
                batch_size=self.batch_rows,
                batch_readahead=1,
                fragment_readahead=1,
                fragment_scan_options=options,
            )
            try:
                yield from scanner.to_batches()
            except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
                raise DataError(f"{fragment.path} cannot be read to its end: {error}") from error

    def batches(self) -> Iterator[RawBatch]:
        """All rows, from the first."""
        extra = [name for name in (self.target, self.weight) if name is not None and name not in self.names]
        for batch in self.record_batches([*self.names, *extra]):
            yield _raw_batch(batch, self.names, self.target, self.weight)


def _raw_batch(batch: Any, names: Sequence[str], target: str | None, weight: str | None) -> RawBatch:
    columns = [raw_column(batch.column(name), name) for name in names]
    weights = None if weight is None else check_weights(as_numbers(batch.column(weight), weight))
    return RawBatch(columns, None if target is None else batch.column(target), weights, batch.num_rows)


def check_weights(weights: Any) -> Any:
    """Weights are finite and not negative."""
    if not np.isfinite(weights).all():
        raise DataError("sample weights contain NaN or infinity; give every row a finite weight")
    if (weights < 0).any():
        raise DataError(f"sample weights must not be negative; {int((weights < 0).sum())} row(s) are")
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
        first = next(iter(self._tables()), None)
        if first is None:
            raise DataError("the stream holds no batch")
        names = table_columns(first)[0]
        for role, name in (("target", target), ("weight", weight)):
            if name is not None and name not in names:
                raise DataError(f"{role} column {name!r} is not in the stream; columns: {names[:20]}")
        self.names = [name for name in names if name not in (target, weight)]

    @property
    def has_target(self) -> bool:
        """Whether a target column was named."""
        return self.target is not None

    @property
    def weighted(self) -> bool:
        """Whether a weight column was named."""
        return self.weight is not None

    def _tables(self) -> Iterator[Any]:
        stream = self._source() if callable(self._source) else self._source
        if hasattr(stream, "__arrow_c_stream__"):
            import pyarrow as pa

            return iter(pa.RecordBatchReader.from_stream(stream))
        return iter(stream)

    def batches(self) -> Iterator[RawBatch]:
        """All rows, from the first."""
        for table in self._tables():
            names, columns, n_rows = table_columns(table)
            by_name = dict(zip(names, columns, strict=True))
            absent = [n for n in [*self.names, self.target, self.weight] if n is not None and n not in by_name]
            if absent:
                raise DataError(f"a batch of the stream lacks column(s) {absent}")
            weights = None if self.weight is None else check_weights(as_numbers(by_name[self.weight], self.weight))
            target = None if self.target is None else by_name[self.target]
            yield RawBatch([by_name[name] for name in self.names], target, weights, n_rows)


def _suffix(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _expand(path: Any) -> list[Path]:
    """Files of a path, folder, glob or list of them, sorted."""
    items = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    files: list[Path] = []
    for item in items:
        text = os.fspath(item)
        if os.path.isdir(text):
            files += sorted(p for p in Path(text).iterdir() if _suffix(p) in SUFFIXES)
        elif os.path.exists(text):
            files.append(Path(text))
        else:
            files += [Path(match) for match in sorted(glob.glob(text, recursive=True))]
    if not files:
        raise DataError(f"no file matches {path!s}")
    strange = [file for file in files if _suffix(file) not in SUFFIXES]
    if strange:
        raise DataError(f"{strange[0]}: unknown file type; known: {', '.join(sorted(SUFFIXES))} (also .gz)")
    if len({SUFFIXES[_suffix(file)] for file in files}) > 1:
        raise DataError(f"{path!s} matches files of several formats; scan one format at a time")
    return files
