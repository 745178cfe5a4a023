"""C4.5's pruning: training errors, made pessimistic."""

from __future__ import annotations

from numbers import Real

from scipy.special import betaincinv

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.tree.growth import Growth
from countwise.tree.prune.base import Pruner, cheapest, cut, training_errors
from countwise.tree.splits import SplitTree

SLACK = 0.1  # errors that a simpler tree is worth


class Pessimistic(Pruner):
    """A subtree is replaced by a leaf that is not expected to err more (Quinlan 1993, chapter 4).

    What a leaf of N rows, E of them of other classes, is expected to err is N U(E, N): U is the upper confidence limit
    of a binomial share, P(at most E of N | U) = ``confidence``. No rows are held out. Subtrees are not raised.

    Parameters
    ----------
    confidence : float between 0 and 1, default 0.25
        Less prunes more.

    """

    def __init__(self, confidence: float = 0.25) -> None:
        self.confidence = confidence

    def check(self) -> None:
        """``confidence`` is between 0 and 1."""
        if not isinstance(self.confidence, Real) or not 0 < float(self.confidence) < 1:
            raise DataError(f"confidence must be a number between 0 and 1, got {self.confidence!r}")

    def prune(self, growth: Growth) -> SplitTree:
        """A tree of all rows, pruned."""
        tree = growth.grow()
        errors = upper_errors(training_errors(tree.counts), tree.counts.total, float(self.confidence))
        return cut(tree, cheapest(tree.splits, errors, slack=SLACK))


def upper_errors(errors: FloatArray, total: FloatArray, confidence: float) -> FloatArray:
    """N U(E, N).

    >>> import numpy as np
    >>> upper_errors(np.array([0.0, 0.0, 1.0]), np.array([1.0, 6.0, 16.0]), 0.25).round(3)
    array([0.75 , 1.238, 2.554])
    """
    return total * betaincinv(errors + 1.0, total - errors, 1.0 - confidence)
