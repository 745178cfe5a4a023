"""What a smoother is: a function from a count tree to a probability vector at every node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from countwise import _kernels
from countwise.dtypes import FloatArray
from countwise.tree.count_tree import CountTree


@dataclass(frozen=True, eq=False)
class Smoothed:
    """A probability for every value at every node, as sparse as the counts.

    A value with a cell has ``cell_proba``. A value without one has ``absent[node]`` times its probability at the
    node's parent (``hierarchical``; at the root: times 1 / arity) or ``absent[node] * base[value]`` (flat; without a
    ``base``: times 1 / arity).
    ``precision[node]`` says how sure the estimates are: their variance is about p (1 - p) / (precision + 1), that of a
    Dirichlet distribution of this weight.
    """

    cell_proba: FloatArray
    absent: FloatArray
    hierarchical: bool
    precision: FloatArray
    base: FloatArray | None = None


class Smoother(BaseEstimator, ABC):
    """Base of the smoothers: parameter objects, so that ``smoothing__m`` reaches a grid search."""

    @abstractmethod
    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node of ``tree``; ``seed`` is for the smoothers that sample."""

    @property
    def is_slow(self) -> bool:
        """Whether it takes far longer than counting: worth threads for small trees, and a place in model files."""
        return False

    @property
    def candidates(self) -> tuple[Smoother, ...]:
        """Smoothers to choose among on held-out rows; none for a smoother without open choices."""
        return ()

    def check(self) -> None:
        """Raise a clear error if a parameter is out of range."""


def dense_proba(tree: CountTree, smoothed: Smoothed) -> FloatArray:
    """The probability vectors written out, nodes x arity: for trees with few values, pictures and tests.

    >>> from countwise.tree.count_tree import single_node
    >>> from countwise.smooth import Laplace
    >>> tree = single_node(np.array([3.0, 0.0, 1.0]))
    >>> dense_proba(tree, Laplace().smooth(tree)).round(3)
    array([[0.571, 0.143, 0.286]])
    """
    flat = np.full(tree.arity, 1.0 / tree.arity) if smoothed.base is None else smoothed.base
    proba, node = np.empty((tree.n_nodes, tree.arity)), tree.cell_node
    for level in range(tree.n_levels):
        nodes, cells = slice(int(tree.level_ptr[level]), int(tree.level_ptr[level + 1])), tree.level_cells(level)
        above = proba[tree.parent[nodes]] if smoothed.hierarchical and level else flat
        proba[nodes] = smoothed.absent[nodes, None] * above
        proba[node[cells], tree.cell_value[cells]] = smoothed.cell_proba[cells]
    return proba


def shrink(tree: CountTree, strength: FloatArray, counts: FloatArray | None = None) -> Smoothed:
    """Each node's frequencies pulled to its parent's estimate with ``strength[node]`` pseudo-counts.

    phi_j[k] = (n_j[k] + a_j phi_parent[k]) / (N_j + a_j), from the root (parent: uniform) to the leaves. ``counts``
    (per cell) take the place of the tree's own, for smoothers whose inner nodes see only a part of the rows.
    """
    cell_proba, absent, precision = np.empty(tree.n_cells), np.empty(tree.n_nodes), np.empty(tree.n_nodes)
    counts = tree.cell_count if counts is None else counts
    _kernels.shrink(tree.kernel_arrays, counts, strength, cell_proba, absent, precision)
    return Smoothed(cell_proba, absent, True, precision)
