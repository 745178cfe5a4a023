"""A probability tree."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.utils.validation import check_is_fitted

from countwise.dtypes import IntArray
from countwise.errors import DataError
from countwise.estimators.trees import TreeClassifier, not_fitting
from countwise.tree.count_tree import CountTree
from countwise.tree.growth import Growth
from countwise.tree.prune import Pruner, as_pruner, validated
from countwise.tree.splits import SplitTable, SplitTree


class ProbabilityTreeClassifier(TreeClassifier):
    """A C4.5 tree whose class frequencies are smoothed along the way from the root (paper 004, chapter 5).

    Numbers are split by thresholds, which are soft: a row near one takes both branches. Categories have a branch for
    each. Missing values are a value of their own: one more category, or a third branch beside a threshold. A row whose
    value a node has not met stays at that node, and gets its probabilities.

    The parameters and attributes that all classifiers share are in :class:`CountClassifier`, those of growth in
    :class:`TreeClassifier`.

    Parameters
    ----------
    pruning : None, "pessimistic", "reduced-error", "cost-complexity" or Pruner
        How subtrees that do not help to name the class are replaced by leaves, after growth. For probabilities
        smoothing does better (paper 004, section 5.3.9).
    validation : bool, default False
        Grow from one half of the rows and count the other (paper 004, section 5.3.7); not with ``pruning``.

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
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    >>> model.n_leaves_, model.depth_
    (7, 4)

    """

    def __init__(self, *, pruning: str | Pruner | None = None, validation: bool = False, **shared: Any) -> None:
        super().__init__(**shared)
        self.pruning = pruning
        self.validation = validation

    def _check_params(self) -> None:
        super()._check_params()
        if as_pruner(self.pruning) is not None and self.validation:
            raise DataError("pruning and validation both choose the rows to count; use one of them")
        if self.missing == "fractional" and (self.validation or as_pruner(self.pruning) is not None):
            raise DataError("missing='fractional' goes with a tree as it was grown; use missing='value' to prune it")

    def _grow(self, growth: Growth) -> list[SplitTree]:
        if not growth.fits:
            warnings.warn(
                f"{not_fitting(growth)}: the tree is grown in several passes over the data",
                ResourceWarning,
                stacklevel=2,
            )
        pruner = as_pruner(self.pruning)
        if self.validation:
            return [validated(growth)]
        return [growth.grow() if pruner is None else pruner.prune(growth)]

    def apply(self, X: Any) -> IntArray:
        """The node of ``tree_`` that each row reaches: a leaf, or the last node that has met the row's values.

        Of a row near a soft threshold: the node on its side of it.
        """
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
