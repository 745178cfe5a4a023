"""What decisions have cost, and what they would have cost at every threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.evaluate.scores import align, checked_weights, label_codes
from countwise.infer.costs import TIE, as_costs


def mean_cost(y_true: Any, decided: Any, cost_matrix: Any, classes: Any = None, sample_weight: Any = None) -> float:
    """Mean cost of decisions: the mean over rows of ``cost_matrix[true, decided]``.

    ``cost_matrix`` is as in :class:`~countwise.CostSensitive`: an array in the order of ``classes``, a dict
    ``{(true, decided): cost}``, or an array of rows x classes x classes. ``classes`` are, unless given, those that a
    dict names, else the sorted distinct labels of both columns.

    >>> mean_cost(["ill", "well", "well"], ["well", "well", "ill"], {("ill", "well"): 50, ("well", "ill"): 1})
    17.0

    For a search: ``make_scorer(mean_cost, greater_is_better=False, cost_matrix=costs)``.
    """
    found, codes = label_codes(np.concatenate([np.asarray(y_true), np.asarray(decided)]))
    n_rows = len(np.asarray(y_true))
    if len(codes) != 2 * n_rows:
        raise DataError(f"{n_rows} true labels but {len(codes) - n_rows} decisions")
    if classes is None:
        named = isinstance(cost_matrix, Mapping) and all(isinstance(p, tuple) for p in cost_matrix)
        known = label_codes([label for pair in cost_matrix for label in pair])[0] if named else found
    else:
        known = np.asarray(classes).tolist()
    column = {label: i for i, label in enumerate(known)}
    strangers = [label for label in found if label not in column]
    if strangers:
        raise DataError(f"label(s) {strangers[:5]} are none of the classes {known[:20]}")
    costs = as_costs(cost_matrix, known, n_rows)
    position = np.array([column[label] for label in found])[codes]
    true, chosen = position[:n_rows], position[n_rows:]
    paid = costs[true, chosen] if costs.ndim == 2 else costs[np.arange(n_rows), true, chosen]
    weight = checked_weights(sample_weight, n_rows)
    return float(weight @ paid / weight.sum())


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Mean cost of deciding the second class where its probability is above t: constant between ``edge`` values.

    ``cost[k]`` holds for t from ``edge[k]`` up to, but without, ``edge[k + 1]``; the first edge is 0.
    """

    edge: FloatArray
    cost: FloatArray

    def at(self, threshold: Any) -> FloatArray:
        """Mean cost at thresholds from 0 to 1."""
        return self.cost[np.searchsorted(self.edge, threshold, side="right") - 1]

    def best(self, near: float) -> float:
        """The threshold of least mean cost: ``near`` if it is one, else the middle of the nearest step that is."""
        ends = np.append(self.edge[1:], 1.0)
        least = self.cost <= self.cost.min() + TIE * np.abs(self.cost).max()
        if least[np.searchsorted(self.edge, near, side="right") - 1]:
            return near
        middle = (self.edge + ends)[least] / 2.0
        return float(middle[np.abs(middle - near).argmin()])


def cost_curve(y_true: Any, proba: Any, cost_matrix: Any, classes: Any = None, sample_weight: Any = None) -> CostCurve:
    """Mean cost of two classes' rows at every threshold, exactly: it changes only at the probabilities that occur.

    >>> curve = cost_curve(["a", "b", "b"], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], [[0, 1], [3, 0]])
    >>> curve.edge.tolist(), curve.cost.round(2).tolist()
    ([0.0, 0.1, 0.4, 0.8], [0.33, 0.0, 1.0, 2.0])
    """
    codes, p = align(y_true, proba, classes)
    if p.shape[1] != 2:
        raise DataError(f"a threshold is for two classes; there are {p.shape[1]}")
    known = label_codes(y_true)[0] if classes is None else classes
    costs = as_costs(cost_matrix, known)
    weight = checked_weights(sample_weight, len(p))
    values, position = np.unique(p[:, 1], return_inverse=True)
    change = np.bincount(position, weight * (costs[codes, 0] - costs[codes, 1]))  # once t has reached the value
    total = weight @ costs[codes, 1] + np.concatenate([[0.0], np.cumsum(change)])
    first = int(values[0] == 0.0)  # then there is no threshold below the least probability
    return CostCurve(np.concatenate([[0.0], values])[first:], total[first:] / weight.sum())
