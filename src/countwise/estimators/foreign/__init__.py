"""Fitted trees of other libraries as partitions: one file for each library. None of the libraries is imported."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator

from countwise.dtypes import AnyArray
from countwise.errors import DataError
from countwise.estimators.foreign import catboost_trees, lightgbm_trees, sklearn_trees, xgboost_trees
from countwise.estimators.foreign.partition import Partition, Reader

READERS: dict[tuple[str, str], Reader] = {  # by package and class; subclasses are read alike
    ("sklearn", "DecisionTreeClassifier"): sklearn_trees.TREE,  # and ExtraTreeClassifier
    ("sklearn", "RandomForestClassifier"): sklearn_trees.FOREST,
    ("sklearn", "ExtraTreesClassifier"): sklearn_trees.FOREST,
    ("sklearn", "BaggingClassifier"): sklearn_trees.BAG,
    ("sklearn", "GradientBoostingClassifier"): sklearn_trees.BOOSTING,
    ("lightgbm", "LGBMClassifier"): lightgbm_trees.READER,
    ("xgboost", "XGBClassifier"): xgboost_trees.READER,  # and XGBRFClassifier
    ("catboost", "CatBoostClassifier"): catboost_trees.READER,
}


def thawed(model: Any) -> Any:
    """The estimator itself, without the ``FrozenEstimator`` around it."""
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    return model


def reader_of(model: Any) -> Reader:
    """How ``model`` is read; by the names of its classes, so that no library is imported for it."""
    for kind in type(model).__mro__:
        reader = READERS.get((kind.__module__.split(".")[0], kind.__name__))
        if reader is not None:
            return reader
    known = ", ".join(name for _, name in READERS)
    raise DataError(f"trees of {type(model).__name__} cannot be read; supported are {known} and their subclasses")


def read_trees(model: Any) -> list[Partition]:
    """The trees of a fitted model."""
    return reader_of(model).partitions(model)


def find_leaves(model: Any, X: Any) -> AnyArray:
    """The library's leaf number of each row in each tree, rows x trees; some models use their first trees only."""
    return reader_of(model).leaves(model, X)


__all__ = ["READERS", "Partition", "Reader", "find_leaves", "read_trees", "reader_of", "thawed"]
