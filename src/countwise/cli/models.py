"""Models and parameters as the command line names them; wrong ones are usage errors."""

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from countwise.errors import DataError
from countwise.estimators.names import constant, make


def build(name: str, params: Mapping[str, Any]) -> Any:
    """The estimator called ``name`` with its parameters set."""
    try:
        return make(name, params)
    except DataError as error:
        raise usage(error) from None


def optional(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Those of ``params`` that the model has: a seed means nothing to a model without chance."""
    known = build(name, {}).get_params()
    return {key: value for key, value in params.items() if key in known}


def usage(error: DataError) -> typer.BadParameter:
    """An error of the library as one of usage, its hints with it."""
    return typer.BadParameter("; ".join([str(error), *getattr(error, "__notes__", ())]))


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
        params[key.strip()] = constant(value.strip())
    return params


def parse_list(text: str | None) -> list[str]:
    """Names separated by commas.

    >>> parse_list("a, b"), parse_list(None)
    (['a', 'b'], [])
    """
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def size_bytes(option: str, text: str) -> int:
    """A size such as 500MB; a wrong one is a usage error."""
    from countwise.estimators.door import memory_bytes

    try:
        return memory_bytes(text)
    except ValueError:
        raise typer.BadParameter(f"{option}: {text!r} is not a size such as 500MB or 2GB") from None
