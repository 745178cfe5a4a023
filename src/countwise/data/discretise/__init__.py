"""Discretisers: numbers to bins, one file for each method, registered by name."""

from typing import Final

from countwise.data.discretise.base import Discretiser, bin_codes
from countwise.data.discretise.equal_frequency import EqualFrequency, Quantiles
from countwise.data.discretise.equal_width import EqualWidth
from countwise.data.discretise.every_value import EveryValue
from countwise.data.discretise.kmeans import KMeansBins
from countwise.data.discretise.mdlp import MDLP
from countwise.data.discretise.random_mdlp import RandomMDLP
from countwise.data.discretise.random_quantiles import RandomQuantiles
from countwise.data.discretise.tree import TreeBins
from countwise.errors import DataError

__all__ = [
    "DISCRETISERS",
    "MDLP",
    "Discretiser",
    "EqualFrequency",
    "EqualWidth",
    "EveryValue",
    "KMeansBins",
    "Quantiles",
    "RandomMDLP",
    "RandomQuantiles",
    "TreeBins",
    "as_discretiser",
    "bin_codes",
]

DISCRETISERS: Final[dict[str, type[Discretiser]]] = {
    "mdlp": MDLP,
    "random-mdlp": RandomMDLP,
    "random-quantiles": RandomQuantiles,
    "equal-width": EqualWidth,
    "equal-frequency": EqualFrequency,
    "quantiles": Quantiles,
    "k-means": KMeansBins,
    "tree": TreeBins,
    "every-value": EveryValue,
}


def as_discretiser(spec: str | Discretiser) -> Discretiser:
    """The discretiser that ``spec`` is or names.

    >>> as_discretiser("equal-width")
    EqualWidth()
    >>> as_discretiser(EqualFrequency(n_bins="auto"))
    EqualFrequency(n_bins='auto')
    """
    if isinstance(spec, Discretiser):
        return spec
    if isinstance(spec, str) and spec in DISCRETISERS:
        return DISCRETISERS[spec]()
    raise DataError(f"unknown discretiser {spec!r}; known names: {', '.join(DISCRETISERS)}")
