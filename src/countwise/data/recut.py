"""Cut points chosen among those of a finer codec, by rows in its codes: which rows look at their classes can be chosen
after all rows are coded, without another pass.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from countwise.data.codec import Codec, ColumnCodec, NumberCodec
from countwise.data.coded import CodedBatch
from countwise.data.discretise import MDLP, Discretiser, RandomMDLP
from countwise.dtypes import CodeArray, FloatArray, IntArray


def recut_codec(fine: Codec, rows: CodedBatch, random_mdlp: RandomMDLP, otherwise: Discretiser) -> Codec:
    """``fine`` with fewer cut points: those by which ``rows``, in codes of ``fine``, tell their classes apart.

    Where a column alone tells nothing (MDLP would not cut it; it may still tell something beside others) they are those
    of ``otherwise``, which does not look at classes. A bin counts as the number of its code, so that a cut between two
    codes is a cut point of ``fine``.
    """

    def recut(position: int, column: ColumnCodec) -> ColumnCodec:
        if not isinstance(column, NumberCodec) or len(column.cuts) == 0:
            return column
        table = _binned(column, rows.codes[position], rows, len(fine.classes))
        discretiser = random_mdlp if len(MDLP().cuts(*table)) else otherwise
        found = discretiser.for_column(position).cuts(*table)
        codes = np.unique(np.floor(found).astype(np.int64))  # several cuts may lie between two codes
        cuts = column.cuts[codes]  # from code c on, below the next one
        return replace(column, cuts=cuts, n_bins=len(cuts) + 1)

    return replace(fine, columns=tuple(recut(i, column) for i, column in enumerate(fine.columns)))


def _binned(
    column: NumberCodec, codes: CodeArray, rows: CodedBatch, n_classes: int
) -> tuple[FloatArray, IntArray, FloatArray, int]:
    """Rows as a discretiser takes them: one for each bin and class that occur, far fewer than there are."""
    assert rows.target is not None
    n_cells = column.n_bins * n_classes
    weight = np.bincount(codes.astype(np.int64) * n_classes + rows.target, rows.weights, n_cells)[:n_cells]
    met = np.flatnonzero(weight)
    values, classes = (met // n_classes).astype(np.float64), (met % n_classes).astype(np.int32)
    return values, classes, weight[met].astype(np.float64), n_classes
