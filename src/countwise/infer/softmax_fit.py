"""Small fits of the class log loss: scores that are linear in a few numbers, with normal priors.

S_ry = offset_ry + bias_y + sum_j theta_j Z_j,ry,    J = sum_r w_r (-log softmax(S_r)[y_r]) + prior
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countwise.dtypes import AnyArray, FloatArray

BIAS_SD = 0.5  # of the class biases, around 0
LEAST, MOST = 1e-3, 20.0  # of a temperature
NEWTON_STEPS, NEWTON_DECREMENT = 15, 1e-3
WEIGHT_STEPS, WEIGHT_TOLERANCE = 30, 1e-5


@dataclass(frozen=True, eq=False)
class Rows:
    """What the scores are judged by: classes, and weights of rows."""

    target: AnyArray
    weights: FloatArray

    def loss(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """The loss of scores (rows x classes) and its derivatives by them."""
        rows = np.arange(len(self.target))
        top = scores.max(axis=1, keepdims=True)
        p = np.exp(scores - top)
        total = p.sum(axis=1, keepdims=True)
        own = scores[rows, self.target] - top[:, 0] - np.log(total[:, 0])
        p /= total
        p[rows, self.target] -= 1.0
        p *= self.weights[:, None]
        return -float(self.weights @ own), p


@dataclass(frozen=True, eq=False)
class Tempered:
    """The best temperature and biases, and the loss with its prior."""

    temperature: float
    bias: FloatArray
    loss: float


def fit_temperature(rows: Rows, offset: FloatArray, evidence: FloatArray, start: Tempered | None = None) -> Tempered:
    """Scores offset + bias + t * evidence; log t and the biases have normal priors (sd 1 and 0.5). Newton's method."""
    n_classes = offset.shape[1]
    log_t, bias = (np.log(start.temperature), start.bias) if start else (0.0, np.zeros(n_classes))

    def evaluate(log_t: float, bias: FloatArray) -> tuple[float, FloatArray]:
        loss, residual = rows.loss(offset + bias + np.exp(log_t) * evidence)
        return loss + 0.5 * log_t**2 + 0.5 * float(bias @ bias) / BIAS_SD**2, residual

    value, residual = evaluate(log_t, bias)
    for _ in range(NEWTON_STEPS):
        t = np.exp(log_t)
        gradient = np.concatenate([[t * float((residual * evidence).sum()) + log_t], residual.sum(axis=0)])
        gradient[1:] += bias / BIAS_SD**2
        step = -np.linalg.solve(_curvature(rows, residual, t * evidence), gradient)
        decrement = -float(gradient @ step)
        share = 1.0
        while True:
            next_t = float(np.clip(log_t + share * step[0], np.log(LEAST), np.log(MOST)))
            next_bias = bias + share * step[1:]
            next_value, next_residual = evaluate(next_t, next_bias)
            if next_value <= value - 1e-4 * share * decrement or share < 1e-3:
                break
            share *= 0.5
        log_t, bias, value, residual = next_t, next_bias, next_value, next_residual
        if decrement < NEWTON_DECREMENT:
            break
    return Tempered(float(np.exp(log_t)), bias, value)


def _curvature(rows: Rows, residual: FloatArray, slope: FloatArray) -> FloatArray:
    """The Hessian by (log t, biases), without the part that may be negative; ``slope`` is the score's by log t."""
    p = residual / rows.weights[:, None]
    p[np.arange(len(p)), rows.target] += 1.0
    weighted = rows.weights[:, None] * p
    mean = (p * slope).sum(axis=1)
    n_classes = p.shape[1]
    out = np.zeros((1 + n_classes, 1 + n_classes))
    out[0, 0] = float((weighted * slope**2).sum() - (rows.weights * mean) @ mean) + 1.0
    out[0, 1:] = out[1:, 0] = (weighted * slope).sum(axis=0) - mean @ weighted
    out[1:, 1:] = np.diag(weighted.sum(axis=0) + 1.0 / BIAS_SD**2) - weighted.T @ p
    return out


def fit_weights(
    rows: Rows, offset: FloatArray, terms: FloatArray, group: AnyArray, sd: float
) -> tuple[FloatArray, FloatArray]:
    """Weights of terms (terms x rows x classes), and biases. L-BFGS.

    Scores are offset + bias + sum_j weight_j terms_j. A weight is 1 + what is common to the group of its term + its
    own; both have normal priors of this standard deviation.
    """
    from scipy.optimize import minimize

    n_terms, n_groups, shape = len(terms), int(group.max(initial=-1)) + 1, offset.shape
    flat = terms.reshape(n_terms, offset.size)
    base = offset + flat.sum(axis=0).reshape(shape)
    ends = np.cumsum([n_terms, n_groups])

    def split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        own, common, bias = np.split(x, ends)
        return sd * (own + common[group]), BIAS_SD * bias

    def objective(x: FloatArray) -> tuple[float, FloatArray]:  # in units of the priors, which makes the problem round
        change, bias = split(x)
        loss, residual = rows.loss(base + (change @ flat).reshape(shape) + bias)
        by_term = sd * (flat @ residual.reshape(-1))
        by_group = np.bincount(group, by_term, minlength=n_groups)
        return loss + 0.5 * float(x @ x), np.concatenate([by_term, by_group, BIAS_SD * residual.sum(axis=0)]) + x

    options = {"maxiter": WEIGHT_STEPS, "ftol": WEIGHT_TOLERANCE}
    start = np.zeros(n_terms + n_groups + shape[1])
    change, bias = split(minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x)
    return 1.0 + change, bias
