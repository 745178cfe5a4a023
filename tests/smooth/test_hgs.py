"""Hierarchical gradient smoothing: against rows left out by counting again, by differences, by SciPy, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import load_wine

import countwise as cw
from countwise import _kernels
from countwise.errors import DataError
from countwise.estimators.names import make
from countwise.smooth import HGS, as_smoother, dense_proba
from countwise.smooth.hgs import FREEDOM, ODDS, SPREAD, UNIFORM_ROWS, centres, descend, log_choices
from countwise.tree.count_tree import single_node
from oracle import hgs
from oracle.count_trees import Leaves
from oracle.hls import count_tree, random_tree

CASES = [(seed, arity) for seed in range(5) for arity in (2, 3, 6)]
MEDICAL = Leaves({(0,): (90, 900), (1, 0): (10, 0), (1, 1): (0, 1)}, 2)  # paper 004, figure 2: gene, then sex


def random_case(seed, arity, **kwargs):
    parent, level_ptr, counts = random_tree(seed, arity, **kwargs)
    return parent, counts, count_tree(parent, level_ptr, counts)


def inner_nodes(parent):
    return sorted(set(parent) - {-1})


def spread_weights(parent, weight):
    out = np.zeros(len(parent))
    out[inner_nodes(parent)] = weight
    return out


def kernel_loss(tree, weight, squared=False):
    """(value, gradient) for the weights of inner nodes."""
    inner, weights, gradient = inner_nodes(tree.parent.tolist()), np.zeros(tree.n_nodes), np.empty(tree.n_nodes)
    weights[inner] = weight
    value = _kernels.hgs_loss(tree.kernel_arrays, UNIFORM_ROWS, squared, weights, gradient)
    return value, gradient[inner]


def kernel_fit(tree, squared=False, tolerance=1e-12, max_iterations=500):
    weight = centres(tree)
    args = tree.kernel_arrays, UNIFORM_ROWS, squared, SPREAD, tolerance, max_iterations
    return _kernels.hgs_fit(*args, weight), weight


def kernel_proba(tree, weight):
    out = np.empty(tree.n_cells), np.empty(tree.n_nodes), np.empty(tree.n_nodes)
    _kernels.hgs_smooth(tree.kernel_arrays, UNIFORM_ROWS, weight, *out)
    return out


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(("seed", "arity"), CASES)
def test_each_row_left_out_as_if_the_rest_were_counted(seed, arity, squared):
    """Small leaves: many rows are alone in their leaf, some in nodes above it."""
    parent, counts, tree = random_case(seed, arity, scale=0.7 if seed % 2 else 4.0)
    weight = np.random.default_rng(seed).uniform(0.05, 3.0, len(inner_nodes(parent)))
    expected = hgs.loss(parent, counts, spread_weights(parent, weight), UNIFORM_ROWS, squared)
    assert kernel_loss(tree, weight, squared)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(("seed", "arity"), CASES)
def test_gradient_by_differences(seed, arity, squared):
    parent, _, tree = random_case(seed, arity, weighted=seed % 2 == 1)
    weight = np.random.default_rng(seed).uniform(0.05, 3.0, len(inner_nodes(parent)))
    slope = approx_fprime(weight, lambda w: kernel_loss(tree, w, squared)[0], 1e-7)
    assert kernel_loss(tree, weight, squared)[1] == pytest.approx(slope, abs=2e-5)


@pytest.mark.parametrize(("seed", "arity"), CASES)
def test_estimates_of_all_nodes(seed, arity):
    parent, counts, tree = random_case(seed, arity, weighted=seed % 2 == 1)
    weight = spread_weights(parent, np.random.default_rng(seed).uniform(0.05, 3.0, len(inner_nodes(parent))))
    smoothed = as_smoother("hgs").smooth(tree)
    smoothed = type(smoothed)(*kernel_proba(tree, weight)[:2], True, smoothed.precision)
    expected = hgs.proba(parent, counts, weight, UNIFORM_ROWS)
    assert dense_proba(tree, smoothed) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("choices", [(), (1, 1, 1), (1, 40, 3)])
@pytest.mark.parametrize(("seed", "arity"), CASES)
def test_centres(seed, arity, choices):
    parent, counts, tree = random_case(seed, arity, scale=40.0)
    tree = replace(tree, choices=choices)
    total = counts.sum(axis=1)
    chance = np.log([sum(min(c, n - 1) for c in choices) if choices else np.e * n for n in total])
    assert log_choices(tree) == pytest.approx(chance, rel=1e-12)
    assert centres(tree) == pytest.approx(hgs.centres(parent, counts, chance, FREEDOM, *ODDS), rel=1e-12)


def test_centres_of_strong_and_of_chance_splits():
    strong = Leaves({(0,): (500, 0), (1,): (0, 500)}, 2)
    chance = Leaves({(0,): (3, 1), (1,): (2, 2)}, 2)
    assert centres(strong.tree)[0] == pytest.approx(ODDS[0] ** 1.5)
    assert centres(chance.tree)[0] == pytest.approx(ODDS[1] ** 1.5)


def test_a_split_pays_for_the_choice():
    tree = Leaves({(0,): (90, 5), (1,): (9, 40)}, 2).tree
    few, many = replace(tree, choices=(1,)), replace(tree, choices=(1000,) * 1000)
    assert centres(few)[0] < centres(tree)[0] < centres(many)[0]


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(("seed", "arity"), [(seed, arity) for seed, arity in CASES if seed < 3])
def test_minimum_is_scipys(seed, arity, squared):
    parent, counts, tree = random_case(seed, arity, n_nodes=8)
    value, weight = hgs.fit(parent, counts, centres(tree), SPREAD, UNIFORM_ROWS, squared)
    found, kernel_weight = kernel_fit(tree, squared)
    assert found == pytest.approx(value, rel=1e-8)
    assert kernel_weight == pytest.approx(weight, rel=1e-3)


@pytest.mark.parametrize(("seed", "arity"), CASES)
def test_the_loss_never_rises(seed, arity):
    tree = random_case(seed, arity, n_nodes=40)[2]
    values = [kernel_fit(tree, max_iterations=i)[0] for i in range(12)]
    assert np.all(np.diff(values) <= 1e-9)
    assert values[-1] < values[0]


@pytest.mark.parametrize("loss", ["log", "squared"])
def test_the_tolerance_is_small_in_the_probabilities(loss):
    tree = random_case(1, 4, n_nodes=60, scale=20.0)[2]
    near = dense_proba(tree, HGS(loss).smooth(tree))
    _, weight = kernel_fit(tree, loss == "squared")
    cell_proba, absent, precision = kernel_proba(tree, weight)
    exact = dense_proba(tree, type(HGS().smooth(tree))(cell_proba, absent, True, precision))
    assert near == pytest.approx(exact, abs=0.01)


def test_medical_tree_by_hand():
    """One man with the gene and without the disease; 10 of 11 with the gene, 100 of 1001 of all have the disease."""
    tree = MEDICAL.tree
    ones = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
    cell_proba, absent, precision = kernel_proba(tree, ones)
    dense = dense_proba(tree, type(HGS().smooth(tree))(cell_proba, absent, True, precision))
    root = (100 + 0.5) / (1001 + 1)
    assert dense[4, 0] == pytest.approx((0 + 10 / 11 + root) / (1 + 1 + 1))
    assert dense[3, 0] == pytest.approx((10 + 10 / 11 + root) / (10 + 1 + 1))
    assert dense[2, 0] == pytest.approx((10 / 11 + root) / 2)
    assert dense[0, 0] == pytest.approx(root)
    assert precision == pytest.approx([1, 991, 2, 12, 3])


def test_leave_one_out_of_the_medical_tree_by_hand():
    root = {"ill": (99 + 0.5) / 1001, "well": (900 + 0.5) / 1001}
    expected = -90 * np.log((89 + root["ill"]) / (989 + 1)) - 900 * np.log((899 + root["well"]) / (989 + 1))
    expected -= 10 * np.log((9 + 9 / 10 + root["ill"]) / (9 + 2))
    expected -= np.log((0 + 0 / 10 + root["well"]) / (0 + 2))
    assert kernel_loss(MEDICAL.tree, np.ones(2))[0] == pytest.approx(expected, rel=1e-12)


def test_gradient_descent_is_the_papers():
    parent, counts, tree = random_case(3, 3)
    inner = inner_nodes(parent)
    unit = 1 / (counts[0].sum() * np.log(2))
    weight = spread_weights(parent, np.ones(len(inner)))
    cost = unit * hgs.loss(parent, counts, weight, UNIFORM_ROWS)
    for _ in range(1000):
        slope = unit * approx_fprime(
            weight[inner], lambda w: hgs.loss(parent, counts, spread_weights(parent, w), UNIFORM_ROWS), 1e-7
        )
        weight[inner] -= 0.01 * slope
        now = unit * hgs.loss(parent, counts, weight, UNIFORM_ROWS)
        fall, cost = cost - now, now
        if fall <= 1e-4:
            break
    assert descend(tree) == pytest.approx(weight, abs=1e-6)
    assert np.abs(descend(tree)[inner] - 1).max() < 0.1


def test_weighted_rows():
    """Half rows, left out whole; and two halves are one row."""
    tree = Leaves({(0,): (0.5, 2.25), (1,): (1.5, 0.0)}, 2).tree
    a, root = 0.7, [(2.0 - 1 + 0.5) / (4.25 - 1 + 1), (2.25 - 1 + 0.5) / (4.25 - 1 + 1)]
    expected = -0.5 * np.log((0 + a * root[0]) / (2.25 + a)) - 2.25 * np.log((1.25 + a * root[1]) / (1.75 + a))
    expected -= 1.5 * np.log((0.5 + a * root[0]) / (0.5 + a))
    assert kernel_loss(tree, np.array([a]))[0] == pytest.approx(expected, rel=1e-12)


def test_a_value_that_a_leaf_has_not_seen_comes_from_the_ancestors_that_have():
    tree = Leaves({(0, 0): (4, 0, 0, 0), (0, 1): (0, 3, 0, 0), (1,): (0, 0, 5, 0)}, 4).tree
    dense = dense_proba(tree, HGS().smooth(tree))
    weight = HGS().weights(tree)
    leaf = 3  # (0, 0)
    root = (np.array([4, 3, 5, 0]) + 0.25) / 13
    expected = (np.array([4, 0, 0, 0]) + weight[0] * root + weight[1] * np.array([4, 3, 0, 0]) / 7) / (
        4 + weight[0] + weight[1]
    )
    assert dense[leaf] == pytest.approx(expected, rel=1e-12)


def test_one_node():
    assert dense_proba(t := single_node(np.array([3.0, 0.0, 1.0])), HGS().smooth(t))[0] == pytest.approx(
        np.array([3 + 1 / 3, 1 / 3, 1 + 1 / 3]) / 5
    )


@pytest.mark.parametrize("solver", ["lbfgs", "gd"])
@pytest.mark.parametrize("loss", ["log", "squared"])
def test_options_are_distributions(loss, solver):
    tree = random_case(2, 5, n_nodes=50, scale=0.5)[2]
    dense = dense_proba(tree, HGS(loss, solver).smooth(tree))
    assert (dense > 0).all()
    assert dense.sum(axis=1) == pytest.approx(np.ones(tree.n_nodes), rel=1e-12)


@pytest.mark.parametrize(("wrong", "message"), [({"loss": "hinge"}, "log, squared"), ({"solver": "sgd"}, "lbfgs, gd")])
def test_unknown_names(wrong, message):
    with pytest.raises(DataError, match=message):
        as_smoother(HGS(**wrong))


@pytest.mark.parametrize("model", [cw.SKDBClassifier, cw.KDBClassifier])
def test_networks(model, tmp_path):
    """End to end: fitted, tuned by nothing (that is for HDP), saved and loaded; weights are repetitions."""
    X, y = load_wine(return_X_y=True)
    fitted = model(k=2, smoothing="hgs").fit(X, y)
    proba = fitted.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(np.ones(len(y)))
    assert (proba > 0).all()
    assert fitted.score(X, y) > 0.95
    same = model(k=2, smoothing=cw.HGS(), tune=None).fit(X, y)
    assert np.array_equal(same.predict_proba(X), proba)
    with pytest.raises(DataError, match="needs smoothing='hdp'"):
        model(k=2, smoothing="hgs", tune="loo").fit(X, y)
    interval = fitted.predict_proba_interval(X[:5])
    assert (interval[..., 0] <= proba[:5]).all()
    assert (proba[:5] <= interval[..., 1]).all()
    fitted.save(tmp_path / "wine.cw")
    assert np.array_equal(cw.load(tmp_path / "wine.cw").predict_proba(X), proba)


def test_weights_are_repetitions_in_a_network():
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    by_weight = cw.KDBClassifier(k=2, smoothing="hgs").fit(X, y, sample_weight=weight)
    repeated = cw.KDBClassifier(k=2, smoothing="hgs").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert by_weight.predict_proba(X) == pytest.approx(repeated.predict_proba(X), rel=1e-9)


def test_by_name():
    assert repr(make("kdb3-hgs")) == "KDBClassifier(k=3, smoothing=HGS())"
