"""What all discretisers share: the bin rule, the scikit-learn transformer, sorted distinct values."""

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from countwise import _kernels
from countwise.dtypes import INT, AnyArray, FloatArray, IntArray
from countwise.errors import DataError


def bin_codes(values: FloatArray, cuts: FloatArray) -> IntArray:
    """The bin of every value: the number of cut points strictly below it.

    Bin ``b`` is the interval ``(cuts[b - 1], cuts[b]]``; a missing value (NaN) gets the code
    ``len(cuts) + 1``, one past the last bin.

    >>> bin_codes(np.array([0.0, 1.0, 1.5, 9.0, np.nan]), np.array([1.0, 2.0])).tolist()
    [0, 0, 1, 2, 3]
    """
    codes = np.empty(len(values), np.uint32)
    _kernels.bin_codes(values, cuts, len(cuts) + 1, codes)
    return codes.astype(INT)


def midpoints(lo: FloatArray, hi: FloatArray) -> FloatArray:
    """The middle of each ``lo < hi``, rounded so that ``lo <= middle < hi``: a cut there separates the two.

    >>> midpoints(np.array([1.0, 1.0, 1.5e308]), np.array([2.0, np.nextafter(1.0, 2.0), 1.6e308])).tolist()
    [1.5, 1.0, 1.55e+308]
    """
    with np.errstate(over="ignore"):
        middle = 0.5 * (lo + hi)
    middle = np.where(np.isfinite(middle), middle, 0.5 * lo + 0.5 * hi)
    return np.where((middle >= lo) & (middle < hi), middle, lo)


def distinct_values(values: FloatArray, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Ascending distinct values and the total weight of each; values of weight 0 are left out.

    The result does not depend on the order of the rows, not even by rounding: equal values are summed in the
    order of their weights.

    >>> distinct_values(np.array([3.0, 1.0, 3.0, 2.0]), np.array([1.0, 2.0, 0.5, 0.0]))
    (array([1., 3.]), array([2. , 1.5]))
    """
    values = values + 0.0  # -0.0 becomes 0.0
    if weights is None:
        found, counts = np.unique(values, return_counts=True)
        return found, counts.astype(np.float64)
    kept = weights > 0
    values, weights = values[kept], weights[kept]
    if bool((values[1:] > values[:-1]).all()):  # distinct already
        return values, weights
    exact = bool(np.all(weights == np.floor(weights)))  # integers add up exactly in any order
    order = np.argsort(values, kind="stable") if exact else np.lexsort((weights, values))
    values, weights = values[order], weights[order]
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1]))[: len(values)])
    return values[starts], np.add.reduceat(weights, starts) if len(starts) else weights


def check_count(name: str, value: object, minimum: int) -> int:
    """``value`` as an int, or an error that names the parameter."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < minimum:
        raise DataError(f"{name} must be an integer of at least {minimum}, not {value!r}")
    return int(value)


class Discretiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Turns numbers into bins, column by column; a subclass adds its parameters and :meth:`cuts`.

    Attributes
    ----------
    cut_points_ : list of float64 arrays
        Ascending cut points of each column, possibly none.
    n_bins_ : int32 array of shape (n_features,)
        ``len(cut_points) + 1`` of each column; the code of a missing value is this number.

    """

    _supervised = False

    @abstractmethod
    def cuts(self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
        """Ascending cut points of one column.

        A pure function of the weighted rows: their order does not matter, a weight of 2 is a row given
        twice, a weight of 0 is a row not given.

        Parameters
        ----------
        values : float64 array of shape (n,)
            Finite; may be empty, then there are no cuts.
        classes : int32 array of shape (n,)
            In ``0 .. n_classes - 1``; unsupervised methods do not look at it.
        weights : float64 array of shape (n,) or None
            Not negative; None counts every row once.
        n_classes : int
            At least 1.

        """

    def for_column(self, position: int) -> "Discretiser":
        """The discretiser of the column at this position: itself, unless it draws, a stream of its own for each."""
        return self

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cut points of every column of ``X``; supervised methods need the class ``y``."""
        X, classes, n_classes = self._checked_rows(X, y)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.cut_points_ = [
            self.for_column(position)._column_cuts(np.ascontiguousarray(column), classes, weights, n_classes)
            for position, column in enumerate(X.T)
        ]
        self.n_bins_ = np.array([len(cuts) + 1 for cuts in self.cut_points_], dtype=INT)
        return self

    def transform(self, X: Any) -> Any:
        """Bin codes of ``X``: int32, one column for each column of ``X``; NaN gets the code ``n_bins_``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)
        self._refuse_infinite(X)
        codes = np.empty(X.shape, dtype=INT)
        for j, cuts in enumerate(self.cut_points_):
            codes[:, j] = bin_codes(X[:, j], cuts)
        return codes

    def _checked_rows(self, X: Any, y: Any) -> tuple[FloatArray, IntArray, int]:
        checks = {"dtype": np.float64, "ensure_all_finite": False}
        if not self._supervised:
            X = validate_data(self, X, **checks)
            self._refuse_infinite(X)
            return X, np.zeros(len(X), dtype=INT), 1
        X, y = validate_data(self, X, y, **checks)
        self._refuse_infinite(X)
        check_classification_targets(y)
        names, classes = np.unique(y, return_inverse=True)
        return X, classes.astype(INT), len(names)

    def _column_cuts(
        self, values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int
    ) -> FloatArray:
        known = ~np.isnan(values)
        if known.all():
            return self.cuts(values, classes, weights, n_classes)
        return self.cuts(values[known], classes[known], None if weights is None else weights[known], n_classes)

    def _refuse_infinite(self, X: AnyArray) -> None:
        infinite = np.flatnonzero(np.isinf(X).any(axis=0))
        if len(infinite):
            j = int(infinite[0])
            names = getattr(self, "feature_names_in_", None)
            column = j if names is None else repr(str(names[j]))
            raise DataError(
                f"column {column}: infinite values (inf) have no bin; clip them, or make them missing (NaN)"
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self._supervised
        tags.transformer_tags.preserves_dtype = []
        return tags


class RandomDiscretiser(Discretiser):
    """Cut points that are drawn: a pure function of the weighted rows and the seed, a stream for each column."""

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def for_column(self, position: int) -> Self:
        """The same with the stream of one column."""
        stream = np.random.SeedSequence((self.seed, position)).generate_state(1, np.uint64)
        return type(self)(int(stream[0]))

    @property
    def seed(self) -> int:
        """``random_state`` as a number; None is 0, so that results repeat."""
        state = self.random_state
        if state is None:
            return 0
        if not isinstance(state, Integral) or isinstance(state, bool) or not 0 <= state < 2**64:
            raise DataError(f"random_state must be None or an integer from 0 to 2^64 - 1, not {state!r}")
        return int(state)
