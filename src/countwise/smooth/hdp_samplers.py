"""The hierarchical Dirichlet process of a count tree, by sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countwise import _kernels
from countwise.dtypes import FloatArray, IntArray
from countwise.errors import DataError
from countwise.smooth.base import Smoothed, shrink
from countwise.tree.count_tree import CountTree

SAMPLERS = {"gibbs": _kernels.hdp_gibbs, "crt": _kernels.hdp_crt}
MAX_COUNT = 2**31 - 1  # customers and tables are int32


@dataclass(frozen=True, eq=False)
class Sampled:
    """What a chain leaves: averages over its sweeps after burn-in."""

    smoothed: Smoothed
    concentration: FloatArray  # posterior mean of every group; the root's for a group of no other node
    trace: FloatArray | None  # sweeps after burn-in x groups
    draws: FloatArray | None  # posterior draws of one node's distribution, draws x arity
