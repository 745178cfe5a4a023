"""The tables that are timed: rows of a random network, and real sets from a folder of Parquet files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from countwise import datasets

COMPUTED = "network"
REAL = ("connect-4", "adult", "covertype")
NAMES = (COMPUTED, *REAL)
NETWORK_ROWS = 1_000_000
NETWORK = {"n_attributes": 30, "arity": (2, 10), "n_classes": 2, "n_parents": 3}
MAX_TEST = 100_000


@dataclass(frozen=True, eq=False)
class Problem:
    """A split table. Frames are pandas, categories have dtype ``category``, classes are the codes 0, 1, ..."""

    name: str
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    @property
    def title(self) -> str:
        n_rows, n_columns = self.X.shape
        classes = len(np.unique(self.y))
        return f"{self.name}: {n_rows:,} + {len(self.y_test):,} rows, {n_columns} attributes, {classes} classes"


def network_problem(n_rows: int = NETWORK_ROWS) -> Problem:
    train, network = datasets.sample_network(n_rows, random_state=0, **NETWORK)
    test = network.sample(min(n_rows, MAX_TEST), random_state=1)
    return Problem(COMPUTED, train.X.to_pandas(), train.y.astype(int), test.X.to_pandas(), test.y.astype(int))


def real_problem(folder: Path, name: str, n_rows: int | None) -> Problem:
    """Shuffled; a third is the test set. ``n_rows`` limits the rows that are learned from."""
    dataset = datasets.load_folder(folder)[name]
    order = np.random.default_rng(0).permutation(dataset.n_rows)
    n_test = dataset.n_rows // 3
    test, train = order[:n_test][:MAX_TEST], order[n_test:][:n_rows]
    frame, labels = dataset.X.to_pandas(), np.unique(dataset.y, return_inverse=True)[1]
    X, X_test = (frame.iloc[rows].reset_index(drop=True) for rows in (train, test))
    return Problem(name, X, labels[train], X_test, labels[test])


def problems(names: Sequence[str], folder: Path, n_rows: int | None) -> Iterator[Problem]:
    """The named problems in turn; a set that is not there is skipped with a message."""
    for name in names:
        if name == COMPUTED:
            yield network_problem(n_rows or NETWORK_ROWS)
        elif (folder / f"{name}.parquet").exists():
            yield real_problem(folder, name, n_rows)
        else:
            print(f"skipped {name}: no file {folder / name}.parquet (see --data)", file=sys.stderr)
