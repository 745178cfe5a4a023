"""Grown trees to plain arrays and back, every index of a file checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from countwise.data.codec import ColumnCodec, NumberCodec
from countwise.dtypes import AnyArray
from countwise.estimators.file_parts import check_cells, require, smoothed_in, smoothed_out, within
from countwise.smooth import Smoothed, Smoother
from countwise.tree.count_tree import CountTree
from countwise.tree.splits import MISSING, N_LIKELY, SUBSET, SplitTable, SplitTree, levels_of

COUNT_TYPES = {"cell_ptr": np.int64, "cell_value": np.int32, "cell_count": np.float64}
SPLIT_TYPES = {"parent": np.int32, "branch": np.int32, "column": np.int32, "threshold": np.int32}
WRONG = "a tree is not sound"


def trees_out(
    trees: Sequence[SplitTree], smoothed: Sequence[Smoothed] | None, member: str = ""
) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Facts and arrays of all trees, with probabilities if they are to be kept; levels follow from the parents.

    ``member`` begins the names of arrays, where the trees are those of a member of an ensemble.
    """
    facts: list[dict[str, Any]] = [{"choices": tree.counts.choices} for tree in trees]
    arrays: dict[str, AnyArray] = {}
    for i, tree in enumerate(trees):
        prefix = f"{member}tree{i}."
        arrays |= {prefix + name: getattr(tree.counts, name) for name in COUNT_TYPES}
        arrays |= {prefix + name: getattr(tree.splits, name) for name in SPLIT_TYPES}
        if tree.splits.side_ptr is not None:
            arrays |= {prefix + "side_ptr": tree.splits.side_ptr, prefix + "sides": tree.splits.sides}
        if smoothed is not None:
            facts[i]["hierarchical"] = smoothed[i].hierarchical
            arrays |= smoothed_out(smoothed[i], prefix)
    return {"trees": facts}, arrays


def trees_in(
    entries: Sequence[dict[str, Any]],
    columns: Sequence[ColumnCodec],
    n_classes: int,
    smoother: Smoother,
    arrays: dict[str, AnyArray],
    member: str = "",
) -> tuple[list[SplitTree], list[Smoothed] | None]:
    """Trees from their facts and arrays; without probabilities where they are to be smoothed again."""
    require(len(entries) > 0, "there is no tree")
    trees, smoothed = [], []
    for i, entry in enumerate(entries):
        prefix = f"{member}tree{i}."
        tree = _tree(columns, n_classes, prefix, arrays)
        choices = tuple(int(n) for n in entry.get("choices", ()))
        require(all(n > 0 for n in choices), WRONG)
        tree = replace(tree, counts=replace(tree.counts, choices=choices))
        trees.append(tree)
        if "hierarchical" in entry:
            smoothed.append(smoothed_in(tree.counts, bool(entry["hierarchical"]), smoother, prefix, arrays))
    require(len(smoothed) in (0, len(trees)), WRONG)
    return trees, smoothed or None


def _tree(columns: Sequence[ColumnCodec], n_classes: int, prefix: str, arrays: dict[str, AnyArray]) -> SplitTree:
    types = COUNT_TYPES | SPLIT_TYPES
    own = {name: arrays[prefix + name] for name in types}
    require(all(a.ndim == 1 and a.dtype == types[name] for name, a in own.items()), WRONG)
    n_nodes, n_cells = len(own["parent"]), len(own["cell_value"])
    lengths = {"cell_ptr": n_nodes + 1, "cell_count": n_cells}
    lengths |= dict.fromkeys(("branch", "column", "threshold"), n_nodes)
    require(n_nodes > 0 and all(len(own[name]) == length for name, length in lengths.items()), WRONG)
    parent = own["parent"]
    require(parent[0] == -1 and bool((parent[1:] >= 0).all()) and bool((np.diff(parent) >= 0).all()), WRONG)
    require(bool((parent < np.arange(n_nodes)).all()), WRONG)
    splits = SplitTable(**{name: own[name] for name in SPLIT_TYPES}, **_sides(n_nodes, prefix, arrays))
    _check_splits(splits, columns)
    cell_ptr, cell_value, cell_count = (own[name] for name in COUNT_TYPES)
    tree = CountTree(parent, levels_of(parent), cell_ptr, cell_value, cell_count, n_classes)
    _check_counts(tree)
    return SplitTree(tree, splits)


