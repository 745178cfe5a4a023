"""A forest of kDBs."""

from __future__ import annotations

from typing import Any

from countwise.data.source import Source
from countwise.dtypes import AnyArray
from countwise.estimators.door import check_whole
from countwise.estimators.ensemble import EnsembleClassifier, LearnedEnsemble
from countwise.estimators.learn import Plan
from countwise.estimators.members import count_members, read_table
from countwise.stats.information import conditional_mutual_information
from countwise.stats.pairs import pair_statistics
from countwise.structure import kdf


class KDFClassifier(EnsembleClassifier):
    """A forest of kDBs: one for each attribute, which is its root (Duan and Wang 2017; paper 004, Algorithms 6, 7).

    A member orders the attributes from its root on by conditional mutual information with those already there. An
    attribute's first parent is the earlier one that it depends on most, its other parents are ancestors of the first.
    Class probabilities are averaged. Two passes.

    The parameters and attributes that all classifiers share are in :class:`CountClassifier`.

    Parameters
    ----------
    k : int, default 5
        Greatest number of parents besides the class, at least 1; 5 is that of the paper's experiments.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.KDFClassifier(k=2).fit(X, y)
    >>> print(model.members_[0].structure)
    x0 <- class
    x1 <- class, x0
    x2 <- class, x0
    x3 <- class, x2

    """

    def __init__(self, k: int = 5, **shared: Any) -> None:
        super().__init__(**shared)
        self.k = k

    def _check_params(self) -> None:
        check_whole("k", self.k, 1)

    def _learn_members(self, source: Source, labels: AnyArray | None, plan: Plan) -> LearnedEnsemble:
        table = read_table(source, labels, plan, [plan.discretiser])
        names = table.codec.names
        cmi = conditional_mutual_information(pair_statistics(table.data, plan.threads, plan.memory))
        structures = [kdf(names, root, cmi, self.k) for root in range(len(names))]
        members, class_counts = count_members(table, plan, structures)
        return LearnedEnsemble(
            table.codec, members, class_counts, table.data.row_weight, table.data.n_passes, table.rank_error
        )
