"""Well-known classifiers as yardsticks, made to read any table: ``RIVALS[name](seed, jobs)``.

All of them read the same columns as numbers and as categories as countwise does. Modules are imported when a rival
is made, so that names can be listed at no cost: see :mod:`countwise.evaluate.rivals.names`.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from countwise.evaluate.rivals.names import RIVAL_NAMES, check_available, missing_package

__all__ = ["RIVALS", "RIVAL_NAMES", "Maker", "missing_package"]

Maker = Callable[[int, int | None], Any]  # (seed, jobs) to an estimator that is not fitted


def _maker(name: str, module: str, function: str) -> Maker:
    def make(seed: int = 0, jobs: int | None = None) -> Any:
        check_available(name)
        return getattr(import_module(f"{__name__}.{module}"), function)(seed, jobs)

    make.__name__, make.__doc__ = function, RIVAL_NAMES[name][0]
    return make


RIVALS: Final[Mapping[str, Maker]] = {
    name: _maker(name, *place)
    for name, place in {
        "rf": ("forests", "random_forest"),
        "rf-coded": ("forests", "coded_forest"),
        "extra-trees": ("forests", "extra_trees"),
        "hgb": ("histogram", "histogram_boosting"),
        "logistic": ("linear", "logistic_regression"),
        "categorical-nb": ("bayes", "categorical_nb"),
        "xgboost": ("boosting", "xgboost"),
        "xgboost-tuned": ("tuned", "tuned_xgboost"),
        "lightgbm": ("boosting", "lightgbm"),
        "catboost": ("boosting", "catboost"),
        "ebm": ("boosting", "ebm"),
    }.items()
}
