"""A Bayesian network classifier of a given structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from countwise.data.coded import CodedData
from countwise.estimators.network import NetworkClassifier
from countwise.structure import Structure, given_structure, naive


class BNClassifier(NetworkClassifier):
    """A Bayesian network classifier whose structure you give. One pass.

    The parameters and attributes that all classifiers share are in :class:`NetworkClassifier` and
    :class:`CountClassifier`.

    Parameters
    ----------
    structure : mapping or Structure, optional
        For each attribute, by name or position, its parents besides the class, the strongest first. Attributes that
        are not listed are left out; None uses all of them without parents (naive Bayes).

    Examples
    --------
    >>> import countwise as cw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = cw.BNClassifier(structure={"x2": [], "x3": ["x2"]}).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)

    """

    def __init__(self, structure: Mapping[Any, Sequence[Any]] | Structure | None = None, **shared: Any) -> None:
        super().__init__(**shared)
        self.structure = structure

    def _learn_structure(self, data: CodedData, names: list[str]) -> Structure:
        return naive(names) if self.structure is None else given_structure(names, self.structure)
