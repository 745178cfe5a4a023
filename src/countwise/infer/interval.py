"""Intervals for class probabilities: what finite counts leave open about the parameters, carried over to P(y | x).

Each smoothed distribution is read as a Dirichlet posterior with its mean p and its weight c, ``Smoothed.precision``.
A probability of it is Ga / (Ga + Gb) for independent Gamma variables of the shapes a = p c and b = (1 - p) c. Their
logarithms have quantiles at unequal distances from log a: far below and not far above where a is small. So each step
keeps two distances, up (u) and down (d) to the limits of the level, and joins those of independent parts as the
square root of the sum of squares, a rise of one part with the falls of what it is divided by (Zou and Donner 2008,
"Construction of confidence limits about effect measures", Statistics in Medicine 27, 1693-1702):

1. logit p moves up by sqrt(u(a)^2 + d(b)^2) and down by sqrt(d(a)^2 + u(b)^2), which gives distances for log p;
2. log P(x, y) is a sum over attributes (times the temperature and weights of a tuned network) and the class prior,
   all from counts of their own;
3. logit P(y | x) = log P(x, y) - log sum_{z != y} P(x, z), where each z changes the sum as it alone would.

With many counts all distances are normal quantiles times standard deviations: the delta method. Classes answer from
nodes of their own, so step 3 takes them as independent. Only classes without any row in a tree share a node, its
root; there, and where a smoother pulls classes to a common root, limits are wider than they need be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import expit, gammainccinv, gammaincinv, gammaln

from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.infer.chunks import in_chunks
from countwise.infer.network import Network, OnDemand, Parameters, softmax
from countwise.smooth import Smoothed
from countwise.tree.context import ContextTree
from countwise.tree.count_tree import CountTree

CHUNK_VALUES = 2**15  # rows x attributes x classes at once: the arrays of a chunk stay in the second-level cache
LOG_SHAPES = np.linspace(np.log(1e-3), np.log(1e7), 1024)  # Gamma limits are tabulated here
LEAST_SHAPE = 1e-6  # its lower limit is below the smallest double already
LARGEST_LOG = 700.0  # exp stays finite


def check_level(level: Any) -> float:
    """The probability with which an interval is to hold the truth."""
    if not isinstance(level, Real) or not 0 < float(level) < 1:
        raise DataError(f"level must be a number between 0 and 1, such as 0.9; got {level!r}")
    return float(level)


@lru_cache(maxsize=16)
def _scaled_limits(level: float) -> tuple[FloatArray, FloatArray]:
    """Distances times the square root of the shape, on the grid: they tend to the normal quantile at its upper end."""
    shape, tail = np.exp(LOG_SHAPES), (1.0 - level) / 2.0
    low, high = gammaincinv(shape, tail), gammainccinv(shape, tail)
    tiny = (np.log(tail) + gammaln(shape + 1.0)) / shape  # P(G < x) = x^a / Gamma(a + 1) near 0
    log_low = np.where(low > 1e-200, np.log(np.maximum(low, 1e-300)), tiny)
    log_high = np.log(np.maximum(high, 1e-300))
    up, down = np.maximum(log_high - LOG_SHAPES, 0.0), np.maximum(LOG_SHAPES - log_low, 0.0)
    return np.sqrt(shape) * up, np.sqrt(shape) * down


def gamma_distances(shape: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """How far the logarithm of a Gamma variable's equal-tailed limits is from that of its mean: up, down.

    The mean of a small shape is above the upper limit, whose distance is then 0.

    >>> up, down = gamma_distances(np.array([0.1, 1.0, 100.0]), 0.9)
    >>> up.round(2), down.round(2)
    (array([1.76, 1.1 , 0.16]), array([28.15,  2.97,  0.17]))
    """
    shape = np.maximum(shape, LEAST_SHAPE)
    where = np.clip((np.log(shape) - LOG_SHAPES[0]) / (LOG_SHAPES[1] - LOG_SHAPES[0]), 0.0, len(LOG_SHAPES) - 1.001)
    at = where.astype(np.int32)  # the grid is even, so that no search is needed
    part, root = where - at, np.sqrt(shape)
    up, down = ((table[at] + part * (table[1:] - table[:-1])[at]) / root for table in _scaled_limits(level))
    return up, down


def log_proba_distances(log_p: FloatArray, weight: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Distances from log p to its limits, for means p of Dirichlet distributions of these weights; 0 where p is 1.

    That is also what the look-ups say of a value which training never met, and which adds nothing.
    """
    p = np.exp(log_p)
    rest = -np.expm1(log_p)
    up_a, down_a = gamma_distances(p * weight, level)
    up_b, down_b = gamma_distances(rest * weight, level)
    odds_up, odds_down = np.sqrt(up_a**2 + down_b**2), np.minimum(np.sqrt(down_a**2 + up_b**2), LARGEST_LOG)
    return -np.log(p + rest * np.exp(-odds_up)), np.log(p + rest * np.exp(odds_down))


