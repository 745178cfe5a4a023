"""Clocks and tables: what all the scripts share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")


def timed(function: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds, and what was made."""
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def fastest(function: Callable[[], Any], repeats: int) -> float:
    """The least seconds of several calls: the others were disturbed."""
    return min(timed(function)[0] for _ in range(repeats))


def copy_bandwidth(repeats: int = 5, n_bytes: int = 256 * 2**20) -> float:
    """GB/s that one thread moves when it copies an array far larger than the caches; a byte read and written is 2."""
    source, target = np.ones(n_bytes // 8), np.zeros(n_bytes // 8)
    return 2 * n_bytes / fastest(lambda: np.copyto(target, source), repeats) / 1e9


def show(lines: Sequence[Mapping[str, Any]]) -> None:
    """Print a Markdown table, ready to be kept: the first column to the left, the others to the right."""
    names = list(lines[0])
    cells = [names, *([_cell(line[name]) for name in names] for line in lines)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for row in (cells[0], rule, *cells[1:]):
        padded = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        print(f"| {' | '.join(padded)} |")
    print(flush=True)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
