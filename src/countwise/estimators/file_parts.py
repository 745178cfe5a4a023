"""Trees, columns, classes and parameters to plain data and back, every index of a file checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from countwise.data.codec import CategoryCodec, ColumnCodec, NumberCodec
from countwise.data.columns import Measure
from countwise.data.discretise import DISCRETISERS
from countwise.dtypes import AnyArray
from countwise.infer.network import Parameters
from countwise.infer.tuning import Tuning
from countwise.smooth import SMOOTHERS, Smoothed, Smoother
from countwise.structure import Structure
from countwise.tree.context import ContextTree, Family
from countwise.tree.count_tree import CountTree
from countwise.tree.prune import PRUNERS

if TYPE_CHECKING:
    import pyarrow as pa

PARTS = {c.__name__: c for c in (*SMOOTHERS.values(), *DISCRETISERS.values(), *PRUNERS.values())}  # that are objects
TREE_TYPES = {
    "parent": np.int32,
    "level_ptr": np.int64,
    "cell_ptr": np.int64,
    "cell_value": np.int32,
    "cell_count": np.float64,
    "branch": np.int32,
}
TREE_ARRAYS = tuple(TREE_TYPES)[:5]
LABEL_KINDS = "biufUO"


def require(holds: bool, otherwise: str) -> None:
    """The kernels trust what they are given, so a file must be sound in every index."""
    if not holds:
        raise ValueError(otherwise)


def vector(array: AnyArray, length: int) -> AnyArray:
    """An array of so many numbers."""
    require(array.shape == (length,) and array.dtype == np.float64, "an array has another length or type")
    return array


def network_out(
    structure: Structure, trees: Sequence[ContextTree], tuning: Tuning | None, prefix: str = ""
) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Facts and arrays of one network: structure, counts, tuning."""
    arrays: dict[str, AnyArray] = {}
    for i, tree in enumerate(trees):
        own = f"{prefix}tree{i}."
        arrays |= {own + name: getattr(tree.counts, name) for name in TREE_ARRAYS}
        arrays[f"{own}branch"] = tree.branch
    arrays |= tuning_out(tuning, prefix)
    return {"structure": {"order": structure.order, "parents": structure.parents}}, arrays


def tuning_out(tuning: Tuning | None, prefix: str) -> dict[str, AnyArray]:
    """The arrays of a tuning."""
    if tuning is None:
        return {}
    own = {"level_factor": tuning.level_factor, "bias": tuning.bias, "temperature": np.array([tuning.temperature])}
    if tuning.weight is not None:
        own["weight"] = tuning.weight
    return {f"{prefix}tuning.{name}": array for name, array in own.items()}


def parameters_out(parameters: Parameters, prefix: str = "") -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Facts and arrays of what smoothing made of a network's counts."""
    arrays: dict[str, AnyArray] = {f"{prefix}log_prior": parameters.log_prior}
    for i, smoothed in enumerate(parameters.trees):
        arrays |= smoothed_out(smoothed, f"{prefix}tree{i}.")
    return {"hierarchical": [smoothed.hierarchical for smoothed in parameters.trees]}, arrays


def smoothed_out(smoothed: Smoothed, prefix: str) -> dict[str, AnyArray]:
    """The arrays of one tree's probabilities."""
    arrays = {prefix + name: getattr(smoothed, name) for name in ("cell_proba", "absent", "precision")}
    return arrays if smoothed.base is None else arrays | {f"{prefix}base": smoothed.base}


def network_in(
    entry: dict[str, Any],
    columns: Sequence[ColumnCodec],
    n_classes: int,
    arrays: dict[str, AnyArray],
    prefix: str = "",
) -> tuple[Structure, list[ContextTree], Tuning | None]:
    """A network from its facts and arrays (see :func:`network_out`)."""
    structure = _structure(entry["structure"], tuple(column.name for column in columns))
    arity = [*(column.arity for column in columns), n_classes]
    trees = [_tree(family, arity, f"{prefix}tree{i}.", arrays) for i, family in enumerate(structure.families)]
    return structure, trees, tuning_in(arrays, n_classes, len(columns), prefix)


def parameters_in(
    entry: dict[str, Any],
    trees: Sequence[ContextTree],
    tuning: Tuning | None,
    n_classes: int,
    smoother: Smoother,
    arrays: dict[str, AnyArray],
    prefix: str = "",
) -> Parameters | None:
    """What smoothing made of a network's counts; None if it is to be done again."""
    if "hierarchical" not in entry:
        return None
    require(len(entry["hierarchical"]) == len(trees), "the trees are not those of the structure")
    smoothed = tuple(
        smoothed_in(tree.counts, bool(flag), smoother, f"{prefix}tree{i}.", arrays)
        for i, (tree, flag) in enumerate(zip(trees, entry["hierarchical"], strict=True))
    )
    return Parameters(vector(arrays[f"{prefix}log_prior"], n_classes), smoothed, tuning)


