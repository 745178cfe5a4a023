"""Models to files and back: facts into the JSON header, arrays as they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from countwise.data.codec import CategoryCodec, Codec, ColumnCodec, NumberCodec
from countwise.data.columns import Measure
from countwise.data.discretise import DISCRETISERS
from countwise.dtypes import AnyArray
from countwise.errors import ModelFileError
from countwise.estimators.base import Derived, NetworkClassifier
from countwise.estimators.given import BNClassifier
from countwise.estimators.kdb import KDBClassifier
from countwise.estimators.nb import NBClassifier
from countwise.estimators.skdb import SKDBClassifier
from countwise.estimators.tan import TANClassifier
from countwise.infer.network import Parameters
from countwise.infer.tuning import Tuning
from countwise.model_file import read_model_file, write_model_file
from countwise.smooth import SMOOTHERS, Smoothed, as_smoother
from countwise.structure import Structure
from countwise.tree.context import ContextTree, Family
from countwise.tree.count_tree import CountTree

if TYPE_CHECKING:
    import pyarrow as pa

MODELS = {c.__name__: c for c in (NBClassifier, TANClassifier, KDBClassifier, SKDBClassifier, BNClassifier)}
PARTS = {c.__name__: c for c in (*SMOOTHERS.values(), *DISCRETISERS.values())}  # parameters that are objects
TREE_TYPES = {
    "parent": np.int32,
    "level_ptr": np.int64,
    "cell_ptr": np.int64,
    "cell_value": np.int32,
    "cell_count": np.float64,
    "branch": np.int32,
    "cell_proba": np.float64,
    "absent": np.float64,
}
TREE_ARRAYS = tuple(TREE_TYPES)[:5]
LABEL_KINDS = "biufUO"
LEARNED = (
    "n_attributes_",
    "k_",
    "n_passes_",
    "rank_error_",
    "n_features_in_",
)  # plain numbers, where present


def save_model(model: NetworkClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to one file."""
    if type(model).__name__ not in MODELS:
        raise TypeError(f"{type(model).__name__} has no file format; pickle it")
    parameters = model._parameters
    arrays: dict[str, AnyArray] = {"class_counts": model.class_counts_, "log_prior": parameters.log_prior}
    for i, (tree, smoothed) in enumerate(zip(model.trees_, parameters.trees, strict=True)):
        arrays |= {f"tree{i}.{name}": getattr(tree.counts, name) for name in TREE_ARRAYS}
        arrays |= {
            f"tree{i}.branch": tree.branch,
            f"tree{i}.cell_proba": smoothed.cell_proba,
            f"tree{i}.absent": smoothed.absent,
            f"tree{i}.precision": smoothed.precision,
        }
        if smoothed.base is not None:
            arrays[f"tree{i}.base"] = smoothed.base
    for i, column in enumerate(model.codec_.columns):
        if isinstance(column, NumberCodec):
            arrays[f"cuts{i}"] = column.cuts
    if hasattr(model, "loss_surface_"):
        arrays["loss_surface"] = model.loss_surface_
    if model.tuning_ is not None:
        arrays |= {"tuning.level_factor": model.tuning_.level_factor, "tuning.bias": model.tuning_.bias}
        arrays["tuning.temperature"] = np.array([model.tuning_.temperature])
        if model.tuning_.weight is not None:
            arrays["tuning.weight"] = model.tuning_.weight
    write_model_file(path, _header(model), arrays)


def _header(model: NetworkClassifier) -> dict[str, Any]:
    from countwise import __version__

    structure = model.structure_
    return {
        "countwise": __version__,
        "model": type(model).__name__,
        "params": {name: _plain(value, name) for name, value in model.get_params(deep=False).items()},
        "smoother": _plain(model.smoother_, "smoothing"),
        "learned": {name: getattr(model, name) for name in LEARNED if hasattr(model, name)},
        "feature_names": [str(n) for n in model.feature_names_in_] if hasattr(model, "feature_names_in_") else None,
        "classes": _labels_out(model.classes_),
        "columns": [_column_out(column) for column in model.codec_.columns],
        "structure": {"order": structure.order, "parents": structure.parents},
        "hierarchical": [smoothed.hierarchical for smoothed in model._parameters.trees],
    }


def load(path: str | os.PathLike[str]) -> NetworkClassifier:
    """Read a model that ``model.save(path)`` wrote. No code of the file is run.

    >>> import countwise as cw, tempfile, pathlib
    >>> X, y = cw.datasets.load("iris")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.cw"
    >>> cw.TANClassifier().fit(X, y).save(path)
    >>> cw.load(path)
    TANClassifier()
    """
    header, arrays = read_model_file(path)
    try:
        return _model(header, arrays)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a usable model: {type(error).__name__}: {error}") from error


