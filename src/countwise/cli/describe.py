"""What a fitted model is, as plain data: ready for JSON and for tables."""

from typing import Any

import numpy as np


def describe(model: Any) -> dict[str, Any]:
    """Kind, parameters, classes, attributes and their places in the network; public attributes only."""
    columns, structure = model.codec_.columns, model.structure_
    names = [column.name for column in columns]
    place = {int(attribute): position for position, attribute in enumerate(structure.order)}
    attributes = [
        _column(column)
        | {"place": place.get(i), "parents": [names[int(parent)] for parent in structure.parents[i]]}
        for i, column in enumerate(columns)
    ]
    return {
        "kind": type(model).__name__,
        "params": {key: _plain(value) for key, value in sorted(model.get_params(deep=False).items())},
        "classes": _plain(model.classes_),
        "prior": _plain(getattr(model, "class_prior_", None)),
        "n_rows": _plain(getattr(model, "n_rows_", None)),
        "n_attributes": len(names),
        "n_used": len(place),
        "n_parameters": _plain(getattr(model, "n_parameters_", None)),
        "attributes": attributes,
    }


def structure_line(facts: dict[str, Any]) -> str:
    """One line about the network.

    >>> attribute = {"place": 0, "parents": ["a", "b"]}
    >>> structure_line({"n_used": 1, "n_attributes": 3, "attributes": [attribute]})
    '1 of 3 attributes used, at most 2 parents beside the class'
    """
    most = max((len(attribute["parents"]) for attribute in facts["attributes"]), default=0)
    used = f"{facts['n_used']} of {facts['n_attributes']} attributes used"
    return f"{used}, at most {most} parent{'s' * (most != 1)} beside the class"


def _column(column: Any) -> dict[str, Any]:
    """Name, kind, number of values with *missing*, and the cut points of a number or the categories."""
    key = "cuts" if column.kind == "number" else "categories"
    values = _plain(getattr(column, key))
    return {"name": column.name, "kind": column.kind, "n_values": int(column.arity), key: values}


def _plain(value: Any) -> Any:
    """Plain Python for JSON; estimators and other objects as their text."""
    if hasattr(value, "to_pylist"):
        return _plain(value.to_pylist())
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