def smoothed_in(
    tree: CountTree, hierarchical: bool, smoother: Smoother, prefix: str, arrays: dict[str, AnyArray]
) -> Smoothed:
    """Probabilities of a tree."""
    cell_proba = vector(arrays[f"{prefix}cell_proba"], tree.n_cells)
    absent = vector(arrays[f"{prefix}absent"], tree.n_nodes)
    require(all(bool(np.isfinite(a).all()) for a in (cell_proba, absent)), "a probability is not a number")
    precision = arrays.get(f"{prefix}precision")  # the first files of format 1 have none
    if precision is None:
        precision = smoother.smooth(tree).precision
    precision = vector(precision, tree.n_nodes)
    require(bool((np.isfinite(precision) & (precision >= 0)).all()), "a precision is not a number >= 0")
    base = arrays.get(f"{prefix}base")
    if base is not None:
        require(bool((vector(base, tree.arity) > 0).all()), "a base probability is not positive")
    return Smoothed(cell_proba, absent, hierarchical, precision, base)


def tuning_in(arrays: dict[str, AnyArray], n_classes: int, n_weights: int, prefix: str) -> Tuning | None:
    """A tuning, or None; weights are by column, or by tree of a forest."""
    own = {
        name.removeprefix(f"{prefix}tuning."): a for name, a in arrays.items() if name.startswith(f"{prefix}tuning.")
    }
    if not own:
        return None
    level_factor, bias = vector(own["level_factor"], len(own["level_factor"])), vector(own["bias"], n_classes)
    (temperature,) = vector(own["temperature"], 1)
    numbers = np.concatenate([level_factor, [temperature], np.exp(bias)])
    require(bool((np.isfinite(numbers) & (numbers > 0)).all()), "the tuning is not sound")
    weight = own.get("weight")
    if weight is not None:
        require(bool(np.isfinite(vector(weight, n_weights)).all()), "a weight is not a number")
    return Tuning(level_factor, float(temperature), bias, weight)


def _structure(entry: dict[str, Any], names: tuple[str, ...]) -> Structure:
    order = tuple(int(i) for i in entry["order"])
    parents = tuple(tuple(int(p) for p in ps) for ps in entry["parents"])
    require(len(parents) == len(names) and len(set(order)) == len(order), "the structure is not of these columns")
    require(all(0 <= i < len(names) for i in order), "the structure names a column that is not there")
    for position, i in enumerate(order):
        before = order[:position]
        require(all(p in before for p in parents[i]), f"column {i} has a parent that does not come before it")
    return Structure(names, order, parents)


def _tree(family: Family, arity: Sequence[int], prefix: str, arrays: dict[str, AnyArray]) -> ContextTree:
    """A tree whose every index is in range; see :class:`CountTree` for what must hold."""
    own = {name: arrays[prefix + name] for name in TREE_TYPES}
    what = f"the tree of column {family.child} is not sound"
    require(all(a.ndim == 1 and a.dtype == TREE_TYPES[name] for name, a in own.items()), what)
    splits = (arity[-1], *(arity[p] for p in family.parents))
    tree = CountTree(**{name: own[name] for name in TREE_ARRAYS}, arity=arity[family.child], splits=splits, choices=())
    branch, n_nodes, n_cells = own["branch"], tree.n_nodes, tree.n_cells
    lengths = {"branch": n_nodes, "cell_count": n_cells, "cell_ptr": n_nodes + 1, "level_ptr": len(family.parents) + 3}
    require(all(len(own[name]) == length for name, length in lengths.items()), what)
    for pointers, end in ((tree.level_ptr, n_nodes), (tree.cell_ptr, n_cells)):
        require(pointers[0] == 0 and pointers[-1] == end and bool((np.diff(pointers) >= 0).all()), what)
    require(tree.level_ptr[1] == 1 and tree.parent[0] == -1, what)
    for level, n_values in enumerate(splits, start=1):
        nodes = slice(int(tree.level_ptr[level]), int(tree.level_ptr[level + 1]))
        require(within(tree.parent[nodes], tree.level_ptr[level - 1], tree.level_ptr[level]), what)
        step = np.diff(tree.parent[nodes])
        require(within(branch[nodes], 0, n_values) and bool((step >= 0).all()), what)
        require(bool((np.diff(branch[nodes])[step == 0] > 0).all()), what)
    check_cells(tree, what)
    return ContextTree(family, branch, tree)


