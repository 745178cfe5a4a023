"""Mutual information from counts, in nats.

With ``F = sum of c log c`` over the cells of a table of N rows, ``H = log N - F / N``, so that

    I(X; Y)     = (F_xy + N log N - F_x - F_y) / N
    I(X; Z | Y) = (F_xzy + F_y - F_xy - F_zy) / N
"""

from collections.abc import Sequence

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.stats.pairs import PairStatistics, add_singles, xlogx_sum


def mutual_information(stats: PairStatistics) -> FloatArray:
    """I(X_i; Y) for every attribute."""
    n = stats.total
    value = (stats.single + n * np.log(n) - stats.marginal - stats.target) / n
    return _clean(value)


def conditional_mutual_information(stats: PairStatistics) -> FloatArray:
    """I(X_i; X_j | Y) for every pair, symmetric, 0 on the diagonal."""
    value = (stats.joint + stats.target - stats.single[:, None] - stats.single[None, :]) / stats.total
    np.fill_diagonal(value, 0.0)
    return _clean(value)


def class_information(batch: CodedBatch, arity: Sequence[int], n_classes: int) -> FloatArray:
    """I(X_i; Y) in some rows, less what chance alone would give (Miller and Madow's correction); not negative."""
    tables = [np.zeros((values, n_classes)) for values in arity]
    add_singles(batch, tables)
    total = float(tables[0].sum()) if tables else 0.0
    found = np.zeros(len(tables))
    for i, table in enumerate(tables):
        values, classes = table.sum(axis=1), table.sum(axis=0)
        information = xlogx_sum(table.ravel()) - xlogx_sum(values) - xlogx_sum(classes) + xlogx_sum(np.array([total]))
        found[i] = information - 0.5 * (np.count_nonzero(values) - 1) * (np.count_nonzero(classes) - 1)
    return _clean(found / max(total, 1.0))


def _clean(value: FloatArray) -> FloatArray:
    """Information is not negative, and differences below the rounding error of the sums are not differences:
    rounding to 12 decimals lets the tie rules decide, whatever the order of the columns.
    """
    return np.maximum(np.round(value, 12), 0.0)
