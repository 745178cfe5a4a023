"""The samplers of the hierarchical Dirichlet process against exact posteriors, published figures and each other."""

from pathlib import Path

import numpy as np
import pytest

from countwise.errors import DataError
from countwise.parallel import thread_map
from countwise.smooth import dense_proba
from countwise.smooth.hdp_samplers import sample_tree
from countwise.tree.context import Family, build_trees
from countwise.tree.count_tree import CountTree, single_node
from oracle import hdp
from oracle.tables import Table

METHODS = ["gibbs", "crt"]
CAR = Path(__file__).parents[3] / "shared" / "data" / "car.parquet"


def tree_of(parent, leaf_counts):
    """A count tree in level order from the rows at its leaves."""
    counts = np.zeros((len(parent), len(next(iter(leaf_counts.values())))))
    for leaf, row in leaf_counts.items():
        node = leaf
        while node >= 0:
            counts[node] += row
            node = parent[node]
    depth = [0] * len(parent)
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    return CountTree(
        parent=np.array(parent, np.int32),
        level_ptr=np.cumsum([0, *np.bincount(depth)]),
        cell_ptr=np.cumsum([0, *(counts > 0).sum(axis=1)]),
        cell_value=np.nonzero(counts)[1].astype(np.int32),
        cell_count=counts[counts > 0],
        arity=counts.shape[1],
    )


def level_groups(tree):
    return np.maximum(np.repeat(np.arange(tree.n_levels), np.diff(tree.level_ptr)) - 1, 0)


def sampled_tables(parent, rows, alpha, method, n_runs, n_iter):
    """The tables of the root's children, from the last sweep of many runs, with concentrations held fixed.

    The target has one value, and a prior so narrow that it fixes the concentrations. The root's precision is its
    customers, averaged over one sweep, and its own concentration."""
    tree = tree_of(parent, rows)
    group = np.arange(tree.n_nodes) - 1
    group[0] = 0
    prior = (1e10, 1e10 / alpha)
    found = [
        sample_tree(tree, group, tree.n_nodes - 1, method, prior, 2.0, n_iter, n_iter - 1, seed)
        for seed in range(n_runs)
    ]
    assert found[0].concentration == pytest.approx(alpha, rel=1e-3)
    return np.array([run.smoothed.precision[0] - 2.0 for run in found])


def table_law(n, alpha):
    """P(t) for t = 0 .. n tables of n customers: independent Bernoulli(alpha / (alpha + i)) variables, summed."""
    law = np.zeros(n + 1)
    law[0] = 1.0
    for i in range(n):
        p = alpha / (alpha + i)
        law[1:] = law[1:] * (1 - p) + law[:-1] * p
        law[0] *= 1 - p
    return law


def moments(law):
    t = np.arange(len(law))
    mean = float(law @ t)
    return mean, float(law @ (t - mean) ** 2)


# --- exact posteriors -----------------------------------------------------------------------------------------------