def check_cells(tree: CountTree, what: str) -> None:
    """Values ascend within a node and are its parent's too, which has counted at least as many rows of each."""
    require(within(tree.cell_value, 0, tree.arity), what)
    require(bool((np.diff(tree.cell_value)[np.diff(tree.cell_node) == 0] > 0).all()), what)
    below, above = slice(int(tree.cell_ptr[1]), None), tree.cell_parent
    require(bool((above[below] >= 0).all()), what)
    require(bool((np.isfinite(tree.cell_count) & (tree.cell_count >= 0)).all()), what)
    require(bool((tree.cell_count[below] <= tree.cell_count[above[below]]).all()), what)


def within(values: AnyArray, low: Any, high: Any) -> bool:
    """Whether all are from ``low`` to before ``high``."""
    return bool(((values >= low) & (values < high)).all())


def plain(value: Any, name: str) -> Any:
    """A parameter as JSON; smoothers and discretisers by class and parameters."""
    if type(value).__name__ in PARTS:
        return {
            "object": type(value).__name__,
            "params": {k: plain(v, f"{name}__{k}") for k, v in value.get_params().items()},
        }
    if isinstance(value, Structure):
        return {
            "object": "Structure",
            "params": {"names": value.names, "order": value.order, "parents": value.parents},
        }
    if isinstance(value, dict):
        return {"mapping": [[plain(k, name), plain(v, name)] for k, v in value.items()]}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v, name) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(f"the parameter {name}={value!r} cannot be saved in a model file; pickle the model")


def object_of(value: Any) -> Any:
    """A parameter from JSON; only classes of a fixed table are made."""
    if isinstance(value, list):
        return [object_of(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "mapping" in value:
        return {object_of(k): object_of(v) for k, v in value["mapping"]}
    if value["object"] == "Structure":
        p = value["params"]
        return Structure(tuple(p["names"]), tuple(p["order"]), tuple(tuple(x) for x in p["parents"]))
    params = {k: object_of(v) for k, v in value["params"].items()}
    return PARTS[value["object"]](**{k: tuple(v) if isinstance(v, list) else v for k, v in params.items()})


def labels_out(labels: AnyArray) -> dict[str, Any]:
    """Class labels as JSON, with their type."""
    kind = labels.dtype.kind
    values = [value.item() if isinstance(value, np.generic) else value for value in labels.tolist()]
    if kind not in LABEL_KINDS or not all(isinstance(value, (str, bool, int, float)) for value in values):
        raise TypeError(f"classes such as {labels[0]!r} cannot be saved in a model file; make them text")
    return {"dtype": labels.dtype.str if kind != "O" else "object", "values": values}


def labels_in(entry: dict[str, Any]) -> AnyArray:
    """Class labels from JSON."""
    dtype = np.dtype(entry["dtype"])
    if dtype.kind not in LABEL_KINDS:
        raise ValueError(f"classes of type {dtype}")
    return np.asarray(entry["values"], dtype=dtype)


def column_out(column: ColumnCodec) -> dict[str, Any]:
    """A column as JSON; the cut points of a number are an array."""
    entry = {"name": column.name, "kind": column.kind, "has_missing": column.has_missing}
    if isinstance(column, NumberCodec):
        return {**entry, "n_bins": column.n_bins, "measure": column.measure}
    return {**entry, "type": str(column.categories.type), "categories": column.categories.to_pylist()}


def column_in(entry: dict[str, Any], cuts: AnyArray | None) -> ColumnCodec:
    """A column from JSON and its cut points."""
    if entry["kind"] == "number":
        if cuts is None:
            raise ValueError(f"column {entry['name']!r} has no cut points")
        require(cuts.ndim == 1 and cuts.dtype == np.float64 and bool((np.diff(cuts) > 0).all()), "cuts do not ascend")
        require(entry["n_bins"] in (0, len(cuts) + 1), f"column {entry['name']!r} has another number of bins")
        require(entry["measure"] in get_args(Measure), f"column {entry['name']!r} measures something unknown")
        return NumberCodec(str(entry["name"]), cuts, entry["n_bins"], bool(entry["has_missing"]), entry["measure"])
    return CategoryCodec(str(entry["name"]), _categories(entry), bool(entry["has_missing"]))


def _categories(entry: dict[str, Any]) -> pa.Array:
    import pyarrow as pa
    import pyarrow.types as t

    types = {
        "string": pa.string(),
        "bool": pa.bool_(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "null": pa.null(),
    }
    categories = pa.array(entry["categories"], types[entry["type"]])
    require(t.is_null(categories.type) or categories.null_count == 0, "a category is missing")
    return categories
