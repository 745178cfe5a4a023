"""What one row weighs: of equal rows that have been joined, and of each class."""

from __future__ import annotations

import math

import numpy as np

from countwise.dtypes import AnyArray, CodeArray, FloatArray

FEWEST_WEIGHTS = 4  # that may have a common divisor
CHANCE_BITS = 10  # m whole weights are multiples of d by chance in one case of d^m; in one of 2^10 it is no chance


def one_row_weights(target: AnyArray | CodeArray | None, weights: FloatArray, copies: AnyArray) -> FloatArray | None:
    """The weight of one of the rows that each distinct row stands for; None where all are 1.

    ``weights`` and ``copies`` are sums over equal rows of one class. Whole weights are numbers of equal rows, so one of
    them has the weight 1, unless every row was given so often, or those of its class: a common divisor that is not
    there by chance. Other weights weigh rows, and one row has the mean of its copies.

    >>> one_row_weights(np.array([0, 0, 1]), np.array([0.7, 1.4, 2.5]), np.array([1, 2, 1]))
    array([0.7, 0.7, 2.5])
    >>> one_row_weights(np.repeat([0, 1], 10), np.repeat([1.0, 5.0], 10), np.ones(20))[[0, 10]]
    array([1., 5.])
    """
    if bool((weights != np.floor(weights)).any()):
        return np.asarray(weights / copies)
    assert target is not None
    whole = weights.astype(np.int64)
    of_all = beyond_chance(np.gcd.reduce(whole), len(whole))
    one_row = np.empty(len(whole), np.int64)
    for y in np.unique(target):
        own = target == y
        one_row[own] = max(of_all, beyond_chance(np.gcd.reduce(whole[own]), int(own.sum())))
    return None if bool((one_row == 1).all()) else one_row.astype(np.float64)


class ClassRows:
    """What the rows of each class weigh together, and each of them, over batches in any order.

    Whole weights are numbers of rows: one weighs 1. Of others one weighs sum w^2 / sum w, which makes the sum of the
    weights Kish's effective number of rows.

    >>> rows = ClassRows(2)
    >>> rows.add(np.array([0, 0, 1]), np.array([0.5, 0.5, 3.0]))
    >>> rows.total, rows.row_weight
    (array([1., 3.]), array([0.5, 3. ]))
    """

    def __init__(self, n_classes: int) -> None:
        self.total, self.squares = np.zeros(n_classes), np.zeros(n_classes)
        self.are_whole = True

    def add(self, target: AnyArray | CodeArray, weights: FloatArray | None) -> None:
        """Count the rows of a batch."""
        n_classes = len(self.total)
        self.total += np.bincount(target, weights, minlength=n_classes)
        if weights is not None:
            self.squares += np.bincount(target, weights**2, minlength=n_classes)
            self.are_whole = self.are_whole and bool((weights == np.floor(weights)).all())

    @property
    def row_weight(self) -> FloatArray | None:
        """Weight of one row by class, 1 of a class without rows; None if all are 1."""
        if self.are_whole:
            return None
        return np.divide(self.squares, self.total, out=np.ones_like(self.total), where=self.total > 0)


def pooled_row_weight(
    a: FloatArray | None, total_a: FloatArray, b: FloatArray | None, total_b: FloatArray
) -> FloatArray | None:
    """The weight of one row by class, of rows in two lots."""
    if a is None and b is None:
        return None
    squares = (1.0 if a is None else a) * total_a + (1.0 if b is None else b) * total_b
    total = total_a + total_b
    return np.divide(squares, total, out=np.ones_like(total), where=total > 0)


def beyond_chance(divisor: int, n_weights: int) -> int:
    """What so many whole weights have as their greatest common divisor; 1 where that may be chance.

    >>> beyond_chance(8, 4), beyond_chance(2, 4), beyond_chance(2, 10), beyond_chance(640, 1)
    (8, 1, 2, 1)
    """
    is_chance = n_weights < FEWEST_WEIGHTS or n_weights * math.log2(divisor) < CHANCE_BITS
    return 1 if is_chance else divisor