# Three levels; node 3 is a leaf of level 1.
PARENT = [-1, 0, 0, 0, 1, 1, 2]
LEAVES = {3: [1, 0, 2], 4: [3, 0, 0], 5: [1, 2, 0], 6: [0, 2, 1]}
TYINGS = {
    "level": [0, 0, 0, 0, 1, 1, 1],
    "parent": [0, 0, 0, 0, 1, 1, 2],
    "node": [0, 0, 1, 2, 3, 4, 5],
    "single": [0, 0, 0, 0, 0, 0, 0],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tying", TYINGS)
def test_three_levels(method, tying):
    group = TYINGS[tying]
    expected, concentration = hdp.posterior(PARENT, LEAVES, group, (2.0, 1.0), 2.0, points=40)
    tree = tree_of(PARENT, LEAVES)
    run = sample_tree(tree, np.array(group), max(group) + 1, method, n_iter=120_000, burn_in=500, seed=1)
    cells = tree.cell_node, tree.cell_value
    assert run.smoothed.cell_proba == pytest.approx(expected[cells], abs=2e-3)
    assert run.concentration == pytest.approx(concentration, rel=0.03)
    # Values without a cell: their sum is exact, their parts keep the parent's proportions.
    assert dense_proba(tree, run.smoothed) == pytest.approx(expected, abs=6e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("prior", [(2.0, 1.0), (5.0, 0.5)])
@pytest.mark.parametrize("root_concentration", [2.0, 7.0])
def test_two_levels(method, prior, root_concentration):
    parent, leaves, group = [-1, 0, 0], {1: [2, 0], 2: [4, 9]}, [0, 0, 0]
    expected, concentration = hdp.posterior(parent, leaves, group, prior, root_concentration)
    tree = tree_of(parent, leaves)
    run = sample_tree(tree, np.array(group), 1, method, prior, root_concentration, 100_000, 500, seed=2)
    assert dense_proba(tree, run.smoothed) == pytest.approx(expected, abs=2e-3)
    assert run.concentration == pytest.approx(concentration, rel=0.03)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("prior", "second"), [((2.0, 1e-4), [4, 9]), ((0.05, 1.0), [3, 0])])
def test_bounds_of_the_concentrations_cut_the_prior_off(method, prior, second):
    parent, leaves, group = [-1, 0, 0], {1: [2, 0], 2: second}, [0, 0, 0]
    _, concentration = hdp.posterior(parent, leaves, group, prior)
    assert concentration > 2000 or concentration < 0.2  # pressed against a bound
    run = sample_tree(tree_of(parent, leaves), np.array(group), 1, method, prior, n_iter=150_000, burn_in=500, seed=11)
    assert run.concentration == pytest.approx(concentration, rel=0.06)


@pytest.mark.parametrize("method", METHODS)
def test_published_exact_check(method):
    # Data set 1 of paper 000, table 2, with a Gamma(2, 1) prior and one concentration for each node.
    parent, leaves, group = [-1, 0, 0], {1: [2, 0], 2: [20, 5]}, [0, 0, 1]
    exact, _ = hdp.posterior(parent, leaves, group, (2.0, 1.0))
    assert exact[1:, 0] == pytest.approx([0.87162, 0.79253], abs=6e-6)
    tree = tree_of(parent, leaves)
    run = sample_tree(tree, np.array(group), 2, method, n_iter=200_000, burn_in=500, seed=3)
    assert dense_proba(tree, run.smoothed)[1:, 0] == pytest.approx([0.87162, 0.79253], abs=1.5e-3)


TABLE_2 = {"1": {1: [2, 0], 2: [20, 5]}, "2": {1: [2, 0], 2: [4, 9]}}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", TABLE_2)
def test_improper_prior(method, data):
    """Paper 000, table 2: shape 0 and rate 0.

    That posterior is improper. With every customer at a table of his own the concentration's density falls as
    1 / alpha, so its integral grows with the logarithm of the upper bound, without limit: the estimates depend on where
    the concentrations are cut off. Ours are cut off at 4000, and the samplers must match the exact posterior there.

    The printed figures are not reproduced. P(0 | y) for y = 0, 1 in data sets 1 and 2 is printed as .89 .79 .86 .34;
    exactly it is .81 .79 .61 .38 with one concentration for the level and .90 .79 .82 .37 with one for each node. Why
    is not known: bounds, start and length of the published runs are not stated.

    Mixing is slow: a step in log alpha is about 0.2 of 15."""
    leaves = TABLE_2[data]
    expected, _ = hdp.posterior([-1, 0, 0], leaves, [0, 0, 0], None)
    tree = tree_of([-1, 0, 0], leaves)
    run = sample_tree(tree, np.zeros(3), 1, method, None, n_iter=400_000, burn_in=1000, seed=4)
    assert dense_proba(tree, run.smoothed)[1:] == pytest.approx(expected[1:], abs=0.03)


# --- windows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_many_possible_tables(method):
    n, alpha = 200, 100.0
    law = table_law(n, alpha)
    mean, variance = moments(law)
    # A window of 10 around the present number, uncorrected, would sample pi(t) pi(window of t): visibly too narrow.
    window = np.convolve(law, np.ones(21), "same")
    assert moments(law * window / (law @ window))[1] < 0.8 * variance
    tables = sampled_tables([-1, 0], {1: [n]}, alpha, method, n_runs=2500, n_iter=80)
    assert tables.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 2500))
    assert tables.var() == pytest.approx(variance, rel=0.1)


