"""The factor on all concentrations under which the evidence, at its best temperature, tells most about the class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countwise.dtypes import FloatArray
from countwise.infer.softmax_fit import Rows, Tempered, fit_temperature

FACTOR_SD = 5.0  # of the logarithm, around 0
FIRST_STEP, FARTHEST = 1.5, 9.0  # of the search for the logarithm
REFINEMENTS, CLOSE = 2, 0.1


def best_factor(
    rows: Rows, log_prior: FloatArray, evidence: Callable[[float], FloatArray], n_columns: int
) -> tuple[float, Tempered]:
    """The log factor of least loss, and temperature and biases at it.

    ``evidence`` gives the sums of log probabilities (rows x classes) at a log factor. For each one tried, temperature
    and biases are at their best, so that a search in one variable is enough. A priori n attributes, which depend on
    each other, tell as much as sqrt(n) that do not: the temperature is about 1 / sqrt(n) until rows say otherwise.
    """
    tried: dict[float, Tempered] = {}

    def loss(log_factor: float) -> float:
        start = tried[min(tried, key=lambda other: abs(other - log_factor))] if tried else None
        tried[log_factor] = fit_temperature(
            rows, log_prior, evidence(log_factor), -0.5 * np.log(max(1, n_columns)), start
        )
        return tried[log_factor].loss + 0.5 * (log_factor / FACTOR_SD) ** 2

    log_factor = least_argument(loss)
    return log_factor, tried[log_factor]


def least_argument(function: Callable[[float], float]) -> float:
    """Where a function of one variable is least, to about 0.2: steps downhill from 0, then parabolas.

    >>> round(least_argument(lambda x: (x - 2.2) ** 2), 1)
    2.2
    """
    values = {x: function(x) for x in (0.0, FIRST_STEP)}
    step = FIRST_STEP if values[FIRST_STEP] < values[0.0] else -FIRST_STEP
    here = max(step, 0.0)
    while abs(here) < FARTHEST:
        ahead = here + step
        values[ahead] = function(ahead)
        if values[ahead] >= values[here]:
            break
        here = ahead
    for _ in range(REFINEMENTS):
        points = sorted(values)
        best = points.index(min(values, key=values.__getitem__))
        if best in (0, len(points) - 1):
            break
        nearer = _parabola_bottom(*((x, values[x]) for x in points[best - 1 : best + 2]))
        if nearer is None or min(abs(nearer - x) for x in points) < CLOSE:
            break
        values[nearer] = function(nearer)
    return min(values, key=values.__getitem__)


def _parabola_bottom(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float | None:
    """Where the parabola through three points, the middle one lowest, is least; None if it is flat."""
    left, right = (b[0] - a[0]) * (b[1] - c[1]), (b[0] - c[0]) * (b[1] - a[1])
    if abs(left - right) < 1e-12:
        return None
    return b[0] - 0.5 * ((b[0] - a[0]) * left - (b[0] - c[0]) * right) / (left - right)
