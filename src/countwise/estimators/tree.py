"""A probability tree."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch
from countwise.dtypes import IntArray
from countwise.estimators.learn import Plan
from countwise.estimators.trees import TreeClassifier
from countwise.tree.count_tree import CountTree
from countwise.tree.grow import grow
from countwise.tree.splits import SplitTable, SplitTree


class ProbabilityTreeClassifier(TreeClassifier):
    """A C4.5 tree whose class frequencies are smoothed along the way from the root (paper 004, chapter 5).

    Numbers are split by thresholds, categories into a branch for each. Missing values are a value of their own: one
    more category, or a third branch beside a threshold. A row whose value a node has not met stays at that node, and
    gets its probabilities.

    The parameters and attributes that all classifiers share are in :class:`CountClassifier`, those of growth in
    :class:`TreeClassifier`.

    Attributes
    ----------
    tree_ : CountTree
        Class counts of every node, in level order.
    splits_ : SplitTable
        How a row reaches a node.
    n_leaves_, depth_ : int
        Leaves, and splits between the root and the deepest of them.

    Examples
    --------
    >>> import countwise as cw
    >>> X, y = cw.datasets.load("iris")
    >>> model = cw.ProbabilityTreeClassifier().fit(X, y)
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.95, 0.02, 0.02]])
    >>> model.n_leaves_, model.depth_
    (7, 4)

    """

    def __init__(self, **shared: Any) -> None:
        super().__init__(**shared)

    def _grow(self, batch: CodedBatch, codec: Codec, plan: Plan) -> list[SplitTree]:
        return [grow(batch, codec, self._rules(), plan.seed, plan.threads)]

    def apply(self, X: Any) -> IntArray:
        """The node of ``tree_`` that each row reaches: a leaf, or the last node that has met the row's values."""
        return self._apply(X)[:, 0]

    @property
    def tree_(self) -> CountTree:
        """Class counts of every node."""
        check_is_fitted(self, "codec_")
        return self.trees_[0].counts

    @property
    def splits_(self) -> SplitTable:
        """How a row reaches a node."""
        check_is_fitted(self, "codec_")
        return self.trees_[0].splits

    @property
    def n_leaves_(self) -> int:
        """Nodes without children."""
        check_is_fitted(self, "codec_")
        return self.trees_[0].n_leaves

    @property
    def depth_(self) -> int:
        """Splits between the root and the deepest leaf."""
        return self.tree_.n_levels - 1
