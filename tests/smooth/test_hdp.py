"""HDP by variational inference: against its slow twin, exact values, and other samplers' figures."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import countwise as cw
from countwise.errors import DataError
from countwise.smooth import dense_proba, shrink
from countwise.smooth.hdp import HDP, TYINGS
from countwise.tree.context import Family, build_trees
from countwise.tree.count_tree import CountTree, single_node
from oracle import hdp_vb
from oracle.tables import Table, tables

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def tree_of(table):
    *parents, child = range(len(table.arity))
    (tree,) = build_trees(table.batch(), [Family(child, tuple(parents))], table.arity, table.n_classes)
    return tree.counts


def ragged(counts):
    """Root with a leaf child and an inner child that has two leaves: counts of the three leaves, values as given."""
    counts = np.asarray(counts, float)
    nodes = [counts.sum(0), counts[0], counts[1] + counts[2], counts[1], counts[2]]
    values = [np.flatnonzero(node) for node in nodes]
    return CountTree(
        parent=np.array([-1, 0, 0, 2, 2], np.int32),
        level_ptr=np.array([0, 1, 3, 5]),
        cell_ptr=np.cumsum([0, *map(len, values)]),
        cell_value=np.concatenate(values).astype(np.int32),
        cell_count=np.concatenate([node[v] for node, v in zip(nodes, values, strict=True)]),
        arity=counts.shape[1],
    )


def assert_equals_twin(tree, tying, prior):
    smoother = HDP(tying=tying, prior=prior)
    fit = smoother.fit_tree(tree)
    n, alpha, sweeps = hdp_vb.fit(tree, TYINGS[tying](tree), prior)
    assert fit.concentration == pytest.approx(alpha, rel=1e-6)
    assert fit.counts == pytest.approx(n[tree.cell_node, tree.cell_value], rel=1e-6)
    assert fit.n_sweeps == sweeps
    by_hand = shrink(tree, alpha[TYINGS[tying](tree)], n[tree.cell_node, tree.cell_value])
    assert dense_proba(tree, smoother.smooth(tree)) == pytest.approx(dense_proba(tree, by_hand), rel=1e-6)


@pytest.mark.parametrize("tying", TYINGS)
@settings(max_examples=40, deadline=None)
@given(tables(max_columns=3, max_arity=5), st.sampled_from([(2.0, 1.0), (1.0, 0.1), (3.0, 5.0)]))
def test_kernel_equals_the_slow_twin(tying, table, prior):
    tree = tree_of(table)
    if tree.total[0] > 0:
        assert_equals_twin(tree, tying, prior)


@pytest.mark.parametrize("tying", TYINGS)
def test_leaves_at_any_level(tying):
    assert_equals_twin(ragged([[5, 1, 0], [2, 0, 9], [0.5, 3.25, 1]]), tying, (2.0, 1.0))


def test_a_large_tree_equals_the_twin():
    rng = np.random.default_rng(0)  # several blocks of cells, slopes from one in eight of them, counts of thousands
    parents = rng.integers(0, 40, (30_000, 2))
    child = (parents.sum(1) + rng.geometric(0.3, 30_000)) % 7
    tree = tree_of(Table(np.column_stack([parents, child]), parents[:, 0] % 2, [40, 40, 7], 2))
    assert tree.n_cells > 5000
    fit = HDP().fit_tree(tree)
    n, alpha, _ = hdp_vb.fit(tree, tree.level)
    assert fit.concentration == pytest.approx(alpha, rel=0.03)  # the sampled slope changes the steps, not the target
    assert fit.counts == pytest.approx(n[tree.cell_node, tree.cell_value], rel=0.03)


def one_parent(counts):
    counts = np.asarray(counts, float)
    nodes = [counts.sum(0), *counts]
    values = [np.flatnonzero(node) for node in nodes]
    return CountTree(
        parent=np.array([-1] + [0] * len(counts), np.int32),
        level_ptr=np.array([0, 1, 1 + len(counts)]),
        cell_ptr=np.cumsum([0, *map(len, values)]),
        cell_value=np.concatenate(values).astype(np.int32),
        cell_count=np.concatenate([node[v] for node, v in zip(nodes, values, strict=True)]),
        arity=counts.shape[1],
    )


def test_close_to_the_exact_posterior_mean():
    # Enumeration of tables and quadrature over concentrations: 0.87162 and 0.79253 (one concentration per node,
    # Gamma(2, 1) prior, root concentration 2).
    tree = one_parent([[2, 0], [20, 5]])
    proba = dense_proba(tree, HDP(tying="node").smooth(tree))
    assert proba[1, 0] == pytest.approx(0.87162, abs=0.02)
    assert proba[2, 0] == pytest.approx(0.79253, abs=0.005)


@pytest.mark.skipif(not (SHARED / "car.parquet").exists(), reason="needs the folder of real data sets")
def test_car_is_close_to_a_long_gibbs_run():
    # 5,000 sweeps of the collapsed sampler: training log loss 1.7926 bits, concentrations 3.0, 4.2, 22.8, 32.3.
    data = cw.datasets.load_folder(SHARED)["car"]
    names = list(data.X.column_names)
    parents = {names[0]: names[1:4], names[1]: [], names[2]: [], names[3]: []}
    model = cw.BNClassifier(parents, smoothing="hdp").fit(data.X, data.y)
    tree = next(t for t in model.trees_ if t.family.child == 0).counts
    leaves = tree.level_cells(tree.n_levels - 1)
    smoothed = HDP().smooth(tree)
    loss = -(tree.cell_count[leaves] * np.log2(smoothed.cell_proba[leaves])).sum() / tree.total[0]
    assert loss == pytest.approx(1.7926, abs=0.02)
    alpha = HDP().fit_tree(tree).concentration[1:]
    assert alpha == pytest.approx([3.0, 4.2, 22.8, 32.3], rel=0.5)


def test_limits():
    rows = np.array([[300.0, 700.0], [500.0, 500.0]])
    tree = one_parent(rows * 1000)
    assert dense_proba(tree, HDP().smooth(tree))[1:] == pytest.approx(rows / 1000, abs=1e-3)  # many rows: frequencies
    alike = one_parent([[3, 1], [3, 1], [3, 1], [3, 1]])
    proba = dense_proba(alike, HDP(prior=(1000.0, 1.0)).smooth(alike))  # a prior of large concentrations
    assert proba[1:] == pytest.approx(np.tile(proba[0], (4, 1)), abs=1e-3)  # pulls to the node above


def test_a_root_and_an_empty_root():
    assert dense_proba(t := single_node(np.array([3.0, 0.0, 1.0])), HDP().smooth(t))[0] == pytest.approx(
        [(3 + 2 / 3) / 6, (2 / 3) / 6, (1 + 2 / 3) / 6]
    )
    empty = single_node(np.zeros(4))
    assert dense_proba(empty, HDP().smooth(empty))[0] == pytest.approx(np.full(4, 0.25))


def test_the_improper_prior_stays_within_bounds():
    tree = one_parent([[3, 1], [3, 1], [3, 1], [3, 1]])
    fit = HDP(prior=None).fit_tree(tree)
    assert 1e-3 <= fit.concentration[1] <= 4000


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"method": "mcmc"}, "method='mcmc'"),
        ({"tying": "levels"}, "tying='levels'"),
        ({"prior": (0, 1)}, "prior"),
        ({"prior": 2}, "prior"),
        ({"n_iter": 10.5}, "n_iter"),
        ({"n_iter": 50, "burn_in": 50}, "burn_in=50"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(DataError, match=message):
        HDP(**wrong).check()


@pytest.mark.parametrize("tying", TYINGS)
def test_the_three_methods_agree(tying):
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(3 * rng.dirichlet(np.ones(4)), 12)
    tree = one_parent([rng.multinomial(n, p) for n, p in zip(rng.integers(3, 60, 12), truth, strict=True)])
    vb, gibbs, crt = (
        dense_proba(tree, HDP(method, tying=tying, n_iter=4000, burn_in=200).smooth(tree, seed=1))
        for method in ("vb", "gibbs", "crt")
    )
    assert gibbs == pytest.approx(crt, abs=0.01)
    assert vb == pytest.approx(gibbs, abs=0.035)
    assert np.abs(vb - gibbs).mean() < 0.006


def test_a_chain_reports_on_itself():
    tree = one_parent([[2, 0], [20, 5], [3, 3]])
    chain = HDP("gibbs", n_iter=1000).sample(tree, draw_node=2)
    assert chain.trace.shape == (900, 2)
    assert chain.rhat[1] < 1.1
    assert 50 < chain.effective_size[1] <= 900
    assert chain.draws.shape == (200, 2)
    assert chain.draws[:, 0].mean() == pytest.approx(dense_proba(tree, chain.smoothed)[2, 0], abs=0.03)
    with pytest.raises(DataError, match="keep_trace"):
        _ = HDP("crt").sample(tree, keep_trace=False).rhat
    with pytest.raises(DataError, match="method='vb' is not a sampler"):
        HDP().sample(tree)


def test_classifiers_take_every_method():
    X, y = cw.datasets.load("iris")
    for method in ("gibbs", "crt"):
        model = cw.NBClassifier(smoothing=HDP(method, n_iter=200)).fit(X, y)
        assert (model.predict(X) == y).mean() > 0.9
        np.testing.assert_array_equal(model.predict_proba(X), model.fit(X, y).predict_proba(X))
