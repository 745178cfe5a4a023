"""Accurate class probabilities on tables of categories and numbers, learned from counts.

>>> import countwise as cw
>>> X, y = cw.datasets.load("tic-tac-toe")
>>> model = cw.SKDBClassifier(k=3).fit(X, y)
>>> model.predict_proba(X).shape
(958, 2)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from countwise import datasets, evaluate, plots
    from countwise.data.discretise import (
        MDLP,
        EqualFrequency,
        EqualWidth,
        EveryValue,
        KMeansBins,
        RandomMDLP,
        RandomQuantiles,
        TreeBins,
    )
    from countwise.data.files import StreamSource, scan
    from countwise.data.source import Source
    from countwise.errors import ColumnTypeError, CountwiseError, DataError, MemoryLimitError, ModelFileError
    from countwise.estimators import (
        AnDEClassifier,
        BNClassifier,
        CostSensitive,
        ESKDBClassifier,
        KDBClassifier,
        KDFClassifier,
        NBClassifier,
        PoolClassifier,
        ProbabilityForestClassifier,
        ProbabilityTreeClassifier,
        SKDBClassifier,
        SmoothedTreeClassifier,
        TANClassifier,
        TunedKDBClassifier,
    )
    from countwise.estimators.persist import load
    from countwise.estimators.tree_text import export_text, rules
    from countwise.infer.explain import Explanation
    from countwise.smooth import HDP, HGS, HLS, MLE, BDeu, HierarchicalDirichlet, Laplace, MBranch, MEstimate, Smoother
    from countwise.structure import Structure
    from countwise.tree.prune import CostComplexity, Pessimistic, ReducedError

__version__ = "0.1.0"

# Public names by the module that defines them; a module is imported when one of its names is first used.
_HOMES = {
    "countwise.data.discretise": [
        "MDLP",
        "EqualFrequency",
        "EqualWidth",
        "EveryValue",
        "KMeansBins",
        "RandomMDLP",
        "RandomQuantiles",
        "TreeBins",
    ],
    "countwise.data.files": ["StreamSource", "scan"],
    "countwise.data.source": ["Source"],
    "countwise.errors": [
        "ColumnTypeError",
        "CountwiseError",
        "DataError",
        "MemoryLimitError",
        "ModelFileError",
    ],
    "countwise.estimators": [
        "AnDEClassifier",
        "BNClassifier",
        "CostSensitive",
        "ESKDBClassifier",
        "KDBClassifier",
        "KDFClassifier",
        "NBClassifier",
        "PoolClassifier",
        "ProbabilityForestClassifier",
        "ProbabilityTreeClassifier",
        "SKDBClassifier",
        "SmoothedTreeClassifier",
        "TANClassifier",
        "TunedKDBClassifier",
    ],
    "countwise.estimators.persist": ["load"],
    "countwise.estimators.tree_text": ["export_text", "rules"],
    "countwise.infer.explain": ["Explanation"],
    "countwise.smooth": [
        "HDP",
        "HGS",
        "HLS",
        "MLE",
        "BDeu",
        "HierarchicalDirichlet",
        "Laplace",
        "MBranch",
        "MEstimate",
        "Smoother",
    ],
    "countwise.structure": ["Structure"],
    "countwise.tree.prune": ["CostComplexity", "Pessimistic", "ReducedError"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in ("datasets", "evaluate", "plots"):
        return importlib.import_module(f"countwise.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'countwise' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


__all__ = [
    "HDP",
    "HGS",
    "HLS",
    "MDLP",
    "MLE",
    "AnDEClassifier",
    "BDeu",
    "BNClassifier",
    "ColumnTypeError",
    "CostComplexity",
    "CostSensitive",
    "CountwiseError",
    "DataError",
    "ESKDBClassifier",
    "EqualFrequency",
    "EqualWidth",
    "EveryValue",
    "Explanation",
    "HierarchicalDirichlet",
    "KDBClassifier",
    "KDFClassifier",
    "KMeansBins",
    "Laplace",
    "MBranch",
    "MEstimate",
    "MemoryLimitError",
    "ModelFileError",
    "NBClassifier",
    "Pessimistic",
    "PoolClassifier",
    "ProbabilityForestClassifier",
    "ProbabilityTreeClassifier",
    "RandomMDLP",
    "RandomQuantiles",
    "ReducedError",
    "SKDBClassifier",
    "SmoothedTreeClassifier",
    "Smoother",
    "Source",
    "StreamSource",
    "Structure",
    "TANClassifier",
    "TreeBins",
    "TunedKDBClassifier",
    "datasets",
    "evaluate",
    "export_text",
    "load",
    "plots",
    "rules",
    "scan",
]
