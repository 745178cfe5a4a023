"""Models to files and back: facts into the JSON header, arrays as they are.

A file holds counts. Probabilities follow from them and are smoothed again when a loaded model first needs them, unless
the smoother is slow: then they are in the file too.
"""

from __future__ import annotations

import os
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from countwise.data.coarse import joined_codec
from countwise.data.codec import Codec, NumberCodec, same_column
from countwise.dtypes import AnyArray
from countwise.errors import ModelFileError
from countwise.estimators.ande import AnDEClassifier
from countwise.estimators.base import CountClassifier, Derived
from countwise.estimators.door import check_tunable
from countwise.estimators.ensemble import EnsembleClassifier
from countwise.estimators.eskdb import ESKDBClassifier
from countwise.estimators.file_parts import (
    column_in,
    column_out,
    labels_in,
    labels_out,
    network_in,
    network_out,
    object_of,
    parameters_in,
    parameters_out,
    plain,
    require,
    tuning_in,
    tuning_out,
    vector,
)
from countwise.estimators.forest import ProbabilityForestClassifier
from countwise.estimators.given import BNClassifier
from countwise.estimators.kdb import KDBClassifier
from countwise.estimators.kdf import KDFClassifier
from countwise.estimators.nb import NBClassifier
from countwise.estimators.network import NetworkClassifier
from countwise.estimators.pool import PoolClassifier
from countwise.estimators.skdb import SKDBClassifier
from countwise.estimators.tan import TANClassifier
from countwise.estimators.tree import ProbabilityTreeClassifier
from countwise.estimators.tree_file import trees_in, trees_out
from countwise.estimators.trees import TreeClassifier
from countwise.estimators.tuned import TunedKDBClassifier
from countwise.infer.members import ForestMember, Member, NetworkMember
from countwise.infer.network import Parameters
from countwise.infer.tuning import Tuning
from countwise.model_file import read_model_file, write_model_file
from countwise.parallel import n_threads
from countwise.smooth import as_smoother
from countwise.tree.context import ContextTree, Family

MODELS: dict[str, type[CountClassifier]] = {
    c.__name__: c
    for c in (
        NBClassifier,
        TANClassifier,
        KDBClassifier,
        SKDBClassifier,
        BNClassifier,
        TunedKDBClassifier,
        PoolClassifier,
        ESKDBClassifier,
        KDFClassifier,
        AnDEClassifier,
        ProbabilityTreeClassifier,
        ProbabilityForestClassifier,
    )
}
LEARNED = (
    "n_attributes_",
    "k_",
    "n_passes_",
    "rank_error_",
    "n_features_in_",
    "oob_score_",
)  # plain numbers, where present


