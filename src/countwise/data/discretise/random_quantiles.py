"""Bins of about equal weight, their number and places drawn at random."""

from __future__ import annotations

from countwise import _kernels
from countwise.data.discretise.base import RandomDiscretiser, distinct_values
from countwise.dtypes import FloatArray, IntArray

FEWEST, MOST = 0.4, 1.3  # bins, in units of the cube root of the number of rows


class RandomQuantiles(RandomDiscretiser):
    r"""Random bins of about equal weight: other ones for each member of a pool, so that no cut point matters much.

    The number of bins :math:`b` is uniform on :math:`0.4 N^{1/3} \ldots 1.3 N^{1/3}`, at least 2. Cuts are at the
    boundaries between distinct values that are nearest to the quantiles :math:`(j + u_j) / b`, :math:`j = 1 \ldots b -
    1`, with :math:`u_j` uniform on :math:`\pm 1/2`. Every second time no value counts for more than :math:`1 / b` of
    the weight, so that a spike does not draw all cuts to itself.

    A pure function of the weighted values and the seed; it does not look at classes. Columns have streams of their own.

    Parameters
    ----------
    random_state : int or None
        Seed of the draws; None is 0, so that results repeat.

    Examples
    --------
    >>> import numpy as np
    >>> from countwise.data.discretise import RandomQuantiles
    >>> X = np.arange(1000.0)[:, None]
    >>> [RandomQuantiles(random_state=seed).fit(X).n_bins_.tolist() for seed in range(4)]
    [[10], [5], [4], [8]]

    """

    def cuts(self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
        """Ascending cut points of one column: see :meth:`Discretiser.cuts`."""
        return _kernels.random_quantiles(*distinct_values(values, weights), FEWEST, MOST, self.seed)
