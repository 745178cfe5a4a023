"""Random entropy cuts: each member of an ensemble has cut points of its own."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from countwise import _kernels
from countwise.data.discretise.base import Discretiser
from countwise.dtypes import FloatArray, IntArray
from countwise.errors import DataError


class RandomMDLP(Discretiser):
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

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def for_column(self, position: int) -> RandomMDLP:
        """The same with the stream of one column."""
        stream = np.random.SeedSequence((self._seed, position)).generate_state(1, np.uint64)
        return RandomMDLP(int(stream[0]))

    def cuts(self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
        """Ascending cut points of one column: see :meth:`Discretiser.cuts`; releases the GIL."""
        return _kernels.random_mdlp_cuts(values, classes, weights, n_classes, self._seed)

    @property
    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            return 0
        if not isinstance(state, Integral) or isinstance(state, bool) or not 0 <= state < 2**64:
            raise DataError(f"random_state must be None or an integer from 0 to 2^64 - 1, not {state!r}")
        return int(state)
