"""Trees of LightGBM, from its model text: every round has one for each class, one for two classes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from countwise.dtypes import AnyArray
from countwise.estimators.foreign.partition import Partition, Reader, parents

FIELD = re.compile(r"^(num_leaves|left_child|right_child)=(.*)$", re.MULTILINE)


def partitions(model: Any) -> list[Partition]:
    """The trees up to the best round."""
    blocks = model.booster_.model_to_string().split("\nTree=")[1:]
    return [_partition(dict(FIELD.findall(block))) for block in blocks]


def _partition(fields: dict[str, str]) -> Partition:
    """Inner nodes come first, leaves after them. A child below 0 is a leaf, ~child its number."""
    n_leaves = int(fields["num_leaves"])
    n_inner = n_leaves - 1
    children = np.full((2, n_inner + n_leaves), -1)
    if n_inner:  # a tree of one leaf has no children at all
        given = np.array([fields["left_child"].split(), fields["right_child"].split()], np.int64)
        children[:, :n_inner] = np.where(given < 0, n_inner + ~given, given)
    return Partition(parents(*children), np.arange(n_inner, n_inner + n_leaves, dtype=np.int32))


def leaves(model: Any, X: Any) -> AnyArray:
    """Leaf numbers, rows x trees up to the best round."""
    numbers = np.asarray(model.predict(X, pred_leaf=True))
    return numbers.reshape(len(numbers), -1)


READER = Reader(partitions, leaves)
