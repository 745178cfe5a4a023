"""The leaves of a small entropy tree as bins."""

from countwise import _kernels
from countwise.data.discretise.base import Discretiser, check_count
from countwise.dtypes import FloatArray, IntArray
from countwise.errors import DataError


class TreeBins(Discretiser):
    """Decision-tree discretisation (Kohavi and Sahami; paper 004, section 2.7.2.2).

    Step 1 grows a binary tree on the one column: each interval is cut where the weighted class entropy of
    the two sides is least, down to ``max_depth``, every side keeping a weight of at least ``min_samples``.
    Step 2 prunes from the leaves up: two leaves are joined unless the cut between them passes the MDLP
    criterion (paper 004, eq. 37, 38). Unlike :class:`MDLP`, which never looks behind a cut that fails, a
    weak cut stays here when a strong one lies below it. Of equally good cuts, the lowest is taken.

    Parameters
    ----------
    max_depth : int
        At most ``2 ** max_depth`` bins; the paper tries 2, 3 and 4.
    min_samples : float
        Least total weight of a bin.
    prune : bool
        Whether step 2 is done.

    Examples
    --------
    >>> import numpy as np
    >>> from countwise.data.discretise import TreeBins
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> TreeBins(max_depth=2, min_samples=1).fit(X, y).cut_points_
    [array([3.5, 7.5])]

    """

    _supervised = True

    def __init__(self, max_depth: int = 4, min_samples: float = 5, prune: bool = True) -> None:
        self.max_depth = max_depth
        self.min_samples = min_samples
        self.prune = prune

    def cuts(self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
        """Ascending cut points of one column: see :meth:`Discretiser.cuts`; releases the GIL."""
        depth = check_count("max_depth", self.max_depth, 1)
        if not self.min_samples >= 0:
            raise DataError(f"min_samples must not be negative, not {self.min_samples!r}")
        return _kernels.tree_cuts(values, classes, weights, n_classes, depth, float(self.min_samples), bool(self.prune))
