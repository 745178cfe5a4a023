"""Models to files and back: facts into the JSON header, arrays as they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.data.codec import CategoryCodec, Codec, ColumnCodec, NumberCodec
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
from countwise.model_file import read_model_file, write_model_file
from countwise.smooth import SMOOTHERS, Smoothed
from countwise.structure import Structure
from countwise.tree.context import ContextTree, Family
from countwise.tree.count_tree import CountTree

if TYPE_CHECKING:
    import pyarrow as pa

MODELS = {c.__name__: c for c in (NBClassifier, TANClassifier, KDBClassifier, SKDBClassifier, BNClassifier)}
PARTS = {c.__name__: c for c in (*SMOOTHERS.values(), *DISCRETISERS.values())}  # parameters that are objects
TREE_ARRAYS = ("parent", "level_ptr", "cell_ptr", "cell_value", "cell_count", "cell_parent")
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
        }
    for i, column in enumerate(model.codec_.columns):
        if isinstance(column, NumberCodec):
            arrays[f"cuts{i}"] = column.cuts
    if hasattr(model, "loss_surface_"):
        arrays["loss_surface"] = model.loss_surface_
    write_model_file(path, _header(model), arrays)


def _header(model: NetworkClassifier) -> dict[str, Any]:
    from countwise import __version__

    structure = model.structure_
    return {
        "countwise": __version__,
        "model": type(model).__name__,
        "params": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "smoother": _plain(model.smoother_),
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
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a usable model: {type(error).__name__}: {error}") from error


def _model(header: dict[str, Any], arrays: dict[str, AnyArray]) -> NetworkClassifier:
    params = {name: _object(value) for name, value in header["params"].items()}
    model = MODELS[header["model"]](**params)
    columns = tuple(_column_in(c, arrays.get(f"cuts{i}")) for i, c in enumerate(header["columns"]))
    model.codec_ = Codec(columns, _labels_in(header["classes"]))
    model.classes_ = model.codec_.classes
    shape = header["structure"]
    model.structure_ = Structure(
        tuple(model.codec_.names), tuple(shape["order"]), tuple(tuple(p) for p in shape["parents"])
    )
    model.class_counts_ = arrays["class_counts"]
    families, arity = model.structure_.families, model.codec_.arity
    model.trees_ = [_tree(family, arity[family.child], f"tree{i}.", arrays) for i, family in enumerate(families)]
    smoothed = [
        Smoothed(arrays[f"tree{i}.cell_proba"], arrays[f"tree{i}.absent"], bool(flag))
        for i, flag in enumerate(header["hierarchical"])
    ]
    model._derived = Derived(Parameters(arrays["log_prior"], tuple(smoothed)))
    model.smoother_ = _object(header["smoother"])
    for name, value in header["learned"].items():
        if name in LEARNED:
            setattr(model, name, value)
    if header["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(header["feature_names"], dtype=object)
    if "loss_surface" in arrays:
        model.loss_surface_ = arrays["loss_surface"]
    return model


def _tree(family: Family, arity: int, prefix: str, arrays: dict[str, AnyArray]) -> ContextTree:
    counts = CountTree(**{name: arrays[prefix + name] for name in TREE_ARRAYS}, arity=arity)
    if len(counts.level_ptr) != len(family.parents) + 3 or counts.level_ptr[-1] != counts.n_nodes:
        raise ValueError(f"the tree of attribute {family.child} does not fit the structure")
    return ContextTree(family, arrays[prefix + "branch"], counts)


def _plain(value: Any) -> Any:
    """A parameter as JSON; smoothers and discretisers by class and parameters."""
    if type(value).__name__ in PARTS:
        return {
            "object": type(value).__name__,
            "params": {k: _plain(v) for k, v in value.get_params().items()},
        }
    if isinstance(value, Structure):
        return {
            "object": "Structure",
            "params": {"names": value.names, "order": value.order, "parents": value.parents},
        }
    if isinstance(value, dict):
        return {"mapping": [[_plain(k), _plain(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(f"{value!r} cannot be saved in a model file")


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
    return PARTS[value["object"]](**{k: _object(v) for k, v in value["params"].items()})


def _labels_out(labels: AnyArray) -> dict[str, Any]:
    kind = labels.dtype.kind
    return {"dtype": labels.dtype.str if kind != "O" else "object", "values": labels.tolist()}


def _labels_in(entry: dict[str, Any]) -> AnyArray:
    dtype = entry["dtype"]
    if dtype != "object" and np.dtype(dtype).kind not in "biufU":
        raise ValueError(f"classes of type {dtype}")
    return np.asarray(entry["values"], dtype=object if dtype == "object" else np.dtype(dtype))


def _column_out(column: ColumnCodec) -> dict[str, Any]:
    entry = {"name": column.name, "kind": column.kind, "has_missing": column.has_missing}
    if isinstance(column, NumberCodec):
        return {**entry, "n_bins": column.n_bins}
    return {**entry, "type": str(column.categories.type), "categories": column.categories.to_pylist()}


def _column_in(entry: dict[str, Any], cuts: AnyArray | None) -> ColumnCodec:
    if entry["kind"] == "number":
        if cuts is None:
            raise ValueError(f"column {entry['name']!r} has no cut points")
        return NumberCodec(entry["name"], cuts, entry["n_bins"], entry["has_missing"])
    return CategoryCodec(entry["name"], _categories(entry), entry["has_missing"])


def _categories(entry: dict[str, Any]) -> pa.Array:
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "bool": pa.bool_(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "null": pa.null(),
    }
    return pa.array(entry["categories"], types[entry["type"]])
