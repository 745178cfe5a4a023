"""Thin scikit-learn classes, by name."""

from countwise.estimators.base import NetworkClassifier
from countwise.estimators.given import BNClassifier
from countwise.estimators.kdb import KDBClassifier
from countwise.estimators.nb import NBClassifier
from countwise.estimators.skdb import SKDBClassifier
from countwise.estimators.tan import TANClassifier

__all__ = [
    "BNClassifier",
    "KDBClassifier",
    "NBClassifier",
    "NetworkClassifier",
    "SKDBClassifier",
    "TANClassifier",
]
