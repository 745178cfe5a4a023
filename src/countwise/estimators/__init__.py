"""Thin scikit-learn classes, by name."""

from countwise.estimators.ande import AnDEClassifier
from countwise.estimators.base import CountClassifier
from countwise.estimators.costs import CostSensitive
from countwise.estimators.ensemble import EnsembleClassifier
from countwise.estimators.eskdb import ESKDBClassifier
from countwise.estimators.forest import ProbabilityForestClassifier
from countwise.estimators.given import BNClassifier
from countwise.estimators.kdb import KDBClassifier
from countwise.estimators.kdf import KDFClassifier
from countwise.estimators.nb import NBClassifier
from countwise.estimators.network import NetworkClassifier
from countwise.estimators.pool import PoolClassifier
from countwise.estimators.skdb import SKDBClassifier
from countwise.estimators.smoothed_trees import SmoothedTreeClassifier
from countwise.estimators.tan import TANClassifier
from countwise.estimators.tree import ProbabilityTreeClassifier
from countwise.estimators.trees import TreeClassifier
from countwise.estimators.tuned import TunedKDBClassifier

__all__ = [
    "AnDEClassifier",
    "BNClassifier",
    "CostSensitive",
    "CountClassifier",
    "ESKDBClassifier",
    "EnsembleClassifier",
    "KDBClassifier",
    "KDFClassifier",
    "NBClassifier",
    "NetworkClassifier",
    "PoolClassifier",
    "ProbabilityForestClassifier",
    "ProbabilityTreeClassifier",
    "SKDBClassifier",
    "SmoothedTreeClassifier",
    "TANClassifier",
    "TreeClassifier",
    "TunedKDBClassifier",
]
