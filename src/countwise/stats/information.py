"""Mutual information from counts, in nats.

With ``F = sum of c log c`` over the cells of a table of N rows, ``H = log N - F / N``, so that

    I(X; Y)     = (F_xy + N log N - F_x - F_y) / N
    I(X; Z | Y) = (F_xzy + F_y - F_xy - F_zy) / N
"""

import numpy as np

from countwise.dtypes import FloatArray
from countwise.stats.pairs import PairStatistics


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


def _clean(value: FloatArray) -> FloatArray:
    """Information is not negative, and differences below the rounding error of the sums are not differences:
    rounding to 12 decimals lets the tie rules decide, whatever the order of the columns.
    """
    return np.maximum(np.round(value, 12), 0.0)
