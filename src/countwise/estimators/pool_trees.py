"""The trees of a pool: how they are made different, and the pass that counts them."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np

from countwise.data.codec import Codec, NumberCodec
from countwise.data.coded import CodedBatch
from countwise.data.passes import MemberData, Steps
from countwise.data.sample import drawn_rows
from countwise.dtypes import FloatArray
from countwise.estimators.members import CountBudget
from countwise.infer.members import ForestMember, Member
from countwise.parallel import thread_map
from countwise.progress import progress_bar
from countwise.tree.ends import EndCounter, with_counts
from countwise.tree.grow import GrowthRules, grow, only_used_cuts
from countwise.tree.splits import SplitTree

TREE_COLUMNS = 2 / 3  # of the attributes, drawn at random, are looked at by a node
FEWEST_ROWS = 3  # for each category of a column
TREE_STREAM = 1  # of the pool's seed; its networks have the seed itself


def growth_rules(t: int, n_columns: int) -> GrowthRules:
    """Those of tree ``t``: half of the trees split by gain ratio, which doubts splits among many, half by entropy."""
    criterion = ("gain_ratio", "entropy")[t % 2]
    return GrowthRules(criterion, 1, max_features=ceil(TREE_COLUMNS * n_columns), category_splits="binary")


def columns_of_trees(codec: Codec, rows: CodedBatch) -> list[int]:
    """The columns that trees may split on: numbers, and categories that come again.

    A tree that splits on names knows the rows that it was grown from, and nothing about others.
    """
    most = rows.copies.sum() / FEWEST_ROWS
    pairs = enumerate(zip(codec.columns, rows.codes, strict=True))
    return [i for i, (own, codes) in pairs if isinstance(own, NumberCodec) or len(np.unique(codes)) <= most]


def grow_forests(
    codec: Codec, rows: CodedBatch, outside: FloatArray, n_trees: int, seed: int, threads: int
) -> list[tuple[Codec, list[SplitTree]]]:
    """``n_trees`` trees for each part, each from rows drawn among those outside it (weights, parts x rows).

    The codec of a part's trees has no more cut points than they need.
    """
    if n_trees == 0:
        return []
    seeds = np.random.SeedSequence(seed, spawn_key=(TREE_STREAM,)).spawn(len(outside) * n_trees)
    offered = np.array([*columns_of_trees(codec, rows), -1], np.int32)  # a leaf's -1 stays
    own_codec = replace(codec, columns=tuple(codec.columns[i] for i in offered[:-1]))
    own_rows = replace(rows, codes=[rows.codes[i] for i in offered[:-1]])

    def grow_one(t: int) -> SplitTree:
        rng = np.random.default_rng(seeds[t])
        drawn = drawn_rows(own_rows.weighted(outside[t // n_trees]), rng)
        tree = grow(drawn, own_codec, growth_rules(t, len(own_codec.columns)), int(rng.integers(2**63)))
        bar.advance()
        return SplitTree(tree.counts, replace(tree.splits, column=offered[tree.splits.column]))

    with progress_bar("growing trees", len(seeds)) as bar:
        trees = thread_map(grow_one, range(len(seeds)), threads)
    return [only_used_cuts(codec, trees[t : t + n_trees]) for t in range(0, len(trees), n_trees)]


def count_forest(
    data: MemberData, codec: Codec, grown: list[SplitTree], part: int, weight: float, budget: CountBudget
) -> Steps[Member]:
    """The trees of a part with the counts of all rows, in one pass.

    Every leaf has rows: those that it was grown from. A row with a category that its node did not meet then comes to
    no leaf, and is left out of that tree.
    """
    counter = EndCounter([tree.splits for tree in grown], codec)
    yield counter
    trees = with_counts(grown, counter.ends)
    budget.take(trees)
    return ForestMember(codec, trees, group=part, weight=weight)
