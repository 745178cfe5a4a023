"""Cut points chosen among those of a finer codec, by rows in its codes: which rows look at their classes can be chosen
after all rows are coded, without another pass.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from countwise.data.codec import Codec, ColumnCodec, NumberCodec
from countwise.data.coded import CodedBatch
from countwise.data.discretise import Discretiser


def recut_codec(fine: Codec, rows: CodedBatch, discretiser: Discretiser) -> Codec:
    """``fine`` with fewer cut points: those that ``discretiser`` finds for ``rows``, which are in codes of ``fine``.

    A bin counts as the number of its code, so that a cut between two codes is a cut point of ``fine``.
    """
    columns = [_recut(column, position, rows, discretiser, fine) for position, column in enumerate(fine.columns)]
    return replace(fine, columns=tuple(columns))


def _recut(column: ColumnCodec, position: int, rows: CodedBatch, discretiser: Discretiser, fine: Codec) -> ColumnCodec:
    if not isinstance(column, NumberCodec) or len(column.cuts) == 0:
        return column
    assert rows.target is not None
    n_classes = len(fine.classes)
    cell = rows.codes[position].astype(np.int64) * n_classes + rows.target
    weight = np.bincount(cell, rows.weights, minlength=column.n_bins * n_classes)[: column.n_bins * n_classes]
    met = np.flatnonzero(weight)  # a bin and a class: far fewer than rows
    codes, classes = (met // n_classes).astype(np.float64), (met % n_classes).astype(np.int32)
    found = discretiser.for_column(position).cuts(codes, classes, weight[met].astype(np.float64), n_classes)
    cuts = column.cuts[np.floor(found).astype(np.int64)]  # from code c on, below the next one
    return replace(column, cuts=cuts, n_bins=len(cuts) + 1)
