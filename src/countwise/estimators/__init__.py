"""Thin scikit-learn classes, by name."""

from countwise.estimators.base import CountClassifier
from countwise.estimators.ensemble import EnsembleClassifier
from countwise.estimators.given import BNClassifier
from countwise.estimators.kdb import KDBClassifier
from countwise.estimators.nb import NBClassifier
from countwise.estimators.network import NetworkClassifier
from countwise.estimators.skdb import SKDBClassifier
from countwise.estimators.tan import TANClassifier

__all__ = [
    "BNClassifier",
    "CountClassifier",
    "EnsembleClassifier",
    "KDBClassifier",
    "NBClassifier",
    "NetworkClassifier",
    "SKDBClassifier",
    "TANClassifier",
]
