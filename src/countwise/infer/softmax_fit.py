"""Small fits of the class log loss: scores that are linear in a few numbers, with normal priors around no change.

S_ry = offset_ry + bias_y + sum_j theta_j Z_j,ry,    J = sum_r w_r (-log softmax(S_r)[y_r]) + prior
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from countwise import _kernels
from countwise.dtypes import AnyArray, FloatArray

TEMPERATURE_SD: Final = 1.0  # of the logarithm
BIAS_SD: Final = 0.5
WEIGHT_SD: Final = 1.0  # of weights around 1


@dataclass(frozen=True, eq=False)
class Rows:
    """What scores are judged by: classes, and weights of rows."""

    target: AnyArray  # uint32
    weights: FloatArray


def judged_rows(target: AnyArray, weights: FloatArray | None) -> Rows:
    """Class codes of any width, and weights or None."""
    return Rows(target.astype(np.uint32), np.ones(len(target)) if weights is None else weights)


@dataclass(frozen=True, eq=False)
class Tempered:
    """The best temperature and biases, and the loss with its prior."""

    temperature: float
    bias: FloatArray
    loss: float


def fit_temperature(
    rows: Rows, offset: FloatArray, evidence: FloatArray, log_mean: float = 0.0, start: Tempered | None = None
) -> Tempered:
    """Scores offset + bias + t * evidence (rows x classes); log t has a normal prior around ``log_mean``.

    Newton's method, from ``start`` if given.
    """
    bias = np.zeros(offset.shape[1]) if start is None else start.bias.copy()
    log_t = log_mean if start is None else float(np.log(start.temperature))
    loss, log_t = _kernels.fit_temperature(
        rows.target, rows.weights, offset.reshape(-1), evidence.reshape(-1), _priors(log_mean), log_t, bias
    )
    return Tempered(float(np.exp(log_t)), bias, loss)


def fit_weights(
    rows: Rows, offset: FloatArray, terms: FloatArray, group: AnyArray, threads: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Weights of terms (terms x rows x classes), and biases, by L-BFGS.

    Scores are offset + bias + sum_j weight_j terms_j. A weight is 1 + what is common to the group of its term + its
    own; both have standard deviation 1.
    """
    weight, bias = np.empty(len(terms)), np.empty(offset.shape[1])
    n_groups = int(group.max()) + 1 if len(group) else 0
    _kernels.fit_weights(
        (rows.target, rows.weights),
        offset.reshape(-1),
        terms.reshape(-1),
        group.astype(np.uint32),
        n_groups,
        _priors(),
        threads,
        weight,
        bias,
    )
    return weight, bias


def _priors(log_mean: float = 0.0) -> tuple[float, float, float, float]:
    return log_mean, TEMPERATURE_SD, BIAS_SD, WEIGHT_SD
