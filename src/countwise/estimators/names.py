"""Models by name: a network or tree, and after a hyphen how its counts are smoothed. ``kdb5-hdp``, ``tree-m``."""

import ast
from collections.abc import Mapping
from typing import Any, Final

from countwise.errors import DataError

NETWORKS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "nb": ("NBClassifier", {}),
    "tan": ("TANClassifier", {}),
    "kdb": ("KDBClassifier", {}),  # k as the class has it
    **{f"kdb{k}": ("KDBClassifier", {"k": k}) for k in range(1, 6)},
    "skdb": ("SKDBClassifier", {}),
    **{f"skdb{k}": ("SKDBClassifier", {"k": k}) for k in range(1, 6)},
    "tuned": ("TunedKDBClassifier", {}),
    "pool": ("PoolClassifier", {}),
    "eskdb": ("ESKDBClassifier", {}),
    "kdf": ("KDFClassifier", {}),
    "aode": ("AnDEClassifier", {"n": 1}),
    "a2de": ("AnDEClassifier", {"n": 2}),
    "tree": ("ProbabilityTreeClassifier", {}),
    "forest": ("ProbabilityForestClassifier", {}),
    "c45": ("ProbabilityTreeClassifier", {"thresholds": "sharp"}),  # as in paper 004
}

# Without one of these a model has its defaults, which today are those of "tuned".
SMOOTHINGS: Final[Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]]] = {
    "tuned": ("HDP", {}, {"tune": "loo"}),
    "hdp": ("HDP", {}, {"tune": None}),  # as smoothed, by variational inference
    "gibbs": ("HDP", {"method": "gibbs"}, {"tune": None}),  # as in paper 000
    "dirichlet": ("HierarchicalDirichlet", {}, {}),
    "hls": ("HLS", {}, {}),
    "hgs": ("HGS", {}, {}),
    "mbranch": ("MBranch", {}, {}),
    "bdeu1": ("BDeu", {"iss": 1.0}, {}),
    "bdeu10": ("BDeu", {"iss": 10.0}, {}),
    "m": ("MEstimate", {"m": "holdout"}, {}),  # m chosen on held-out rows: paper 000, section 6.1; ensembles take 1
    "laplace": ("Laplace", {}, {}),
    "mle": ("MLE", {}, {}),
}

ALWAYS_TUNED: Final = frozenset({"pool"})  # by HDP, which is a part of the method: no other smoothing, nothing to name


def make(name: str, params: Mapping[str, Any] | None = None) -> Any:
    """The estimator of this name, with parameters set over those that the name stands for.

    >>> make("kdb3-hdp", {"n_jobs": 2})
    KDBClassifier(k=3, n_jobs=2, smoothing=HDP(), tune=None)
    >>> make("eskdb-m")
    ESKDBClassifier(smoothing=MEstimate())
    """
    import countwise
    from countwise.estimators.door import check_tunable
    from countwise.smooth import as_smoother

    network, _, smoothing = name.partition("-")
    if network not in NETWORKS or (smoothing and smoothing not in SMOOTHINGS):
        error = DataError(f"model {name!r} is not known; there are {', '.join(NETWORKS)}")
        error.add_note(f"a smoothing may follow, as in tan-hdp: {', '.join(SMOOTHINGS)}")
        raise error
    if smoothing and network in ALWAYS_TUNED:
        raise DataError(f"model {name!r}: {network} smooths by HDP and tunes it, always; use {network}")
    class_name, own = NETWORKS[network]
    model = getattr(countwise, class_name)(**own)
    known = model.get_params()
    if smoothing:
        smoother, arguments, others = SMOOTHINGS[smoothing]
        if "tune" not in known:
            arguments, others = _without_tuning(name, arguments, others)
        model.set_params(smoothing=getattr(countwise, smoother)(**arguments), **others)
        known = model.get_params()
    for key, value in (params or {}).items():
        if key not in known:
            raise DataError(f"{name} has no parameter {key!r}; it has {', '.join(sorted(known))}")
        model.set_params(**{key: value})
    if network in ALWAYS_TUNED:
        check_tunable(name, as_smoother(model.smoothing))
    return model


def _without_tuning(
    name: str, arguments: Mapping[str, Any], others: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What a smoothing means for ensembles and trees, which hold no rows out: not tuned, m-estimates with m = 1."""
    if others.get("tune") is not None:
        raise DataError(f"model {name!r}: ensembles and trees are not tuned; use {name.partition('-')[0]}-hdp")
    return {key: 1.0 if value == "holdout" else value for key, value in arguments.items()}, {}


def constant(text: str) -> Any:
    """A parameter's value from text: a Python constant where possible, else the text itself.

    >>> constant("3"), constant("0.5"), constant("true"), constant("none"), constant("laplace")
    (3, 0.5, True, None, 'laplace')
    """
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
