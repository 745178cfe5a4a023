"""Sums by bins of stated probability: what reliability diagrams and calibration errors are made of."""

from dataclasses import dataclass

import numpy as np

from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError


@dataclass(frozen=True, eq=False)
class ReliabilityBins:
    """Weight of the entries in each bin, and sums of what was stated and of what happened, each by weight.

    The bins have equal width: bin b holds the stated probabilities in ``(b / n_bins, (b + 1) / n_bins]``, and
    0 belongs to the first. A reliability diagram plots ``happened / weight`` against ``stated / weight``
    (DeGroot and Fienberg 1983, *The comparison and evaluation of forecasters*, The Statistician 32).

    Sums, not means, so that the bins of several folds add up to those of all predictions together.

    Examples
    --------
    >>> fold = binned(np.array([0.8, 0.8, 0.3]), np.array([True, False, False]), np.ones(3), n_bins=2)
    >>> fold.weight, fold.stated, fold.happened
    (array([1., 2.]), array([0.3, 1.6]), array([0., 1.]))
    >>> round(fold.ece(), 6), round((fold + fold).ece(), 6)
    (0.3, 0.3)

    """

    weight: FloatArray
    stated: FloatArray
    happened: FloatArray

    def __add__(self, other: "ReliabilityBins") -> "ReliabilityBins":
        if len(self.weight) != len(other.weight):
            raise DataError(f"{len(self.weight)} bins and {len(other.weight)} bins do not add; use one n_bins")
        return ReliabilityBins(self.weight + other.weight, self.stated + other.stated, self.happened + other.happened)

    def ece(self) -> float:
        """Expected calibration error: the bins' gaps between stated and happened, averaged by weight."""
        return float(np.abs(self.stated - self.happened).sum() / self.weight.sum())


def binned(stated: FloatArray, happened: AnyArray, weight: FloatArray, n_bins: int) -> ReliabilityBins:
    """Entries with a stated probability, whether it happened and a weight, put into bins of equal width."""
    if n_bins < 1:
        raise DataError(f"n_bins={n_bins}: at least 1 bin is needed")
    bins = np.clip(np.ceil(stated * n_bins).astype(np.int64) - 1, 0, n_bins - 1)

    def total(values: FloatArray) -> AnyArray:
        return np.bincount(bins, weights=values, minlength=n_bins)

    return ReliabilityBins(total(weight), total(weight * stated), total(weight * happened))
