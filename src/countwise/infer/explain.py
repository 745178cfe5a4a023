"""Explanations: the exact additive parts of a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a row gets its probabilities.

    ``intercept[y]`` (from the class prior) plus the sum of ``contributions[row, attribute, y]`` over attributes is a
    score whose softmax over y is ``predict_proba``: nothing is approximated. Each attribute's contributions are
    centred over the classes, so a positive number speaks for a class and a negative one against it; the difference
    of two classes is the attribute's part of their log-odds.
    """

    names: tuple[str, ...]
    classes: AnyArray
    intercept: FloatArray
    contributions: FloatArray

    def log_odds(self, label: Any, against: Any = None) -> FloatArray:
        """Rows x attributes: each attribute's part of log P(label | x) / P(against | x).

        ``against`` defaults to the other class of a two-class target.
        """
        a = self._position(label)
        if against is None:
            if len(self.classes) != 2:
                raise DataError(f"against= is needed: there are {len(self.classes)} classes")
            b = 1 - a
        else:
            b = self._position(against)
        return self.contributions[:, :, a] - self.contributions[:, :, b]

    def _position(self, label: Any) -> int:
        where = np.flatnonzero(self.classes == label)
        if len(where) == 0:
            raise DataError(f"{label!r} is not a class; classes: {list(self.classes[:20])}")
        return int(where[0])

    def scores(self) -> FloatArray:
        """Rows x classes: the scores whose softmax is ``predict_proba``."""
        return self.intercept + self.contributions.sum(axis=1)


def explanation(names: list[str], classes: AnyArray, log_prior: FloatArray, parts: FloatArray) -> Explanation:
    """Centre the parts over the classes."""
    centred = parts - parts.mean(axis=2, keepdims=True)
    return Explanation(tuple(names), classes, log_prior - log_prior.mean(), centred)
