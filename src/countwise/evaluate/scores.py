"""Scores of predicted class probabilities; :data:`~countwise.evaluate.MEASURES` says which way is good.

All take ``(y_true, proba, classes=None, sample_weight=None)``: the true labels, an (n, C) array of
probabilities whose columns belong to ``classes`` (None: the sorted distinct labels of ``y_true``), and
optional weights of the rows.

A label that is not among ``classes`` is a class that the model never saw: it joins as one more column of
probability 0, so the row pays in full, and C grows. Equal greatest probabilities: the lowest column is the
prediction.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import DataError
from countwise.evaluate.reliability import ReliabilityBins, binned

ScoreFunction = Callable[..., float]

LOG_EPSILON: Final = float(np.finfo(np.float64).eps)  # 2.2e-16, as in scikit-learn: no row costs more than 36.04
SUM_TOLERANCE: Final = 1e-4  # float32 probabilities of many classes must pass, log probabilities must not


def zero_one_loss(y_true: Any, proba: Any, classes: Any = None, sample_weight: Any = None) -> float:
    """Share of rows whose most probable class is not the true one.

    >>> zero_one_loss(["a", "b", "b"], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    0.3333333333333333
    """
    codes, p, weight = _aligned(y_true, proba, classes, sample_weight)
    return float(weight @ (p.argmax(axis=1) != codes))


def brier(y_true: Any, proba: Any, classes: Any = None, sample_weight: Any = None) -> float:
    """Brier score: mean over rows of the squared errors summed over all classes, from 0 to 2.

    ``mean_i sum_c (p_ic - y_ic)^2`` with ``y_ic`` 1 for the true class, else 0: the original definition for
    any number of classes (Brier 1950, Monthly Weather Review 78:1-3). For two classes it is twice the
    one-column form.

    >>> brier(["a", "b"], [[0.5, 0.5], [0.0, 1.0]])
    0.25
    """
    codes, p, weight = _aligned(y_true, proba, classes, sample_weight)
    return float(weight @ _squared_error(codes, p))


def rmse(y_true: Any, proba: Any, classes: Any = None, sample_weight: Any = None) -> float:
    """Root mean squared error over rows and classes: ``sqrt(mean_i (1/C) sum_c (p_ic - y_ic)^2)``.

    The measure of the work on HDP smoothing, ESKDB and HGS: Zhang 2020, *Probability estimation for Bayesian
    network classifiers and decision trees* (thesis, Monash University), equation 29, with the number of
    classes C under the root as in the published figures; without it values are sqrt(C) larger.

    >>> rmse(["a", "b"], [[0.5, 0.5], [0.0, 1.0]])
    0.3535533905932738
    """
    codes, p, weight = _aligned(y_true, proba, classes, sample_weight)
    return float(np.sqrt(weight @ _squared_error(codes, p) / p.shape[1]))


def rmse_true(y_true: Any, proba: Any, classes: Any = None, sample_weight: Any = None) -> float:
    """Root mean squared error of the true class alone: ``sqrt(mean_i (1 - p_i,true)^2)``.

    The measure by which selective kDB selects (Martinez, Webb, Chen and Zaidi 2016, *Scalable learning of
    Bayesian network classifiers*, JMLR 17).

    >>> rmse_true(["a", "b"], [[0.5, 0.5], [0.0, 1.0]])
    0.3535533905932738
    >>> rmse_true(["a", "b", "c"], [[0.4, 0.3, 0.3], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) == (0.36 / 3) ** 0.5
    True
    """
    codes, p, weight = _aligned(y_true, proba, classes, sample_weight)
    return float(np.sqrt(weight @ (1.0 - _true_probability(codes, p)) ** 2))


def log_loss(y_true: Any, proba: Any, classes: Any = None, sample_weight: Any = None) -> float:
    """Mean negative natural logarithm of the true class's probability, in nats.

    A probability below ``LOG_EPSILON`` (2.2e-16) counts as ``LOG_EPSILON``: a row whose true class got
    probability 0, or was never seen in training, costs 36.04 and not infinity. ``predict_proba`` itself is
    never clipped.

    >>> round(log_loss(["a", "b"], [[0.5, 0.5], [0.0, 1.0]]), 6)
    0.346574
    >>> round(log_loss(["never seen"], [[0.5, 0.5]], classes=["a", "b"]), 2)
    36.04
    """
    codes, p, weight = _aligned(y_true, proba, classes, sample_weight)
    return float(weight @ -np.log(np.clip(_true_probability(codes, p), LOG_EPSILON, 1.0)))


def ece(
    y_true: Any,
    proba: Any,
    classes: Any = None,
    sample_weight: Any = None,
    *,
    n_bins: int = 15,
    classwise: bool = False,
) -> float:
    """Expected calibration error: mean gap between stated probability and observed frequency.

    The rows are put into ``n_bins`` bins of equal width by the stated probability, bin b holding ``(b /
    n_bins, (b + 1) / n_bins]`` and 0 belonging to the first; the gaps of the bins are averaged by their
    weight.

    - ``classwise=False``: the probability of the predicted class against how often it is right (Guo, Pleiss,
      Sun and Weinberger 2017, *On calibration of modern neural networks*, ICML, equation 3).
    - ``classwise=True``: the same for every class's column, averaged over the classes (Kull et al. 2019,
      *Beyond temperature scaling*, NeurIPS).

    Two predictions of 0.8, one of them right, are 0.3 off:

    >>> round(ece(["a", "b"], [[0.8, 0.2], [0.8, 0.2]]), 6)
    0.3
    """
    if not classwise:
        return reliability_bins(y_true, proba, classes, sample_weight, n_bins).ece()
    codes, p, weight = _aligned(y_true, proba, classes, sample_weight)
    gaps = [binned(p[:, c], codes == c, weight, n_bins).ece() for c in range(p.shape[1])]
    return float(np.mean(gaps))


def ece_classwise(y_true: Any, proba: Any, classes: Any = None, sample_weight: Any = None) -> float:
    """:func:`ece` of every class's column, averaged over the classes.

    Said of "a" 0.8 and it was half of the rows, of "b" 0.2 and it was the other half:

    >>> round(ece_classwise(["a", "b"], [[0.8, 0.2], [0.8, 0.2]]), 6)
    0.3
    """
    return ece(y_true, proba, classes, sample_weight, classwise=True)


def reliability_bins(
    y_true: Any,
    proba: Any,
    classes: Any = None,
    sample_weight: Any = None,
    n_bins: int = 15,
    *,
    kind: Literal["top", "classwise"] = "top",
) -> ReliabilityBins:
    """What a reliability diagram shows, in the bins of :func:`ece`; those of several folds add up.

    - ``kind="top"``: the probability of the predicted class, and whether it is right: one entry for each row.
    - ``kind="classwise"``: the probability of every class, and whether it is the true one: C entries for each
      row, all in one diagram. Gaps of opposite sign cancel between classes here, so that its ``ece()`` is at
      most :func:`ece_classwise`.

    >>> first = reliability_bins(["a", "b"], [[0.8, 0.2], [0.8, 0.2]], n_bins=2)
    >>> both = first + reliability_bins(["b"], [[0.4, 0.6]], ["a", "b"], n_bins=2)
    >>> both.weight, both.stated, both.happened
    (array([0., 3.]), array([0. , 2.2]), array([0., 2.]))
    """
    codes, p = align(y_true, proba, classes)
    weight = checked_weights(sample_weight, len(p))
    if kind == "top":
        return binned(p.max(axis=1), p.argmax(axis=1) == codes, weight, n_bins)
    if kind == "classwise":
        n_classes = p.shape[1]
        truth = codes[:, None] == np.arange(n_classes)
        return binned(p.ravel(), truth.ravel(), np.repeat(weight, n_classes), n_bins)
    raise DataError(f"kind={kind!r} is not known; there are 'top' and 'classwise'")


def roc_auc(y_true: Any, proba: Any, classes: Any = None, sample_weight: Any = None) -> float:
    """Area under the ROC curve, each class in turn against the rest, averaged over the classes; 1 is best.

    For a class it is the probability that a row of the class has a greater ``p_ic`` than a row of another
    class, equal ones counting half (Hanley and McNeil 1982, *The meaning and use of the area under a receiver
    operating characteristic curve*, Radiology 143):
    ``sum_i sum_j w_i w_j ([p_i > p_j] + [p_i = p_j] / 2) / (sum_i w_i sum_j w_j)``, i over the rows of the
    class, j over the others.

    The average is plain, not by size, as in paper 003, section 4.1. A class with no rows or with all rows
    cannot be ranked and does not count; if that is so for all, the score is NaN.

    Of the four pairs (row of b, row of a), two are in order, one is a tie:

    >>> roc_auc(["a", "b", "a", "b"], [[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0.6, 0.4]])
    0.625
    >>> roc_auc(["a", "a"], [[0.9, 0.1], [0.5, 0.5]], classes=["a", "b"])
    nan
    """
    codes, p = align(y_true, proba, classes)
    weight = checked_weights(sample_weight, len(p))
    areas = [_area(p[:, c], codes == c, weight) for c in range(p.shape[1])]
    ranked = [area for area in areas if area is not None]
    return float(np.mean(ranked)) if ranked else math.nan


SCORES: Final[Mapping[str, ScoreFunction]] = {
    "zero_one_loss": zero_one_loss,
    "rmse": rmse,
    "rmse_true": rmse_true,
    "log_loss": log_loss,
    "brier": brier,
    "ece": ece,
    "roc_auc": roc_auc,
    "ece_classwise": ece_classwise,
}


def score_all(
    y_true: Any,
    proba: Any,
    classes: Any = None,
    sample_weight: Any = None,
    scores: Mapping[str, ScoreFunction] = SCORES,
) -> dict[str, float]:
    """Every score by name; the labels are matched with the columns once.

    >>> values = score_all(["a", "b"], [[0.5, 0.5], [0.0, 1.0]])
    >>> values["brier"], values["zero_one_loss"]
    (0.25, 0.0)
    """
    codes, p = align(y_true, proba, classes)
    columns = np.arange(p.shape[1])
    return {name: float(score(codes, p, columns, sample_weight)) for name, score in scores.items()}


def align(y_true: Any, proba: Any, classes: Any = None) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Column of each row's true class, and ``proba`` with a zero column more per label out of ``classes``.

    >>> align(["b", "z"], [[0.5, 0.5], [0.5, 0.5]], classes=["a", "b"])
    (array([1, 2]), array([[0.5, 0.5, 0. ], [0.5, 0.5, 0. ]]))
    """
    p = checked_probabilities(proba)
    labels, inverse = label_codes(y_true)
    if len(inverse) != len(p):
        raise DataError(f"{len(inverse)} labels but {len(p)} rows of probabilities")
    known = labels if classes is None else np.asarray(classes).tolist()
    if len(known) != p.shape[1]:
        source = "distinct labels; pass classes=model.classes_" if classes is None else "classes"
        raise DataError(f"{p.shape[1]} columns of probabilities but {len(known)} {source}")
    column = {label: i for i, label in enumerate(known)}
    if len(column) != len(known):
        raise DataError("classes: a class is named twice")
    for label in labels:
        column.setdefault(label, len(column))
    unseen = np.zeros((len(p), len(column) - len(known)))
    position = np.array([column[label] for label in labels], dtype=np.int64)
    return position[inverse], np.hstack([p, unseen]) if unseen.size else p


def label_codes(y: Any) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Distinct labels in sorted order (mixed types: by type, then text) and the position of each row's label.

    >>> label_codes(["no", "yes", "no"])
    (['no', 'yes'], array([0, 1, 0]))
    """
    array = np.asarray(y)
    if array.ndim != 1:
        raise DataError(f"labels must be one column; shape {array.shape}")
    if array.dtype.kind in "biuUSMm":
        labels, inverse = np.unique(array, return_inverse=True)
        return labels.tolist(), inverse.astype(np.int64)
    values = array.tolist()
    n_missing = sum(map(_is_missing, values))
    if n_missing:
        raise DataError(f"labels: {n_missing} of {len(values)} are missing; drop those rows")
    distinct = _sorted(set(values))
    column = {label: i for i, label in enumerate(distinct)}
    return distinct, np.array([column[value] for value in values], dtype=np.int64)


def _is_missing(label: Any) -> bool:
    """None, NaN, or pandas' NA and NaT, which cannot be compared."""
    is_nan = isinstance(label, float) and np.isnan(label)
    return label is None or is_nan or type(label).__name__ in {"NAType", "NaTType"}


def _sorted(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def checked_probabilities(proba: Any, name: str = "probabilities") -> FloatArray:
    """The table as floats, every row of which is a distribution; ``name`` is what an error calls it.

    >>> checked_probabilities([[1, 0]])
    array([[1., 0.]])
    """
    p = np.asarray(proba, dtype=np.float64)
    if p.ndim != 2 or p.size == 0:
        raise DataError(f"{name} must be a table of rows x classes; shape {p.shape}")
    wrong = ~((p >= 0.0).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= SUM_TOLERANCE))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"{name}: row {row} is not a distribution: {p[row].tolist()}")
    return p


