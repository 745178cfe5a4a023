"""A forest among the members of an ensemble: scores, explanations, intervals and tuning against what its trees say."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from countwise.data.codec import CategoryCodec, Codec
from countwise.infer.forest import Forest, ForestSpread
from countwise.infer.network import Parameters
from countwise.infer.pool import FittedForest, FittedNetwork, tune_part
from countwise.infer.trees import TreeMean
from countwise.infer.tuning import Tuning
from countwise.smooth import HDP
from countwise.tree.context import Family, build_trees
from countwise.tree.grow import GrowthRules, grow
from countwise.tree.splits import counted
from oracle.tables import dependent_table

N_CLASSES = 3
TABLE = dependent_table(0, 400, 5, n_classes=N_CLASSES, noise=0.5)
CODEC = Codec(
    tuple(CategoryCodec(f"c{i}", pa.array([str(v) for v in range(n)]), False) for i, n in enumerate(TABLE.arity)),
    np.arange(N_CLASSES),
)
N_VALUES = [0] * 5


def trees(n=3, table=TABLE):
    return [
        grow(table.batch(), CODEC, GrowthRules("entropy", 1, max_depth=depth, max_features=3), seed=depth)
        for depth in range(2, 2 + n)
    ]


def fitted(grown, weight=1.0):
    return FittedForest(grown, [HDP().fit_tree(tree.counts) for tree in grown], N_VALUES, weight)


TUNING = Tuning(np.ones(1), 0.6, np.array([0.2, -0.1, 0.0]), np.array([1.0, 0.5, -0.2]))
LOG_PRIOR = np.log([0.5, 0.3, 0.2])


@pytest.fixture
def forest():
    grown = trees()
    smoothed = tuple(HDP().smooth(tree.counts) for tree in grown)
    return Forest(grown, Parameters(LOG_PRIOR, smoothed, TUNING), N_VALUES)


def test_scores_are_the_prior_and_what_each_tree_adds(forest):
    batch = TABLE.batch()
    expected = LOG_PRIOR + TUNING.bias
    for t, weight in enumerate(0.6 * TUNING.weight):
        expected = expected + weight * (np.log(forest.trees.tree_proba(batch, t)) - LOG_PRIOR)
    np.testing.assert_allclose(forest.scores(batch), expected, rtol=1e-12)


def test_untuned_trees_are_averaged():
    grown = trees()
    smoothed = tuple(HDP().smooth(tree.counts) for tree in grown)
    plain, mean = Forest(grown, Parameters(LOG_PRIOR, smoothed), N_VALUES), TreeMean(grown, smoothed, N_VALUES)
    expected = sum(np.log(mean.tree_proba(TABLE.batch(), t)) for t in range(3)) / 3
    np.testing.assert_allclose(plain.scores(TABLE.batch()), expected, rtol=1e-12)


def test_explanations_are_exact_sums_of_steps(forest):
    batch = TABLE.batch()
    parts = forest.contributions(batch)
    assert parts.shape == (400, 5, N_CLASSES)
    np.testing.assert_allclose(forest.intercept + parts.sum(axis=1), forest.scores(batch), rtol=0, atol=1e-12)
    used = {int(c) for tree in forest.trees.trees for c in tree.splits.column} - {-1}
    assert np.abs(parts).max(axis=(0, 2)).nonzero()[0].tolist() == sorted(used)


def test_errors_of_trees_add_up(forest):
    """All count the same rows; where a tree has a negative weight, its rise is a fall. The prior is as good as sure."""
    batch = TABLE.batch()
    scores, up, down = ForestSpread(forest, 1e12).distances(batch, 0.9)
    np.testing.assert_array_equal(scores, forest.scores(batch))
    assert (up > 0).all()
    assert (down > 0).all()
    smoothed, grown = tuple(forest.trees.smoothed), forest.trees.trees

    def with_weights(weight):
        own = Forest(grown, Parameters(LOG_PRIOR, smoothed, replace(TUNING, weight=np.array(weight))), N_VALUES)
        return ForestSpread(own, 1e12).distances(batch, 0.9)[1:]

    np.testing.assert_allclose(with_weights([-1.0, -0.5, 0.2]), (down, up), atol=1e-5)
    alone = [with_weights(np.where(np.arange(3) == t, TUNING.weight, 0.0)) for t in range(3)]
    np.testing.assert_allclose(np.sum(alone, axis=0), (up, down), atol=1e-5)


def networks(table):
    built = build_trees(table.batch(), [Family(i, ()) for i in range(5)], table.arity, N_CLASSES)
    return [FittedNetwork(built, [HDP().fit_tree(tree.counts) for tree in built], table.arity)] * 2


def tuned(grown, table=TABLE, weight=1.0, threads=1):
    members = [*networks(table), fitted(grown, weight)]
    counts = np.bincount(table.y, minlength=N_CLASSES).astype(float)
    return tune_part(members, counts, [table.batch()] * 3, 5, threads)


def test_a_forest_is_tuned_beside_networks():
    *of_networks, own = tuned(trees())
    assert len(of_networks) == 2
    assert own.weight.shape == (3,)
    assert own.level_factor.shape == (1,)
    for other in of_networks:
        np.testing.assert_array_equal(own.bias, other.bias)
        assert own.level_factor != other.level_factor  # each smoothed as strongly as is best for it
    for a, b in zip(tuned(trees(), threads=3), [*of_networks, own], strict=True):
        np.testing.assert_array_equal(a.weight, b.weight)
        assert a.temperature == b.temperature


def test_networks_alone_are_tuned_as_before():
    counts = np.bincount(TABLE.y, minlength=N_CLASSES).astype(float)
    alone = tune_part(networks(TABLE), counts, [TABLE.batch()] * 2, 5, 1)
    with_nothing = tuned(trees(1), weight=1e-12)[:2]
    for a, b in zip(alone, with_nothing, strict=True):
        assert a.temperature == b.temperature
        np.testing.assert_allclose(a.bias, b.bias, atol=1e-4)
        np.testing.assert_allclose(a.weight, b.weight, atol=1e-3)


def test_trees_of_noise_lose_their_say():
    """Grown for labels at random, counted with the true ones."""
    random = replace(TABLE, y=np.random.default_rng(1).permutation(TABLE.y))
    batch = TABLE.batch()
    poor = [
        replace(tree, counts=counted(tree.splits, tree.splits.apply(batch, N_VALUES), TABLE.y, None, N_CLASSES))
        for tree in trees(3, random)
    ]
    good_say, poor_say = (tuned(own)[-1].term_factors(range(3)).sum() for own in (trees(3), poor))
    assert poor_say < 0.7 * good_say