def _model(header: dict[str, Any], arrays: dict[str, AnyArray]) -> NetworkClassifier:
    params = {name: _object(value) for name, value in header["params"].items()}
    model = MODELS[header["model"]](**params)
    columns = tuple(_column_in(c, arrays.get(f"cuts{i}")) for i, c in enumerate(header["columns"]))
    model.codec_ = Codec(columns, _labels_in(header["classes"]))
    model.classes_ = model.codec_.classes
    model.structure_ = _structure(header["structure"], tuple(model.codec_.names))
    model.class_counts_ = _vector(arrays["class_counts"], len(model.classes_))
    families, arity = model.structure_.families, [*model.codec_.arity, len(model.classes_)]
    _require(len(header["hierarchical"]) == len(families), "the trees are not those of the structure")
    model.trees_ = [_tree(family, arity, f"tree{i}.", arrays) for i, family in enumerate(families)]
    model.smoother_ = as_smoother(_object(header["smoother"]))
    smoothed = []
    for i, (tree, flag) in enumerate(zip(model.trees_, header["hierarchical"], strict=True)):
        precision = arrays.get(f"tree{i}.precision")  # files of countwise 0.1 have none
        if precision is None:
            precision = model.smoother_.smooth(tree.counts).precision
        precision = _vector(precision, tree.counts.n_nodes)
        _require(bool((np.isfinite(precision) & (precision >= 0)).all()), "a precision is not a number >= 0")
        base = arrays.get(f"tree{i}.base")
        if base is not None:
            _require(bool((_vector(base, tree.counts.arity) > 0).all()), "a base probability is not positive")
        proba, absent = arrays[f"tree{i}.cell_proba"], arrays[f"tree{i}.absent"]
        smoothed.append(Smoothed(proba, absent, bool(flag), precision, base))
    model.tuning_ = _tuning(arrays, len(model.classes_), len(columns))
    log_prior = _vector(arrays["log_prior"], len(model.classes_))
    model._derived = Derived(Parameters(log_prior, tuple(smoothed), model.tuning_))
    for name in LEARNED:
        if name in header["learned"]:
            _require(isinstance(header["learned"][name], (int, float)), f"{name} is not a number")
            setattr(model, name, header["learned"][name])
    _require(model.n_features_in_ == len(columns), "n_features_in_ is not the number of columns")
    if header["feature_names"] is not None:
        _require(list(header["feature_names"]) == model.codec_.names, "feature names are not those of the columns")
        model.feature_names_in_ = np.asarray(header["feature_names"], dtype=object)
    if "loss_surface" in arrays:
        model.loss_surface_ = arrays["loss_surface"]
    return model


def _tuning(arrays: dict[str, AnyArray], n_classes: int, n_columns: int) -> Tuning | None:
    if "tuning.temperature" not in arrays:
        return None
    level_factor, weight = arrays["tuning.level_factor"], arrays.get("tuning.weight")
    level_factor, bias = _vector(level_factor, len(level_factor)), _vector(arrays["tuning.bias"], n_classes)
    (temperature,) = _vector(arrays["tuning.temperature"], 1)
    numbers = np.concatenate([level_factor, [temperature], np.exp(bias)])
    _require(bool((np.isfinite(numbers) & (numbers > 0)).all()), "the tuning is not sound")
    if weight is not None:
        _require(bool(np.isfinite(_vector(weight, n_columns)).all()), "a weight is not a number")
    return Tuning(level_factor, float(temperature), bias, weight)


def _require(holds: bool, otherwise: str) -> None:
    """The kernels trust what they are given, so a file must be sound in every index."""
    if not holds:
        raise ValueError(otherwise)


def _vector(array: AnyArray, length: int) -> AnyArray:
    _require(array.shape == (length,) and array.dtype == np.float64, "an array has another length or type")
    return array


def _structure(entry: dict[str, Any], names: tuple[str, ...]) -> Structure:
    order = tuple(int(i) for i in entry["order"])
    parents = tuple(tuple(int(p) for p in ps) for ps in entry["parents"])
    _require(len(parents) == len(names) and len(set(order)) == len(order), "the structure is not of these columns")
    _require(all(0 <= i < len(names) for i in order), "the structure names a column that is not there")
    for position, i in enumerate(order):
        before = order[:position]
        _require(all(p in before for p in parents[i]), f"column {i} has a parent that does not come before it")
    return Structure(names, order, parents)


