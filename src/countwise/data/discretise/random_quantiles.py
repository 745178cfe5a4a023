"""Bins of about equal weight, their number and places drawn at random."""

import numpy as np

from countwise.data.discretise.base import midpoints
from countwise.dtypes import FloatArray

FEWEST, MOST = 0.4, 1.3  # bins, in units of the cube root of the number of rows


def random_quantiles(distinct: FloatArray, mass: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Cut points of one column, given its ascending distinct values and their weights.

    The number of bins b is uniform on 0.4 N^(1/3) .. 1.3 N^(1/3), at least 2. Cuts are at the boundaries between two
    distinct values that are nearest to the quantiles (j + u_j) / b, j = 1 .. b - 1, with u_j uniform on +-1/2. Every
    second time no value counts for more than 1 / b of the weight, so that a spike does not draw all cuts to itself.
    """
    total = float(mass.sum())
    root = np.cbrt(total)
    n_bins = int(rng.integers(max(2, round(FEWEST * root)), max(2, round(MOST * root)) + 1))
    capped, jitter = rng.random() < 0.5, rng.random(n_bins - 1) - 0.5
    if len(distinct) < 2:
        return np.empty(0)
    if capped:
        mass = np.minimum(mass, total / n_bins)
    upto = np.cumsum(mass)
    targets = np.sort((np.arange(1, n_bins) + jitter) * (upto[-1] / n_bins))
    upper = np.clip(np.searchsorted(upto[:-1], targets), 1, max(1, len(upto) - 2))
    upper = np.minimum(upper, len(upto) - 2)
    lower = np.maximum(upper - 1, 0)
    nearest = np.unique(np.where(targets - upto[lower] <= upto[upper] - targets, lower, upper))
    return midpoints(distinct[nearest], distinct[nearest + 1])
