"""Decisions of least expected cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.estimators.door import all_or_nothing
from countwise.infer.costs import as_costs, cheapest, expected_costs, least_cost_threshold


class CostSensitive(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Decides for the class of least expected cost, by the probabilities of any classifier (paper 004, section 6.2.2).

    Deciding class j costs sum_i P(i | x) cost_matrix[i, j] on the mean. Probabilities stay what they are: the better
    they are, the lower the cost.

    Parameters
    ----------
    estimator : classifier
        Anything with ``fit`` and ``predict_proba``, also a pipeline; ``FrozenEstimator(fitted)`` for a fitted one.
    cost_matrix : array of classes x classes, dict or None
        ``cost_matrix[i, j]`` is the cost of deciding class j where class i is true, in the order of ``classes_``
        (sorted). A dict ``{(true, decided): cost}`` names them; right decisions that it leaves out cost 0. Gains are
        costs below 0, on the diagonal too. None: every mistake costs 1.

    Attributes
    ----------
    classes_, estimator_
        The fitted estimator and its classes.
    cost_matrix_ : array
        The costs, classes x classes.
    decision_threshold_ : float
        Of two classes only: the second is decided where its probability is above this,
        a / (a + b) with a = c[0, 1] - c[0, 0] and b = c[1, 0] - c[1, 1].
        See :func:`countwise.infer.costs.least_cost_threshold` for costs where one decision is always better.

    Examples
    --------
    To treat a healthy person costs 1, to send an ill one home 50. Then 2% is enough to treat:

    >>> import countwise as cw
    >>> fever = [["no"], ["no"], ["no"], ["no"], ["no"], ["high"], ["high"], ["high"]]
    >>> truth = ["well", "well", "well", "well", "ill", "ill", "ill", "well"]
    >>> costs = {("ill", "well"): 50, ("well", "ill"): 1}
    >>> model = cw.CostSensitive(cw.NBClassifier(tune=None), costs).fit(fever, truth)
    >>> model.cost_matrix_.tolist()  # rows: ill, well are true; columns: decided
    [[0.0, 50.0], [1.0, 0.0]]
    >>> model.predict_proba([["no"]]).round(2), model.predict([["no"]])
    (array([[0.28, 0.72]]), array(['ill'], dtype='<U4'))
    >>> model.expected_cost([["no"]]).round(2)
    array([[ 0.72, 14.21]])
    >>> round(model.decision_threshold_, 4)  # "well" above this
    0.9804

    As a score for a search: ``make_scorer(cw.evaluate.mean_cost, greater_is_better=False, cost_matrix=costs)``.

    """

    estimator_: Any
    classes_: AnyArray
    cost_matrix_: FloatArray
    decision_threshold_: float

    def __init__(self, estimator: Any, cost_matrix: Any = None) -> None:
        self.estimator = estimator
        self.cost_matrix = cost_matrix

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the estimator and check the costs; weights and ``fit_params`` are the estimator's.

        A pipeline takes weights by the name of a step, such as ``nbclassifier__sample_weight``.
        """
        if not hasattr(self.estimator, "fit") or not hasattr(self.estimator, "predict_proba"):
            raise DataError(f"estimator: {self.estimator!r} has no predict_proba; costs need probabilities")
        if sample_weight is not None:
            if not has_fit_parameter(self.estimator, "sample_weight"):
                raise DataError(f"{type(self.estimator).__name__}.fit takes no sample_weight")
            fit_params = {"sample_weight": sample_weight, **fit_params}
        with all_or_nothing(self):
            for name in ("n_features_in_", "feature_names_in_", "decision_threshold_"):
                self.__dict__.pop(name, None)
            self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
            self.classes_ = np.asarray(self.estimator_.classes_)
            self.cost_matrix_ = as_costs(self.cost_matrix, self.classes_)
            if len(self.classes_) == 2:
                self.decision_threshold_ = least_cost_threshold(self.cost_matrix_)
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self.estimator_, name):
                    setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """The estimator's own."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def expected_cost(self, X: Any, cost_matrix: Any = None) -> FloatArray:
        """Expected cost of each decision, rows x classes; ``cost_matrix`` as in ``predict``."""
        return self._expected(X, cost_matrix)[0]

    def predict(self, X: Any, cost_matrix: Any = None) -> AnyArray:
        """The class of least expected cost; of several, the first.

        ``cost_matrix`` takes the place of the one given before; an array of rows x classes x classes has other costs
        for every row.
        """
        chosen = cheapest(*self._expected(X, cost_matrix))
        return self.classes_[chosen]

    def _expected(self, X: Any, cost_matrix: Any) -> tuple[FloatArray, FloatArray]:
        proba = np.asarray(self.predict_proba(X), dtype=np.float64)  # of some libraries float32
        costs = self.cost_matrix_ if cost_matrix is None else as_costs(cost_matrix, self.classes_, len(proba))
        return expected_costs(proba, costs), costs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit"):
            tags.input_tags = replace(get_tags(self.estimator).input_tags)
        return tags
