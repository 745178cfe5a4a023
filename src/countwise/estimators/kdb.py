"""k-dependence Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from countwise.data.coded import CodedData
from countwise.estimators.door import check_whole, memory_bytes
from countwise.estimators.network import NetworkClassifier
from countwise.parallel import n_threads
from countwise.stats.information import conditional_mutual_information, mutual_information
from countwise.stats.pairs import pair_statistics
from countwise.structure import Structure, check_order, information_order, kdb


class KDBClassifier(NetworkClassifier):
    """k-dependence Bayes: each attribute depends on the class and up to k attributes before it. Two passes.

    Attributes are ordered by mutual information with the class; an attribute's parents are the k earlier ones with
    the greatest conditional mutual information, the greatest first.

    The parameters and attributes that all classifiers share are in :class:`NetworkClassifier` and
    :class:`CountClassifier`.

    Parameters
    ----------
    k : int, default 1
        Greatest number of parents besides the class.
    order : sequence of names or positions, optional
        An attribute order of your own in place of the one by mutual information; columns that are not named are
        left out.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.KDBClassifier(k=2).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)

    """

    def __init__(self, k: int = 1, *, order: Sequence[Any] | None = None, **shared: Any) -> None:
        super().__init__(**shared)
        self.k = k
        self.order = order

    def _check_params(self) -> None:
        check_whole("k", self.k, 0)

    def _learn_structure(self, data: CodedData, names: list[str]) -> Structure:
        order = None if self.order is None else check_order(names, self.order)
        stats = pair_statistics(data, n_threads(self.n_jobs), memory_bytes(self.max_memory))
        if order is None:
            order = information_order(mutual_information(stats))
        return kdb(names, order, conditional_mutual_information(stats), self.k)
