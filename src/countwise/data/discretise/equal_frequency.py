"""Bins of equal weight."""

from typing import Literal

import numpy as np

from countwise.data.discretise.base import Discretiser, check_count, distinct_values, midpoints
from countwise.dtypes import FloatArray, IntArray


class EqualFrequency(Discretiser):
    r"""Bins of equal weight; equal values are never split (paper 004, section 2.7.1.2).

    The cut for the quantile :math:`j / n\_bins` is the boundary between two distinct values whose
    cumulative weight is nearest to :math:`j N / n\_bins` (the lower one of two equally near), so a frequent
    value makes its bin larger and the number of bins smaller.

    Parameters
    ----------
    n_bins : int or "auto"
        "auto" takes the cube root of the total weight, at least 2: more data make finer *and* fuller bins.
    cap : bool
        Count no single value for more than ``total / n_bins``, so that a column with a spike (many zeros,
        say) still gets most of its cuts elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from countwise.data.discretise import EqualFrequency
    >>> X = np.array([[0.0]] * 8 + [[1.0], [2.0], [3.0], [4.0]])
    >>> EqualFrequency(n_bins=3).fit(X).cut_points_
    [array([0.5])]
    >>> EqualFrequency(n_bins=3, cap=True).fit(X).cut_points_
    [array([0.5, 1.5])]

    """

    def __init__(self, n_bins: int | Literal["auto"] = 10, cap: bool = False) -> None:
        self.n_bins = n_bins
        self.cap = cap

    def cuts(self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
        """Ascending cut points of one column: see :meth:`Discretiser.cuts`."""
        distinct, mass = distinct_values(values, weights)
        n_bins = self._n_bins(float(mass.sum()))
        if len(distinct) < 2:
            return np.empty(0)
        if self.cap:
            mass = np.minimum(mass, mass.sum() / n_bins)
        # Multiplied by n_bins instead of divided, so that counts compare as exact integers.
        cumulative = np.cumsum(mass)
        below = cumulative[:-1] * n_bins
        targets = np.arange(1, n_bins) * cumulative[-1]
        upper = np.clip(np.searchsorted(below, targets), 1, max(1, len(below) - 1))
        lower = upper - 1
        upper = np.minimum(upper, len(below) - 1)
        nearest = np.unique(np.where(targets - below[lower] <= below[upper] - targets, lower, upper))
        return midpoints(distinct[nearest], distinct[nearest + 1])

    def _n_bins(self, total: float) -> int:
        if isinstance(self.n_bins, str) and self.n_bins == "auto":
            return max(2, round(float(np.cbrt(total))))
        return check_count("n_bins", self.n_bins, 1)


class Quantiles(EqualFrequency):
    """:class:`EqualFrequency` with as many bins as the rows can fill, and no value counted for more than its share.

    Examples
    --------
    >>> import numpy as np
    >>> from countwise.data.discretise import Quantiles
    >>> Quantiles().fit(np.arange(1000.0)[:, None]).n_bins_.tolist()
    [10]

    """

    def __init__(self, n_bins: int | Literal["auto"] = "auto", cap: bool = True) -> None:
        super().__init__(n_bins, cap)
