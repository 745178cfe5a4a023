"""Tree-augmented naive Bayes."""

from __future__ import annotations

from countwise.data.coded import CodedData
from countwise.estimators.door import memory_bytes
from countwise.estimators.network import NetworkClassifier
from countwise.parallel import n_threads
from countwise.stats.information import conditional_mutual_information, mutual_information
from countwise.stats.pairs import pair_statistics
from countwise.structure import Structure, tan


class TANClassifier(NetworkClassifier):
    """Tree-augmented naive Bayes: one more parent for each attribute, by a maximum spanning tree. Two passes.

    The tree maximises conditional mutual information; its root is the attribute that tells most about the class
    (see :func:`countwise.structure.tan`).

    The parameters and attributes that all classifiers share are in :class:`NetworkClassifier` and
    :class:`CountClassifier`.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.TANClassifier().fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)

    """

    def _learn_structure(self, data: CodedData, names: list[str]) -> Structure:
        stats = pair_statistics(data, n_threads(self.n_jobs), memory_bytes(self.max_memory))
        return tan(names, mutual_information(stats), conditional_mutual_information(stats))
