r"""Results kept in a JSON Lines file as they are made, so that a stopped run goes on where it was.

Four kinds of lines: ``{"run": {...}}`` for each run that added cells, ``{"problem": {...}}`` once for each data set,
``{"settings": {...}}`` once for each (data set, model), and one line per cell. What follows the last line end is a line
that a crash has cut: it is dropped. One process writes to a store at a time; a second one is refused.
"""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from countwise.errors import DataError

Row = dict[str, Any]
STORE = "results.jsonl"  # in the folder of a run
Key = tuple[str, str, int, int, int | None]  # data set, model, repeat, fold, training rows if the protocol sets them


class Store:
    """Rows of a results file by cell; without a path they are kept in memory only.

    >>> with Store(None) as store:
    ...     store.add({"dataset": "d", "model": "nb", "repeat": 0, "fold": 1, "rmse": 0.2, "error": None})
    ...     store.rows["d", "nb", 0, 1, None]["rmse"]
    0.2
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.rows: dict[Key, Row] = {}
        self.settings: dict[tuple[str, str], Row] = {}
        self.problems: dict[str, Row] = {}
        self.runs: list[Row] = []

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """What a store holds, for looking at it; ``path`` is its file, or the folder of a ``countwise bench`` run."""
        file = Path(path)
        file = file / STORE if file.is_dir() else file
        if not file.exists():
            error = DataError(f"{path}: no results there")
            error.add_note("countwise bench run --out makes such a folder")
            raise error
        store = cls(file)
        store._read()
        return store

    def __enter__(self) -> Self:
        self._file = None if self.path is None else self.path.open("ab")
        if self._file is not None:
            try:
                self._lock()
                self._file.truncate(self._read())  # read under the lock: nobody can add a line in between
            except BaseException:
                self._file.close()
                raise
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

    def add_problem(self, facts: Row) -> None:
        """Remember what a report needs to know of a data set."""
        if facts["dataset"] not in self.problems:
            self.problems[facts["dataset"]] = facts
            self._append({"problem": facts})

    def add_run(self, facts: Row) -> None:
        """Remember on what machine and with what versions the following cells are made."""
        self.runs.append(facts)
        self._append({"run": facts})

    def add(self, row: Row) -> None:
        """Keep a row; it is on the disk's way when this returns."""
        self.rows[key_of(row)] = row
        self._append(row)

    def _lock(self) -> None:
        """One writer; the system ends the lock with the process, however that ends."""
        try:
            import fcntl
        except ModuleNotFoundError:  # Windows
            return
        assert self._file is not None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as cause:
            error = DataError(f"{self.path}: another process is writing to this store")
            error.add_note("wait until it has ended, or use another store")
            raise error from cause

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
                elif "run" in record:
                    self.runs.append(record["run"])
                elif "problem" in record:
                    self.problems[record["problem"]["dataset"]] = record["problem"]
                else:
                    self.rows[key_of(record)] = record  # a later row of a cell that had failed replaces it
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{self.path}, line {number}: not a line of a results store") from error
        return end


def key_of(row: Row) -> Key:
    """The cell that a row belongs to."""
    return row["dataset"], row["model"], row["repeat"], row["fold"], row.get("train_size")
