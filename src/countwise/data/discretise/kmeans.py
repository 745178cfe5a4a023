"""Clusters of values as bins."""

from typing import Final

import numpy as np

from countwise.data.discretise.base import Discretiser, check_count, distinct_values
from countwise.dtypes import AnyArray, FloatArray, IntArray

MAX_STEPS: Final = 300  # Lloyd's steps; on one dimension it nearly always stops long before


class KMeansBins(Discretiser):
    """The intervals of one-dimensional k-means (MacQueen; paper 004, section 2.7.1.3).

    Lloyd's two steps, means of clusters and then nearest means, from clusters of equal weight until nothing
    moves. Nothing is random: on sorted distinct values a cluster is an interval, and its mean is a
    difference of two prefix sums, so a step costs ``n_bins * log(n_distinct)``. A cut is the middle of two
    neighbouring means. A cluster that loses all its values is dropped.

    Parameters
    ----------
    n_bins : int
        Clusters to start from; fewer if there are fewer distinct values.

    Examples
    --------
    >>> import numpy as np
    >>> from countwise.data.discretise import KMeansBins
    >>> KMeansBins(n_bins=3).fit(np.array([[1.0], [2.0], [11.0], [12.0], [13.0], [30.0]])).cut_points_
    [array([ 6.75, 21.  ])]

    """

    def __init__(self, n_bins: int = 10) -> None:
        self.n_bins = n_bins

    def cuts(self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
        """Ascending cut points of one column: see :meth:`Discretiser.cuts`."""
        n_bins = check_count("n_bins", self.n_bins, 1)
        distinct, mass = distinct_values(values, weights)
        n_clusters = min(n_bins, len(distinct))
        if n_clusters < 2:
            return np.empty(0)
        unit, scale, factor = _standardised(distinct)
        inner = _lloyd(unit, mass, _equal_mass_starts(mass, n_clusters))
        cuts = (inner * scale + factor * distinct[0]) / factor
        # Rounding in the change of scale must not move a cut past a value.
        left = np.searchsorted(unit, inner, side="right") - 1
        return np.unique(np.where((cuts >= distinct[left]) & (cuts < distinct[left + 1]), cuts, distinct[left]))


def _standardised(values: FloatArray) -> tuple[FloatArray, float, float]:
    """``factor * (values - values[0]) / scale`` in [0, 2): prefix sums neither overflow nor lose small differences.

    Both are powers of two, so that nothing is rounded and ties are the same ties in any unit.
    """
    with np.errstate(over="ignore"):
        factor = 1.0 if np.isfinite(values[-1] - values[0]) else 0.5
    from_first = factor * values - factor * values[0]
    scale = float(np.exp2(np.floor(np.log2(from_first[-1]))))
    return from_first / scale, scale, factor


def _equal_mass_starts(mass: FloatArray, n_clusters: int) -> AnyArray:
    """First index of each cluster: near the quantiles, and no cluster empty."""
    cumulative = np.cumsum(mass)
    targets = np.arange(n_clusters) * cumulative[-1]
    starts = np.searchsorted(cumulative * n_clusters, targets, side="right")
    steps = np.arange(n_clusters)
    starts = np.maximum.accumulate(starts - steps) + steps
    return np.minimum(starts, len(mass) - n_clusters + steps)


def _lloyd(values: FloatArray, mass: FloatArray, starts: AnyArray) -> FloatArray:
    """The cuts between the final clusters of ascending ``values``."""
    masses = np.concatenate(([0.0], np.cumsum(mass)))
    moments = np.concatenate(([0.0], np.cumsum(mass * values)))
    cuts = np.empty(0)
    for _ in range(MAX_STEPS):
        ends = np.append(starts[1:], len(values))
        filled = ends > starts
        starts, ends = starts[filled], ends[filled]
        means = (moments[ends] - moments[starts]) / (masses[ends] - masses[starts])
        means = np.clip(means, values[starts], values[ends - 1])  # differences of long sums round
        cuts = 0.5 * (means[1:] + means[:-1])
        moved = np.concatenate(([0], np.searchsorted(values, cuts, side="right")))
        if np.array_equal(moved, starts):
            break
        starts = moved
    return cuts
