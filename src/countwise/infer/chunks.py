"""Rows in chunks: memory that does not grow with the number of rows, and work for threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.parallel import thread_map


def in_chunks(
    batch: CodedBatch, step: int, threads: int, shape: tuple[int, ...], of_rows: Callable[[CodedBatch], FloatArray]
) -> FloatArray:
    """``of_rows`` of every ``step`` rows, stacked; ``shape`` is that of one row's result.

    A row's result may depend on nothing but the row, so that neither ``step`` nor threads show.
    """
    out = np.empty((batch.n_rows, *shape))

    def fill(start: int) -> None:
        rows = slice(start, min(start + step, batch.n_rows))
        out[rows] = of_rows(CodedBatch([column[rows] for column in batch.codes], None, None, rows.stop - start))

    thread_map(fill, range(0, batch.n_rows, step), threads)
    return out
