"""Several models as one classifier.

Members of one *group* are averaged as scores, groups as probabilities, with weights v that sum to 1:

    s_g[y] = sum_{m in g} v_m s_m[y],    P(y | x) = sum_g v_g softmax(s_g)[y]

One group is a log-linear model, the geometric mean of its members; groups of one member each are the usual average of
probabilities. With ``combine="joint"`` joint probabilities are averaged, as averaged n-dependence estimators do:

    P(y | x) proportional to sum_m v_m(x) exp(s_m[y])

Scores are those of :class:`Network`: log P(x, y), tuned where a member is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from countwise.data.coarse import Coarsening, coarsening
from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.infer.chunks import in_chunks
from countwise.infer.members import Member, Scorer
from countwise.infer.network import Parameters, log_softmax, softmax
from countwise.infer.path import path_integrals, spread_remainder

Combine = Literal["score", "joint"]
LogWeight = Callable[[CodedBatch], FloatArray]  # rows in fine codes -> rows x members; -inf leaves a member out
CHUNK_SCORES = 2**14  # rows x classes at once, member after member
CHUNK_PARTS = 2**18  # rows x (what an explanation holds of a row)
LEAST_ROWS = 16  # of a chunk: fewer would cost more in calls than in work


@dataclass(frozen=True, eq=False)
class Part:
    """A compiled member: its position among the members, and its share in its group."""

    position: int
    share: float
    coarsening: Coarsening
    scorer: Scorer


class Ensemble:
    """A compiled ensemble. Batches are coded by the fine ``codec``; a row's result depends on that row alone."""

    def __init__(
        self,
        codec: Codec,
        members: Sequence[Member],
        parameters: Sequence[Parameters],
        combine: Combine = "score",
        log_weight: LogWeight | None = None,
        threads: int = 1,
    ) -> None:
        self.n_columns, self.n_classes = len(codec.columns), len(codec.classes)
        self.is_joint, self.log_weight = combine == "joint", log_weight
        by_group: dict[int, list[int]] = {}
        for m, member in enumerate(members):
            if member.weight > 0.0:  # others have no say
                by_group.setdefault(m if self.is_joint else member.group, []).append(m)
        total = sum(member.weight for member in members)
        self.groups: list[list[Part]] = []
        weights = []
        for positions in by_group.values():
            weight = sum(members[m].weight for m in positions)
            weights.append(weight / total)
            self.groups.append(
                [
                    Part(
                        m,
                        members[m].weight / weight,
                        coarsening(codec, members[m].codec),
                        members[m].compiled(parameters[m], threads),
                    )
                    for m in positions
                ]
            )
        self.group_log_weight = np.log(weights)
        self.start = np.array(
            [sum(part.share * part.scorer.intercept for part in group) for group in self.groups]
        )  # groups x classes: the scores of no evidence
        self.intercept = self.mixed(self.start[:, None, :], self.group_log_weight[None, :])[0]

    def scores(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """What P(y | x) is the softmax of, for every row and class."""
        step = max(LEAST_ROWS, CHUNK_SCORES // self.n_classes)
        return in_chunks(batch, step, threads, (self.n_classes,), self._scores)

    def proba(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """P(y | x) for every row and class."""
        return softmax(self.scores(batch, threads), threads)

    def log_proba(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """Log P(y | x) for every row and class; always finite."""
        return log_softmax(self.scores(batch, threads))

    def contributions(self, batch: CodedBatch, threads: int = 1) -> FloatArray:
        """What each attribute adds to the scores, rows x columns x classes, from ``intercept`` on.

        Of one group they are the weighted means of the members' contributions. Of several they are Aumann-Shapley
        values (:mod:`countwise.infer.path`), and what the integration leaves is shared among the attributes. Weights
        of a row (``log_weight``) hold all along the path; ``intercept`` is without them, the same for all rows.
        """
        per_row = self.n_columns * self.n_classes + len(self.groups) * self.n_classes**2
        step = max(1, CHUNK_PARTS // per_row)
        return in_chunks(batch, step, threads, (self.n_columns, self.n_classes), self._contributions)

    def row_weights(self, batch: CodedBatch) -> FloatArray:
        """Logarithms of the groups' weights, rows x groups, before scores that are not normalised are added."""
        if self.log_weight is None:
            return np.broadcast_to(self.group_log_weight, (batch.n_rows, len(self.groups)))
        given = self.log_weight(batch)[:, [group[0].position for group in self.groups]]
        none_left = np.isneginf(given).all(axis=1, keepdims=True)
        return self.group_log_weight + np.where(none_left, 0.0, given)

    def group_scores(self, group: list[Part], batch: CodedBatch) -> FloatArray:
        """The mean scores of a group, rows x classes."""
        return sum_of(part.share * part.scorer.scores(part.coarsening.recode(batch)) for part in group)

    def log_part(self, scores: FloatArray, log_weight: FloatArray) -> FloatArray:
        """A group's part of the mixture; the softmax of the log of the sum of exp of all parts is P(y | x)."""
        if not self.is_joint:
            if len(self.groups) == 1:
                return scores
            scores = log_softmax(scores)
        return scores + log_weight[:, None]

    def mixed(self, scores: Iterable[FloatArray], weights: FloatArray) -> FloatArray:
        """Scores of the ensemble, rows x classes, from those of the groups and the weights of :meth:`row_weights`."""
        total: FloatArray | None = None
        for g, own in enumerate(scores):
            part = self.log_part(own, weights[:, g])
            total = part if total is None else np.logaddexp(total, part)
        assert total is not None
        return total

    def _scores(self, batch: CodedBatch) -> FloatArray:
        return self.mixed((self.group_scores(group, batch) for group in self.groups), self.row_weights(batch))

    def _contributions(self, batch: CodedBatch) -> FloatArray:
        if len(self.groups) == 1:
            return self._group_contributions(self.groups[0], batch)
        weights = self.row_weights(batch)
        scores = np.stack([self.group_scores(group, batch) for group in self.groups], axis=1)
        share, cross = path_integrals(self.start, scores - self.start, weights, not self.is_joint)
        out = np.zeros((batch.n_rows, self.n_columns, self.n_classes))
        for g, group in enumerate(self.groups):
            own = self._group_contributions(group, batch)
            out += share[:, None, g, :] * own
            if cross is not None:
                out -= own @ cross[:, g].transpose(0, 2, 1)
        goal = self.mixed(np.moveaxis(scores, 1, 0), weights) - self.intercept
        return spread_remainder(out, goal - out.sum(axis=1))

    def _group_contributions(self, group: list[Part], batch: CodedBatch) -> FloatArray:
        return sum_of(part.share * part.scorer.contributions(part.coarsening.recode(batch)) for part in group)


def sum_of(arrays: Iterator[FloatArray]) -> FloatArray:
    """Their sum, in order; one array is in memory beside it."""
    total = next(arrays)
    for array in arrays:
        total += array
    return total
