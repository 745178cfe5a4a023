"""m-branch smoothing along the path from the root."""

from numbers import Real

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.smooth.base import Smoothed, Smoother, shrink
from countwise.tree.count_tree import CountTree


def heights(tree: CountTree) -> FloatArray:
    """Height of every node: 1 for leaves, else 1 + the greatest of its children."""
    height = np.ones(tree.n_nodes)
    for level in range(tree.n_levels - 1, 0, -1):
        nodes = slice(int(tree.level_ptr[level]), int(tree.level_ptr[level + 1]))
        np.maximum.at(height, tree.parent[nodes], height[nodes] + 1.0)
    return height


class MBranch(Smoother):
    """Each node is pulled to its parent's estimate, more strongly the higher it stands (paper 004, eq. 17-18).

    p_j = (n_j + m_j p_parent) / (N_j + m_j) with m_j = m (1 + (1 - 1 / h_j) sqrt(N)); h_j is the height of
    node j (leaves: 1), N the size of the training data. The root is pulled to the uniform distribution.

    Parameters
    ----------
    m : float
        Strength at the leaves; 4 in Ferri, Flach and Hernandez-Orallo (2003).

    """

    def __init__(self, m: float = 4.0) -> None:
        self.m = m

    def check(self) -> None:
        """``m`` is a positive number."""
        if not isinstance(self.m, Real) or not np.isfinite(self.m) or self.m <= 0:
            raise DataError(f"m must be a number > 0, got {self.m!r}")

    def smooth(self, tree: CountTree, seed: int = 0) -> Smoothed:
        """Probabilities at every node."""
        return shrink(tree, self.m * (1.0 + (1.0 - 1.0 / heights(tree)) * np.sqrt(tree.total[0])))
