"""The rivals by name, and the packages that they need; importing this file imports nothing slow."""

import importlib.util
from collections.abc import Mapping
from typing import Final

from countwise.errors import DataError

EXTRA: Final = "countwise[rivals]"
FRAMES: Final = "pandas"  # what all packages of rivals read, beside themselves

RIVAL_NAMES: Final[Mapping[str, tuple[str, str | None]]] = {
    "rf": ("random forest of 100 trees; numbers as they are, categories as indicators", None),
    "rf-coded": ("the same forest on countwise's own bins and categories, as in paper 000", None),
    "extra-trees": ("100 extremely randomised trees", None),
    "hgb": ("scikit-learn's histogram gradient boosting, with native categories", None),
    "logistic": ("logistic regression on standardised numbers and indicators", None),
    "categorical-nb": ("scikit-learn's naive Bayes on countwise's own bins and categories", None),
    "xgboost": ("XGBoost: 100 rounds of depth 6, with native categories", "xgboost"),
    "xgboost-tuned": ("XGBoost: rounds and depth by 10-fold cross-validation, as in paper 004", "xgboost"),
    "lightgbm": ("LightGBM: its defaults, with native categories", "lightgbm"),
    "catboost": ("CatBoost: its defaults, 1,000 rounds", "catboost"),
    "ebm": ("InterpretML's explainable boosting machine: its defaults", "interpret"),
}
"""Name to a line about it and the package that it needs beside those of countwise, or None."""


def missing_package(name: str) -> str | None:
    """The package that must be installed before this rival can be made; None if nothing is missing.

    >>> missing_package("rf") is None
    True
    """
    if name not in RIVAL_NAMES:
        raise DataError(f"model {name!r} is not known; there are {', '.join(RIVAL_NAMES)}")
    package = RIVAL_NAMES[name][1]
    needed = () if package is None else (package, FRAMES)
    return next((one for one in needed if importlib.util.find_spec(one) is None), None)


def check_available(name: str) -> None:
    """Refuse a rival whose package is absent, and say how to get it."""
    package = missing_package(name)
    if package is not None:
        message = f"model {name!r} needs the package {package}: pip install '{EXTRA}'"
        raise ModuleNotFoundError(message, name=package)
