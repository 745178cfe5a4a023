"""Distance from a known distribution: of predicted class probabilities, and of conditional probability tables.

Data that are computed come with their true probabilities. Then an estimate can be held against the truth itself
and not only against labels drawn from it, which takes the noise of the draw out of the comparison.
"""

from typing import Any

import numpy as np
from scipy.special import rel_entr

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.evaluate.scores import LOG_EPSILON, checked_probabilities


def cross_entropy(true_proba: Any, proba: Any) -> float:
    """Mean over rows of ``-sum_c q_ic log p_ic``, q the true probabilities: the expected log loss, in nats.

    It is what :func:`log_loss` would be on average if the labels were drawn again and again. As there, a p
    below ``LOG_EPSILON`` (2.2e-16) counts as ``LOG_EPSILON``.

    >>> round(cross_entropy([[0.5, 0.5]], [[0.25, 0.75]]), 6)  # -(log 1/4 + log 3/4) / 2
    0.836988
    """
    q, p = _tables("true_proba", true_proba, "proba", proba)
    return float(-(q * np.log(_clipped(p))).sum(axis=1).mean())


def kl_divergence(true_proba: Any, proba: Any) -> float:
    """Mean over rows of ``sum_c q_ic log(q_ic / p_ic)``, q the true probabilities, in nats; 0 log 0 is 0.

    The part of :func:`cross_entropy` that a better model could save (Kullback and Leibler 1951, *On
    information and sufficiency*, Annals of Mathematical Statistics 22). A p below ``LOG_EPSILON`` counts as
    ``LOG_EPSILON``: the divergence stays finite.

    >>> round(kl_divergence([[0.5, 0.5], [1.0, 0.0]], [[0.25, 0.75], [1.0, 0.0]]), 6)  # (log(4 / 3) / 2 + 0) / 2
    0.071921
    """
    q, p = _tables("true_proba", true_proba, "proba", proba)
    return float(rel_entr(q, _clipped(p)).sum(axis=1).mean())


def table_mse(estimate: Any, truth: Any) -> float:
    """Mean squared error of a conditional probability table, over all its cells.

    ``1 / (|X| |Y|) sum_xy (estimate_x|y - truth_x|y)^2`` (paper 003, equation 15). Tables have the shape
    (contexts, values), (|Y|, |X|) there; every row is a distribution.

    >>> table_mse([[0.5, 0.5], [0.25, 0.75]], [[0.5, 0.5], [0.5, 0.5]])  # 2 * 0.25^2 / 4
    0.03125
    """
    e, t = _tables("estimate", estimate, "truth", truth)
    return float(((e - t) ** 2).mean())


def table_kl(estimate: Any, truth: Any) -> float:
    """Kullback-Leibler divergence of a table from the true one, averaged over contexts.

    ``1 / |Y| sum_xy truth_x|y log(truth_x|y / estimate_x|y)`` (paper 003, section 3.2). Taken literally, so
    nothing is clipped: an estimate of 0 for what is possible costs infinity. (:func:`kl_divergence` clips, as
    a log loss has to be finite for models that predict 0.)

    >>> round(table_kl([[0.25, 0.75], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]]), 6)
    0.071921
    >>> table_kl([[1.0, 0.0]], [[0.5, 0.5]])
    inf
    """
    e, t = _tables("estimate", estimate, "truth", truth)
    return float(rel_entr(t, e).sum(axis=1).mean())


def table_hellinger(estimate: Any, truth: Any) -> float:
    """Hellinger distance between two tables: one root over the sum of all contexts.

    ``1 / sqrt(2) sqrt(sum_xy (sqrt(estimate_x|y) - sqrt(truth_x|y))^2)`` (paper 003, section 3.2). Taken
    literally: the contexts are added up, not averaged, so the distance ranges from 0 to sqrt(|Y|) and tables
    with different numbers of contexts do not compare. For one context it is the usual distance.

    >>> table_hellinger([[1.0, 0.0]], [[0.0, 1.0]]), table_hellinger(np.eye(4), np.eye(4)[::-1])
    (1.0, 2.0)
    """
    e, t = _tables("estimate", estimate, "truth", truth)
    return float(np.sqrt(((np.sqrt(e) - np.sqrt(t)) ** 2).sum() / 2.0))


def _tables(name: str, table: Any, other_name: str, other: Any) -> tuple[FloatArray, FloatArray]:
    """Both as tables of distributions of one shape."""
    first, second = checked_probabilities(table, name), checked_probabilities(other, other_name)
    if first.shape != second.shape:
        raise DataError(
            f"{name} has shape {first.shape}, {other_name} {second.shape}; give both the same rows and columns"
        )
    return first, second


def _clipped(p: FloatArray) -> FloatArray:
    return np.clip(p, LOG_EPSILON, 1.0)
