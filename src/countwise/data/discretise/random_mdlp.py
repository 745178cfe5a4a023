"""Random entropy cuts: each member of an ensemble has cut points of its own."""

from __future__ import annotations

from countwise import _kernels
from countwise.data.discretise.base import RandomDiscretiser
from countwise.dtypes import FloatArray, IntArray


class RandomMDLP(RandomDiscretiser):
    r"""MDLP cut points by chance (paper 004, Algorithms 10 and 11).

    Where :class:`MDLP` takes the cut of greatest gain, this draws one of all midpoints :math:`T` between neighbouring
    values, with a probability in proportion to what it is worth beyond its description,

    .. math::

        P(T) \propto \max\{0,\; Gain(T, S) - \tfrac{1}{N} [\log_2(N - 1) + \Delta(T, S)]\},

    and then cuts both sides in the same way, until no cut is worth its description. If none is in the whole column,
    there is one cut, drawn in proportion to its gain, or none where nothing gains.

    A pure function of the weighted rows and the seed. Columns have streams of their own, by position, so that equal
    columns are not cut alike.

    Parameters
    ----------
    random_state : int or None
        Seed of the draws; None is 0, so that results repeat.

    Examples
    --------
    >>> import numpy as np
    >>> from countwise.data.discretise import RandomMDLP
    >>> X, y = np.arange(12.0)[:, None], [0] * 5 + [1] * 7
    >>> [RandomMDLP(random_state=seed).fit(X, y).cut_points_[0].tolist() for seed in range(3)]
    [[4.5], [3.5], [3.5]]

    """

    _supervised = True

    def cuts(self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
        """Ascending cut points of one column: see :meth:`Discretiser.cuts`; releases the GIL."""
        return _kernels.random_mdlp_cuts(values, classes, weights, n_classes, self.seed)
