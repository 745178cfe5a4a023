"""Hierarchical linear smoothing: against dense matrices and SciPy, against scikit-learn, at its limits."""

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from countwise import _kernels
from countwise.errors import DataError
from countwise.smooth import HLS, as_smoother, dense_proba
from countwise.smooth.hls import PENALTIES, path_losses, split_counts
from countwise.tree.context import Family, build_trees
from countwise.tree.count_tree import CountTree, single_node
from oracle import hls
from oracle.tables import many, tables

CASES = [(seed, arity) for seed in range(4) for arity in (2, 3, 6)]


def kernel_fit(tree, penalty, tolerance=1e-13, max_iterations=500):
    """What the kernel's minimum is."""
    out = np.empty(tree.n_cells), np.empty(tree.n_nodes), np.empty(tree.n_nodes)
    args = tree.kernel_arrays, tree.cell_count, 1.0, penalty, tolerance, max_iterations
    return _kernels.hls_fit(*args, *out)


def objective(tree, x, penalty):
    gradient = np.empty_like(x)
    return _kernels.hls_objective(tree.kernel_arrays, tree.cell_count, 1.0, penalty, x, gradient), gradient


def random_case(seed, arity, **kwargs):
    parent, level_ptr, counts = hls.random_tree(seed, arity, **kwargs)
    return parent, counts, hls.count_tree(parent, level_ptr, counts)