def _aligned(
    y_true: Any, proba: Any, classes: Any, sample_weight: Any
) -> tuple[npt.NDArray[np.int64], FloatArray, FloatArray]:
    """Codes, probabilities and weights that add up to 1."""
    codes, p = align(y_true, proba, classes)
    weight = checked_weights(sample_weight, len(p))
    return codes, p, weight / weight.sum()


def checked_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """The weights of the rows, 1 unless given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise DataError(f"sample_weight: shape {weight.shape}, expected ({n_rows},)")
    if not (np.isfinite(weight).all() and (weight >= 0.0).all() and weight.sum() > 0.0):
        raise DataError("sample_weight: weights must be finite, not negative and not all 0")
    return weight


def _true_probability(codes: npt.NDArray[np.int64], p: FloatArray) -> FloatArray:
    return p[np.arange(len(p)), codes]


def _squared_error(codes: npt.NDArray[np.int64], p: FloatArray) -> FloatArray:
    """Per row ``sum_c (p_c - y_c)^2``."""
    error = p.copy()
    error[np.arange(len(p)), codes] -= 1.0
    return np.einsum("ij,ij->i", error, error)


def _area(stated: FloatArray, is_own: AnyArray, weight: FloatArray) -> float | None:
    """Area under one ROC curve, from the weights at each distinct probability; None without rows to rank.

    Weights that do not add up to 1 on purpose: sums of whole numbers are exact, and so is an area of 1.
    """
    values, position = np.unique(stated, return_inverse=True)
    own = np.bincount(position, weights=weight * is_own, minlength=len(values))
    other = np.bincount(position, weights=weight * ~is_own, minlength=len(values))
    if not (own.any() and other.any()):
        return None
    below = np.cumsum(other) - other
    return float(own @ (below + other / 2.0) / (own.sum() * other.sum()))
