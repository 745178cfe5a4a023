"""Trees, forests, bags and gradient boosting of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from countwise.dtypes import AnyArray
from countwise.estimators.foreign.partition import Partition, Reader, numbered_by_node


def _partition(tree: Any) -> Partition:
    return numbered_by_node(tree.tree_.children_left, tree.tree_.children_right)


def _members(bag: Any) -> Iterator[tuple[Any, Reader, AnyArray]]:
    """Each member of a bag, how it is read, and the columns that it sees."""
    from countwise.estimators.foreign import reader_of

    for member, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
        yield member, reader_of(member), columns


def _bag_partitions(bag: Any) -> list[Partition]:
    return [partition for member, reader, _ in _members(bag) for partition in reader.partitions(member)]


def _bag_leaves(bag: Any, X: Any) -> AnyArray:
    # as BaggingClassifier.predict_proba checks its rows; members check the values
    X = validate_data(bag, X, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False, reset=False)
    return np.hstack([reader.leaves(member, X[:, columns]) for member, reader, columns in _members(bag)])


TREE = Reader(lambda tree: [_partition(tree)], lambda tree, X: tree.apply(X)[:, None])
FOREST = Reader(lambda forest: [_partition(tree) for tree in forest.estimators_], lambda forest, X: forest.apply(X))
BAG = Reader(_bag_partitions, _bag_leaves)
BOOSTING = Reader(
    lambda model: [_partition(tree) for tree in model.estimators_.ravel()],  # rounds x classes
    lambda model, X: model.apply(X).reshape(-1, model.estimators_.size).astype(np.int64),
)
