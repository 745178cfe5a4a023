"""Models by their names on the command line."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import typer


@dataclass(frozen=True)
class Recipe:
    """An estimator class of :mod:`countwise`, and the parameters that a name stands for."""

    class_name: str
    params: Mapping[str, Any] = field(default_factory=dict)


MODELS: dict[str, Recipe] = {
    "nb": Recipe("NBClassifier"),
    "tan": Recipe("TANClassifier"),
    "kdb": Recipe("KDBClassifier"),  # k as the class has it, or --param k=...
    **{f"kdb{k}": Recipe("KDBClassifier", {"k": k}) for k in range(1, 6)},
    "skdb": Recipe("SKDBClassifier"),
}


RIVALS = ("rf", "hgb", "logistic")  # of countwise.evaluate.rivals, which is slow to import


def build(name: str, params: Mapping[str, Any]) -> Any:
    """The estimator called ``name`` with its parameters set; wrong names are usage errors."""
    import countwise

    if name not in MODELS:
        raise typer.BadParameter(f"model {name!r} is not known; there are {', '.join(MODELS)}")
    recipe = MODELS[name]
    model = getattr(countwise, recipe.class_name)(**recipe.params)
    for key, value in params.items():
        known = sorted(model.get_params())
        if key not in known:
            raise typer.BadParameter(f"{name} has no parameter {key!r}; it has {', '.join(known)}")
        model.set_params(**{key: value})
    return model


def optional(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Those of ``params`` that the model has: a seed means nothing to a model without chance."""
    known = build(name, {}).get_params()
    return {key: value for key, value in params.items() if key in known}


def parse_params(pairs: Sequence[str]) -> dict[str, Any]:
    """``key=value`` pairs; values are read as Python constants where possible, else as text.

    >>> parse_params(["k=3", "smoothing=laplace", "smoothing__m=0.5", "verbose=true", "max_memory=none"])
    {'k': 3, 'smoothing': 'laplace', 'smoothing__m': 0.5, 'verbose': True, 'max_memory': None}
    """
    params = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise typer.BadParameter(f"{pair!r} is not of the form name=value")
        params[key.strip()] = _constant(value.strip())
    return params


def _constant(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def parse_list(text: str | None) -> list[str]:
    """Names separated by commas.

    >>> parse_list("a, b"), parse_list(None)
    (['a', 'b'], [])
    """
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def check_size(text: str) -> None:
    """A wrong ``--max-memory`` is a usage error."""
    from countwise.estimators.door import memory_bytes

    try:
        memory_bytes(text)
    except ValueError:
        raise typer.BadParameter(f"--max-memory: {text!r} is not a size such as 500MB or 2GB") from None
