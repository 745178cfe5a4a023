"""What a fitted model is, as plain data: ready for JSON and for tables."""

from typing import Any

import numpy as np


def describe(model: Any) -> dict[str, Any]:
    """Kind, parameters, classes, attributes and their places in the network; public attributes only.

    An attribute of an ensemble has in their stead the number of networks that use it, its most parents, and the most
    values (bins) that it has in one of them, and the number of trees that split on it; its cuts are those of all.
    """
    if not hasattr(model, "members_") and not hasattr(model, "structure_"):
        return _shared(model) | _trees(model)
    is_ensemble = hasattr(model, "members_")
    networks = _networks(model)
    structures = [member.structure for member in networks] if is_ensemble else [model.structure_]
    grown = [tree for member in getattr(model, "members_", []) if member not in networks for tree in member.trees]
    attributes = [
        _column(column) | (_uses(i, networks, grown) if is_ensemble else _place(i, model))
        for i, column in enumerate(model.codec_.columns)
    ]
    of_trees = {"n_trees": len(grown)} if grown else {}
    return (
        _shared(model)
        | of_trees
        | {
            "n_used": len({i for structure in structures for i in structure.order}.union(*map(_split_columns, grown))),
            "n_members": len(structures),
            "most_parents": max((len(parents) for structure in structures for parents in structure.parents), default=0),
            "tuning": _tuning(getattr(model, "tuning_", None)),
            "attributes": attributes,
        }
    )


def _shared(model: Any) -> dict[str, Any]:
    return {
        "kind": type(model).__name__,
        "params": {key: _plain(value) for key, value in sorted(model.get_params(deep=False).items())},
        "classes": _plain(model.classes_),
        "class_counts": _plain(model.class_counts_),
        "weighted": model.row_weight_ is not None,
        "n_attributes": len(model.codec_.columns),
        "n_parameters": int(model.n_parameters_),
        "smoother": str(model.smoother_),
    }


def _trees(model: Any) -> dict[str, Any]:
    """Leaves and levels of grown trees, and the splits by each attribute."""
    columns = np.concatenate([tree.splits.column for tree in model.trees_])
    splits = np.bincount(columns[columns >= 0], minlength=len(model.codec_.columns))
    return {
        "n_used": int(np.count_nonzero(splits)),
        "n_members": len(model.trees_),
        "n_leaves": sum(tree.n_leaves for tree in model.trees_),
        "depth": max(tree.counts.n_levels - 1 for tree in model.trees_),
        "tuning": None,
        "attributes": [
            _column(column) | {"splits": int(n)} for column, n in zip(model.codec_.columns, splits, strict=True)
        ],
    }


def _place(attribute: int, model: Any) -> dict[str, Any]:
    structure, tuning = model.structure_, model.tuning_
    place = {int(i): position for position, i in enumerate(structure.order)}
    facts = {
        "place": place.get(attribute),
        "parents": [structure.names[int(parent)] for parent in structure.parents[attribute]],
    }
    weighed = tuning is not None and tuning.weight is not None and attribute in place
    return facts | ({"weight": float(tuning.weight[attribute])} if weighed else {})


def _networks(model: Any) -> list[Any]:
    return [member for member in getattr(model, "members_", []) if hasattr(member, "structure")]


def _split_columns(tree: Any) -> set[int]:
    return set(tree.splits.column.tolist()) - {-1}


def _uses(attribute: int, members: list[Any], grown: list[Any]) -> dict[str, Any]:
    of_trees = {"trees": sum(attribute in _split_columns(tree) for tree in grown)} if grown else {}
    return of_trees | {
        "members": sum(attribute in member.structure.order for member in members),
        "most_values": max(int(member.codec.columns[attribute].arity) for member in members),
        "most_parents": max(len(member.structure.parents[attribute]) for member in members),
    }


def _tuning(tuning: Any) -> dict[str, Any] | None:
    """What leave-one-out has found, if anything."""
    if tuning is None:
        return None
    names = ("level_factor", "temperature", "bias")
    return {name: _plain(getattr(tuning, name)) for name in names}


def value_counts(model: Any, attribute: int) -> list[dict[str, Any]]:
    """Rows (their weight) of each class with each of an attribute's values, the most frequent values first.

    They are the class level of the attribute's count tree; none for an attribute that is left out. Of an ensemble, it
    is the tree of the first network that uses the attribute, whose bins they are.
    """
    codec, trees = model.codec_, getattr(model, "trees_", [])
    for member in _networks(model):
        if attribute in member.structure.order:
            codec, trees = member.codec, member.trees
            break
    labels = codec.columns[attribute].labels
    table = np.zeros((len(labels), len(model.classes_)))
    for tree in trees:
        if getattr(tree, "family", None) is not None and tree.family.child == attribute:
            nodes = slice(*(int(i) for i in tree.counts.level_ptr[1:3]))
            for node in range(nodes.start, nodes.stop):
                cells = slice(tree.counts.cell_ptr[node], tree.counts.cell_ptr[node + 1])
                table[tree.counts.cell_value[cells], tree.branch[node]] = tree.counts.cell_count[cells]
    order = [i for i in np.argsort(-table.sum(axis=1), kind="stable") if table[i].any()]
    return [{"value": labels[i], "counts": table[i].tolist()} for i in order]


def structure_line(facts: dict[str, Any]) -> str:
    """One line about the network or the networks.

    >>> structure_line({"n_used": 1, "n_attributes": 3, "n_members": 1, "most_parents": 2})
    '1 of 3 attributes used, at most 2 parents beside the class'
    """
    members = facts["n_members"]
    used = f"{facts['n_used']} of {facts['n_attributes']} attributes used"
    if "n_leaves" in facts:
        line = f"{used}, {facts['n_leaves']:,} leaves, at most {facts['depth']} splits deep"
        return line if members == 1 else f"{members} trees, {line}"
    most = facts["most_parents"]
    line = f"{used}, at most {most} parent{'s' * (most != 1)} beside the class"
    if "n_trees" in facts:
        return f"{members} networks and {facts['n_trees']} trees, {line}"
    return line if members == 1 else f"{members} members, {line}"


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
