"""Aumann-Shapley values: what each attribute adds to the logarithm of a mixture, which is not linear in it.

A mixture of log-linear models has log P(y | x) = f_y(1) + a constant of the row, where on the path 0 <= t <= 1

    f_y(t) = log sum_g exp L_g[y](t),    L_g[y](t) = w_g + a_g[y] + t sum_i c_g[i, y] - (log sum_z exp of the last two)

w are logarithms of weights; the last term is there if models are normalised, else they are joint probabilities. All
attributes grow together from nothing (t = 0) to what they say (t = 1). Attribute i gets its part of the integral
of df_y / dt (Aumann and Shapley 1974, Values of Non-Atomic Games):

    v[i, y] = sum_g R_g[y] c_g[i, y] - sum_z Q_g[y, z] c_g[i, z]
    R_g[y] = integral of r_g[y](t),    Q_g[y, z] = integral of r_g[y](t) p_g[z](t)

with r_g[y] = exp(L_g[y] - f_y), the share of model g in class y, and p_g its softmax. The parts add up to
f_y(1) - f_y(0); of a single model they are c[i, y] but for a constant of the classes. R and Q know nothing of the
attributes, so the integration is cheap.
"""

from __future__ import annotations

import numpy as np

from countwise.dtypes import FloatArray

NODES, WEIGHTS = np.polynomial.legendre.leggauss(
    16
)  # of a panel: a logistic of slope 8 across it is exact to 1e-10, of 16 to 1e-5
MAX_PANELS = 256
TOLERANCE = 1e-7  # of the sum of the parts, on the scale of log-odds


def path_integrals(
    start: FloatArray, slope: FloatArray, log_weight: FloatArray, normalised: bool
) -> tuple[FloatArray, FloatArray | None]:
    """R (rows x models x classes) and Q (rows x models x classes x classes; None if models are not normalised).

    ``start`` is a_g[y], models x classes; ``slope`` the sum of the contributions, rows x models x classes;
    ``log_weight`` rows x models. Panels are doubled row by row until the parts add up.
    """
    n_rows, n_models, n_classes = slope.shape
    share = np.empty(slope.shape)
    cross = np.empty((n_rows, n_models, n_classes, n_classes)) if normalised else None
    end, begin = (_log_mixture(start + t * slope, log_weight, normalised)[0] for t in (1.0, 0.0))
    left, n_panels = np.arange(n_rows), 1
    while len(left):
        own, of_pairs = _quadrature(start, slope[left], log_weight[left], normalised, n_panels)
        share[left] = own
        parts = (own * slope[left]).sum(axis=1)
        if cross is not None and of_pairs is not None:
            cross[left] = of_pairs
            parts -= (of_pairs * slope[left][:, :, None, :]).sum(axis=(1, 3))
        error = _centred(parts - (end - begin)[left])
        n_panels *= 2
        if n_panels > MAX_PANELS:
            break
        left = left[np.abs(error).max(axis=1) > TOLERANCE]
    return share, cross


def _quadrature(
    start: FloatArray, slope: FloatArray, log_weight: FloatArray, normalised: bool, n_panels: int
) -> tuple[FloatArray, FloatArray | None]:
    share = np.zeros(slope.shape)
    cross = np.zeros((*slope.shape, slope.shape[2])) if normalised else None
    for panel in range(n_panels):
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            t, part = (panel + (node + 1.0) / 2.0) / n_panels, weight / (2.0 * n_panels)
            _, r, p = _log_mixture(start + t * slope, log_weight, normalised)
            share += part * r
            if cross is not None:
                cross += (part * r)[:, :, :, None] * p[:, :, None, :]
    return share, cross


def _log_mixture(
    scores: FloatArray, log_weight: FloatArray, normalised: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """F (rows x classes), r and p (rows x models x classes; p only of use if normalised)."""
    p = scores
    if normalised:
        log_p = scores - scores.max(axis=2, keepdims=True)
        p = np.exp(log_p)
        total = p.sum(axis=2, keepdims=True)
        scores, p = log_p - np.log(total), p / total
    scores = scores + log_weight[:, :, None]
    top = scores.max(axis=1, keepdims=True)
    r = np.exp(scores - top)
    total = r.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], r / total, p


def _centred(values: FloatArray) -> FloatArray:
    return values - values.mean(axis=-1, keepdims=True)


def spread_remainder(parts: FloatArray, remainder: FloatArray) -> FloatArray:
    """Parts (rows x columns x classes), centred, with what is left (rows x classes) added to those that say something.

    Each takes a share by the sum of its absolute parts; where none says anything, all take the same.
    """
    parts = _centred(parts)
    size = np.abs(parts).sum(axis=2)
    total = size.sum(axis=1, keepdims=True)
    size = np.where(total > 0.0, size / np.where(total > 0.0, total, 1.0), 1.0 / parts.shape[1])
    return parts + size[:, :, None] * _centred(remainder)[:, None, :]
