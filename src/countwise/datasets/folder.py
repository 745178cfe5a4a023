"""A folder of Parquet files, one data set each, read when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.datasets.dataset import Dataset, LabelArray
from countwise.datasets.unknown import unknown_dataset
from countwise.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "manifest.csv"


class Folder(Mapping[str, Dataset]):
    """The data sets of a folder by name, a read-only mapping; files are read at each look-up and not kept.

    Make one with :func:`load_folder`.
    """

    def __init__(self, path: str | PathLike[str], *, target: str = "class") -> None:
        self.path = Path(path)
        self.target = target
        if not self.path.is_dir():
            raise DataError(f"no folder {str(self.path)!r}; give the path of a folder with one Parquet file per set")
        self._files = {file.stem: file for file in sorted(self.path.glob("*.parquet"))}
        if not self._files:
            raise DataError(f"folder {str(self.path)!r} has no Parquet file (*.parquet)")

    @property
    def names(self) -> list[str]:
        """The names of the data sets: the files' names without ``.parquet``, sorted, or as selected."""
        return list(self._files)

    @cached_property
    def manifest(self) -> pa.Table | None:
        """The table ``manifest.csv``, a row per set with its name in the column ``name``; None without it."""
        import pyarrow as pa
        from pyarrow import csv

        file = self.path / MANIFEST
        if not file.exists():
            return None
        try:
            return csv.read_csv(file, parse_options=csv.ParseOptions(newlines_in_values=True))
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"file {str(file)!r} is not a readable CSV table: {error}") from error

    def describe(self, name: str) -> str:
        """What the manifest says about a set: its source and notes, empty without a manifest."""
        row = self._rows.get(name, {})
        return "; ".join(str(row[key]) for key in ("source", "notes") if row.get(key))

    def select(self, names: Iterable[str]) -> Folder:
        """The same folder with these sets alone."""
        part = Folder(self.path, target=self.target)
        for name in (wanted := list(names)):
            if name not in self._files:
                raise unknown_dataset(name, self._files, f"folder {str(self.path)!r}")
        part._files = {name: self._files[name] for name in wanted}
        return part

    @property
    def tables(self) -> list[str]:
        """The tables of papers that the manifest's column ``seed_tables`` names."""
        return sorted({table for row in self._rows.values() for table in _listed(row)})

    def listed_in(self, table: str) -> list[str]:
        """The sets that a paper's table lists, as the manifest's column ``seed_tables`` says."""
        names = [name for name in self.names if table in _listed(self._rows.get(name, {}))]
        if not names:
            known = ", ".join(self.tables) or "none"
            raise DataError(f"folder {str(self.path)!r}: no set of table {table!r}; the manifest names {known}")
        return names

    def n_rows(self, name: str) -> int:
        """Rows of a set, from the file's header."""
        import pyarrow.parquet as pq

        return int(pq.read_metadata(self._files[name]).num_rows)

    @cached_property
    def _rows(self) -> dict[str, dict[str, Any]]:
        """The manifest's rows by name."""
        if self.manifest is None or "name" not in self.manifest.column_names:
            return {}
        return {row["name"]: row for row in self.manifest.to_pylist()}

    def __getitem__(self, name: str) -> Dataset:
        if name not in self._files:
            raise unknown_dataset(name, self._files, f"folder {str(self.path)!r}")
        file = self._files[name]
        table = _read(file)
        if self.target not in table.column_names:
            raise DataError(
                f"file {str(file)!r} has no class column {self.target!r}; pass load_folder(..., target=...) "
                f"with one of its columns: {', '.join(table.column_names)}"
            )
        return Dataset(
            name=name,
            X=table.drop_columns([self.target]),
            y=_labels(table[self.target], file),
            target=self.target,
            description=self.describe(name),
        )

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return f"Folder({str(self.path)!r}: {len(self):,} data set{'' if len(self) == 1 else 's'})"


def load_folder(path: str | PathLike[str], *, target: str = "class") -> Folder:
    """The data sets of a folder: one Parquet file each, a class column, and optionally a ``manifest.csv``.

    Parameters
    ----------
    path : str or path
        The folder.
    target : str, default="class"
        The name of the class column in every file.

    Returns
    -------
    Folder
        ``folder["car"]`` is a :class:`Dataset`; iteration gives the names in alphabetical order.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow.parquet as pq
    >>> from countwise.datasets import load_balance_scale
    >>> with tempfile.TemporaryDirectory() as path:
    ...     pq.write_table(load_balance_scale().to_arrow(), f"{path}/scale.parquet")
    ...     folder = load_folder(path)
    ...     print(folder.names, folder["scale"])
    ['scale'] scale: 625 rows, 4 attributes, 3 classes

    """
    return Folder(path, target=target)


def _read(file: Path) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as parquet:
            return parquet.read()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"file {str(file)!r} is damaged or not Parquet: {error}") from error


def _listed(row: dict[str, Any]) -> list[str]:
    return [table for table in str(row.get("seed_tables") or "").split(";") if table]


def _labels(column: pa.ChunkedArray, file: Path) -> LabelArray:
    """Class labels as strings, whatever their type in the file is."""
    import pyarrow as pa

    if column.null_count:
        raise DataError(f"file {str(file)!r}: the class is missing in {column.null_count:,} rows; drop them")
    encoded = column.cast(pa.string()).dictionary_encode().combine_chunks()
    values = np.array(encoded.dictionary.to_pylist(), dtype=np.str_)
    return values[np.asarray(encoded.indices)] if len(values) else np.zeros(0, dtype=np.str_)
