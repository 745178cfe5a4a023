"""What is read of another library's model: the shapes of its trees, and the leaves that rows come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from countwise.dtypes import AnyArray, IntArray


@dataclass(frozen=True, eq=False)
class Partition:
    """One tree: the parent of every node, -1 for node 0, the root; and the node of each leaf number of the library."""

    parent: IntArray
    leaf_node: IntArray


@dataclass(frozen=True)
class Reader:
    """How a kind of fitted model is read.

    ``partitions`` gives its trees, ``leaves`` the library's leaf number of each row in each tree, rows x trees. With
    ``takes_codes`` the model is fitted to the classes 0, 1, ..., since it takes no other labels.
    """

    partitions: Callable[[Any], list[Partition]]
    leaves: Callable[[Any, Any], AnyArray]
    takes_codes: bool = False


def parents(left: AnyArray, right: AnyArray) -> IntArray:
    """The parent of every node from its two children; a leaf's left child is -1.

    A leaf's right child may be anything (XGBoost keeps other numbers there where leaves hold vectors). A node that is
    nobody's child (XGBoost leaves pruned nodes in place) hangs below the root, where no row comes to it.

    >>> parents(np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1]))
    array([-1,  0,  0,  2,  2], dtype=int32)
    """
    parent = np.zeros(len(left), np.int32)
    inner = np.flatnonzero(left >= 0)
    for children in (left, right):
        parent[children[inner]] = inner
    parent[0] = -1
    return parent


def numbered_by_node(left: AnyArray, right: AnyArray) -> Partition:
    """A tree whose leaf numbers are node numbers."""
    return Partition(parents(left, right), np.arange(len(left), dtype=np.int32))
