"""Has a Markov chain run long enough? R-hat and effective sample sizes (Gelman et al., BDA3, 11.4-11.5)."""

from __future__ import annotations

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError


def split_rhat(trace: FloatArray) -> FloatArray:
    """Potential scale reduction of every column; near 1 once the chains have mixed, below 1.1 or better 1.01.

    Each chain is cut into halves, so that one chain is enough to see drift. With m half-chains of n draws, B / n the
    variance of their means and W the mean of their variances, R-hat = sqrt(((n - 1) / n W + B / n) / W) (eq.
    11.3-11.4). A column that never moves has no R-hat: nan.

    ``trace`` is draws x columns, or chains x draws x columns.

    >>> drift = np.linspace(0.0, 1.0, 100)[:, None]
    >>> split_rhat(drift).round(2)
    array([2.62])
    """
    halves = _halves(trace)
    pooled, within = _variances(halves)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(within > 0, np.sqrt(pooled / within), np.where(pooled > 0, np.inf, np.nan))


def effective_sample_size(trace: FloatArray) -> FloatArray:
    """Independent draws that would be worth as much as those of every column, all chains together.

    n_eff = m n / (1 + 2 sum_t rho_t) over m half-chains of n draws, rho_t = 1 - V_t / (2 var+) from the variogram
    V_t, summed to the first odd lag T after which rho_{T+1} + rho_{T+2} < 0 (eq. 11.7-11.8). A column that never
    moves has none: nan.

    ``trace`` is draws x columns, or chains x draws x columns.
    """
    halves = _halves(trace)
    pooled, _ = _variances(halves)
    m, n, _ = halves.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - _variogram(halves) / (2.0 * pooled)  # lags x columns
    # T is odd: rho_1 stands alone, then come the pairs (2, 3), (4, 5), ..., as long as their sums are not negative.
    later = rho[2 : 2 + 2 * ((n - 2) // 2)].reshape(-1, 2, rho.shape[1]).sum(axis=1)
    kept = np.logical_and.accumulate(later >= 0, axis=0)
    total = rho[1] + np.where(kept, later, 0.0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pooled > 0, m * n / (1.0 + 2.0 * total), np.nan)


def _halves(trace: FloatArray) -> FloatArray:
    """Half-chains x draws x columns; the middle draw of an odd number is left out."""
    trace = np.asarray(trace, float)
    chains = trace[None] if trace.ndim == 2 else trace
    if chains.ndim != 3 or chains.shape[1] < 8:
        raise DataError(
            f"a trace is draws x columns or chains x draws x columns with at least 8 draws, got shape {trace.shape}"
        )
    n = chains.shape[1] // 2
    return np.concatenate([chains[:, :n], chains[:, -n:]])


def _variances(halves: FloatArray) -> tuple[FloatArray, FloatArray]:
    """var+ and W of every column."""
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)  # B / n
    return (n - 1) / n * within + between, within


def _variogram(halves: FloatArray) -> FloatArray:
    """V_t, lags x columns: the mean of (x_i - x_{i-t})^2 over all pairs of draws at distance t."""
    centred = halves - halves.mean(axis=1, keepdims=True)
    n = centred.shape[1]
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    products = np.fft.irfft(spectrum * spectrum.conj(), 2 * n, axis=1)[:, :n]  # sum of x_i x_{i-t}
    squares = np.cumsum(centred**2, axis=1)
    total = squares[:, -1:]
    first = squares[:, ::-1]  # sum of the first n - t squares
    last = total - np.concatenate([np.zeros_like(total), squares[:, :-1]], axis=1)  # ... and of the last n - t
    pairs = np.arange(n, 0, -1)[:, None]
    return ((first + last - 2.0 * products) / pairs).mean(axis=0)
