"""Pruned trees are the best of all subtrees, by brute force on small trees."""

from itertools import chain, product

import numpy as np
import pytest
from scipy.stats import binom

import countwise as cw
from countwise.data.coded import MemoryCodes
from countwise.data.discretise import EveryValue
from countwise.data.schema import learn_schema
from countwise.data.source import MemorySource
from countwise.errors import DataError
from countwise.estimators.learn import coded_memory
from countwise.smooth import dense_proba
from countwise.tree.grow import GrowthRules
from countwise.tree.growth import Growth
from countwise.tree.prune import PRUNERS, cut, validated
from countwise.tree.prune.base import cheapest, subtree
from countwise.tree.prune.cost_complexity import ALPHAS, best_alpha, pruned_at
from countwise.tree.prune.pessimistic import upper_errors
from countwise.tree.prune.reduced_error import held_errors
from countwise.tree.splits import number_values
from oracle.grown import NEW, X, Y, assert_same, frame, way_of


def growth(n_rows=60, seed=0, **rules):
    table, labels = frame(n_rows, seed)
    classes, y = np.unique(labels, return_inverse=True)
    source = MemorySource(table[["age", "word"]], y.astype(np.int64), None)
    codec = learn_schema(source, EveryValue()).codec
    codec = type(codec)(codec.columns, classes)
    return Growth(MemoryCodes(coded_memory(source, codec, 1), codec), codec, GrowthRules(**rules))


def nodes_of(splits, own):
    """The node of each row."""
    return splits.apply(own.data.rows(), number_values(own.codec))


def below(splits, node):
    """The node and all under it."""
    found = [node]
    for other in found:
        found += np.flatnonzero(splits.parent == other).tolist()
    return found


def every_subtree(splits):
    """All sets of leaves that a pruned tree can have."""

    def of(node):
        children = np.flatnonzero(splits.parent == node).tolist()
        choices = [[node]]
        if children:
            choices += [list(chain(*parts)) for parts in product(*(of(child) for child in children))]
        return choices

    return of(0)


def leaves_of(splits, stops):
    found, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if stops[node]:
            found.append(node)
        else:
            waiting += np.flatnonzero(splits.parent == node).tolist()
    return sorted(found)


@pytest.mark.parametrize("seed", range(5))
def test_the_choice_is_the_best_of_all_subtrees(seed):
    tree = growth(seed=seed, max_depth=3, criterion="entropy").grow()
    rng = np.random.default_rng(seed)
    as_leaf, on_the_way = rng.random(tree.splits.n_nodes), 0.3 * rng.random(tree.splits.n_nodes)

    def cost(leaves):
        under = {other for leaf in leaves for other in below(tree.splits, leaf)}
        return as_leaf[leaves].sum() + sum(on_the_way[i] for i in range(tree.splits.n_nodes) if i not in under)

    choices = every_subtree(tree.splits)
    assert len(choices) > 10
    found = leaves_of(tree.splits, cheapest(tree.splits, as_leaf, on_the_way))
    assert cost(found) == pytest.approx(min(cost(leaves) for leaves in choices))


def test_the_smallest_of_equals():
    tree = growth().grow()
    stops = cheapest(tree.splits, tree.counts.total)  # every subtree costs the same
    assert leaves_of(tree.splits, stops) == [0]
    assert cut(tree, stops).counts.n_nodes == 1


def test_a_cut_tree_is_the_top_of_the_tree():
    tree = growth(200).grow()
    rng = np.random.default_rng(0)
    stops = (rng.random(tree.splits.n_nodes) < 0.3) | tree.splits.is_leaf
    stops[0] = False
    small = cut(tree, stops)
    assert 1 < small.counts.n_nodes < tree.counts.n_nodes
    rows = growth(200).data.rows()
    leaf, node = nodes_of(small.splits, growth(200)), nodes_of(tree.splits, growth(200))
    assert len(np.unique(leaf)) == small.n_leaves == len(leaves_of(tree.splits, stops))
    dense = np.zeros((small.counts.n_nodes, 3))
    np.add.at(dense, (leaf, rows.target), 1)
    at = small.splits.is_leaf[small.counts.cell_node]
    assert np.array_equal(dense[small.counts.cell_node[at], small.counts.cell_value[at]], small.counts.cell_count[at])
    for end in np.unique(leaf):  # the rows of a leaf are those of a whole subtree
        assert not set(node[leaf == end]) & set(node[leaf != end])
    assert subtree(tree, np.ones(tree.splits.n_nodes, bool)) is tree


