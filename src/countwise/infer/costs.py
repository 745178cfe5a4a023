"""Costs of decisions: ``costs[i, j]`` is the cost of deciding class j where class i is true."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError

TIE = 1e-12  # of the greatest cost: expected costs that differ by less differ by rounding


def as_costs(costs: Any, classes: Sequence[Any] | AnyArray, n_rows: int | None = None) -> FloatArray:
    """The costs as an array of classes x classes, or rows x classes x classes if ``n_rows`` is given and they are so.

    None: every mistake costs 1. A dict has the pairs (true, decided); right decisions that it does not name cost 0.
    Costs below 0 are gains.

    >>> as_costs({("ill", "well"): 50, ("well", "ill"): 1}, ["ill", "well"])
    array([[ 0., 50.],
           [ 1.,  0.]])
    """
    labels = np.asarray(classes).tolist()
    n_classes = len(labels)
    if costs is None:
        return 1.0 - np.eye(n_classes)
    if isinstance(costs, Mapping):
        costs = _from_pairs(costs, labels)
    try:
        table = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"cost_matrix: numbers in rows of equal length are needed ({error})") from None
    shapes = [(n_classes, n_classes)] + ([] if n_rows is None else [(n_rows, n_classes, n_classes)])
    if table.shape not in shapes:
        expected = " or ".join(map(str, shapes))
        raise DataError(f"cost_matrix: shape {table.shape}, expected {expected} for the classes {labels[:20]}")
    wrong = np.argwhere(~np.isfinite(table))
    if len(wrong):
        *row, i, j = wrong[0].tolist()
        where = f" of row {row[0]}" if row else ""
        raise DataError(
            f"cost_matrix: the cost{where} of deciding {labels[j]!r} where {labels[i]!r} is true is "
            f"{table[tuple(wrong[0])]}; a finite number is needed"
        )
    return table


def _from_pairs(costs: Mapping[Any, Any], labels: list[Any]) -> list[list[Any]]:
    for pair in costs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise DataError(f"cost_matrix: the key {pair!r} is no pair (true class, decided class)")
        for label in pair:
            if label not in labels:
                raise DataError(f"cost_matrix: {label!r} in the key {pair!r} is none of the classes {labels[:20]}")
    absent = [(i, j) for i in labels for j in labels if i != j and (i, j) not in costs]
    if absent:
        raise DataError(f"cost_matrix: no cost for (true, decided) = {absent[0]!r}; every mistake needs one")
    return [[costs.get((i, j), 0.0) for j in labels] for i in labels]


def expected_costs(proba: FloatArray, costs: FloatArray) -> FloatArray:
    """Expected cost of every decision, rows x classes: sum_i P(i) costs[i, j]."""
    return proba @ costs if costs.ndim == 2 else np.einsum("ri,rij->rj", proba, costs)


def cheapest(expected: FloatArray, costs: FloatArray) -> AnyArray:
    """The decision of least expected cost in each row; of several, the first.

    >>> cheapest(np.array([[0.3 + 1e-16, 0.2 + 0.1], [2.0, 1.0]]), np.ones((2, 2)))
    array([0, 1])
    """
    least = expected.min(axis=1, keepdims=True)
    return (expected <= least + TIE * np.abs(costs).max(initial=0.0)).argmax(axis=1)


def least_cost_threshold(costs: FloatArray) -> float:
    """Of two classes: the t such that the second is decided where its probability is above t (Elkan 2001, eq. 2).

    With a = costs[0, 1] - costs[0, 0], what a false alarm costs more than a right all-clear, and
    b = costs[1, 0] - costs[1, 1], what a miss costs more than a hit, t = a / (a + b). A t below 0 or above 1 says that
    one decision is always the better one, as infinities do. NaN: mistakes cost less than right decisions of both
    classes, and no t is right.

    >>> least_cost_threshold(np.array([[0.0, 1.0], [50.0, 0.0]]))
    0.0196078431372549
    """
    alarm, miss = float(costs[0, 1] - costs[0, 0]), float(costs[1, 0] - costs[1, 1])
    if alarm + miss > 0:
        return alarm / (alarm + miss)
    if alarm < 0 and miss < 0:
        return math.nan
    return -math.inf if alarm < 0 else math.inf
