"""Accurate class probabilities on tables of categories and numbers, learned from counts.

>>> import countwise as cw
>>> X, y = cw.datasets.load("tic-tac-toe")
>>> model = cw.SKDBClassifier(k=3).fit(X, y)
>>> model.predict_proba(X).shape
(958, 2)
"""

import importlib
from typing import Any

from countwise.data.discretise import MDLP, EqualFrequency, EqualWidth, KMeansBins, TreeBins
from countwise.data.files import StreamSource, scan
from countwise.data.source import Source
from countwise.errors import ColumnTypeError, CountwiseError, DataError, MemoryLimitError, ModelFileError
from countwise.estimators import BNClassifier, KDBClassifier, NBClassifier, SKDBClassifier, TANClassifier
from countwise.estimators.persist import load
from countwise.infer.explain import Explanation
from countwise.smooth import MLE, Laplace, MBranch, MEstimate
from countwise.structure import Structure

__version__ = "0.1.0"

_LAZY = {"datasets", "evaluate"}  # only who uses them pays for their imports


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"countwise.{name}")
    raise AttributeError(f"module 'countwise' has no attribute {name!r}")


__all__ = [
    "MDLP",
    "MLE",
    "BNClassifier",
    "ColumnTypeError",
    "CountwiseError",
    "DataError",
    "EqualFrequency",
    "EqualWidth",
    "Explanation",
    "KDBClassifier",
    "KMeansBins",
    "Laplace",
    "MBranch",
    "MEstimate",
    "MemoryLimitError",
    "ModelFileError",
    "NBClassifier",
    "SKDBClassifier",
    "Source",
    "StreamSource",
    "Structure",
    "TANClassifier",
    "TreeBins",
    "datasets",
    "evaluate",
    "load",
    "scan",
]
