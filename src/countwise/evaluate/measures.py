"""What a row of results can hold, as data: title, unit, which way is good, how folds are pooled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Measure:
    """One measure of a model.

    ``title`` and ``unit`` are for people; the unit is empty for plain numbers. ``log_scale``: values span powers
    of ten, so that ratios are to be compared and axes to be logarithmic. ``pooling_power``: see :func:`pool`.

    Examples
    --------
    >>> MEASURES["fit_seconds"].title, MEASURES["fit_seconds"].unit, MEASURES["roc_auc"].higher_is_better
    ('Time to fit', 's', True)

    """

    name: str
    title: str
    unit: str
    pooling_power: float = 1.0
    higher_is_better: bool = False
    log_scale: bool = False


_MEASURES = (
    Measure("zero_one_loss", "0-1 loss", ""),
    Measure("rmse", "RMSE", "", pooling_power=2.0),
    Measure("rmse_true", "RMSE of the true class", "", pooling_power=2.0),
    Measure("log_loss", "Log loss", "nats"),
    Measure("brier", "Brier score", ""),
    Measure("ece", "Calibration error", ""),
    Measure("roc_auc", "ROC AUC", "", higher_is_better=True),
    Measure("ece_classwise", "Class-wise calibration error", ""),
    Measure("fit_seconds", "Time to fit", "s", log_scale=True),
    Measure("predict_seconds", "Time to predict", "s", log_scale=True),
    Measure("peak_bytes", "Peak memory", "bytes", log_scale=True),  # above what was there before the cell
    Measure("model_bytes", "Size of the model", "bytes", log_scale=True),
    Measure("bias", "Bias", ""),  # with the variance: of all repeats together, not of a fold
    Measure("variance", "Variance", ""),
)
MEASURES: Final[Mapping[str, Measure]] = {measure.name: measure for measure in _MEASURES}


def measure_of(name: str) -> Measure:
    """The measure of that name; for a user's own score one that is pooled plainly and for which small is good.

    >>> measure_of("rmse").title, measure_of("my_cost")
    ('RMSE', Measure(name='my_cost', title='my_cost', unit='', pooling_power=1.0, ...))
    """
    return MEASURES.get(name) or Measure(name, name, "")


def pool(name: str, values: Sequence[float | None] | npt.NDArray[np.float64], n_rows: npt.ArrayLike) -> float | None:
    """The measure ``name`` over several folds, from the folds' values and sizes.

    ``(sum_f n_f s_f^power / sum_f n_f)^(1 / power)`` with the measure's ``pooling_power``. It is the score of all
    predictions together, but for three: the bins of ``ece`` and ``ece_classwise`` and the ranks of ``roc_auc``
    belong to a fold, and these are means over folds by size.

    A fold without a value (None or NaN: ``roc_auc`` of a fold with one class) is left out; if all are, the
    result is None.

    >>> pool("log_loss", [0.1, 0.4], [20, 10]), pool("rmse", [0.0, 0.6], [30, 10])
    (0.2, 0.3)
    >>> pool("roc_auc", [0.75, None], [20, 10]), pool("roc_auc", [None], [20])
    (0.75, None)
    """
    power = measure_of(name).pooling_power
    value = np.asarray(values, dtype=np.float64)  # None becomes NaN
    size = np.asarray(n_rows, dtype=np.float64)
    is_there = ~np.isnan(value)
    if not is_there.any():
        return None
    mean = np.average(value[is_there] ** power, weights=size[is_there])
    return float(mean ** (1.0 / power))