def _tree(family: Family, arity: Sequence[int], prefix: str, arrays: dict[str, AnyArray]) -> ContextTree:
    """A tree whose every index is in range; see :class:`CountTree` for what must hold."""
    own = {name: arrays[prefix + name] for name in TREE_TYPES}
    what = f"the tree of column {family.child} is not sound"
    _require(all(a.ndim == 1 and a.dtype == TREE_TYPES[name] for name, a in own.items()), what)
    splits = (arity[-1], *(arity[p] for p in family.parents))
    tree = CountTree(**{name: own[name] for name in TREE_ARRAYS}, arity=arity[family.child], splits=splits)
    branch, n_nodes, n_cells = own["branch"], tree.n_nodes, tree.n_cells
    lengths = {"branch": n_nodes, "absent": n_nodes, "cell_count": n_cells}
    lengths |= {"cell_proba": n_cells, "level_ptr": len(family.parents) + 3, "cell_ptr": n_nodes + 1}
    _require(all(len(own[name]) == length for name, length in lengths.items()), what)
    for pointers, end in ((tree.level_ptr, n_nodes), (tree.cell_ptr, n_cells)):
        _require(pointers[0] == 0 and pointers[-1] == end and bool((np.diff(pointers) >= 0).all()), what)
    _require(tree.level_ptr[1] == 1 and tree.parent[0] == -1, what)
    for level, n_values in enumerate(splits, start=1):
        nodes = slice(int(tree.level_ptr[level]), int(tree.level_ptr[level + 1]))
        _require(_within(tree.parent[nodes], tree.level_ptr[level - 1], tree.level_ptr[level]), what)
        _require(_within(branch[nodes], 0, n_values) and bool((np.diff(tree.parent[nodes]) >= 0).all()), what)
    _require(_within(tree.cell_value, 0, tree.arity), what)
    below = slice(int(tree.cell_ptr[1]), None)
    _require(bool((tree.cell_parent[below] >= 0).all()), what)
    _require(all(bool(np.isfinite(own[name]).all()) for name in ("cell_count", "cell_proba", "absent")), what)
    return ContextTree(family, branch, tree)


def _within(values: AnyArray, low: Any, high: Any) -> bool:
    return bool(((values >= low) & (values < high)).all())


def _plain(value: Any, name: str) -> Any:
    """A parameter as JSON; smoothers and discretisers by class and parameters."""
    if type(value).__name__ in PARTS:
        return {
            "object": type(value).__name__,
            "params": {k: _plain(v, f"{name}__{k}") for k, v in value.get_params().items()},
        }
    if isinstance(value, Structure):
        return {
            "object": "Structure",
            "params": {"names": value.names, "order": value.order, "parents": value.parents},
        }
    if isinstance(value, dict):
        return {"mapping": [[_plain(k, name), _plain(v, name)] for k, v in value.items()]}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(v, name) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(f"the parameter {name}={value!r} cannot be saved in a model file; pickle the model")


def _object(value: Any) -> Any:
    if isinstance(value, list):
        return [_object(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "mapping" in value:
        return {_object(k): _object(v) for k, v in value["mapping"]}
    if value["object"] == "Structure":
        p = value["params"]
        return Structure(tuple(p["names"]), tuple(p["order"]), tuple(tuple(x) for x in p["parents"]))
    params = {k: _object(v) for k, v in value["params"].items()}
    return PARTS[value["object"]](**{k: tuple(v) if isinstance(v, list) else v for k, v in params.items()})


def _labels_out(labels: AnyArray) -> dict[str, Any]:
    kind = labels.dtype.kind
    values = [value.item() if isinstance(value, np.generic) else value for value in labels.tolist()]
    if kind not in LABEL_KINDS or not all(isinstance(value, (str, bool, int, float)) for value in values):
        raise TypeError(f"classes such as {labels[0]!r} cannot be saved in a model file; make them text")
    return {"dtype": labels.dtype.str if kind != "O" else "object", "values": values}


def _labels_in(entry: dict[str, Any]) -> AnyArray:
    dtype = np.dtype(entry["dtype"])
    if dtype.kind not in LABEL_KINDS:
        raise ValueError(f"classes of type {dtype}")
    return np.asarray(entry["values"], dtype=dtype)


def _column_out(column: ColumnCodec) -> dict[str, Any]:
    entry = {"name": column.name, "kind": column.kind, "has_missing": column.has_missing}
    if isinstance(column, NumberCodec):
        return {**entry, "n_bins": column.n_bins, "measure": column.measure}
    return {**entry, "type": str(column.categories.type), "categories": column.categories.to_pylist()}


def _column_in(entry: dict[str, Any], cuts: AnyArray | None) -> ColumnCodec:
    if entry["kind"] == "number":
        if cuts is None:
            raise ValueError(f"column {entry['name']!r} has no cut points")
        _require(cuts.ndim == 1 and cuts.dtype == np.float64 and bool((np.diff(cuts) > 0).all()), "cuts do not ascend")
        _require(entry["n_bins"] in (0, len(cuts) + 1), f"column {entry['name']!r} has another number of bins")
        _require(entry["measure"] in get_args(Measure), f"column {entry['name']!r} measures something unknown")
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
    _require(t.is_null(categories.type) or categories.null_count == 0, "a category is missing")
    return categories
