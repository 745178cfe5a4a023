"""Unsigned Stirling numbers of the first kind, as logarithms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from countwise import _kernels
from countwise.dtypes import FloatArray
from countwise.errors import DataError


def log_stirling(n: npt.ArrayLike, t: npt.ArrayLike) -> FloatArray:
    """Logarithms of S(n, t), the ways to seat n customers at t tables: the coefficients of z (z + 1) ... (z + n - 1).

    Exact for n <= 4,096 and t <= 250, from ratios of neighbours that follow from S(n + 1, t) = n S(n, t) + S(n, t - 1).
    Their table is made when it is first needed, shared by all threads, and takes at most 16.2 MB. Elsewhere the
    saddle-point method serves, with these greatest errors, measured against integers:

    ==================  =======  =======  ==========  ========
    error               t < 10   t >= 10  t >= 30     t > 250
    ==================  =======  =======  ==========  ========
    log S(n, t)         1.3e-4   3e-5     1.4e-6      4e-8
    S(n,t+1) / S(n,t)   1.4e-4   1.1e-5   6e-7        2e-8
    S(n+1,t) / S(n,t)   2e-8     2e-8     2e-8        2e-8
    ==================  =======  =======  ==========  ========

    Rounding adds about 1e-15 n to the logarithm; above n = 1e8 it shows near t = n.

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
