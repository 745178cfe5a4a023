"""Naive Bayes of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import CategoricalNB

from countwise.evaluate.rivals.classifier import CodeVector, TableClassifier
from countwise.evaluate.rivals.coded import CodedTable
from countwise.evaluate.rivals.tables import MatrixLike


class CodedNB(TableClassifier):
    """Gives every column one value more than training met: the one of all that it did not meet.

    So the smoothing of m values is that of m + 1.
    """

    def _params(self, data: MatrixLike, codes: CodeVector) -> dict[str, Any]:
        return {"min_categories": np.array(self.reader_.codec_.arity) + 1}


def categorical_nb(seed: int, jobs: int | None) -> TableClassifier:
    """Naive Bayes with Laplace's smoothing on countwise's codes; it has no chance and no threads."""
    return CodedNB(CategoricalNB(), CodedTable("codes", n_jobs=jobs), n_jobs=jobs)
