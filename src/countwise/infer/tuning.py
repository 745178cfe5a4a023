"""How much to smooth, and how far to trust the result: a few numbers, chosen by leave-one-out log loss of the class.

Every row is left out of the counts along its own paths in closed form, so one evaluation costs about as much as
predicting the rows, and the gradient comes with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.data.parts import row_hash
from countwise.data.shares import thinned_weights
from countwise.dtypes import FloatArray
from countwise.infer.evidence import PathEvidence
from countwise.infer.factor import FACTOR_SD, best_factor
from countwise.infer.softmax_fit import BIAS_SD, TEMPERATURE_SD, Rows, fit_weights
from countwise.smooth.hdp import HDP
from countwise.tree.context import ContextTree

LEVEL_SD = 0.5  # of the logarithm of a level's factor, around that of all levels
PATH_BYTES = 160 * 2**20  # of counts along the paths of the rows of a part; more rows are thinned out
LEVEL_BYTES = 20  # of a level of a path
FARTHEST = 3.0  # standard deviations
MAX_STEPS, TOLERANCE = 50, 1e-5  # of each of two stages; relative to the loss


@dataclass(frozen=True, eq=False)
class Tuning:
    """What is changed in a smoothed network.

    Scores become log P(y) + bias_y + temperature * sum_i weight_i log P(x_i | y, parents).
    ``level_factor[l - 1]`` multiplies the concentrations of level l of every tree; deeper levels take the last one.
    ``weight`` is by column of the table, used or not, or by tree of a forest; None: 1 for all.
    """

    level_factor: FloatArray
    temperature: float
    bias: FloatArray
    weight: FloatArray | None = None

    def term_factors(self, terms: Sequence[int]) -> FloatArray:
        """What the evidence of these columns (or trees) is multiplied by."""
        weight = np.ones(len(terms)) if self.weight is None else self.weight[terms]
        return self.temperature * weight

    def factor_of(self, level: np.ndarray) -> FloatArray:
        """The factor for nodes of these levels; the root's is 1."""
        factors = np.concatenate([[1.0], self.level_factor])
        return factors[np.minimum(level, len(factors) - 1)]


class RowLoss(PathEvidence):
    """The leave-one-out log loss of a network's class on some of its training rows, as a function of the tuning.

    ``rows`` are distinct: neither order nor repetition of rows may show, and there are fewer to judge.
    """

    def __init__(
        self,
        trees: Sequence[ContextTree],
        class_counts: FloatArray,
        smoother: HDP,
        arity: Sequence[int],
        rows: CodedBatch,
        threads: int,
    ) -> None:
        n_levels = sum(tree.counts.n_levels - 1 for tree in trees)
        most = max(1, PATH_BYTES // (LEVEL_BYTES * max(1, n_levels) * len(class_counts)))
        if rows.n_rows > most:
            rows = rows.select(np.argsort(row_hash(rows.codes, 1), kind="stable"))  # the first ones are a sample then
            weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
            rows = rows.weighted(thinned_weights(rows, weights, most))
        self.children = [tree.family.child for tree in trees]
        view = rows, list(arity)
        super().__init__(
            trees, class_counts, rows, lambda i: smoother.fit_tree(trees[i].counts), lambda i: view, threads
        )

    def __call__(
        self, log_factor: FloatArray, log_temperature: float, bias: FloatArray
    ) -> tuple[float, FloatArray, float, FloatArray]:
        """The loss, summed over the rows, and its derivatives by the arguments; ``log_factor`` is by level, root 0."""
        n_terms = len(self.strength)
        strength = self.strength * np.exp(log_factor)
        temperature = float(np.exp(log_temperature))
        d_strength, d_weight, d_bias = np.zeros(strength.size), np.zeros(n_terms), np.zeros(self.n_classes)
        loss = self.kernel.evaluate(
            strength.reshape(-1), np.full(n_terms, temperature), bias, self.threads, d_strength, d_weight, d_bias
        )
        d_factor = d_strength.reshape(strength.shape).sum(axis=0)
        return loss, d_factor, temperature * float(d_weight.sum()), d_bias

    def total(self, log_factor: float) -> FloatArray:
        """The sum of all terms, rows x classes, with this factor on all concentrations."""
        return self.sums(log_factor, [0] * self.n_terms, 1)[0]


def tune(parts: Sequence[RowLoss]) -> Tuning:
    """The tuning of least loss, summed over the parts, plus prior.

    One factor, temperature and biases come first, then a factor for each level. Strong smoothing and a low temperature
    can do the same, so the parts are tuned together: an average of what each prefers could be far from both.
    """
    from scipy.optimize import minimize

    n_levels, n_classes = max(part.n_levels for part in parts) - 1, parts[0].n_classes
    scales = np.array([FACTOR_SD, TEMPERATURE_SD, *[BIAS_SD] * n_classes, *[LEVEL_SD] * n_levels])

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        theta = np.zeros(len(scales))
        theta[: len(x)] = x * scales[: len(x)]  # in units of the priors, which makes the problem round
        log_factor = theta[0] + np.concatenate([[0.0], theta[2 + n_classes :]])
        value, gradient = 0.5 * float(x @ x), np.zeros(len(scales))
        for part in parts:
            loss, d_factor, d_temperature, d_bias = part(
                log_factor[: part.n_levels], theta[1], theta[2 : 2 + n_classes]
            )
            value += loss
            gradient[:2] += d_factor[1:].sum(), d_temperature
            gradient[2 : 2 + n_classes] += d_bias
            gradient[2 + n_classes : 1 + n_classes + part.n_levels] += d_factor[1:]
        return value, (gradient * scales)[: len(x)] + x

    def best(start: FloatArray) -> FloatArray:
        bounds = [(-FARTHEST, FARTHEST)] * len(start)  # a long step of the line search must not overflow
        limits: Any = {"maxiter": MAX_STEPS, "ftol": TOLERANCE}
        return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=limits).x)

    coarse = best(np.zeros(2 + n_classes))
    theta = best(np.concatenate([coarse, np.zeros(n_levels)])) * scales
    level_factor = np.exp(theta[0] + theta[2 + n_classes :])
    return Tuning(level_factor, float(np.exp(theta[1])), theta[2 : 2 + n_classes])


def tune_weights(parts: Sequence[RowLoss], n_columns: int) -> Tuning:
    """One factor on all concentrations, temperature, biases and a weight for each column, the same in all parts."""
    rows = Rows(*(np.concatenate(both) for both in zip(*((p.rows.target, p.rows.weights) for p in parts), strict=True)))
    log_prior = np.concatenate([part.log_prior for part in parts])
    log_factor, at = best_factor(
        rows, log_prior, lambda x: np.concatenate([part.total(x) for part in parts]), n_columns
    )
    terms, end = np.zeros((n_columns, *log_prior.shape)), 0
    for part in parts:
        own = slice(end, end := end + len(part.rows.target))
        terms[part.children, own] = at.temperature * part.terms(log_factor)
    group = np.zeros(n_columns, np.uint32)
    weight, bias = fit_weights(rows, log_prior + at.bias, terms, group, parts[0].threads)
    return Tuning(np.exp([log_factor]), at.temperature, at.bias + bias, weight)