def test_upper_limits():
    """P(at most E of N | U) = confidence; Quinlan (1993, chapter 4) has 0.206 for 0 of 6 and 0.143 for 0 of 9."""
    for errors, total in ((0, 6), (0, 9), (1, 16), (7, 20)):
        limit = upper_errors(np.array([float(errors)]), np.array([float(total)]), 0.25)[0] / total
        assert binom.cdf(errors, total, limit) == pytest.approx(0.25)
    assert upper_errors(np.zeros(2), np.array([6.0, 9.0]), 0.25) / [6, 9] == pytest.approx([0.206, 0.143], abs=5e-4)


def test_held_out_errors():
    own = growth(150)
    without, part = next(own.dealt(3))
    tree, held = without.grow(), part.data.rows()
    assert held.weights.sum() + without.data.rows().weights.sum() == 150
    assert abs(held.weights.sum() - 50) <= 3  # one of each class at most
    errors, stopped = held_errors(tree, part.reached(tree.splits))
    dense = np.zeros((tree.counts.n_nodes, 3))
    dense[tree.counts.cell_node, tree.counts.cell_value] = tree.counts.cell_count
    expected, last = np.zeros(len(dense)), np.zeros(len(dense))
    for r, node in enumerate(nodes_of(tree.splits, part)):
        weight, at = 1.0 if held.weights is None else held.weights[r], node
        while at >= 0:
            wrong = weight * (np.argmax(dense[at]) != held.target[r])
            expected[at] += wrong
            last[at] += wrong * (at == node)
            at = tree.splits.parent[at]
    assert np.array_equal(errors, expected)
    assert np.array_equal(stopped, last)
    assert errors.sum() > stopped.sum() > 0


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.05, 1.0])
def test_cost_complexity_is_the_best_subtree(alpha):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(400, 3))
    y = ((table[:, 0] > 0) ^ (rng.random(400) < 0.2)).astype(int)
    ours = cw.ProbabilityTreeClassifier(criterion="entropy", pruning=cw.CostComplexity(alpha)).fit(table, y)
    plain = cw.ProbabilityTreeClassifier(criterion="entropy").fit(table, y).trees_[0]
    error = plain.counts.total - np.maximum.reduceat(plain.counts.cell_count, plain.counts.cell_ptr[:-1])

    def best(node):
        """(cost, leaves) of the best subtree, the smallest of equals."""
        children = np.flatnonzero(plain.splits.parent == node)
        alone = (error[node] + alpha * 400, 1)
        if len(children) == 0:
            return alone
        parts = [best(child) for child in children]
        return min(alone, (sum(p[0] for p in parts), sum(p[1] for p in parts)), key=lambda p: (round(p[0], 6), p[1]))

    assert ours.n_leaves_ == best(0)[1]


