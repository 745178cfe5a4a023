"""Selective kDB."""

from __future__ import annotations

from typing import Any

from countwise.data.coded import CodedData
from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.estimators.kdb import KDBClassifier
from countwise.parallel import n_threads
from countwise.smooth import MEstimate, Smoother
from countwise.structure import LOSSES, LossName, Structure, select
from countwise.tree.context import ContextTree, cut_tree


def selecting_m(smoothing: str | Smoother) -> float:
    """The m of the m-estimates that select: that of the smoothing, where it is a number, or else 1."""
    given = isinstance(smoothing, MEstimate) and smoothing.m not in ("holdout", 0)
    return float(smoothing.m) if given else 1.0  # type: ignore[union-attr]


def check_loss(loss: str) -> None:
    """Refuse a loss that selection does not know."""
    if loss not in LOSSES:
        raise DataError(f"loss={loss!r} is not known; choose one of {', '.join(LOSSES)}")


class SKDBClassifier(KDBClassifier):
    """Selective kDB: the best number of attributes and of parents, by exact leave-one-out. Three passes.

    A kDB-k is counted; one more pass leaves each row out in turn and scores the models of the first 0 .. n attributes
    with at most 0 .. k parents all at once (paper 004, Algorithm 5). Selection uses m-estimates, with the m of
    ``smoothing=MEstimate(m)`` or else 1; the chosen model is then smoothed as ``smoothing`` says.

    The parameters and attributes that all classifiers share are in :class:`NetworkClassifier` and
    :class:`CountClassifier`.

    Parameters
    ----------
    k : int, default 5
        Greatest number of parents to consider.
    order : sequence of names or positions, optional
        As in :class:`KDBClassifier`.
    loss : {"rmse", "zero-one", "log"}, default "rmse"
        What leave-one-out minimises; "rmse" is sqrt(mean (1 - p_true)^2).

    Attributes
    ----------
    n_attributes_, k_ : int
        The chosen numbers.
    loss_surface_ : array of shape (n_attributes + 1, k + 1)
        The leave-one-out loss of every number of attributes and parents.

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.SKDBClassifier(k=2).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)

    """

    def __init__(self, k: int = 5, *, loss: LossName = "rmse", **shared: Any) -> None:
        super().__init__(k, **shared)
        self.loss = loss

    _selects = True

    def _select(
        self, data: CodedData, structure: Structure, trees: list[ContextTree], class_counts: FloatArray
    ) -> tuple[Structure, list[ContextTree], dict[str, Any]]:
        m = selecting_m(self.smoothing)
        chosen = select(data, trees, class_counts, self.k, self.loss, m, n_threads(self.n_jobs))
        kept = [cut_tree(tree, chosen.k) for tree in trees[: chosen.n_attributes]]
        learned = {"n_attributes_": chosen.n_attributes, "k_": chosen.k, "loss_surface_": chosen.surface}
        return structure.restricted(chosen.n_attributes, chosen.k), kept, learned

    def _check_params(self) -> None:
        super()._check_params()
        check_loss(self.loss)
