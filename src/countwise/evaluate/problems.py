"""Data sets as a protocol wants them: read when needed, labels as codes, prepared as asked."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from countwise.dtypes import AnyArray
from countwise.errors import DataError
from countwise.evaluate.bias_variance import pack_codes
from countwise.evaluate.folds import column_types, n_rows_of, stratified_folds, take_rows
from countwise.evaluate.prepare import PREPARATIONS
from countwise.evaluate.scores import label_codes


@dataclass(frozen=True, eq=False)
class Problem:
    """One data set: ``classes[codes[i]]`` is the label ``y[i]``."""

    name: str
    X: Any
    y: AnyArray
    classes: list[Any]
    codes: npt.NDArray[np.int64]
    made: dict[str, Any] = field(default_factory=dict)  # models that were made for these data, by name

    @property
    def n_attributes(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1]) if hasattr(self.X, "shape") else len(self.X[0])

    def identity(self) -> dict[str, Any]:
        """What tells whether results belong to these data; of X, shape and types are looked at, not the values."""
        columns = "; ".join(column_types(self.X))
        labels = repr(self.classes).encode() + self.codes.astype("<i8").tobytes()
        return {
            "n_rows": len(self.y),
            "n_classes": len(self.classes),
            "labels": hashlib.sha256(labels).hexdigest()[:16],
            "columns": hashlib.sha256(columns.encode()).hexdigest()[:16],
        }

    def facts(self) -> dict[str, Any]:
        """What a report needs to know: sizes, and the true classes of all rows."""
        return {
            "dataset": self.name,
            "n_rows": len(self.y),
            "n_attributes": self.n_attributes,
            "n_classes": len(self.classes),
            "codes": pack_codes(self.codes),
        }


class Problems:
    """Data sets by name; each is read when it is asked for, and only the last one is kept.

    Parameters
    ----------
    data : object with ``name``, ``X`` and ``y``, a list of those, or mapping of name to ``(X, y)``
        A mapping such as ``countwise.datasets.load_folder(path)`` reads its files when asked.
    prepare : str
        What is done to a whole table before it is split, see :mod:`countwise.evaluate.prepare`.
    max_rows : int, optional
        Larger tables are cut to so many rows: a stratified sample by ``seed``.

    """

    def __init__(self, data: Any, prepare: str = "none", max_rows: int | None = None, seed: int = 0) -> None:
        self._readers = _readers(data)
        if prepare not in PREPARATIONS:
            raise DataError(f"prepare={prepare!r} is not known; there are {', '.join(PREPARATIONS)}")
        if max_rows is not None and max_rows < 2:
            raise DataError(f"max_rows={max_rows}: at least 2 rows are needed")
        self.prepare, self.max_rows, self.seed = prepare, max_rows, seed
        self._last: Problem | None = None

    @property
    def names(self) -> list[str]:
        """In the order of the data."""
        return list(self._readers)

    def __getitem__(self, name: str) -> Problem:
        if self._last is None or self._last.name != name:
            self._last = None  # before the next is read, so that two never fill the memory
            X, y = self._readers[name]()
            self._last = self._prepared(_problem(name, X, y))
        return self._last

    def __iter__(self) -> Iterator[Problem]:
        return (self[name] for name in self._readers)

    def _prepared(self, problem: Problem) -> Problem:
        if self.max_rows is not None and len(problem.y) > self.max_rows:
            n_parts = -(-len(problem.y) // self.max_rows)
            kept = np.flatnonzero(stratified_folds(problem.codes, n_parts, seed=self.seed) == 0)
            problem = _problem(problem.name, take_rows(problem.X, kept), problem.y[kept])
        X = PREPARATIONS[self.prepare](problem.X, problem.codes)
        return Problem(problem.name, X, problem.y, problem.classes, problem.codes)


def _readers(data: Any) -> dict[str, Callable[[], tuple[Any, Any]]]:
    if isinstance(data, Mapping):
        return {str(name): lambda name=name: tuple(data[name]) for name in data}  # type: ignore[misc]
    many: Iterable[Any] = [data] if hasattr(data, "X") else list(data)
    names = [item.name for item in many]
    if len(set(names)) < len(names):
        raise DataError(f"data sets need different names: {', '.join(names)}")
    return {item.name: lambda item=item: (item.X, item.y) for item in many}  # type: ignore[misc]


def _problem(name: str, X: Any, y: Any) -> Problem:
    labels = np.asarray(y)
    try:
        classes, codes = label_codes(labels)
    except DataError as error:
        raise DataError(f"data set {name!r}: {error}") from None
    if n_rows_of(X) != len(labels):
        raise DataError(f"data set {name!r}: {n_rows_of(X)} rows but {len(labels)} labels")
    return Problem(name, X, labels, classes, codes)
