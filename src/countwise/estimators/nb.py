"""Naive Bayes."""

from __future__ import annotations

from countwise.data.coded import CodedData
from countwise.estimators.network import NetworkClassifier
from countwise.structure import Structure, naive


class NBClassifier(NetworkClassifier):
    """Naive Bayes: attributes are independent given the class. One pass over the data.

    The parameters and attributes that all classifiers share are in :class:`NetworkClassifier` and
    :class:`CountClassifier`.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.NBClassifier().fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)

    """

    def _learn_structure(self, data: CodedData, names: list[str]) -> Structure:
        return naive(names)
