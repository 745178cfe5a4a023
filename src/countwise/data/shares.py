"""Distinct rows shared out: to parts that judge what the others chose, and to fewer rows that stand for all."""

from __future__ import annotations

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.data.parts import row_hash
from countwise.dtypes import AnyArray, FloatArray

MUCH = 0.05  # of a part


def patterns(rows: CodedBatch) -> tuple[AnyArray, AnyArray]:
    """Rows that hold the same, of whatever class, by number: where each number comes first, and that of each row."""
    _, first, number = np.unique(row_hash(rows.codes, 0), return_index=True, return_inverse=True)
    return first, number


def thinned_weights(rows: CodedBatch, weights: FloatArray, limit: int) -> FloatArray:
    """Weights of which at most about ``limit`` are positive, for rows that stand for all of them.

    Rows that hold the same stay together, since their classes belong together; those that come first are kept. What
    is much of all is kept too, as much of it as there is of the rest: its presence is not left to chance.

    >>> rows = CodedBatch([np.array([0, 0, 1, 2, 3], np.uint8)], np.array([0, 1, 1, 0, 0]), None, 5)
    >>> thinned_weights(rows, np.array([6.0, 2.0, 0.2, 0.2, 0.2]), 4)
    array([4.        , 1.33333333, 0.2       , 0.2       , 0.        ])
    """
    if np.count_nonzero(weights) <= limit:
        return weights
    first, number = patterns(rows)
    weight, n_rows = np.bincount(number, weights), np.bincount(number, weights > 0)
    much = weight > MUCH * float(weights.sum())
    others = np.argsort(first)
    others = others[~much[others] & (weight[others] > 0)]
    if not len(others):
        return weights
    room = limit - n_rows[much].sum()
    kept = others[: max(1, int(np.searchsorted(np.cumsum(n_rows[others]), room, side="right")))]
    scale = np.where(much, weight[kept].sum() / weight[others].sum(), 0.0)
    scale[kept] = 1.0
    return weights * scale[number]


def honest_shares(rows: CodedBatch, n_parts: int) -> FloatArray:
    """How much of each distinct row every part gets, parts x rows, so that a part has not seen the rows of another.

    Rows that hold the same, of whatever class, are in one part: copies outside it would have chosen for it, and their
    classes belong together. What comes more than once and is much of a part by itself is dealt to all of them, class by
    class: a table of few distinct rows has nothing else, and no part could speak for the others.
    """
    total = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    assert rows.target is not None
    first, group = patterns(rows)
    is_little = np.bincount(group, total) <= MUCH * float(total.sum()) / n_parts
    light = (is_little | (np.bincount(group, rows.copies) <= 1.0))[group]
    leads = np.flatnonzero(light & (first[group] == np.arange(rows.n_rows)))  # the first of its group
    part = np.zeros(rows.n_rows, np.int64)
    part[leads[np.argsort(rows.target[leads], kind="stable")]] = np.arange(len(leads)) % n_parts
    shares = np.where(part[first[group]] == np.arange(n_parts)[:, None], total, 0.0)
    shares[:, ~light] = dealt_weights(rows.select(~light), n_parts)
    return shares


def dealt_weights(rows: CodedBatch, n_parts: int) -> FloatArray:
    """How much of each distinct row every part gets, parts x rows: dealt class by class in turn, so that all are alike.

    A row that comes more than once is dealt copy by copy: in one part it would be far too much of its class.

    >>> rows = CodedBatch([np.array([0, 1, 2])], np.array([0, 0, 1]), np.array([1.0, 5.0, 2.0]), 3)
    >>> dealt_weights(rows, 2)
    array([[1., 2., 1.],
           [0., 3., 1.]])
    """
    assert rows.target is not None
    copies = rows.copies
    each = np.floor(copies / n_parts)
    rest = copies - n_parts * each  # less than n_parts: dealt one by one
    by_class = np.argsort(rows.target, kind="stable")
    first = np.empty(rows.n_rows, np.int64)
    first[by_class] = np.cumsum(np.ceil(rest[by_class])) - np.ceil(rest[by_class])
    turn = (np.arange(n_parts)[:, None] - first) % n_parts  # which of the rest's units comes to the part
    dealt = each + np.clip(rest - turn, 0.0, 1.0)
    return dealt if rows.one_row is None else dealt * rows.one_row
