"""A bin for every value: what trees choose their thresholds from."""

import numpy as np

from countwise.data.discretise.base import Discretiser, check_count, distinct_values, midpoints
from countwise.data.discretise.equal_frequency import EqualFrequency
from countwise.dtypes import FloatArray, IntArray


class EveryValue(Discretiser):
    """Cuts half-way between all neighbouring values; a column of too many values gets bins of equal weight.

    Parameters
    ----------
    max_bins : int
        Most bins of a column. Up to 65,535 codes take two bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from countwise.data.discretise import EveryValue
    >>> EveryValue().fit(np.array([[1.0], [4.0], [2.0], [2.0]])).cut_points_
    [array([1.5, 3. ])]

    """

    def __init__(self, max_bins: int = 65_000) -> None:
        self.max_bins = max_bins

    def cuts(self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
        """Ascending cut points of one column: see :meth:`Discretiser.cuts`."""
        most = check_count("max_bins", self.max_bins, 1)
        distinct, _ = distinct_values(values, weights)
        if len(distinct) > most:
            return EqualFrequency(n_bins=most, cap=True).cuts(values, classes, weights, n_classes)
        return midpoints(distinct[:-1], distinct[1:]) if len(distinct) else np.empty(0)