def proba_limits(log_joint: FloatArray, up: FloatArray, down: FloatArray) -> FloatArray:
    """Limits of the softmax of scores (rows x classes) that are uncertain by these distances: rows x classes x 2."""
    out = np.empty((*log_joint.shape, 2))
    for y in range(log_joint.shape[1]):
        others, rises, falls = (np.delete(array, y, axis=1) for array in (log_joint, up, down))
        total = np.logaddexp.reduce(others, axis=1)
        share = others - total[:, None]
        with np.errstate(divide="ignore"):  # a class that is all of the sum
            rest = np.log(np.maximum(-np.expm1(share), 0.0))
        rise, fall = np.logaddexp(rest, share + rises), np.logaddexp(rest, share - falls)
        logit = log_joint[:, y] - total
        out[:, y, 0] = expit(logit - np.sqrt(down[:, y] ** 2 + (rise**2).sum(axis=1)))
        out[:, y, 1] = expit(logit + np.sqrt(up[:, y] ** 2 + (fall**2).sum(axis=1)))
    return out


def limits_around(scores: FloatArray, up: FloatArray, down: FloatArray) -> FloatArray:
    """As :func:`proba_limits`, with the softmax of the scores never outside, not even by rounding."""
    return around(proba_limits(scores, up, down), softmax(scores.copy()))


def around(limits: FloatArray, proba: FloatArray) -> FloatArray:
    """Limits (rows x classes x 2) moved, where needed, so that the probabilities lie between them."""
    np.minimum(limits[:, :, 0], proba, out=limits[:, :, 0])
    np.maximum(limits[:, :, 1], proba, out=limits[:, :, 1])
    return limits


def _weights(tree: CountTree, smoothed: Smoothed) -> Smoothed:
    """Precision + 1 in the place of probabilities: the look-up then finds that of the node which answers."""
    weight = smoothed.precision + 1.0
    return Smoothed(weight[tree.cell_node], weight * tree.arity, False, smoothed.precision)


class Spread:
    """A compiled classifier's limits: the look-up of probabilities, and one of their weights."""

    def __init__(
        self,
        network: Network,
        trees: Sequence[ContextTree],
        parameters: Parameters,
        prior_precision: float,
        threads: int = 1,
    ) -> None:
        weights = OnDemand(lambda t: _weights(trees[t].counts, parameters.trees[t]), len(trees))
        self.network = network
        self.weights = Network(trees, Parameters(network.log_prior, weights), network.arity, threads)
        self.prior_shape = np.exp(network.log_prior) * prior_precision

    def limits(self, batch: CodedBatch, level: float, threads: int = 1) -> FloatArray:
        """Lower and upper limit of P(y | x), rows x classes x 2; the estimate is never outside."""
        n_classes = len(self.prior_shape)
        step = max(1, CHUNK_VALUES // (max(1, len(self.network.children)) * n_classes))
        return in_chunks(batch, step, threads, (n_classes, 2), lambda rows: limits_around(*self.distances(rows, level)))

    def distances(self, batch: CodedBatch, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The scores, and how far up and down their limits are: three times rows x classes."""
        log_p, weight = self.network.terms(batch), np.expm1(self.weights.terms(batch))
        up, down = log_proba_distances(log_p, weight, level)
        prior_up, prior_down = gamma_distances(self.prior_shape, level)  # the sum of the shapes is common to all
        factor = self.network.factors[:, None]
        rise = np.where(factor >= 0, up, down) * factor  # a term of negative weight falls when its probability rises
        fall = np.where(factor >= 0, down, up) * factor
        up = np.sqrt((rise**2).sum(axis=1) + prior_up**2)
        down = np.sqrt((fall**2).sum(axis=1) + prior_down**2)
        return self.network.scores(batch), up, down
