"""Pruning: grown trees with fewer nodes. One file for each method, registered by name."""

from typing import Final

from countwise.errors import DataError
from countwise.tree.prune.base import Pruner, cut, validated
from countwise.tree.prune.cost_complexity import CostComplexity
from countwise.tree.prune.pessimistic import Pessimistic
from countwise.tree.prune.reduced_error import ReducedError

PRUNERS: Final[dict[str, type[Pruner]]] = {
    "pessimistic": Pessimistic,
    "reduced-error": ReducedError,
    "cost-complexity": CostComplexity,
}


def as_pruner(spec: str | Pruner | None) -> Pruner | None:
    """A pruner from its name or itself, its parameters checked; None prunes nothing.

    >>> as_pruner("pessimistic")
    Pessimistic()
    """
    if spec is None:
        return None
    if isinstance(spec, str):
        if spec not in PRUNERS:
            raise DataError(f"pruning={spec!r} is not known; choose None or one of {', '.join(PRUNERS)}")
        return PRUNERS[spec]()
    if not isinstance(spec, Pruner):
        raise DataError(f"pruning must be None, a name or a Pruner, got {spec!r}")
    spec.check()
    return spec


__all__ = [
    "PRUNERS",
    "CostComplexity",
    "Pessimistic",
    "Pruner",
    "ReducedError",
    "as_pruner",
    "cut",
    "validated",
]
