"""The models that are timed. Each reads the same frame and gets the same number of threads; all else is default."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import countwise as cw
from countwise.evaluate.environment import environment

RIVAL: Final = "LightGBM"  # what ratios are relative to
# On a machine that is not idle LightGBM was seen to be slower on two threads than on one. It must not pay for that, so
# where the models have more threads it is timed on one as well.
RIVAL_ALONE: Final = "LightGBM, 1 thread"
Factory = Callable[[int], Any]


def lightgbm(threads: int) -> Any:
    """Categories are recognised by their dtype, as in countwise."""
    return importlib.import_module("lightgbm").LGBMClassifier(n_jobs=threads, verbose=-1)


SMOOTHINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "m": {"smoothing": "m"},
    "hdp": {"smoothing": "hdp", "tune": None},
    "tuned": {},  # the default: hdp, tuned
}


def _network(make: Callable[..., Any], **params: Any) -> Factory:
    return lambda threads: make(n_jobs=threads, **params)


def _all(name: str, make: Callable[..., Any], **params: Any) -> dict[str, Factory]:
    return {f"{name} {s}": _network(make, **smoothing, **params) for s, smoothing in SMOOTHINGS.items()}


MODELS: Final[Mapping[str, Factory]] = {
    RIVAL: lightgbm,
    **_all("NB", cw.NBClassifier),
    **_all("TAN", cw.TANClassifier),
    **_all("kDB-5", cw.KDBClassifier, k=5),
    **_all("SkDB-5", cw.SKDBClassifier, k=5),
    "tuned": _network(cw.TunedKDBClassifier),
    "pool": _network(cw.PoolClassifier),
}


def with_single_thread(models: Mapping[str, Factory], threads: int) -> dict[str, Factory]:
    """The models, and the rival on one thread where the others have more."""
    extra = {RIVAL_ALONE: lambda _: lightgbm(1)} if threads > 1 and RIVAL in models else {}
    return extra | dict(models)


def versions() -> dict[str, str]:
    """Of everything that a figure depends on."""
    found = environment()
    return {"python": found["python"], "machine": found["cpu"], **found["versions"]}
