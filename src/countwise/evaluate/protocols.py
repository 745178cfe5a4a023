"""Protocols: which rows train and which rows test, as plain data. The same seed always gives the same splits."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from countwise.errors import DataError
from countwise.evaluate.folds import stratified_folds

Positions = npt.NDArray[np.int64]

PAPER_SIZES: Final = (20, 40, 80, 160, 320, 640)  # paper 003, section 4.1
FEWEST_TRAIN: Final = 32  # rows at the left end of a learning curve


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of the training and the test rows; ``train_size`` is None where the protocol sets none."""

    repeat: int
    fold: int
    train: Positions
    test: Positions
    train_size: int | None = None


class Splits(Protocol):
    """What a protocol can do."""

    def splits(self, codes: Positions, seed: int) -> Iterator[Split]:
        """The splits of rows with these class codes."""

    def settings(self) -> dict[str, Any]:
        """What decides the rows of a split of a given repeat, fold and size; not how many splits are made."""


@dataclass(frozen=True)
class RepeatedFolds:
    """Stratified k-fold cross-validation, ``n_repeats`` times; by default 5x2-fold, as in the papers.

    The folds of repeat r depend on the seed, r and the labels alone, so that a run with more repeats goes on where one
    with fewer ended. Sets of more than ``once_above`` rows are split once (paper 004, 4.3.1, for its six largest).

    Examples
    --------
    >>> protocol = RepeatedFolds(n_repeats=2, n_splits=2)
    >>> for split in protocol.splits(np.array([0, 0, 1, 1]), seed=0):
    ...     print(split.repeat, split.fold, split.train, split.test)
    0 0 [0 2] [1 3]
    0 1 [1 3] [0 2]
    1 0 [1 3] [0 2]
    1 1 [0 2] [1 3]

    """

    n_repeats: int = 5
    n_splits: int = 2
    once_above: int | None = None

    def __post_init__(self) -> None:
        if self.n_repeats < 1 or self.n_splits < 2:
            raise DataError(f"protocol {self}: at least 1 repeat of 2 folds is needed")

    def __str__(self) -> str:
        return f"{self.n_repeats}x{self.n_splits}"

    def splits(self, codes: Positions, seed: int) -> Iterator[Split]:
        """Repeat by repeat, fold by fold."""
        for repeat in range(self._repeats(len(codes))):
            folds = stratified_folds(codes, self.n_splits, seed=(seed, repeat))
            for fold in range(self.n_splits):
                yield Split(repeat, fold, np.flatnonzero(folds != fold), np.flatnonzero(folds == fold))

    def settings(self) -> dict[str, Any]:
        """The number of folds."""
        return {"n_splits": self.n_splits}

    def _repeats(self, n_rows: int) -> int:
        return 1 if self.once_above is not None and n_rows > self.once_above else self.n_repeats


@dataclass(frozen=True)
class TrainSizes:
    """Random training sets of given sizes: 10 draws of 20, 40, ... 640 rows by default (paper 003, section 4.1).

    In each draw the rows are shuffled; a training set is the beginning of that order, so that the larger ones hold the
    smaller, and the test set is the end of it, at most ``max_test`` rows. Sizes that leave no row to test are left out.

    ``sizes=None`` makes a learning curve (paper 000, Fig. 7): sizes from 32 on, doubled until two thirds of the rows;
    the last third tests.

    Examples
    --------
    >>> protocol = TrainSizes(sizes=(2, 4, 9), n_repeats=1, max_test=3)
    >>> [(s.train_size, s.train.tolist(), s.test.tolist()) for s in protocol.splits(np.zeros(6, int), seed=0)]
    [(2, [3, 2], [4, 0, 1]), (4, [3, 2, 5, 4], [0, 1])]

    """

    sizes: tuple[int, ...] | None = PAPER_SIZES
    n_repeats: int = 10
    max_test: int = 1000

    def __post_init__(self) -> None:
        if self.n_repeats < 1 or self.max_test < 1 or any(size < 1 for size in self.sizes or ()):
            raise DataError(f"protocol {self}: sizes, draws and test rows must be at least 1")

    def __str__(self) -> str:
        return f"{self.n_repeats} draws of {', '.join(map(str, self.sizes)) if self.sizes else 'growing'} rows"

    def splits(self, codes: Positions, seed: int) -> Iterator[Split]:
        """Draw by draw, size by size."""
        n_rows = len(codes)
        n_test = self._n_test(n_rows)
        for repeat in range(self.n_repeats):
            order = np.random.default_rng((seed, repeat)).permutation(n_rows)
            for size in self._sizes(n_rows):
                test = order[max(size, n_rows - n_test) :]
                yield Split(repeat, 0, order[:size], test, train_size=size)

    def settings(self) -> dict[str, Any]:
        """The test rows."""
        return {"test_rows": "last third" if self.sizes is None else self.max_test}

    def _n_test(self, n_rows: int) -> int:
        return math.ceil(n_rows / 3) if self.sizes is None else self.max_test

    def _sizes(self, n_rows: int) -> list[int]:
        if self.sizes is not None:
            return [size for size in self.sizes if size < n_rows]
        largest = n_rows - self._n_test(n_rows)
        doubled = [FEWEST_TRAIN * 2**i for i in range(max(0, math.ceil(math.log2(max(largest, 1) / FEWEST_TRAIN))))]
        return [*doubled, largest] if largest > 0 else []


NAMES: Final = {"sizes": TrainSizes(), "curve": TrainSizes(sizes=None)}


def as_protocol(protocol: "str | Splits") -> Splits:
    """A protocol by name: ``5x2`` (repeats x folds), ``10-fold``, ``sizes`` (paper 003), ``curve`` (paper 000, Fig. 7).

    >>> as_protocol("5x2"), as_protocol("10-fold")
    (RepeatedFolds(n_repeats=5, n_splits=2, once_above=None), RepeatedFolds(n_repeats=1, n_splits=10, once_above=None))
    """
    if not isinstance(protocol, str):
        return protocol
    if protocol in NAMES:
        return NAMES[protocol]
    if found := re.fullmatch(r"(\d+)x(\d+)", protocol):
        return RepeatedFolds(int(found[1]), int(found[2]))
    if found := re.fullmatch(r"(\d+)(-fold)?", protocol):
        return RepeatedFolds(1, int(found[1]))
    raise DataError(f"protocol {protocol!r} is not known; there are 5x2 (any RxF), 10-fold, {', '.join(NAMES)}")
