"""Unsigned Stirling numbers of the first kind, as logarithms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from countwise import _kernels
from countwise.dtypes import FloatArray
from countwise.errors import DataError


def log_stirling(n: npt.ArrayLike, t: npt.ArrayLike) -> FloatArray:
    """log S(n, t): the ways to seat n customers at t tables; the coefficients of z (z + 1) ... (z + n - 1).

    For n <= 4,096 and t <= 250 exact, from ratios that follow from S(n + 1, t) = n S(n, t) + S(n, t - 1); the table is made
    when it is first needed, shared by all threads, and takes at most 16.4 MB. Elsewhere by the saddle-point method: the
    error of the logarithm is below 2e-4 for t <= 250 and below 2e-7 beyond, that of the ratios of neighbours below 3e-4 and
    1e-6.

    >>> np.exp(log_stirling(4, [1, 2, 3, 4])).round(9)
    array([ 6., 11.,  6.,  1.])
    >>> log_stirling(5_000_000, 20).round(3)
    np.float64(72124748.099)
    """
    customers, tables = np.broadcast_arrays(np.asarray(n, np.int64), np.asarray(t, np.int64))
    if customers.size and (tables.min() < 1 or (customers < tables).any()):
        raise DataError("log_stirling needs 1 <= t <= n")
    out = np.empty(customers.size)
    _kernels.log_stirling(customers.ravel(), tables.ravel(), out)
    return out.reshape(customers.shape)
