"""Data sets that need no argument, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from countwise.datasets.chess import load_kr_vs_k
from countwise.datasets.dataset import Dataset
from countwise.datasets.toy import load_balance_scale, load_monks, load_tic_tac_toe
from countwise.datasets.unknown import unknown_dataset
from countwise.datasets.wrapped import SOURCES, load_sklearn

DATASETS: Final[Mapping[str, Callable[[], Dataset]]] = MappingProxyType(
    {
        "balance-scale": load_balance_scale,
        "kr-vs-k": load_kr_vs_k,
        **{f"monks-{problem}": partial(load_monks, problem) for problem in (1, 2, 3)},
        "tic-tac-toe": load_tic_tac_toe,
        **{name: partial(load_sklearn, name) for name in SOURCES},
    }
)


def load(name: str) -> Dataset:
    """The data set of this name; the names are the keys of ``DATASETS``.

    Examples
    --------
    >>> load("monks-2")
    monks-2: 432 rows, 6 attributes, 2 classes
    >>> sorted(DATASETS)[:4]
    ['balance-scale', 'breast_cancer', 'digits', 'iris']

    """
    if name not in DATASETS:
        raise unknown_dataset(name, DATASETS, "countwise.datasets")
    return DATASETS[name]()
