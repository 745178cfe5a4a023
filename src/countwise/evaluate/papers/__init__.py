"""Experiments by name: what the papers printed, with models, data sets and protocols to compare, and our own.

Figures are typed off the papers. Models that are not there yet are named as they will be called.
"""

from collections.abc import Mapping
from typing import Final

from countwise.evaluate.experiments import Experiment
from countwise.evaluate.papers.ensembles import paper004_ensembles
from countwise.evaluate.papers.networks import paper000, paper001, paper003
from countwise.evaluate.papers.own import (
    DEFAULT_EXPERIMENT,
    NETWORKS_EXPERIMENT,
    POOL_EXPERIMENT,
    SMOOTHERS_EXPERIMENT,
    TREES_EXPERIMENT,
)
from countwise.evaluate.papers.trees import paper004_trees

__all__ = ["DEFAULT_EXPERIMENT", "EXPERIMENTS"]

EXPERIMENTS: Final[Mapping[str, Experiment]] = {
    one.name: one
    for one in (
        NETWORKS_EXPERIMENT,
        SMOOTHERS_EXPERIMENT,
        POOL_EXPERIMENT,
        TREES_EXPERIMENT,
        *paper000(),
        *paper001(),
        *paper003(),
        *paper004_ensembles(),
        *paper004_trees(),
    )
}
