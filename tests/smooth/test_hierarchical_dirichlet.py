"""The hierarchical Multinomial-Dirichlet model: its bound, trees of any shape, limits, empirical Bayes, use."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import countwise as cw
from countwise import _kernels
from countwise.errors import DataError
from countwise.infer.network import Network, smooth_network
from countwise.smooth import HierarchicalDirichlet, as_smoother, dense_proba
from countwise.tree.context import Family, build_trees
from countwise.tree.count_tree import CountTree, single_node
from oracle import hierarchical_dirichlet as oracle
from oracle.context_tree import context_counts, sorted_paths
from oracle.hierarchical_dirichlet import drawn, table_tree
from oracle.predict import log_joint
from oracle.tables import Table, random_table, tables

few = settings(max_examples=15, deadline=None)
many = settings(max_examples=40, deadline=None)


EXTREME = {
    "one row": [[1], [0]],
    "one big cell": [[1e6], [0.0], [0.0]],
    "equal": [[1e6] * 5, [1e6] * 5],
    "deterministic": np.eye(3) * 1e6,
    "rare values": [[1e6, 1e6, 1e6], [1, 0, 0], [0, 1e-3, 0]],
    "many small columns": np.random.default_rng(3).multinomial(1, [0.97, 0.02, 0.005, 0.005], size=3000).T,
    "tiny weights": [[1e-6, 0], [0, 1e-9]],
    "skew": [[1e6] * 100, [1] * 100],
    "many values": np.random.default_rng(4).poisson(np.random.default_rng(5).gamma(0.1, 20, (300, 1)), (300, 20)),
}
each_extreme = pytest.mark.parametrize("counts", [np.array(c, float) for c in EXTREME.values()], ids=EXTREME)


# The bound


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_by_finite_differences(seed):
    rng = np.random.default_rng(seed)
    counts = drawn(rng, 4, 5, 60).astype(float)
    counts = counts[counts.sum(1) > 0] * rng.choice([1.0, 0.7])
    size, s, weight, tau = len(counts), rng.gamma(2, 2), rng.gamma(2, 0.5), rng.gamma(3, 9)
    kappa = rng.dirichlet(np.full(size, 4.0))

    def value(du=0.0, dk=0.0, ds=0.0, dw=0.0):
        alpha0 = np.full(size, weight * np.exp(dw))
        return oracle.profile(counts, tau * np.exp(du), kappa + dk, s * np.exp(ds), alpha0)

    def slope(f, h):
        return (f(h) - f(-h)) / (2 * h)

    def bend(f, h):
        return (f(h) - 2 * f(0.0) + f(-h)) / h**2

    found = _kernels.dirichlet_derivatives(table_tree(counts).kernel_arrays, s, weight, kappa, tau)
    assert found[0] == pytest.approx(value(), rel=1e-12)
    assert found[1] == pytest.approx(slope(lambda h: value(du=h), 1e-5), rel=1e-6, abs=1e-6)
    assert found[2] == pytest.approx(bend(lambda h: value(du=h), 1e-3), rel=1e-4, abs=1e-4)
    g, h, cross = found[3:-4].reshape(3, size)
    for x in range(1, size):  # along directions that keep the sum of kappa
        along = np.zeros(size)
        along[[0, x]] = -1.0, 1.0

        def moved(e, d=0.0, along=along):
            return value(dk=e * along, du=d)

        assert g[x] - g[0] == pytest.approx(slope(moved, 1e-6), rel=1e-6, abs=1e-5)
        assert h[x] + h[0] == pytest.approx(bend(moved, 1e-4), rel=1e-4, abs=1e-2)
        both = (moved(1e-4, 1e-4) - moved(1e-4, -1e-4) - moved(-1e-4, 1e-4) + moved(-1e-4, -1e-4)) / 4e-8
        assert cross[x] - cross[0] == pytest.approx(both, rel=1e-4, abs=1e-3)
    hyper = [slope(lambda e: value(ds=e), 1e-5), slope(lambda e: value(dw=e), 1e-5)]
    hyper += [bend(lambda e: value(ds=e), 1e-3), bend(lambda e: value(dw=e), 1e-3)]
    assert found[-4:] == pytest.approx(hyper, rel=1e-4, abs=1e-4)


def test_gradient_of_the_paper():
    # B.3.1 and B.3.2 as printed, beside the kernel's in log tau and kappa.
    counts = np.array([[3.0, 0.0, 5.0], [1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    kappa, tau, s = np.array([0.5, 0.3, 0.2]), 7.0, 2.5
    in_tau, in_kappa = oracle.gradient(counts, tau, kappa, s, np.ones(3))
    found = _kernels.dirichlet_derivatives(table_tree(counts).kernel_arrays, s, 1.0, kappa, tau)
    assert in_kappa - in_kappa[0] == pytest.approx(found[3:6] - found[3], rel=1e-10)
    assert in_tau * tau == pytest.approx(found[1], rel=1e-10)


@each_extreme
@pytest.mark.parametrize(("s", "alpha0"), [(None, 1.0), (0.01, 1.0), (1e6, 1.0), (None, 0.01), (3.0, 1e4)])
def test_the_bound_never_falls_and_converges(counts, s, alpha0):
    smoother, tree = HierarchicalDirichlet(s, alpha0), table_tree(counts[counts.sum(1) > 0])
    posteriors = [smoother.posterior(tree, max_iterations=i) for i in range(80)]
    bounds = np.array([p.bound for p in posteriors])
    rounding = 1e-14 * (1 + counts.sum() * np.log(counts.sum() + len(counts) + (s or 1)) + alpha0 * len(counts))
    assert (np.diff(bounds) >= -10 * rounding).all()
    assert posteriors[-1].iterations < 79
    assert (posteriors[-1].kappa > 0).all()
    assert posteriors[-1].kappa.sum() == pytest.approx(1.0, rel=1e-12)


@each_extreme
def test_no_direction_leads_up_from_the_end(counts):
    counts = counts[counts.sum(1) > 0]
    tree, s = table_tree(counts), float(len(counts))
    end = HierarchicalDirichlet().posterior(tree)
    if len(counts) == 1:
        assert end.kappa == pytest.approx([1.0])
        return
    found = _kernels.dirichlet_derivatives(tree.kernel_arrays, s, 1.0, end.kappa, end.tau)
    g, h, _ = found[3:-4].reshape(3, -1)
    step = (g - np.average(g, weights=1 / -h)) / -h
    assert np.abs(step / end.kappa).max() < 1e-6
    assert abs(found[1] / found[2]) < 1e-6


def test_starts_do_not_matter():
    # The general optimiser starts elsewhere.
    for seed in range(5):
        counts = drawn(np.random.default_rng(seed), 5, 4, 40)
        counts = counts[counts.sum(1) > 0].astype(float)
        kappa, tau = oracle.best(counts, len(counts), np.ones(len(counts)))
        end = HierarchicalDirichlet().posterior(table_tree(counts))
        assert end.kappa == pytest.approx(kappa, rel=1e-5)
        assert end.tau == pytest.approx(tau, rel=1e-4)


# Trees


FORMULAS = [
    (HierarchicalDirichlet(), lambda nodes, arity: oracle.flat(nodes, arity, arity, 1.0)),
    (HierarchicalDirichlet(0.7, 2.5), lambda nodes, arity: oracle.flat(nodes, arity, 0.7, 2.5)),
    (HierarchicalDirichlet(levels="tree"), lambda nodes, arity: oracle.tree(nodes, arity, arity, 1.0)),
    (HierarchicalDirichlet(3.0, 0.5, "tree"), lambda nodes, arity: oracle.tree(nodes, arity, 3.0, 0.5)),
]
ALL = [
    *(smoother for smoother, _ in FORMULAS),
    HierarchicalDirichlet("eb"),
    HierarchicalDirichlet("eb", 2.0, "tree"),
]
each_smoother = pytest.mark.parametrize("smoother", ALL, ids=map(repr, ALL))


def tree_and_nodes(table):
    *parents, child = range(len(table.arity))
    (tree,) = build_trees(table.batch(), [Family(child, tuple(parents))], table.arity, table.n_classes)
    return tree.counts, context_counts(table, child, parents)


@pytest.mark.parametrize(("smoother", "formula"), FORMULAS, ids=[repr(s) for s, _ in FORMULAS])
@few
@given(tables(max_columns=2, max_arity=4, max_rows=20))
def test_formula(smoother, formula, table):
    tree, nodes = tree_and_nodes(table)
    expected = formula(nodes, tree.arity)
    found = dense_proba(tree, smoother.smooth(tree))
    assert found == pytest.approx(np.array([expected[path] for path in sorted_paths(nodes)]), rel=2e-5)


@each_smoother
@many
@given(tables(max_columns=3, max_arity=5))
def test_vectors_are_positive_and_sum_to_one(smoother, table):
    tree, _ = tree_and_nodes(table)
    smoothed = smoother.smooth(tree)
    proba = dense_proba(tree, smoothed)
    assert (proba > 0).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(tree.n_nodes), rel=1e-12)
    assert (smoothed.precision >= 0).all()
    assert np.isfinite(smoothed.precision).all()


@each_smoother
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_extremes(smoother, data):
    n_values, n_columns = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    cell = st.one_of(st.just(0.0), st.integers(1, 3).map(float), st.floats(1e-6, 1e6))
    cells = data.draw(st.lists(cell, min_size=n_values * n_columns, max_size=n_values * n_columns).filter(any))
    counts = np.array(cells).reshape(n_values, n_columns)
    tree = table_tree(counts)
    proba = dense_proba(tree, smoother.smooth(tree))
    assert (proba > 0).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(tree.n_nodes), rel=1e-11)


@each_smoother
def test_the_order_of_values_and_columns_does_not_matter(smoother):
    rng = np.random.default_rng(8)
    counts = drawn(rng, 7, 6, 60)
    values, columns = rng.permutation(7), rng.permutation(counts.shape[1])
    before, after = (dense_proba(t, smoother.smooth(t)) for t in map(table_tree, (counts, counts[values][:, columns])))
    assert after[0] == pytest.approx(before[0][values], rel=1e-9)
    assert after[1:] == pytest.approx(before[1:][columns][:, values], rel=1e-9)


def mixed_tree():
    """Leaves on two levels: a, and b and c below an inner node; a value of the root is missing below it."""
    rows = [(5, 4, 3, 0), (1, 0, 3, 0), (4, 4, 0, 0), (4, 1, 0, 0), (0, 3, 0, 0)]
    counts = np.array(rows, float)
    node, value = np.nonzero(counts)
    return CountTree(
        parent=np.array([-1, 0, 0, 2, 2], np.int32),
        level_ptr=np.array([0, 1, 3, 5]),
        cell_ptr=np.searchsorted(node, np.arange(6)),
        cell_value=value.astype(np.int32),
        cell_count=counts[node, value],
        arity=4,
    )


def test_leaves_at_any_level():
    tree = mixed_tree()
    rows = [{0: 5, 1: 4, 2: 3}, {0: 1, 2: 3}, {0: 4, 1: 4}, {0: 4, 1: 1}, {1: 3}]
    nodes = dict(zip([(), (0,), (1,), (1, 0), (1, 1)], rows, strict=True))
    for smoother, formula in FORMULAS:
        expected = formula(nodes, 4)
        assert dense_proba(tree, smoother.smooth(tree)) == pytest.approx(np.array(list(expected.values())), rel=2e-5)


def test_a_tree_of_one_level_is_a_table():
    tree = table_tree(drawn(np.random.default_rng(2), 5, 4, 30))
    flat, levels = (dense_proba(tree, HierarchicalDirichlet(3.0, 2.0, kind).smooth(tree)) for kind in ("flat", "tree"))
    assert levels[1:] == pytest.approx(flat[1:], rel=1e-8)


@each_smoother
def test_trees_of_one_node(smoother):
    empty = single_node(np.zeros(4))
    assert dense_proba(empty, smoother.smooth(empty))[0] == pytest.approx(np.full(4, 0.25))
    one = single_node(np.array([7.0]))
    assert dense_proba(one, smoother.smooth(one))[0] == pytest.approx([1.0])
    prior = single_node(np.array([3.0, 0.0, 1.0]))
    proba = dense_proba(prior, smoother.smooth(prior))[0]
    assert proba.sum() == pytest.approx(1.0)
    assert proba[0] > proba[2] > proba[1] > 0


@each_smoother
def test_ten_thousand_values(smoother):
    table = random_table(0, 3000, [30, 10_000], n_classes=2)
    tree, _ = tree_and_nodes(table)
    proba = dense_proba(tree, smoother.smooth(tree))
    assert (proba > 0).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(tree.n_nodes), rel=1e-10)


def test_weights_far_below_one_row():
    tree = table_tree([[0.0], [0.0], [3e-7]])
    for levels in ("flat", "tree"):
        proba = dense_proba(tree, HierarchicalDirichlet(alpha0=1e-6, levels=levels).smooth(tree))
        assert (proba > 0).all()
        assert proba.sum(axis=1) == pytest.approx([1.0, 1.0], rel=1e-10)


def test_precision_along_a_tree():
    # A leaf's from its parent's kappa and that one's own uncertainty; an inner node's from its posterior.
    tree = mixed_tree()
    precision = HierarchicalDirichlet(levels="tree").smooth(tree).precision
    assert precision[3] > precision[4] > 4.0 - 1
    table = table_tree(np.array([[3.0, 5.0], [4.0, 1.0]]))
    posterior = HierarchicalDirichlet().posterior(table)
    found = HierarchicalDirichlet(levels="tree").smooth(table).precision
    assert found[0] == pytest.approx(posterior.tau, rel=1e-9)  # no value unseen: kappa ~ Dirichlet(tau kappa)
    assert found[1:] == pytest.approx(HierarchicalDirichlet().smooth(table).precision[1:], rel=1e-9)


# Limits, empirical Bayes, use


def test_many_rows_give_frequencies():
    counts = np.array([[60.0, 10.0], [30.0, 10.0], [10.0, 80.0]]) * 1e6
    for levels in ("flat", "tree"):
        tree = table_tree(counts)
        proba = dense_proba(tree, HierarchicalDirichlet(levels=levels).smooth(tree))
        assert proba[1:] == pytest.approx((counts / counts.sum(0)).T, rel=1e-6)


def test_great_strength_gives_kappa_and_small_strength_frequencies():
    counts = np.array([[6.0, 1.0], [3.0, 1.0], [1.0, 8.0]])
    tree = table_tree(counts)
    strong, weak = HierarchicalDirichlet(1e8).posterior(tree), HierarchicalDirichlet(1e-8).posterior(tree)
    assert strong.mean(1) == pytest.approx(strong.kappa, abs=1e-6)
    # As s grows, all columns are one: kappa is the posterior mean of one multinomial.
    assert strong.kappa == pytest.approx((counts.sum(1) + 1) / (counts.sum() + 3), abs=0.01)
    assert weak.mean(1) == pytest.approx(counts[:, 0] / counts[:, 0].sum(), abs=1e-7)


def test_great_alpha0_is_the_traditional_model():
    # Section 2.2: as s0 grows, alpha is fixed and columns are estimated apart, as under BDeu.
    counts = np.array([[6.0, 1.0], [3.0, 1.0], [1.0, 8.0], [0.0, 0.0]])
    tree = table_tree(counts)
    for levels in ("flat", "tree"):
        proba = dense_proba(tree, HierarchicalDirichlet(4.0, 1e8, levels).smooth(tree))
        assert proba[1:] == pytest.approx(((counts + 1) / (counts.sum(0) + 4)).T, rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_empirical_bayes_is_at_a_maximum(seed):
    counts = drawn(np.random.default_rng(seed + 20), 4, 12, 100)
    counts = counts[counts.sum(1) > 0]
    tree = table_tree(counts)
    end = HierarchicalDirichlet("eb").posterior(tree)
    given = HierarchicalDirichlet(end.s, end.alpha0).posterior(tree)
    assert given.bound == pytest.approx(end.bound, rel=1e-9)
    for factor in (0.98, 1.02):
        assert HierarchicalDirichlet(end.s * factor, end.alpha0).posterior(tree).bound < end.bound
        if 2e-4 < end.alpha0 < 5e3:
            assert HierarchicalDirichlet(end.s, end.alpha0 * factor).posterior(tree).bound < end.bound
    bounds = [HierarchicalDirichlet("eb").posterior(tree, max_iterations=i).bound for i in range(25)]
    assert (np.diff(bounds) >= -1e-9).all()
    assert bounds[-1] > HierarchicalDirichlet().posterior(tree).bound


def test_empirical_bayes_finds_the_strength():
    # 400 columns drawn with s = 6 and s = 0.5.
    rng = np.random.default_rng(30)
    for s in (0.5, 6.0):
        theta = rng.dirichlet(s * np.array([0.5, 0.3, 0.2]), size=400)
        counts = np.array([rng.multinomial(30, p) for p in theta]).T
        assert HierarchicalDirichlet("eb").posterior(table_tree(counts)).s == pytest.approx(s, rel=0.15)


def test_columns_that_are_alike_are_pooled():
    tree = table_tree(np.tile([[30.0], [20.0], [10.0]], 10))
    assert HierarchicalDirichlet("eb").posterior(tree).s > 5 * 60  # the evidence would have it infinite; see the class


def test_borrowing_beats_the_uniform_prior():
    # Section 3.2: closer to the truth than BDeu where rows are few.
    rng = np.random.default_rng(31)
    errors = []
    for _ in range(30):
        alpha = 6 * rng.dirichlet(np.ones(6))
        theta = rng.dirichlet(np.maximum(alpha, 1e-6), size=8)
        tree = table_tree(np.array([rng.multinomial(4, p) for p in theta]).T)
        both = [dense_proba(tree, s.smooth(tree))[1:] for s in (HierarchicalDirichlet(), cw.BDeu())]
        errors.append([((p - theta) ** 2).mean() for p in both])
    ours, bdeu = np.mean(errors, axis=0)
    assert ours < 0.7 * bdeu


@each_smoother
@few
@given(tables(max_columns=3, max_arity=3, max_rows=12))
def test_prediction_walks_the_same_probabilities(smoother, table):
    families = [Family(i, tuple(range(i - 1, -1, -1))) for i in range(len(table.arity))]
    trees = build_trees(table.batch(), families, table.arity, table.n_classes)
    mixed = np.stack(
        [np.roll(table.X[:, i], i) for i in range(len(table.arity))], axis=1
    )  # values met, rows perhaps not
    rows = Table(np.vstack([table.X, mixed]), np.tile(table.y, 2), table.arity, table.n_classes)
    classes = np.bincount(table.y, table.weights, minlength=table.n_classes).astype(float)
    parameters = smooth_network(trees, classes, smoother, 0, 1)
    terms = []
    for family, tree, smoothed in zip(families, trees, parameters.trees, strict=True):
        paths = sorted_paths(context_counts(table, family.child, family.parents))
        terms.append((family, dict(zip(paths, dense_proba(tree.counts, smoothed), strict=True))))
    expected = [log_joint(terms, np.exp(parameters.log_prior), row, table.arity) for row in rows.X.tolist()]
    assert Network(trees, parameters, table.arity).log_joint(rows.batch()) == pytest.approx(
        np.array(expected), rel=1e-10, abs=1e-11
    )


def test_a_classifier_is_saved_with_its_base(tmp_path):
    X, y = cw.datasets.load("tic-tac-toe")
    model = cw.TANClassifier(smoothing=HierarchicalDirichlet(s=3.0)).fit(X, y)
    model.save(tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
    for old, new in zip(model._parameters.trees, again._parameters.trees, strict=True):
        assert np.array_equal(old.base, new.base)
    assert repr(again) == "TANClassifier(smoothing=HierarchicalDirichlet(s=3.0))"


@pytest.mark.parametrize(
    ("smoother", "message"),
    [
        (HierarchicalDirichlet(0), "s must be None, 'eb' or a number from 1e-9 to 1e9, got 0"),
        (HierarchicalDirichlet("auto"), "got 'auto'"),
        (HierarchicalDirichlet(float("nan")), "got nan"),
        (HierarchicalDirichlet(True), "got True"),
        (HierarchicalDirichlet(alpha0=-1), "alpha0 must be a number from 1e-9 to 1e9, got -1"),
        (HierarchicalDirichlet(alpha0="eb"), "got 'eb'"),
        (HierarchicalDirichlet(levels="deep"), "levels must be 'flat' or 'tree', got 'deep'"),
    ],
)
def test_errors_name_the_culprit(smoother, message):
    with pytest.raises(DataError, match=message):
        as_smoother(smoother)


def test_a_posterior_is_of_one_table():
    with pytest.raises(DataError, match="levels must be 'flat'"):
        HierarchicalDirichlet(levels="tree").posterior(mixed_tree())
