"""Growth of classification trees from coded rows: C4.5 (Quinlan 1993, 1996; paper 004, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from countwise import _kernels
from countwise.data.codec import Codec, NumberCodec
from countwise.data.coded import CodedBatch
from countwise.dtypes import IntArray, OffsetArray
from countwise.tree.count_tree import CountTree
from countwise.tree.splits import SplitTable, SplitTree, known_values, number_values

CRITERIA: Final = {"gain_ratio": 0, "entropy": 1, "gini": 2}
CATEGORY_SPLITS: Final = ("multiway", "binary")
MISSING_VALUES: Final = ("value", "fractional")
THRESHOLDS: Final = ("sharp", "soft")
NO_LIMIT: Final = 2**32 - 1
MOST_DOUBLINGS: Final = 62  # more subsets of categories are as many as that


@dataclass(frozen=True)
class GrowthRules:
    """When and by what a node is split; see :class:`ProbabilityTreeClassifier`."""

    criterion: str = "gain_ratio"
    min_samples_leaf: float = 2
    max_depth: int | None = None
    max_features: int | None = None  # attributes that a node looks at, drawn at random
    category_splits: str = "multiway"
    missing: str = "value"
    thresholds: str = "sharp"

    @property
    def subsets(self) -> bool:
        """Whether categories are split in two sets."""
        return self.category_splits == "binary"

    @property
    def soft(self) -> bool:
        """Whether thresholds are."""
        return self.thresholds == "soft"

    def options(self, seed: int) -> tuple[int, float, int, int, int, bool, bool]:
        """As the kernel takes them."""
        depth = NO_LIMIT if self.max_depth is None else self.max_depth
        features = NO_LIMIT if self.max_features is None else self.max_features
        return CRITERIA[self.criterion], float(self.min_samples_leaf), depth, features, seed, self.subsets, self.soft


def grow(batch: CodedBatch, codec: Codec, rules: GrowthRules, seed: int = 0, threads: int = 1) -> SplitTree:
    """A tree from rows in memory.

    A node is split where at least two branches keep ``min_samples_leaf`` rows and the split tells something about the
    class. By "gain_ratio" the gain of a threshold is less log2(thresholds) / rows, and the greatest ratio of
    gain to the information of the branches wins among the attributes of at least average gain; otherwise the greatest
    fall of entropy or of the Gini index. The first column, and the least threshold, of equals.
    """
    n_classes = len(codec.classes)
    assert batch.target is not None
    parent, branch, column, low, high, level_ptr, cell_ptr, cell_value, cell_count, side_ptr, sides = (
        _kernels.grow_tree(
            batch.codes,
            codec.arity,
            number_values(codec),
            batch.target,
            n_classes,
            batch.weights,
            known_values(codec) if rules.missing == "fractional" else [],
            rules.options(seed),
            threads,
        )
    )
    choices = split_choices(codec, rules)
    tree = CountTree(parent, level_ptr, cell_ptr, cell_value, cell_count, n_classes, choices=choices)
    if rules.soft:
        side_ptr, sides = likely_cuts(codec, column, low, side_ptr, sides)
    own_sides = (side_ptr, sides) if len(sides) else (None, sides)
    return SplitTree(tree, SplitTable(parent, branch, column, middle_cuts(codec, column, low, high), *own_sides))


def split_choices(codec: Codec, rules: GrowthRules) -> tuple[int, ...]:
    """How many splits each column offers: the thresholds of a number, the one split of a category, or its subsets.

    Of ``max_features`` columns drawn at random: as many, typical ones.
    """
    offers = sorted(
        max(n - 1, 1) if n or not rules.subsets else max(2 ** min(column.arity - 1, MOST_DOUBLINGS) - 1, 1)
        for n, column in zip(number_values(codec), codec.columns, strict=True)
    )
    max_features = rules.max_features
    if max_features is None or max_features >= len(offers):
        return tuple(offers)
    return tuple(offers[(2 * i + 1) * len(offers) // (2 * max_features)] for i in range(max_features))


def middle_cuts(codec: Codec, column: IntArray, low: IntArray, high: IntArray) -> IntArray:
    """Of the cut points that divide a node's rows alike, ``low`` to ``high``, the one in the middle by value."""
    threshold = low.copy()
    for i in np.unique(column[low < high]):
        cuts = codec.columns[i].cuts
        at = np.flatnonzero((column == i) & (low < high))
        goal = 0.5 * cuts[low[at]] + 0.5 * cuts[high[at]]
        above = np.searchsorted(cuts, goal)  # low < above <= high
        nearer = goal - cuts[above - 1] <= cuts[above] - goal
        threshold[at] = np.where(nearer, above - 1, above)
    return threshold


def likely_cuts(
    codec: Codec, column: IntArray, low: IntArray, side_ptr: OffsetArray, sides: IntArray
) -> tuple[OffsetArray, IntArray]:
    """Sides of nodes as the kernel lists them, with a cut in the place of each threshold's low and high code."""
    n_sides = np.diff(side_ptr)
    of_number = np.repeat(low >= 0, n_sides)
    pairs = sides[of_number].reshape(-1, 2)
    cuts = middle_cuts(codec, np.repeat(column, n_sides)[of_number][::2], pairs[:, 0], pairs[:, 1])
    firsts = np.flatnonzero(of_number)[::2]
    own = sides.copy()
    own[firsts] = cuts
    kept = ~of_number
    kept[firsts] = True
    n_kept = np.where(low >= 0, n_sides // 2, n_sides)
    return np.concatenate([[0], np.cumsum(n_kept)]).astype(np.int64), own[kept]


def only_used_cuts(codec: Codec, trees: Sequence[SplitTree]) -> tuple[Codec, list[SplitTree]]:
    """The codec with no more cut points than the splits need, and the trees in its codes."""
    columns = list(codec.columns)
    column = np.concatenate([own for tree in trees for own in (tree.splits.column, tree.splits.side_column)])
    cut = np.concatenate([own for tree in trees for own in (tree.splits.threshold, tree.splits.sides)])
    for i, own in enumerate(codec.columns):
        if not isinstance(own, NumberCodec) or own.n_bins == 0:
            continue
        at = np.flatnonzero(column == i)
        used, cut[at] = np.unique(cut[at], return_inverse=True)
        columns[i] = NumberCodec(own.name, own.cuts[used], len(used) + 1, own.has_missing, own.measure)
    ends = np.cumsum([n for tree in trees for n in (tree.splits.n_nodes, len(tree.splits.sides))])
    parts = np.split(cut, ends[:-1])
    narrow = [
        SplitTree(tree.counts, replace(tree.splits, threshold=threshold, sides=sides))
        for tree, threshold, sides in zip(trees, parts[::2], parts[1::2], strict=True)
    ]
    return Codec(tuple(columns), codec.classes), narrow