def _check_splits(splits: SplitTable, columns: Sequence[ColumnCodec]) -> None:
    """A split has children, its threshold is one of its column's, and its branches are there once, ascending."""
    require(within(splits.column, -1, len(columns)), WRONG)
    require(bool(((np.diff(splits.first_child) > 0) == ~splits.is_leaf).all()), WRONG)
    n_cuts = np.array([len(c.cuts) if isinstance(c, NumberCodec) else 0 for c in columns] + [0])
    is_number = np.array([isinstance(c, NumberCodec) for c in columns] + [False])[splits.column]  # -1: a leaf
    threshold, above = splits.threshold, splits.parent[1:]
    in_sets = threshold == SUBSET
    require(bool((threshold[~is_number & ~in_sets] == -1).all()) and not bool((in_sets & splits.is_leaf).any()), WRONG)
    _check_sides(splits, columns)
    require(bool(((threshold >= 0) & (threshold < n_cuts[splits.column]))[is_number].all()), WRONG)
    arity = np.array([c.arity for c in columns] + [0])[splits.column]
    most = np.where(is_number, MISSING + 1, np.where(in_sets, 2, arity))[above]
    branch = splits.branch[1:]
    require(bool(((branch >= 0) & (branch < most)).all()), WRONG)
    require(bool((np.diff(branch)[np.diff(above) == 0] > 0).all()), WRONG)


def _sides(n_nodes: int, prefix: str, arrays: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """The codes of categories in two sets, and soft thresholds; other trees have none."""
    if f"{prefix}side_ptr" not in arrays:
        return {}
    side_ptr, sides = arrays[f"{prefix}side_ptr"], arrays[f"{prefix}sides"]
    require(side_ptr.shape == (n_nodes + 1,) and side_ptr.dtype == np.int64, WRONG)
    require(sides.ndim == 1 and sides.dtype == np.int32, WRONG)
    require(side_ptr[0] == 0 and side_ptr[-1] == len(sides) and bool((np.diff(side_ptr) >= 0).all()), WRONG)
    return {"side_ptr": side_ptr, "sides": sides}


def _check_sides(splits: SplitTable, columns: Sequence[ColumnCodec]) -> None:
    """A category in two sets names codes of its column, each once; a soft threshold its cuts. Both ascend."""
    in_sets, of_number = splits.threshold == SUBSET, splits.threshold >= 0
    if splits.side_ptr is None:
        require(not bool(in_sets.any()), WRONG)
        return
    n_sides = np.diff(splits.side_ptr)
    require(bool((n_sides[in_sets] > 0).all()) and bool(np.isin(n_sides[of_number], (0, N_LIKELY)).all()), WRONG)
    require(bool((n_sides[~in_sets & ~of_number] == 0).all()), WRONG)
    node = np.repeat(np.arange(splits.n_nodes), n_sides)
    code = np.where(in_sets[node], splits.sides >> 1, splits.sides)
    n_codes = np.array([len(c.cuts) if isinstance(c, NumberCodec) else c.arity for c in columns])[splits.column[node]]
    require(bool(((code >= 0) & (code < n_codes)).all()), WRONG)
    step, same = np.diff(code), np.diff(node) == 0
    require(bool((step[same] >= np.where(in_sets[node[1:]], 1, 0)[same]).all()), WRONG)


def _check_counts(tree: CountTree) -> None:
    """Every node has cells, which are sound."""
    sizes = np.diff(tree.cell_ptr)
    require(tree.cell_ptr[0] == 0 and tree.cell_ptr[-1] == tree.n_cells and bool((sizes > 0).all()), WRONG)
    check_cells(tree, WRONG)
