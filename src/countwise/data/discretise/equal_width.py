"""Bins of equal width."""

import numpy as np

from countwise.data.discretise.base import Discretiser, check_count
from countwise.dtypes import FloatArray, IntArray


class EqualWidth(Discretiser):
    """Bins of equal width between the lowest and the highest value (paper 004, eq. 36).

    ``width = (maximum - minimum) / n_bins``. Bins without rows are kept; a column of one value has no cuts.

    Parameters
    ----------
    n_bins : int

    Examples
    --------
    >>> import numpy as np
    >>> from countwise.data.discretise import EqualWidth
    >>> EqualWidth(n_bins=4).fit(np.array([[0.0], [1.0], [8.0]])).cut_points_
    [array([2., 4., 6.])]

    """

    def __init__(self, n_bins: int = 10) -> None:
        self.n_bins = n_bins

    def cuts(self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
        """Ascending cut points of one column: see :meth:`Discretiser.cuts`."""
        n_bins = check_count("n_bins", self.n_bins, 1)
        if weights is not None:
            values = values[weights > 0]
        if len(values) == 0:
            return np.empty(0)
        lo, hi = values.min(), values.max()
        step = np.arange(1, n_bins) / n_bins
        grid = lo * (1 - step) + hi * step  # no hi - lo, which may overflow
        return np.unique(grid[(grid >= lo) & (grid < hi)]) + 0.0
