"""Bias and variance of a classifier's predictions over repeated cross-validation."""

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from countwise.dtypes import AnyArray
from countwise.errors import DataError


@dataclass(frozen=True)
class BiasVariance:
    """Parts of the mean 0-1 loss ``error``: ``bias + variance``, the bias being a square already."""

    bias: float
    variance: float
    error: float


def bias_variance(codes: npt.ArrayLike, predicted: npt.ArrayLike) -> BiasVariance:
    """Kohavi and Wolpert's bias and variance, from one prediction of every row in every repeat.

    For a row x whose classes ``y`` were predicted in shares ``P^(y|x)`` of the repeats,

    - ``bias = 1/2 sum_y (P(y|x) - P^(y|x))^2``,
    - ``variance = 1/2 (1 - sum_y P^(y|x)^2)``,

    averaged over rows (Kohavi and Wolpert 1996, *Bias plus variance decomposition for zero-one loss functions*,
    ICML). Repeated cross-validation predicts every row once in each repeat, each time by a model of other
    training rows (Webb 2000, *MultiBoosting*, Machine Learning 40); so it is done by Zaidi et al. 2017,
    *Efficient parameter learning of Bayesian network classifiers*, Machine Learning 106, section 7.

    P(y|x) is not known from one label per row. It is taken as 1 for the row's class: the noise is taken as 0 and
    counts as bias, so that bias + variance is the mean 0-1 loss. The shares are used as they are, without a
    correction for few repeats: one repeat has variance 0.

    Parameters
    ----------
    codes : (n,) integers
        The rows' classes.
    predicted : (n_repeats, n) integers
        Their predicted classes.

    Examples
    --------
    Of two rows one is always right, the other one time of two: its shares are (1/2, 1/2), its bias is
    ``1/2 (1/4 + 1/4)`` and its variance ``1/2 (1 - 1/2)``.

    >>> bias_variance([0, 1], [[0, 1], [0, 0]])
    BiasVariance(bias=0.125, variance=0.125, error=0.25)

    """
    true, votes = _checked("codes", codes, 1), _checked("predicted", predicted, 2)
    n_repeats, n_rows = votes.shape
    if true.shape != (n_rows,) or votes.size == 0:
        raise DataError(
            f"predicted: shape {votes.shape}, expected (n_repeats, {len(true)}): one class for each row and repeat"
        )
    n_codes = int(votes.max()) + 1
    # sum over rows and classes of (times predicted)^2: a row has as many cells here as classes predicted for it,
    # not as many as there are classes
    _, times = np.unique(np.arange(n_rows) * n_codes + votes, return_counts=True)
    agreed = int((times**2).sum())
    right = int((votes == true).sum()) * n_repeats
    total = n_rows * n_repeats**2  # all in whole numbers, so that nothing falls below 0
    return BiasVariance(
        bias=(total - 2 * right + agreed) / (2 * total),
        variance=(total - agreed) / (2 * total),
        error=(total - right) / total,
    )


def pack_codes(codes: npt.ArrayLike) -> str:
    """Class codes as a short text: base64 of zlib of the narrowest unsigned integers, little-endian.

    A results store keeps the predicted classes of a fold so: :func:`bias_variance` needs those of all repeats.

    >>> text = pack_codes([0, 2, 1] * 1000)
    >>> len(text) < 100, unpack_codes(text, 3000)[:4]
    (True, array([0, 2, 1, 0]))
    """
    array = _checked("codes", codes, 1)
    narrow = array.astype(np.min_scalar_type(int(array.max(initial=0))).newbyteorder("<"))
    return base64.b64encode(zlib.compress(narrow.tobytes(), level=9)).decode("ascii")


def unpack_codes(text: str, n: int) -> npt.NDArray[np.int64]:
    """The ``n`` codes that :func:`pack_codes` made the text of; n tells how wide a code is.

    >>> unpack_codes(pack_codes([300, 7]), 2)
    array([300,   7])
    """
    try:
        content = zlib.decompress(base64.b64decode(text, validate=True))
    except (ValueError, zlib.error) as error:  # ValueError: not base64, or not ASCII
        raise DataError(f"packed codes are damaged: {error}; delete the row and run its cell again") from error
    width = len(content) // n if n else 0
    if len(content) != width * n or (n and width not in {1, 2, 4, 8}):
        raise DataError(f"packed codes: {len(content)} bytes are not {n} codes; are these of another fold?")
    return np.frombuffer(content, dtype=f"<u{width or 1}").astype(np.int64)


def _checked(name: str, codes: Any, ndim: int) -> AnyArray:
    """Codes as int64; an empty list has no integers, but no wrong ones either."""
    array = np.asarray(codes)
    if array.ndim != ndim:
        raise DataError(f"{name}: {array.ndim} dimensions, expected {ndim}")
    if array.size and (array.dtype.kind not in "iu" or array.min() < 0):
        raise DataError(f"{name}: class codes are integers from 0 on; pass the positions of the labels in classes_")
    return array.astype(np.int64)