@pytest.mark.parametrize(("n", "alpha", "n_runs", "n_iter"), [(60, 20.0, 2500, 60), (4500, 1500.0, 100, 450)])
@pytest.mark.parametrize("method", METHODS)
def test_many_possible_tables_two_levels_up(method, n, alpha, n_runs, n_iter):
    """The inner node's tables are tables of tables. The larger case is beyond the table of Stirling numbers in both
    directions."""
    below = table_law(n, alpha)
    p = alpha / (alpha + np.arange(n))
    means, variances = np.append(0, np.cumsum(p)), np.append(0, np.cumsum(p * (1 - p)))
    mean = below @ means
    variance = below @ variances + below @ (means - mean) ** 2
    tables = sampled_tables([-1, 0, 1], {2: [n]}, alpha, method, n_runs, n_iter)
    assert tables.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / n_runs))
    assert tables.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / n_runs))


# --- larger trees ---------------------------------------------------------------------------------------------------


def random_tree(n_rows=3000, seed=0):
    """A child of 4 values that depends on the class and on two of three parents, from rows."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    x = rng.integers(0, 5, (n_rows, 3))
    logits = rng.normal(0, 1.0, (2, 5, 4))[y, x[:, 0]] + rng.normal(0, 0.4, (5, 4))[x[:, 1]]
    child = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    table = Table(np.column_stack([x, child]), y, [5, 5, 5, 4], 2)
    (tree,) = build_trees(table.batch(), [Family(3, (0, 1, 2))], table.arity, 2)
    return tree.counts


def test_samplers_agree():
    tree = random_tree()
    group = level_groups(tree)
    gibbs, crt = (sample_tree(tree, group, 4, method, n_iter=4000, burn_in=400, seed=5) for method in METHODS)
    assert gibbs.smoothed.cell_proba == pytest.approx(crt.smoothed.cell_proba, abs=0.01)
    assert gibbs.smoothed.absent == pytest.approx(crt.smoothed.absent, rel=0.1)
    assert gibbs.smoothed.precision == pytest.approx(crt.smoothed.precision, rel=0.1)
    assert gibbs.concentration == pytest.approx(crt.concentration, rel=0.12)


@pytest.mark.skipif(not CAR.exists(), reason="needs car.parquet of the data folder ../shared/data")
@pytest.mark.parametrize("method", METHODS)
def test_car(method):
    """buying given class, maint, doors, persons, level tying, prior Gamma(2, 1).

    The published program has a log loss of 1.7926 bits and concentrations 3.0, 4.2, 22.8, 32.3. The first differs from
    ours: 60,000 sweeps give 3.42, 4.36, 22.4, 32.4 (gibbs) and 3.42, 4.37, 22.6, 32.5 (crt). Algorithm 3 of paper 000
    seats each of the root's values at one table, Gamma(n) in place of the Dirichlet integral's Gamma(n + alpha_0 / K);
    with that factor in our sampler 60,000 sweeps gave 2.96, 4.27, 22.5, 32.3. That is the likely reason."""
    import pyarrow.parquet as pq

    columns = pq.read_table(CAR)
    codes = {name: np.unique(columns[name].to_numpy(), return_inverse=True)[1] for name in columns.column_names}
    X = np.column_stack([codes[name] for name in ("buying", "maint", "doors", "persons")])
    table = Table(X, codes["class"], (X.max(axis=0) + 1).tolist(), 4)
    (context,) = build_trees(table.batch(), [Family(0, (1, 2, 3))], table.arity, 4)
    tree = context.counts
    run = sample_tree(tree, level_groups(tree), 4, method, n_iter=5000, burn_in=172, seed=6)
    leaves = tree.level_cells(4)
    log_loss = -(tree.cell_count[leaves] @ np.log2(run.smoothed.cell_proba[leaves])) / len(X)
    assert log_loss == pytest.approx(1.7926, abs=6e-4)
    assert run.concentration == pytest.approx([3.42, 4.36, 22.5, 32.4], rel=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_millions_of_rows(method):
    leaves = {1: [2_000_000, 700_000, 0], 2: [1, 3_000_000, 5], 3: [40, 0, 2]}
    tree = tree_of([-1, 0, 0, 0], leaves)
    run = sample_tree(tree, np.zeros(4), 1, method, n_iter=300, burn_in=100, seed=7)
    proba = dense_proba(tree, run.smoothed)
    assert (proba > 0).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(4), rel=1e-12)
    assert proba[1:3] == pytest.approx(np.array([[20 / 27, 7 / 27, 0], [0, 1, 0]]), abs=1e-5)
    # (40 + a p) / (42 + a) lies between the node's frequency and the root's probability.
    assert proba[0, 0] < proba[3, 0] < 40 / 42


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_values", [1, 2, 10_000])
def test_any_arity(method, n_values):
    rows = np.zeros((2, n_values))
    rows[:, 0] = 3
    rows[1, -1] += 2
    tree = tree_of([-1, 0, 0], {1: rows[0], 2: rows[1]})
    run = sample_tree(tree, np.zeros(3), 1, method, n_iter=50, burn_in=10)
    proba = dense_proba(tree, run.smoothed)
    assert (proba > 0).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(3), rel=1e-12)


@pytest.mark.parametrize("counts", [[3.0, 0.0, 1.0], [0.0, 0.0], [1.0]])
def test_a_root_alone_is_closed_form(counts):
    tree = single_node(np.array(counts))
    for method in METHODS:
        run = sample_tree(tree, np.zeros(1), 1, method, root_concentration=3.0)
        expected = (np.array(counts) + 3.0 / len(counts)) / (sum(counts) + 3.0)
        assert dense_proba(tree, run.smoothed)[0] == pytest.approx(expected, rel=1e-14)
        assert run.smoothed.precision == pytest.approx([sum(counts) + 3.0])
        assert run.concentration == [3.0]


@pytest.mark.parametrize("method", METHODS)
def test_codes_of_values_do_not_matter(method):
    tree = random_tree(800)
    order = np.array([2, 0, 3, 1])  # new code of each value
    value, node = order[tree.cell_value], tree.cell_node
    place = np.lexsort([value, node])
    renamed = CountTree(
        tree.parent, tree.level_ptr, tree.cell_ptr, value[place].astype(np.int32), tree.cell_count[place], tree.arity
    )
    group = level_groups(tree)
    a, b = (sample_tree(t, group, 4, method, n_iter=6000, burn_in=500, seed=8) for t in (tree, renamed))
    assert b.smoothed.cell_proba == pytest.approx(a.smoothed.cell_proba[place], abs=0.02)
    assert b.concentration == pytest.approx(a.concentration, rel=0.1)


# --- seeds, traces, draws, errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_seeds(method):
    trees = [random_tree(400, seed) for seed in range(4)]

    def work(tree, seed=9):
        return sample_tree(tree, level_groups(tree), 4, method, n_iter=200, burn_in=50, seed=seed, keep_trace=True)

    one, many = [work(tree) for tree in trees], thread_map(work, trees, threads=4)
    for a, b in zip(one, many, strict=True):
        assert np.array_equal(a.smoothed.cell_proba, b.smoothed.cell_proba)
        assert np.array_equal(a.trace, b.trace)
    assert not np.array_equal(one[0].trace, work(trees[0], seed=10).trace)


@pytest.mark.parametrize("method", METHODS)
def test_trace(method):
    tree = random_tree(400)
    # A group that only the root is in, as when levels are numbered from the root's.
    run = sample_tree(tree, level_groups(tree) + 1, 5, method, n_iter=300, burn_in=100, keep_trace=True)
    assert run.trace.shape == (200, 5)
    assert run.trace[:, 1:].mean(axis=0) == pytest.approx(run.concentration[1:])
    assert run.concentration[0] == 2.0
    assert (run.trace[:, 1:].std(axis=0) > 0).all()
    assert run.trace.min() >= 1e-3
    assert run.trace.max() <= 4000
    assert run.draws is None


@pytest.mark.parametrize("method", METHODS)
def test_draws(method):
    tree = tree_of(PARENT, LEAVES)
    run = sample_tree(
        tree, np.array(TYINGS["level"]), 2, method, n_iter=41_000, burn_in=1000, draw_node=5, n_draws=10_000
    )
    assert run.draws.shape == (10_000, 3)
    assert run.draws.sum(axis=1) == pytest.approx(np.ones(10_000))
    assert run.draws.mean(axis=0) == pytest.approx(dense_proba(tree, run.smoothed)[5], abs=0.01)
    # A leaf of 3 rows is drawn from Dirichlet distributions of weight 3 + alpha or so.
    p = run.draws.mean(axis=0)
    assert (p * (1 - p) / run.draws.var(axis=0) - 1)[:2] == pytest.approx(run.smoothed.precision[5], rel=0.35)
    assert run.trace is None


def test_draws_of_a_root():
    tree = single_node(np.array([3.0, 0.0, 1.0]))
    run = sample_tree(tree, np.zeros(1), 1, root_concentration=3.0, draw_node=0, n_draws=20_000)
    p = np.array([4, 1, 2]) / 7
    assert run.draws.mean(axis=0) == pytest.approx(p, abs=0.005)
    assert run.draws.var(axis=0) == pytest.approx(p * (1 - p) / 8, rel=0.05)
    fewer = sample_tree(tree, np.zeros(1), 1, draw_node=0, n_draws=7)
    assert fewer.draws.shape == (7, 3)


def test_draws_where_almost_nothing_is_known():
    run = sample_tree(single_node(np.zeros(10_000)), np.zeros(1), 1, draw_node=0, n_draws=5)
    assert run.draws.sum(axis=1) == pytest.approx(np.ones(5))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "vb"}, "method='vb' is not a sampler; choose one of gibbs, crt"),
        ({"n_iter": 100, "burn_in": 100}, "burn_in=100 .* n_iter=100"),
        ({"burn_in": -1}, "burn_in=-1"),
        ({"draw_node": 3}, "draw_node=3 is not a node; the tree has 3"),
        ({"draw_node": 1, "n_draws": 0}, "n_draws must be at least 1, got 0"),
    ],
)
def test_errors(change, message):
    tree = tree_of([-1, 0, 0], {1: [2, 0], 2: [4, 9]})
    with pytest.raises(DataError, match=message):
        sample_tree(tree, np.zeros(3), 1, **change)


@pytest.mark.parametrize("method", METHODS)
def test_weighted_rows_are_refused(method):
    with pytest.raises(DataError, match="needs whole counts; weighted rows need method='vb'"):
        sample_tree(tree_of([-1, 0], {1: [2.5, 1]}), np.zeros(2), 1, method)
    with pytest.raises(DataError, match="2,147,483,647, got 3,000,000,001 rows; use method='vb'"):
        sample_tree(tree_of([-1, 0], {1: [3e9, 1]}), np.zeros(2), 1, method)
