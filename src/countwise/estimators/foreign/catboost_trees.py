"""Trees of CatBoost: oblivious ones, in which all nodes of a level ask the same question."""

from __future__ import annotations

from typing import Any

import numpy as np

from countwise.dtypes import AnyArray
from countwise.errors import DataError
from countwise.estimators.foreign.partition import Partition, Reader


def partitions(model: Any) -> list[Partition]:
    """One full binary tree for each round."""
    policy = model.get_all_params().get("grow_policy", "SymmetricTree")
    if policy != "SymmetricTree":
        raise DataError(f"{type(model).__name__}(grow_policy={policy!r}): only 'SymmetricTree' can be read")
    return [oblivious(int(n).bit_length() - 1) for n in model.get_tree_leaf_counts()]


def oblivious(depth: int) -> Partition:
    """A full tree: bit d of a leaf's number is the answer to question d, the root asking question 0.

    Node ``2^d - 1 + b`` is the one of level d whose answers so far are the bits of b.

    >>> oblivious(2).parent, oblivious(2).leaf_node
    (array([-1,  0,  0,  1,  2,  1,  2], dtype=int32), array([3, 4, 5, 6], dtype=int32))
    """
    parent = [np.array([-1])]
    for d in range(1, depth + 1):
        half = 2 ** (d - 1)
        parent.append(half - 1 + np.arange(2 * half) % half)
    return Partition(np.concatenate(parent).astype(np.int32), np.arange(2**depth, dtype=np.int32) + 2**depth - 1)


def leaves(model: Any, X: Any) -> AnyArray:
    """Leaf numbers, rows x trees."""
    return np.asarray(model.calc_leaf_indexes(X))


READER = Reader(partitions, leaves)
