"""Intervals of an ensemble, whose members err together.

Members are counted from the same rows, so their errors are taken as fully dependent: nothing is gained by averaging.
Within a group the distances of the members on the log scale add up with the members' weights; over groups the limits
are averaged with the weights that the groups have in that row's prediction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.infer.chunks import in_chunks
from countwise.infer.ensemble import LEAST_ROWS, Ensemble, sum_of
from countwise.infer.interval import CHUNK_VALUES, around, limits_around
from countwise.infer.members import Member
from countwise.infer.network import Parameters, softmax


class EnsembleSpread:
    """A compiled ensemble's limits."""

    def __init__(
        self,
        ensemble: Ensemble,
        members: Sequence[Member],
        parameters: Sequence[Parameters],
        prior_precision: float,
        threads: int = 1,
    ) -> None:
        self.ensemble = ensemble
        self.spreads = {
            part.position: members[part.position].spread(
                part.scorer, parameters[part.position], prior_precision, threads
            )
            for group in ensemble.groups
            for part in group
        }

    def limits(self, batch: CodedBatch, level: float, threads: int = 1) -> FloatArray:
        """Lower and upper limit of P(y | x), rows x classes x 2; the estimate is never outside."""
        ensemble = self.ensemble
        step = max(LEAST_ROWS, CHUNK_VALUES // (max(ensemble.n_columns, len(ensemble.groups)) * ensemble.n_classes))
        return in_chunks(batch, step, threads, (ensemble.n_classes, 2), lambda rows: self._limits(rows, level))

    def _limits(self, batch: CodedBatch, level: float) -> FloatArray:
        ensemble, weights = self.ensemble, self.ensemble.row_weights(batch)
        all_scores, limits, evidence = [], [], []
        for g, group in enumerate(ensemble.groups):
            scores, up, down = sum_of(
                part.share * np.stack(self.spreads[part.position].distances(part.coarsening.recode(batch), level))
                for part in group
            )
            all_scores.append(scores)
            limits.append(limits_around(scores, up, down))
            evidence.append(np.logaddexp.reduce(ensemble.log_part(scores, weights[:, g]), axis=1))
        say = softmax(np.stack(evidence, axis=1))  # rows x groups: how much each counts here
        mean = sum_of(say[:, g, None, None] * limit for g, limit in enumerate(limits))
        return around(mean, softmax(ensemble.mixed(all_scores, weights).copy()))