def test_cross_validation_chooses_alpha():
    """On noise nothing is worth a leaf; on a clear concept nothing is cut."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 3))
    model = cw.ProbabilityTreeClassifier(pruning="cost-complexity", criterion="gini")
    assert model.fit(noise, rng.integers(0, 2, 300) * (rng.random(300) < 0.8)).n_leaves_ < 5
    assert model.fit(noise, (noise[:, 0] > 0).astype(int) * 2 + (noise[:, 1] > 0)).n_leaves_ == 4
    own = growth(200)
    losses = []
    for alpha in ALPHAS:
        wrong = 0.0
        for without, part in own.dealt(5):
            held = part.data.rows()
            tree = pruned_at(without.grow(), alpha)
            dense = np.zeros((tree.counts.n_nodes, 3))
            dense[tree.counts.cell_node, tree.counts.cell_value] = tree.counts.cell_count
            miss = np.argmax(dense[nodes_of(tree.splits, part)], axis=1) != held.target
            wrong += (np.ones(held.n_rows) if held.weights is None else held.weights)[miss].sum()
        losses.append(wrong)
    assert best_alpha(own) == max(a for a, loss in zip(ALPHAS, losses, strict=True) if loss == min(losses))


@pytest.mark.parametrize("category_splits", ["multiway", "binary"])
@pytest.mark.parametrize("name", [*PRUNERS, "validation"])
def test_every_method(name, category_splits, tmp_path):
    params = {"validation": True} if name == "validation" else {"pruning": name}
    params["category_splits"] = category_splits
    model = cw.ProbabilityTreeClassifier(**params).fit(X, Y)
    whole = cw.ProbabilityTreeClassifier(category_splits=category_splits).fit(X, Y)
    assert 1 < model.n_leaves_ < whole.n_leaves_
    assert (np.diff(model.tree_.cell_ptr) > 0).all()
    assert model.apply(NEW).tolist() == [way_of(model, row)[-1] for row in NEW.to_dict("records")]
    order = np.random.default_rng(2).permutation(len(X))
    assert_same(cw.ProbabilityTreeClassifier(**params, n_jobs=2).fit(X.iloc[order], Y[order]), model)
    times = np.random.default_rng(3).integers(0, 3, len(X))
    repeated = cw.ProbabilityTreeClassifier(**params).fit(X.loc[np.repeat(X.index, times)], np.repeat(Y, times))
    assert_same(cw.ProbabilityTreeClassifier(**params).fit(X, Y, sample_weight=times), repeated)
    model.save(tmp_path / "tree.cw")
    assert_same(cw.load(tmp_path / "tree.cw"), model)
    if name in ("pessimistic", "cost-complexity"):
        assert model.tree_.total[0] == len(X)


def test_validation_counts_the_other_half():
    own = growth(200)
    without, part = next(own.dealt(2))
    splits, found = without.grow().splits, validated(own)
    nodes, rest = nodes_of(splits, part), part.data.rows()
    at_leaf = splits.is_leaf[nodes]
    weights = np.ones(rest.n_rows) if rest.weights is None else rest.weights
    assert found.counts.total[0] == weights[at_leaf].sum()
    assert found.n_leaves == len(np.unique(nodes[at_leaf]))
    assert found.counts.total[0] < own.data.n_rows * 0.6


def test_curtailment_asks_the_ancestor():
    plain = cw.ProbabilityTreeClassifier(smoothing="laplace").fit(X, Y)
    model = cw.ProbabilityTreeClassifier(smoothing="laplace", curtail=40).fit(X, Y)
    assert np.array_equal(model.tree_.cell_count, plain.tree_.cell_count)
    table, total = dense_proba(plain.tree_, plain._parameters[0]), plain.tree_.total
    ends = [max(n for n in way_of(plain, row) if total[n] >= 40) for row in NEW.to_dict("records")]
    assert model.apply(NEW).tolist() == ends
    assert (np.asarray(ends) != plain.apply(NEW)).any()
    np.testing.assert_allclose(model.predict_proba(NEW), table[ends], rtol=1e-12)
    scores = np.exp(model.explain(NEW).scores())
    np.testing.assert_allclose(scores / scores.sum(axis=1, keepdims=True), table[ends], rtol=1e-12)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"pruning": "hard"}, "pruning='hard' is not known"),
        ({"pruning": 3}, "pruning must be None, a name or a Pruner"),
        ({"pruning": cw.Pessimistic(2)}, "confidence must be a number between 0 and 1"),
        ({"pruning": cw.ReducedError(1)}, "n_parts must be an integer of at least 2"),
        ({"pruning": cw.CostComplexity(-1)}, "alpha must be a number >= 0 or 'cv'"),
        ({"pruning": "pessimistic", "validation": True}, "use one of them"),
        ({"curtail": -1}, "curtail must be a number >= 0"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(DataError, match=message):
        cw.ProbabilityTreeClassifier(**params).fit(X, Y)
