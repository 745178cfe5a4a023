r"""Results kept in a JSON Lines file as they are made, so that a stopped run goes on where it was.

Two kinds of lines: ``{"settings": {...}}`` once for each (data set, model), then one line per cell. What
follows the last line end is a line that a crash has cut: it is dropped. One process writes to a store at a
time.
"""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from countwise.errors import DataError

Row = dict[str, Any]
Key = tuple[str, str, int, int]  # data set, model, repeat, fold


class Store:
    """Rows of a results file by cell; without a path they are kept in memory only.

    >>> with Store(None) as store:
    ...     store.add({"dataset": "d", "model": "nb", "repeat": 0, "fold": 1, "rmse": 0.2, "error": None})
    ...     store.finished(("d", "nb", 0, 1))["rmse"], store.finished(("d", "nb", 0, 0))
    (0.2, None)
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.rows: dict[Key, Row] = {}
        self.settings: dict[tuple[str, str], Row] = {}
        self._end = self._read() if self.path is not None and self.path.exists() else 0

    def __enter__(self) -> Self:
        self._file = None if self.path is None else self.path.open("ab")
        if self._file is not None:
            self._file.truncate(self._end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def check_settings(self, settings: Row) -> None:
        """Refuse to mix with rows of the same data set and model made in another way."""
        key = (settings["dataset"], settings["model"])
        old = self.settings.get(key)
        if old is None:
            return
        differences = [f"{k}: {old.get(k)!r} there, {v!r} now" for k, v in settings.items() if old.get(k) != v]
        if differences:
            error = DataError(
                f"{self.path}: holds results of model {key[1]!r} on {key[0]!r} with other settings "
                f"({'; '.join(differences)})"
            )
            error.add_note("use another store, delete this one, or give the model or data set another name")
            raise error

    def add_settings(self, settings: Row) -> None:
        """Remember how the following rows of this data set and model are made."""
        key = (settings["dataset"], settings["model"])
        if key not in self.settings:
            self.settings[key] = settings
            self._append({"settings": settings})

    def finished(self, key: Key) -> Row | None:
        """The row of a cell that is done; a cell that failed is not done and will be tried again."""
        row = self.rows.get(key)
        return row if row is not None and row["error"] is None else None

    def add(self, row: Row) -> None:
        """Keep a row; it is on the disk's way when this returns."""
        self.rows[_key(row)] = row
        self._append(row)

    def _append(self, record: Row) -> None:
        if self._file is not None:
            self._file.write(json.dumps(record).encode() + b"\n")
            self._file.flush()

    def _read(self) -> int:
        """Load the complete lines; the offset of their end."""
        assert self.path is not None
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:end].splitlines(), start=1):
            try:
                record = json.loads(line)
                if "settings" in record:
                    settings = record["settings"]
                    self.settings[settings["dataset"], settings["model"]] = settings
                else:
                    self.rows[_key(record)] = record  # a later row of a cell that had failed replaces it
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{self.path}, line {number}: not a line of a results store") from error
        return end


def _key(row: Row) -> Key:
    return row["dataset"], row["model"], row["repeat"], row["fold"]