@pytest.mark.parametrize(("seed", "arity"), CASES)
def test_value_and_gradient(seed, arity):
    parent, counts, tree = random_case(seed, arity, weighted=seed % 2 == 1)
    cells = counts > 0
    x = np.random.default_rng(seed).normal(size=tree.n_cells + tree.n_nodes)

    def value(x):
        return hls.objective(parent, counts, hls.spread(x, cells), 0.7, 1.0)

    found, gradient = objective(tree, x, 0.7)
    assert found == pytest.approx(value(x), rel=1e-12)
    assert gradient == pytest.approx(approx_fprime(x, value, 1e-7), abs=1e-4)
    exact = hls.gather(hls.gradient(parent, counts, hls.spread(x, cells), 0.7, 1.0), cells)
    assert gradient == pytest.approx(exact, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize(("seed", "arity"), CASES)
@pytest.mark.parametrize("penalty", [0.02, 1.0, 50.0])
def test_minimum(seed, arity, penalty):
    parent, counts, tree = random_case(seed, arity, weighted=seed % 2 == 1)
    value, proba = hls.fit(parent, counts, penalty, 1.0)
    assert kernel_fit(tree, penalty) == pytest.approx(value, rel=1e-9)
    assert dense_proba(tree, HLS(penalty).smooth(tree)) == pytest.approx(proba, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_two_values_are_the_full_model(seed):
    parent, counts, tree = random_case(seed, 2)
    assert (counts == 0).any()
    _, proba = hls.fit(parent, counts, 0.5, 1.0, cells=np.ones_like(counts, bool))
    assert dense_proba(tree, HLS(0.5).smooth(tree)) == pytest.approx(proba, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_shared_coefficients_are_close_to_the_full_model(seed):
    parent, counts, tree = random_case(seed, 5, scale=8.0)
    _, full = hls.fit(parent, counts, 1.0, 1.0, cells=np.ones_like(counts, bool))
    proba = dense_proba(tree, HLS(1.0).smooth(tree))
    divergence = np.sum(full * np.log(full / proba), axis=1)
    assert 1e-9 < divergence.max() < 0.02


@pytest.mark.parametrize(("arity", "strength"), [(2, 2.0), (3, 1.0)])
@pytest.mark.parametrize("penalty", [0.1, 2.0])
def test_logistic_regression(arity, strength, penalty):
    # Rows with an indicator for each node on their path, and one row of prior without any. scikit-learn has one
    # coefficient for two classes, the difference w of ours: penalty / 2 * 2 (w / 2)^2 = w^2 / (2 C), C = 2 / penalty.
    # Where a node lacks one of three values, scikit-learn has no shared coefficient: so every node has all three.
    parent, counts, tree = random_case(5, arity, scale=12.0, floor=float(arity == 3))
    design, labels, weights = [np.zeros(tree.n_nodes)] * arity, list(range(arity)), [1.0 / arity] * arity
    path = np.zeros((tree.n_nodes, tree.n_nodes))
    for node in range(1, tree.n_nodes):
        path[node] = path[parent[node]]
        path[node, node] = 1.0
        for value in np.flatnonzero(counts[node]) if node not in parent else ():
            design.append(path[node])
            labels.append(value)
            weights.append(counts[node, value])
    rival = LogisticRegression(C=strength / penalty, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    rival.fit(np.array(design), labels, sample_weight=weights)
    assert dense_proba(tree, HLS(penalty).smooth(tree)) == pytest.approx(rival.predict_proba(path), rel=1e-5)


def test_the_value_falls_at_every_step():
    _, _, tree = random_case(7, 4, n_nodes=40, scale=10.0)
    values = [kernel_fit(tree, tree.total[0], 0.0, steps) for steps in range(25)]
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert values[0] - values[-1] > 1.0


def test_few_steps_are_enough():
    # What the preconditioner is for: without it hundreds of steps are needed.
    _, _, tree = random_case(8, 12, n_nodes=2000, scale=4.0)
    assert kernel_fit(tree, 0.3, 1e-9, 25) == pytest.approx(kernel_fit(tree, 0.3, 1e-12, 1000), rel=1e-10)


def test_convex():
    _, _, tree = random_case(3, 4)
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.normal(scale=2.0, size=(2, tree.n_cells + tree.n_nodes))
        assert objective(tree, (a + b) / 2, 0.4)[0] < (objective(tree, a, 0.4)[0] + objective(tree, b, 0.4)[0]) / 2


def test_without_penalty_leaves_are_frequencies():
    parent, counts, tree = random_case(5, 3, scale=20.0, floor=1.0)
    leaves = [node for node in range(tree.n_nodes) if node not in parent]
    proba = dense_proba(tree, HLS(1e-5).smooth(tree))[leaves]
    assert proba == pytest.approx(counts[leaves] / counts[leaves].sum(axis=1, keepdims=True), rel=1e-4)


def test_with_all_penalty_nodes_are_the_root():
    _, counts, tree = random_case(2, 5)
    root = (counts[0] + 1 / 5) / (counts[0].sum() + 1)
    proba = dense_proba(tree, HLS(1e9).smooth(tree))
    assert proba == pytest.approx(np.tile(root, (tree.n_nodes, 1)), rel=1e-6)


@pytest.mark.parametrize(("seed", "arity"), [(0, 2), (1, 2), (2, 2), (0, 3), (3, 4)])
def test_leave_one_out_is_close_to_refits(seed, arity):
    parent, counts, tree = random_case(seed, arity, n_nodes=9, weighted=seed == 1)
    losses = path_losses(tree, tree.cell_count)
    best = np.argmin(losses)
    assert HLS()._best_penalty(tree, 0) == PENALTIES[best]
    exact = {i: hls.leave_one_out(parent, counts, PENALTIES[i], 1.0) for i in (best - 2, best, best + 2) if 0 <= i < 11}
    for i, loss in exact.items():
        assert losses[i] == pytest.approx(loss, rel=0.03)
    assert exact[best] <= 1.01 * min(exact.values())  # two steps off, refits are no better


@pytest.mark.parametrize(
    "leaves", [[(97, 3), (60, 1), (2, 200), (9, 3)], [(97, 3, 1), (60, 1, 2), (2, 200, 1), (9, 3, 30)]]
)
def test_leave_one_out_of_rare_values(leaves):
    counts = np.array([np.sum(leaves, axis=0), *leaves], float)
    parent = [-1, 0, 0, 0, 0]
    tree = hls.count_tree(parent, [0, 1, 5], counts)
    losses = path_losses(tree, tree.cell_count)
    for i in (5, 7):
        exact = hls.leave_one_out(parent, counts, PENALTIES[i], 1.0)
        assert losses[i] == pytest.approx(exact, rel=3e-4)


def test_held_out_losses():
    parent, counts, tree = random_case(6, 3, scale=10.0)
    folds = split_counts(tree, 3)
    leaf = ~np.isin(np.arange(tree.n_nodes), parent)[tree.cell_node]
    assert folds.sum(axis=0) == pytest.approx(np.where(leaf, tree.cell_count, 0.0))
    assert (folds == np.floor(folds)).all()
    assert not np.array_equal(folds, split_counts(tree, 4))
    held_out = np.zeros_like(counts)
    held_out[counts > 0] = folds[0]
    _, proba = hls.fit(parent, counts - held_out, PENALTIES[5], 1.0, counts > 0)
    loss = -np.sum(held_out * np.log(proba))
    assert path_losses(tree, tree.cell_count - folds[0], folds[0])[5] == pytest.approx(loss, rel=1e-4)


def test_both_choices_see_through_noise_and_signal():
    rng = np.random.default_rng(0)
    noise = np.tile([30.0, 20.0, 10.0], (40, 1)) + rng.integers(-3, 4, (40, 3))
    signal = np.array([rng.multinomial(60, p) for p in rng.dirichlet([0.5] * 3, 40)]) + 0.0
    for counts, low, high in [(noise, 100.0, 1000.0), (signal, 0.01, 3.2)]:
        whole = np.vstack([counts.sum(axis=0), counts])
        tree = hls.count_tree([-1] + [0] * 40, [0, 1, 41], whole)
        for name in ("loo", "cv"):
            assert low <= HLS(name)._best_penalty(tree, 0) <= high


def test_precision_of_the_laplace_approximation():
    parent, counts, tree = random_case(5, 2, scale=40.0)
    smoothed = HLS(1.0).smooth(tree)
    proba = dense_proba(tree, smoothed)
    # In the log odds z of nodes: N p (1 - p) at leaves, penalty / 2 along edges, prior at the root.
    hessian = np.zeros((tree.n_nodes, tree.n_nodes))
    for node in range(tree.n_nodes):
        weight = counts[node].sum() if node not in parent else 0.0
        hessian[node, node] += (weight + (node == 0)) * proba[node, 0] * proba[node, 1]
        if node:
            edge = [node, parent[node]]
            hessian[np.ix_(edge, edge)] += np.array([[0.5, -0.5], [-0.5, 0.5]])
    share = proba[:, 0] * proba[:, 1]
    variance = share**2 * np.diag(np.linalg.inv(hessian))
    assert smoothed.precision == pytest.approx(share / variance, rel=0.2)


@many
@given(tables(max_columns=3, max_arity=5))
def test_vectors_are_positive_and_sum_to_one(table):
    *parents, child = range(len(table.arity))
    (context,) = build_trees(table.batch(), [Family(child, tuple(parents))], table.arity, table.n_classes)
    tree = context.counts
    for smoother in (HLS(), HLS("cv"), HLS(0.01)):
        smoothed = smoother.smooth(tree)
        proba = dense_proba(tree, smoothed)
        assert (proba > 0).all()
        assert proba.sum(axis=1) == pytest.approx(np.ones(tree.n_nodes), rel=1e-9)
        assert (smoothed.precision > 0).all()


def test_codes_in_another_order():
    parent, level_ptr, counts = hls.random_tree(1, 6, scale=8.0)
    tree = hls.count_tree(parent, level_ptr, counts)
    codes = np.random.default_rng(1).permutation(6)
    other = hls.count_tree(parent, level_ptr, counts[:, codes])
    a, b = HLS().smooth(tree), HLS().smooth(other)
    assert dense_proba(other, b) == pytest.approx(dense_proba(tree, a)[:, codes], rel=1e-5)
    assert b.precision == pytest.approx(a.precision, rel=1e-5)


@pytest.mark.parametrize("smoother", [HLS(), HLS("cv"), HLS(3.0)])
@pytest.mark.parametrize("counts", [[3.0, 0.0, 1.0], [0.0, 0.25], [7.0], [0.0, 0.0, 0.0], [1e6, 1.0, 0.0, 2e6]])
def test_a_root_alone_is_smoothed_frequencies(smoother, counts):
    counts = np.array(counts)
    tree = single_node(counts)
    smoothed = smoother.smooth(tree)
    (proba,) = dense_proba(tree, smoothed)
    assert proba == pytest.approx((counts + 1 / len(counts)) / (counts.sum() + 1), rel=1e-6)
    assert smoothed.precision == pytest.approx([counts.sum() + 1], rel=1e-6)


def test_one_row():
    chain = CountTree(
        parent=np.array([-1, 0, 1], np.int32),
        level_ptr=np.arange(4),
        cell_ptr=np.arange(4),
        cell_value=np.ones(3, np.int32),
        cell_count=np.ones(3),
        arity=3,
    )
    for smoother in (HLS(), HLS("cv"), HLS(0.5)):
        proba = dense_proba(chain, smoother.smooth(chain))
        assert (proba[1:, 1] >= proba[:-1, 1]).all()
        assert proba[:, 0] == pytest.approx(proba[:, 2], rel=1e-9)
        assert (proba > 0).all()


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_many_values(scale):
    rng = np.random.default_rng(0)
    counts = np.zeros((31, 10_000))
    for leaf in range(1, 31):
        np.add.at(counts[leaf], np.minimum(rng.zipf(1.3, 400) + leaf, 9_999), scale)
    counts[0] = counts[1:].sum(axis=0)
    tree = hls.count_tree([-1] + [0] * 30, [0, 1, 31], counts)
    proba = dense_proba(tree, HLS().smooth(tree))
    assert (proba > 0).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(31), rel=1e-9)
    leaves = proba[1:][counts[1:] > 0] / proba[0][np.nonzero(counts[1:])[1]]
    assert np.median(leaves) > 1.0  # what a leaf has seen is likelier there than at the root


@pytest.mark.parametrize("penalty", [0, -1.0, float("nan"), float("inf"), "aic", None])
def test_errors_name_the_culprit(penalty):
    with pytest.raises(DataError, match="penalty must be a number > 0, 'loo' or 'cv', got"):
        as_smoother(HLS(penalty))


def test_good_penalties():
    for penalty in ("loo", "cv", 1, np.float64(0.1)):
        assert as_smoother(HLS(penalty)).penalty == penalty
