"""Threads for work that releases the GIL; results come in the order of the items."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import TypeVar

from joblib import effective_n_jobs

from countwise.errors import DataError

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(n_jobs: int | None) -> int:
    """Threads to use for scikit-learn's ``n_jobs``: ``None`` is 1 (or the joblib context's), -1 all cores."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise DataError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}")
    return int(effective_n_jobs(n_jobs))


def thread_map(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """``[function(item) for item in items]`` on several threads.

    >>> thread_map(lambda x: x * x, [1, 2, 3], threads=2)
    [1, 4, 9]
    """
    if threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))
