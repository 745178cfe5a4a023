"""Smoothers: count tree in, probabilities at every node out. One file each, registered by name."""

from countwise.errors import DataError
from countwise.smooth.base import Smoothed, Smoother, dense_proba, shrink
from countwise.smooth.bdeu import BDeu
from countwise.smooth.diagnostics import effective_sample_size, split_rhat
from countwise.smooth.dirichlet_posterior import DirichletPosterior
from countwise.smooth.hdp import HDP, HDPFit
from countwise.smooth.hdp_samplers import Sampled
from countwise.smooth.hgs import HGS
from countwise.smooth.hierarchical_dirichlet import HierarchicalDirichlet
from countwise.smooth.hls import HLS
from countwise.smooth.laplace import Laplace
from countwise.smooth.m_branch import MBranch
from countwise.smooth.m_estimate import MLE, MEstimate
from countwise.smooth.stirling import log_stirling

SMOOTHERS: dict[str, type[Smoother]] = {
    "mle": MLE,
    "laplace": Laplace,
    "m": MEstimate,
    "m-branch": MBranch,
    "hdp": HDP,
    "hierarchical-dirichlet": HierarchicalDirichlet,
    "bdeu": BDeu,
    "hls": HLS,
    "hgs": HGS,
}


def as_smoother(spec: str | Smoother) -> Smoother:
    """A smoother from its name or itself, its parameters checked.

    >>> as_smoother("m")
    MEstimate()
    """
    if isinstance(spec, str):
        if spec not in SMOOTHERS:
            raise DataError(f"smoothing={spec!r} is not known; choose one of {', '.join(SMOOTHERS)}")
        return SMOOTHERS[spec]()
    if not isinstance(spec, Smoother):
        raise DataError(f"smoothing must be a name or a Smoother, got {spec!r}")
    spec.check()
    return spec


__all__ = [
    "HDP",
    "HGS",
    "HLS",
    "MLE",
    "SMOOTHERS",
    "BDeu",
    "DirichletPosterior",
    "HDPFit",
    "HierarchicalDirichlet",
    "Laplace",
    "MBranch",
    "MEstimate",
    "Sampled",
    "Smoothed",
    "Smoother",
    "as_smoother",
    "dense_proba",
    "effective_sample_size",
    "log_stirling",
    "shrink",
    "split_rhat",
]