def save_model(model: CountClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to one file."""
    if type(model).__name__ not in MODELS:
        raise TypeError(f"{type(model).__name__} has no file format; pickle it")
    header, arrays = _facts(model), {"class_counts": model.class_counts_} | _cuts(model.codec_)
    if hasattr(model, "loss_surface_"):
        arrays["loss_surface"] = model.loss_surface_
    if model.row_weight_ is not None:
        arrays["row_weight"] = model.row_weight_
    keep = model.smoother_.is_slow
    if isinstance(model, NetworkClassifier):
        facts, own = network_out(model.structure_, model.trees_, model.tuning_)
        header, arrays = header | facts, arrays | own
        if keep:
            facts, own = parameters_out(model._parameters)
            header, arrays = header | facts, arrays | own
    if isinstance(model, EnsembleClassifier):
        header["members"] = []
        for m, member in enumerate(model.members_):
            facts, own = _member_out(member, model.codec_, model._parameters[m] if keep else None, f"member{m}.")
            header["members"].append(facts)
            arrays |= own
    if isinstance(model, TreeClassifier):
        facts, own = trees_out(model.trees_, model._parameters if keep else None)
        header, arrays = header | facts, arrays | own
    write_model_file(path, header, arrays, n_threads(model.n_jobs))


def _facts(model: CountClassifier) -> dict[str, Any]:
    from countwise import __version__

    return {
        "countwise": __version__,
        "model": type(model).__name__,
        "params": {name: plain(value, name) for name, value in model.get_params(deep=False).items()},
        "smoother": plain(model.smoother_, "smoothing"),
        "learned": {name: getattr(model, name) for name in LEARNED if hasattr(model, name)},
        "feature_names": [str(n) for n in model.feature_names_in_] if hasattr(model, "feature_names_in_") else None,
        "classes": labels_out(model.classes_),
        "columns": [column_out(column) for column in model.codec_.columns],
    }


def _cuts(codec: Codec, like: Codec | None = None) -> dict[str, AnyArray]:
    """Cut points of number columns, of those only that differ where there is another codec."""
    others = codec.columns if like is None else like.columns
    return {
        f"cuts{i}": own.cuts
        for i, (own, other) in enumerate(zip(codec.columns, others, strict=True))
        if isinstance(own, NumberCodec) and (like is None or not same_column(own, other))
    }


def _member_out(
    member: Member, fine: Codec, kept: Parameters | None, prefix: str
) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    pairs = zip(member.codec.columns, fine.columns, strict=True)
    columns = [[i, column_out(own)] for i, (own, other) in enumerate(pairs) if not same_column(own, other)]
    arrays = {prefix + name: own for name, own in _cuts(member.codec, fine).items()}
    if isinstance(member, ForestMember):
        facts, own = trees_out(member.trees, None, prefix)
        own |= tuning_out(member.tuning, prefix)
    else:
        assert isinstance(member, NetworkMember)
        facts, own = network_out(member.structure, member.trees, member.tuning, prefix)
        if kept is not None:
            more, smoothed = parameters_out(kept, prefix)
            facts, own = facts | more, own | smoothed
    return facts | {"group": int(member.group), "weight": float(member.weight), "columns": columns}, arrays | own


def load(path: str | os.PathLike[str]) -> CountClassifier:
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


def _model(header: dict[str, Any], arrays: dict[str, AnyArray]) -> CountClassifier:
    params = {name: object_of(value) for name, value in header["params"].items()}
    model = MODELS[header["model"]](**params)
    columns = tuple(column_in(c, arrays.get(f"cuts{i}")) for i, c in enumerate(header["columns"]))
    model.codec_ = Codec(columns, labels_in(header["classes"]))
    model.classes_ = model.codec_.classes
    n_classes = len(model.classes_)
    model.class_counts_ = vector(arrays["class_counts"], n_classes)
    counted = bool((np.isfinite(model.class_counts_) & (model.class_counts_ >= 0)).all())
    require(counted and model.class_counts_.sum() > 0, "the counts of the classes are not sound")
    model.row_weight_ = vector(arrays["row_weight"], n_classes) if "row_weight" in arrays else None
    if model.row_weight_ is not None:
        sound = bool((np.isfinite(model.row_weight_) & (model.row_weight_ > 0)).all())
        require(sound, "the weight of a row is not a number > 0")
    model.smoother_ = as_smoother(object_of(header["smoother"]))
    if isinstance(model, NetworkClassifier):
        model.structure_, model.trees_, model.tuning_ = network_in(header, columns, n_classes, arrays)
        kept = parameters_in(header, model.trees_, model.tuning_, n_classes, model.smoother_, arrays)
        model._derived = Derived(kept)
    if isinstance(model, EnsembleClassifier):
        entries = enumerate(header["members"])
        pairs = [_member(model, entry, arrays, f"member{m}.") for m, entry in entries]
        model.members_ = _with_shared_trees([member for member, _ in pairs], model.codec_)
        _check_members(model.members_, model.codec_)
        grown = any(isinstance(member, ForestMember) for member in model.members_)
        require(not grown or isinstance(model, PoolClassifier), "only a pool has trees among its members")
        parameters = [kept for _, kept in pairs if kept is not None]
        require(len(parameters) in (0, len(pairs)), "some members have probabilities and some have none")
        model._derived = Derived(parameters or None)
    if isinstance(model, TreeClassifier):
        model.trees_, smoothed = trees_in(header["trees"], columns, n_classes, model.smoother_, arrays)
        model._derived = Derived(smoothed)
    if any(tuning is not None for tuning in _tunings(model)):
        check_tunable(header["model"], model.smoother_)  # it is smoothed again by it
    for name in LEARNED:
        if name in header["learned"]:
            require(isinstance(header["learned"][name], (int, float)), f"{name} is not a number")
            setattr(model, name, header["learned"][name])
    require(model.n_features_in_ == len(columns), "n_features_in_ is not the number of columns")
    if header["feature_names"] is not None:
        require(list(header["feature_names"]) == model.codec_.names, "feature names are not those of the columns")
        model.feature_names_in_ = np.asarray(header["feature_names"], dtype=object)
    if "loss_surface" in arrays:
        model.loss_surface_ = arrays["loss_surface"]
    return model


def _tunings(model: CountClassifier) -> list[Tuning | None]:
    if isinstance(model, NetworkClassifier):
        return [model.tuning_]
    return [member.tuning for member in model.members_] if isinstance(model, EnsembleClassifier) else []


def _member(
    model: EnsembleClassifier, entry: dict[str, Any], arrays: dict[str, AnyArray], prefix: str
) -> tuple[Member, Parameters | None]:
    columns = list(model.codec_.columns)
    for i, column in entry["columns"]:
        require(isinstance(i, int) and 0 <= i < len(columns), "a member has a column that is not there")
        columns[i] = column_in(column, arrays.get(f"{prefix}cuts{i}"))
    codec = Codec(tuple(columns), model.classes_) if entry["columns"] else model.codec_
    n_classes = len(model.classes_)
    group, weight = int(entry["group"]), float(entry["weight"])
    require(isfinite(weight) and weight >= 0.0, "the weight of a member is not a number >= 0")
    if "trees" in entry:
        grown, _ = trees_in(entry["trees"], columns, n_classes, model.smoother_, arrays, prefix)
        tuning = tuning_in(arrays, n_classes, len(grown), prefix)
        require(tuning is not None, "trees of a member are not tuned")
        return ForestMember(codec, grown, tuning=tuning, group=group, weight=weight), None
    structure, trees, tuning = network_in(entry, columns, n_classes, arrays, prefix)
    kept = parameters_in(entry, trees, tuning, n_classes, model.smoother_, arrays, prefix)
    return NetworkMember(codec, trees, structure, tuning=tuning, group=group, weight=weight), kept


def _with_shared_trees(members: list[Member], fine: Codec) -> list[Member]:
    """Members that read the table alike have one tree for each family, as when they were counted: it is smoothed once.

    A file that holds other counts for a family in another member is not of our making, and keeps them.
    """
    first: dict[Family, ContextTree] = {}

    def shared(tree: ContextTree) -> ContextTree:
        known = first.setdefault(tree.family, tree)
        return known if np.array_equal(known.counts.cell_count, tree.counts.cell_count) else tree

    return [
        replace(member, trees=[shared(tree) for tree in member.trees])
        if isinstance(member, NetworkMember) and member.codec is fine
        else member
        for member in members
    ]


def _check_members(members: list[Member], fine: Codec) -> None:
    """Codes of the fine codec must have a place in the codec of every member."""
    require(sum(member.weight for member in members) > 0.0, "no member has a weight")
    require(joined_codec([fine, *(member.codec for member in members)]).same_as(fine), "a member's cuts are its own")
