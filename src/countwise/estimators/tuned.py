"""The single tuned network."""

from __future__ import annotations

from typing import Any

import numpy as np

from countwise.data.coded import CodedData
from countwise.data.discretise import Discretiser
from countwise.data.sample import sample_rows
from countwise.estimators.door import check_whole, seed_of
from countwise.estimators.network import NetworkClassifier
from countwise.stats.information import class_information
from countwise.structure import Structure, information_order
from countwise.structure.parents import SEARCH_ROWS, SearchRows, class_structure


class TunedKDBClassifier(NetworkClassifier):
    """One network whose parents are chosen, and whose evidence is weighed, for the class. The best single model here.

    Attributes are ordered by mutual information with the class. Parents are taken one at a time, each the one that lets
    the whole network tell most about the class with each row left out (:func:`class_structure`); counts are smoothed by
    HDP. Parts of the rows that chose neither structure nor bins then tune the strength of smoothing, a temperature,
    class biases and a weight for each attribute. It reads, explains and saves as every other network does.

    The parameters and attributes that all classifiers share are in :class:`NetworkClassifier`. Beyond 60,000 rows
    parents are chosen on a sample; counts always come from all rows.

    Parameters
    ----------
    k : int, default 5
        Greatest number of parents besides the class.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.TunedKDBClassifier().fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)

    """

    def __init__(self, k: int = 5, *, discretiser: str | Discretiser = "quantiles", **shared: Any) -> None:
        super().__init__(discretiser=discretiser, **shared)
        self.k = k

    _weighs = True

    def _check_params(self) -> None:
        check_whole("k", self.k, 0)

    def _learn_structure(self, data: CodedData, names: list[str]) -> Structure:
        seed = seed_of(self.random_state)
        rows = SearchRows(sample_rows(data, SEARCH_ROWS, seed), names, data.arity, data.n_classes)
        order = information_order(class_information(rows.batch, rows.arity, rows.n_classes))
        return class_structure(rows, order, self.k, np.random.default_rng(seed))
