"""XGBoost with rounds and depth chosen by cross-validation of the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from countwise.dtypes import AnyArray, FloatArray
from countwise.evaluate.folds import stratified_folds, take_rows
from countwise.evaluate.rivals.boosting import xgb_classifier
from countwise.evaluate.rivals.classifier import CodeVector, TableClassifier
from countwise.evaluate.rivals.tables import FrameTable, MatrixLike
from countwise.evaluate.scores import log_loss


class TunedXGB(ClassifierMixin, BaseEstimator):
    """The rounds and the depth with the least log loss of rows left out, then all rows (paper 004, section 4.3.7).

    The paper does not say what it minimises; here it is the mean log loss of all training rows, each left out once.
    Equals go to fewer rounds, then to the lesser depth. One run of the most rounds serves all numbers of rounds: its
    first rounds are those of a shorter run.

    Classes with fewer rows than folds are absent from the training rows of some: what that costs is the same for all
    choices. Tables with fewer rows than folds get a fold for each row.

    Parameters
    ----------
    estimator : XGBClassifier
    rounds, depths : sequence of int
        What to choose from.
    n_splits : int
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    log_loss_ : float64 array of shape (n_rounds, n_depths)
    best_params_ : dict
    estimator_ : XGBClassifier
    classes_ : array of shape (n_classes,)

    """

    def __init__(
        self,
        estimator: Any,
        *,
        rounds: Sequence[int] = (10, 50, 100),
        depths: Sequence[int] = (2, 4, 6, 8),
        n_splits: int = 10,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.rounds = rounds
        self.depths = depths
        self.n_splits = n_splits
        self.random_state = random_state

    classes_: AnyArray
    log_loss_: FloatArray

    def fit(self, X: MatrixLike, y: CodeVector) -> Self:
        """Choose and learn; classes are 0 .. C - 1, and there are two or more."""
        rounds, depths = sorted(self.rounds), sorted(self.depths)
        folds = stratified_folds(y, min(self.n_splits, len(y)), self.random_state)
        total = sum(self._fold_loss(X, y, folds == fold) for fold in np.unique(folds))
        self.log_loss_ = np.asarray(total) / len(y)
        best = np.unravel_index(self.log_loss_.argmin(), self.log_loss_.shape)
        self.best_params_ = {"n_estimators": rounds[best[0]], "max_depth": depths[best[1]]}
        self.estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """P(class | row)."""
        return self.estimator_.predict_proba(X)

    def _fold_loss(self, X: MatrixLike, y: CodeVector, is_test: AnyArray) -> FloatArray:
        """Log loss of one fold's rows, summed, for each number of rounds and depth."""
        rounds, depths = sorted(self.rounds), sorted(self.depths)
        loss = np.zeros((len(rounds), len(depths)))
        present, codes = np.unique(y[~is_test], return_inverse=True)
        if len(present) == 1:  # whatever is chosen predicts that class
            return loss
        train, test = take_rows(X, np.flatnonzero(~is_test)), take_rows(X, np.flatnonzero(is_test))
        for j, depth in enumerate(depths):
            model = clone(self.estimator).set_params(n_estimators=rounds[-1], max_depth=depth).fit(train, codes)
            for i, last in enumerate(rounds):
                proba = model.predict_proba(test, iteration_range=(0, last))
                loss[i, j] = log_loss(y[is_test], proba, present)
        return loss * np.count_nonzero(is_test)


def tuned_xgboost(seed: int, jobs: int | None) -> TableClassifier:
    """XGBoost, tuned over the 12 choices of paper 004."""
    tuned = TunedXGB(xgb_classifier(seed), random_state=seed)
    return TableClassifier(tuned, FrameTable(), n_jobs=jobs, threads_as="estimator__n_jobs")
