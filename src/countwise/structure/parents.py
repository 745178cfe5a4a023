"""Structures by search: each attribute's parents are chosen for what they tell, about it or about the class.

Parents come earlier in a given order, so that the result is a network whatever is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from countwise import _kernels
from countwise.data.coded import CodedBatch
from countwise.structure.structure import Structure

SEARCH_ROWS = 60_000  # enough to choose by, where there are more
SCORED_ROWS = 4000  # whose class is predicted while parents are chosen
SCORED_ENTRIES = 25_000_000  # of them x attributes x classes, 8 bytes each: fewer rows where there are many
N_CANDIDATES = 64  # attributes that can be parents: the first ones of the order
N_LATER = 20  # candidates of an attribute after its first parent: those that were best then
LEAST_SCORE = 0.5  # about twice the log loss that a parent saves, in nats


@dataclass(frozen=True, eq=False)
class SearchRows:
    """Rows to choose by, in random order; all codes are below the arity."""

    batch: CodedBatch
    names: Sequence[str]
    arity: Sequence[int]
    n_classes: int

    @property
    def kernel_rows(self) -> tuple[Any, ...]:
        """As the kernels take them, weights in rows: their thresholds and pseudo-counts are numbers of rows."""
        batch, unit = self.batch, self.batch.rows_per_weight
        weights, left_out = (None if own is None else own * unit for own in (batch.weights, batch.left_out))
        return batch.codes, list(self.arity), batch.target, self.n_classes, weights, left_out


def gain_structure(rows: SearchRows, order: Sequence[int], k: int) -> Structure:
    r"""The k earlier attributes of greatest leave-one-out gain, the greatest first, as far as they gain anything.

    .. math::

        G(i | j) = \frac{1}{N} \sum_{y, j, k} n_{yjk}
            \left[\log \frac{n_{yjk} - u_y + A f}{n_{yj} - u_y + A} - \log f\right]

    with :math:`f = P(x_i = k | y)` without the row, the best strength :math:`A` of 1, 4, 16, 64, and :math:`u_y` the
    weight that rows of class y have, 1 where they have none.
    """
    parents = _kernels.gain_parents(rows.kernel_rows, list(order), k, N_CANDIDATES)
    return Structure(tuple(rows.names), tuple(order), tuple(tuple(found) for found in parents))


def class_structure(
    rows: SearchRows, order: Sequence[int], k: int, rng: np.random.Generator, n_scored: int = SCORED_ROWS
) -> Structure:
    r"""Parents that let the network tell most about the class, one at a time, each row left out of its own counts.

    In each of k rounds the attributes are visited in random sequence. With :math:`\delta_{ry}` the change of
    :math:`\log P(x_i | y, parents)` of row r by a further parent, the parent of greatest :math:`G^2 / H` is taken,

    .. math::

        G = \sum_r \delta_{r y_r} - \sum_y p_{ry} \delta_{ry}, \qquad H = \sum_r Var_{p_r}(\delta_r),

    if G is positive and the score at least 0.5. The first ``n_scored`` rows are predicted, all are counted.
    """
    n = len(order)
    visited = [order[i] for _ in range(k) for i in rng.permutation(n).tolist()]
    n_scored = min(n_scored, rows.batch.n_rows, max(1, SCORED_ENTRIES // (max(1, n) * rows.n_classes)))
    parents = _kernels.class_parents(
        rows.kernel_rows, list(order), k, N_CANDIDATES, visited, list(range(n_scored)), N_LATER, LEAST_SCORE
    )
    return Structure(tuple(rows.names), tuple(order), tuple(tuple(found) for found in parents))
