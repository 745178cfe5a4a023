"""Histogram gradient boosting of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from countwise.evaluate.rivals.classifier import CodeVector, TableClassifier
from countwise.evaluate.rivals.tables import MatrixLike, OrdinalTable

MAX_CATEGORIES = 255  # scikit-learn's limit for a category; columns of more are taken as numbers


class HistogramBoosting(TableClassifier):
    """Tells the classifier which columns are categories.

    From 10,000 rows on it sets a tenth aside, class by class, to stop early. It refuses to where a class has one row:
    then there is no early stop.
    """

    def _params(self, data: MatrixLike, codes: CodeVector) -> dict[str, Any]:
        few = [codec is not None and len(codec.categories) <= MAX_CATEGORIES for codec in self.reader_.codecs_]
        params: dict[str, Any] = {"categorical_features": np.array(few) if any(few) else None}
        return params if np.bincount(codes).min() > 1 else params | {"early_stopping": False}


def histogram_boosting(seed: int, jobs: int | None) -> TableClassifier:
    """The defaults: 100 rounds of 31 leaves. Threads are those of OpenMP, which has no parameter."""
    return HistogramBoosting(HistGradientBoostingClassifier(random_state=seed), OrdinalTable(), n_jobs=jobs)
