"""Models of an experiment by name: ours, rivals, and those of the papers that are not there yet."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sklearn.base import BaseEstimator, clone

from countwise.errors import DataError
from countwise.estimators import BNClassifier, NetworkClassifier
from countwise.estimators.names import NETWORKS, constant, make
from countwise.evaluate.rivals.names import RIVAL_NAMES

OF_ALL_ROWS: Final = "@all"

# Names that the papers' tables need and countwise does not have yet, by their first part.
PLANNED: Final[Mapping[str, str]] = {
    "wnb": "naive Bayes with discriminative weights (paper 001)",
    "wtan": "TAN with discriminative weights (paper 001)",
    "wkdb1": "kDB-1 with discriminative weights (paper 001)",
}


class UnavailableError(DataError):
    """A model that cannot be made here: not written yet, or its package is not installed."""


class StructureOfAll(BaseEstimator):
    """A network whose structure is learned once from the whole table, the test rows included (paper 003, section 4.1).

    Only parameters are then learned from training rows: what is compared is their estimation, not the structure.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def for_table(self, X: Any, y: Any) -> BNClassifier:
        """The estimator for the splits of this table."""
        structure = clone(self.estimator).set_params(smoothing="mle", tune=None).fit(X, y).structure_
        given = BNClassifier(structure=structure)
        shared = given.get_params(deep=False)
        own = self.estimator.get_params(deep=False)
        return given.set_params(**{key: value for key, value in own.items() if key in shared})


def make_model(spec: str, seed: int = 0, jobs: int | None = None) -> Any:
    """An estimator from a name, parameters in brackets: ``tan-hdp``, ``xgboost(max_depth=3)``, ``tan-bdeu1@all``.

    ``seed`` and ``jobs`` (threads) are set where a model has them. A network's name that ends in ``@all`` has its
    structure learned from all rows (:class:`StructureOfAll`).

    >>> make_model("kdb2-hdp(smoothing__tying=single)", jobs=1)
    KDBClassifier(k=2, n_jobs=1, random_state=0, smoothing=HDP(tying='single'),
                  tune=None)
    """
    found = re.fullmatch(r"([\w@-]+?)(@all)?(?:\((.*)\))?", spec)
    if found is None:
        raise DataError(f"model {spec!r}: expected a name, or a name with parameters: kdb(k=3,tune=none)")
    name, of_all, inside = found[1], bool(found[2]), found[3]
    params = _params(spec, inside or "")
    if name in RIVAL_NAMES:
        if of_all:
            raise DataError(f"model {spec!r}: {OF_ALL_ROWS} is for networks, whose structure can be fixed")
        return _rival(name, params, seed, jobs)
    if name.partition("-")[0] in PLANNED:
        raise UnavailableError(f"model {name!r} is not in countwise yet: {PLANNED[name.partition('-')[0]]}")
    if name.partition("-")[0] not in NETWORKS:
        error = DataError(f"model {name!r} is not known")
        error.add_note(f"networks: {', '.join(NETWORKS)}, a smoothing may follow (tan-hdp); {', '.join(RIVAL_NAMES)}")
        raise error
    model = make(name)
    fitting = {key: value for key, value in {"random_state": seed, "n_jobs": jobs}.items() if key in model.get_params()}
    model = make(name, fitting | params)
    if of_all and not isinstance(model, NetworkClassifier):
        raise DataError(f"model {spec!r}: {OF_ALL_ROWS} is for networks, not for ensembles of them")
    return StructureOfAll(model) if of_all else model


def make_models(specs: Iterable[str], seed: int = 0, jobs: int | None = None) -> dict[str, Any]:
    """All of them by their names; those that cannot be made are told of together, before any work."""
    made, absent = {}, []
    for spec in specs:
        try:
            made[spec] = make_model(spec, seed, jobs)
        except UnavailableError as error:
            absent.append(str(error))
    if absent:
        raise UnavailableError("; ".join(absent))
    return made


def split_specs(text: str) -> list[str]:
    """Names separated by commas; commas in brackets separate parameters.

    >>> split_specs("tan-hdp, kdb(k=3,tune=none),rf")
    ['tan-hdp', 'kdb(k=3,tune=none)', 'rf']
    """
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _params(spec: str, text: str) -> dict[str, Any]:
    params = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        key, separator, value = pair.partition("=")
        if not separator:
            raise DataError(f"model {spec!r}: {pair!r} is not of the form name=value")
        params[key.strip()] = constant(value.strip())
    return params


def _rival(name: str, params: Mapping[str, Any], seed: int, jobs: int | None) -> Any:
    from countwise.evaluate.rivals import RIVALS

    try:
        model = RIVALS[name](seed, jobs)
    except ModuleNotFoundError as error:
        raise UnavailableError(str(error)) from error
    known = model.get_params()
    for key, value in params.items():  # a short name means the parameter of the innermost estimator
        target = key if key in known else next((k for k in known if k.endswith(f"__{key}")), None)
        if target is None:
            raise DataError(f"{name} has no parameter {key!r}; it has {', '.join(sorted(known))}")
        model.set_params(**{target: value})
    return model
