"""Intervals for class probabilities: against quantiles, against a walk by rows, and how often they hold the truth."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit
from scipy.stats import beta, gamma, norm
from sklearn.exceptions import NotFittedError

import countwise as cw
from countwise.datasets.network import Network as TrueNetwork
from countwise.datasets.network import random_network
from countwise.infer import interval
from countwise.infer.interval import Spread, gamma_distances, log_proba_distances, proba_limits
from countwise.infer.network import Network, smooth_network
from countwise.infer.tuning import Tuning
from countwise.smooth import MBranch, MEstimate
from countwise.tree.context import Family, build_trees
from countwise.tree.count_tree import single_node
from oracle import smoothing
from oracle.context_tree import context_counts, sorted_paths
from oracle.interval import class_limits, posterior_limits
from oracle.predict import scores
from oracle.tables import Table, many, random_table, tables

GOLDEN = Path(__file__).parents[1] / "golden"
FORMULAS = [
    (MEstimate(), lambda nodes, arity: smoothing.m_estimate(nodes, arity, 1.0)),
    (MBranch(), lambda nodes, arity: smoothing.m_branch(nodes, arity, 4.0)),
]


# The steps


@pytest.mark.parametrize("level", [0.2, 0.5, 0.9, 0.99, 0.9999])
def test_gamma_distances_are_those_of_the_quantiles(level):
    shape = 10.0 ** np.linspace(-2, 9, 500)
    up, down = gamma_distances(shape, level)
    low, high = gamma.ppf((1 - level) / 2, shape), gamma.isf((1 - level) / 2, shape)
    seen = low > 1e-200
    # Within 0.2 % of a standard deviation, the corner at 0 included.
    error = 2e-3 / np.sqrt(shape)
    assert (abs(up - np.maximum(np.log(high / shape), 0)) < error).all()
    assert (abs(down - np.log(shape / np.where(seen, low, 1)))[seen] < np.maximum(error, 2e-4 * down)[seen]).all()


def test_gamma_distances_of_any_shape_are_finite():
    for level in (1e-9, 0.5, 1 - 1e-12):
        up, down = gamma_distances(np.array([0.0, 1e-300, 1e-6, 1e-4, 1e12]), level)
        assert np.isfinite([up, down]).all()
        assert (up >= 0).all()
        assert (down[:4] > 400).all()


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("p", [0.003, 0.2, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("weight", [2.0, 20.0, 300.0, 1e5])
def test_a_probability_lies_between_its_limits_as_often_as_the_level_says(p, weight, level):
    (up,), (down,) = log_proba_distances(np.array([np.log(p)]), np.array([weight]), level)
    a, b = p * weight, (1 - p) * weight
    held = beta.cdf(min(p * np.exp(up), 1), a, b) - beta.cdf(p * np.exp(-down), a, b)
    # The limits hold the mean: where that is far beyond a quantile they hold more than they should.
    below = beta.cdf(p, a, b)
    assert level - 0.02 <= held <= max(level, below, 1 - below) + 0.08


def test_many_counts_give_the_delta_method():
    p, weight = np.array([0.01, 0.3, 0.98]), np.array([1e8, 1e6, 1e7])
    up, down = log_proba_distances(np.log(p), weight, 0.9)
    sd = np.sqrt((1 - p) / (p * weight))
    z = norm.ppf(0.95)
    assert up == pytest.approx(z * sd, rel=2e-3)
    assert down == pytest.approx(z * sd, rel=2e-3)
    scores, V = np.log([[0.5, 0.2, 0.3]]), np.array([[1e-6, 4e-6, 2e-6]])
    low, high = np.moveaxis(proba_limits(scores, np.sqrt(V), np.sqrt(V)), 2, 0)
    expected = np.sqrt([[1e-6 + 0.16 * 4e-6 + 0.36 * 2e-6, 4e-6 + (25 * 1e-6 + 9 * 2e-6) / 64, 0]])
    expected[0, 2] = np.sqrt(2e-6 + (25 * 1e-6 + 4 * 4e-6) / 49)
    assert logit(high) - logit(np.exp(scores)) == pytest.approx(expected, rel=1e-2)
    assert logit(np.exp(scores)) - logit(low) == pytest.approx(expected, rel=1e-2)


def test_a_class_that_vanishes_moves_the_others_by_its_share_only():
    scores = np.log([[0.5, 0.2, 0.3]])
    low, high = np.moveaxis(proba_limits(scores, np.zeros((1, 3)), np.array([[0.0, 1e5, 0.0]])), 2, 0)
    assert high[0] == pytest.approx([0.5 / 0.8, 0.2, 0.3 / 0.8])
    assert low[0] == pytest.approx([0.5, 0.0, 0.3], abs=1e-12)


# The look-up


def limits_and_oracle(table, families, new, smoother, formula, level, tuning=None):
    classes = np.bincount(table.y, table.weights, minlength=table.n_classes).astype(float)
    trees = build_trees(table.batch(), families, table.arity, table.n_classes)
    parameters = replace(smooth_network(trees, classes, smoother, 0, 1), tuning=tuning)
    tuning = tuning or Tuning(np.zeros(0), 1.0, np.zeros(table.n_classes), np.ones(len(table.arity)))
    precision = smoother.smooth(single_node(classes)).precision[0]
    network = Network(trees, parameters, table.arity)
    rows = Table(new, np.zeros(len(new), int), table.arity, table.n_classes).batch()
    limits = Spread(network, trees, parameters, precision).limits(rows, level)
    proba = network.proba(rows)
    assert (limits[:, :, 0] <= proba).all()
    assert (proba <= limits[:, :, 1]).all()

    nodes = [context_counts(table, f.child, f.parents) for f in families]
    terms = [(f, formula(n, table.arity[f.child])) for f, n in zip(families, nodes, strict=True)]
    weights = [
        dict(zip(sorted_paths(n), s.precision, strict=True)) for n, s in zip(nodes, parameters.trees, strict=True)
    ]
    prior = formula({(): {y: n for y, n in enumerate(classes) if n}}, table.n_classes)[()]
    expected = []
    for row in new.tolist():
        factors = tuning.temperature * tuning.weight
        sides = [
            class_limits(terms, weights, prior, precision, row, y, table.arity, level, factors)
            for y in range(table.n_classes)
        ]
        joint = scores(terms, prior, row, table.arity, tuning)
        expected.append(posterior_limits(joint, [up for up, _ in sides], [down for _, down in sides]))
    return limits, np.array(expected)


@pytest.mark.parametrize(("smoother", "formula"), FORMULAS, ids=["m", "m-branch"])
@many
@given(tables(max_columns=3, max_arity=3, max_rows=12), st.sampled_from([0.5, 0.9]))
def test_limits_of_every_row_of_a_small_domain(smoother, formula, table, level):
    choices = [[*np.unique(table.X[:, i]).tolist(), values] for i, values in enumerate(table.arity)]
    new = np.stack([axis.ravel() for axis in np.meshgrid(*choices, indexing="ij")], axis=1)[::3]
    families = [Family(i, tuple(range(i - 1, -1, -1))) for i in range(len(table.arity))]
    limits, expected = limits_and_oracle(table, families, new, smoother, formula, level)
    assert limits == pytest.approx(expected, rel=5e-3, abs=1e-5)


@pytest.mark.parametrize(("smoother", "formula"), FORMULAS, ids=["m", "m-branch"])
def test_limits_in_chunks_and_on_threads(smoother, formula, monkeypatch):
    table = random_table(1, 200, [5, 4, 3])
    families = [Family(0, ()), Family(2, (0, 1))]
    new = random_table(2, 50, [6, 5, 4]).X
    limits, expected = limits_and_oracle(table, families, new, smoother, formula, 0.9)
    assert limits == pytest.approx(expected, rel=5e-3, abs=1e-5)
    monkeypatch.setattr(interval, "CHUNK_VALUES", 40)
    chunked, _ = limits_and_oracle(table, families, new, smoother, formula, 0.9)
    assert np.array_equal(chunked, limits)


@pytest.mark.parametrize(("smoother", "formula"), FORMULAS, ids=["m", "m-branch"])
def test_weights_scale_what_terms_leave_open(smoother, formula):
    table = random_table(1, 200, [5, 4, 3])
    families = [Family(0, ()), Family(1, (0,)), Family(2, (0, 1))]
    new = random_table(2, 50, [6, 5, 4]).X
    tuning = Tuning(np.ones(3), 0.7, np.array([0.2, -0.1, 0.0]), np.array([0.0, 0.4, 1.8]))
    limits, expected = limits_and_oracle(table, families, new, smoother, formula, 0.9, tuning)
    assert limits == pytest.approx(expected, rel=5e-3, abs=1e-5)


def test_no_attributes_at_all():
    # What is left is the class prior: a Beta posterior of the class counts.
    counts = np.array([30.0, 70.0])
    parameters = smooth_network([], counts, MEstimate(), 0, 1)
    spread = Spread(Network([], parameters, [3]), [], parameters, 101.0)
    low, high = spread.limits(random_table(0, 5, [3]).batch(), 0.9)[0, 0]
    assert beta.cdf([low, high], 30.5, 70.5) == pytest.approx([0.05, 0.95], abs=0.005)


# The method


def labelled(n_rows=200, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    X = ((y[:, None] + rng.integers(3, size=(n_rows, 4))) % 5).astype(str).astype(object)
    return X, y


def test_shape_order_and_nesting():
    X, y = labelled()
    model = cw.TANClassifier(tune=None).fit(X, y)
    X[3, 1] = "never met"
    proba, wide, narrow = model.predict_proba(X), model.predict_proba_interval(X), model.predict_proba_interval(X, 0.5)
    assert wide.shape == (200, 3, 2)
    assert (wide[..., 0] >= 0).all()
    assert (wide[..., 1] <= 1).all()
    assert (wide[..., 0] < narrow[..., 0]).all()
    assert (narrow[..., 0] <= proba).all()
    assert (proba <= narrow[..., 1]).all()
    assert (narrow[..., 1] < wide[..., 1]).all()


def test_the_estimate_is_inside_whatever_the_rounding():
    # A class that is all but certain: limits a hair apart could be rounded past the estimate.
    for n_columns in (10, 12):
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=20_000)
        shape = (20_000, n_columns)
        X = np.where(rng.random(shape) < 0.05, rng.integers(3, size=shape), y[:, None]).astype(str).astype(object)
        model = cw.NBClassifier().fit(X, y)
        proba, limits = model.predict_proba(X), model.predict_proba_interval(X, 1e-9)
        assert (limits[..., 0] <= proba).all()
        assert (proba <= limits[..., 1]).all()


def test_two_classes_mirror_each_other():
    X, y = labelled(n_classes=2)
    limits = cw.KDBClassifier(k=2).fit(X, y).predict_proba_interval(X)
    assert limits[:, 0, 0] == pytest.approx(1 - limits[:, 1, 1])
    assert limits[:, 0, 1] == pytest.approx(1 - limits[:, 1, 0])


@pytest.mark.parametrize("smoothing", ["mle", "laplace", "m", "m-branch", cw.MEstimate("holdout")])
def test_every_smoother_and_one_attribute(smoothing):
    X, y = labelled(60)
    limits = cw.NBClassifier(smoothing=smoothing).fit(X[:, :1], y).predict_proba_interval(X[:, :1])
    assert np.isfinite(limits).all()
    assert (limits[..., 0] < limits[..., 1]).all()


def test_a_value_never_met_leaves_the_interval_of_the_other_attributes():
    X, y = labelled()
    model, less = (m.fit(X, y) for m in (cw.NBClassifier(tune=None), cw.BNClassifier({1: [], 2: [], 3: []}, tune=None)))
    strange = X.copy()
    strange[:, 0] = "never met"
    assert np.array_equal(model.predict_proba_interval(strange), less.predict_proba_interval(X))


@pytest.mark.parametrize("level", [0, 1, -0.1, 90, float("nan"), "0.9", None, [0.9]])
def test_levels_out_of_range(level):
    X, y = labelled(20)
    with pytest.raises(cw.DataError, match="level must be a number between 0 and 1"):
        cw.NBClassifier().fit(X, y).predict_proba_interval(X, level)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        cw.NBClassifier().predict_proba_interval([["a"]])


def test_more_rows_move_the_limits():
    X, y = labelled(600)
    model = cw.TANClassifier(tune=None).fit(X[:200], y[:200])
    first = model.predict_proba_interval(X[:50])
    shard = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[200:], y[200:])
    more = model.predict_proba_interval(X[:50])
    assert np.ptp(more, axis=2).mean() < 0.7 * np.ptp(first, axis=2).mean()
    other = cw.BNClassifier(shard.structure_, tune=None).fit(X[:200], y[:200])
    other.partial_fit(X[200:], y[200:])
    assert np.array_equal(other.predict_proba_interval(X[:50]), more)
    assert np.array_equal(shard.predict_proba_interval(X[:50]), first)
    shard.merge(pickle.loads(pickle.dumps(shard)))
    assert np.ptp(shard.predict_proba_interval(X[:50]), axis=2).mean() < np.ptp(first, axis=2).mean()


def test_a_class_without_rows_is_uncertain():
    X, y = labelled(200, n_classes=2)
    model = cw.NBClassifier().partial_fit(X, y, classes=[0, 1, 2])
    limits = model.predict_proba_interval(X)
    assert np.isfinite(limits).all()
    assert (limits[:, 2, 1] > model.predict_proba(X)[:, 2]).any()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_saved_models_and_threads(tmp_path, n_jobs):
    X, y = labelled(3000)
    model = cw.KDBClassifier(k=2, n_jobs=n_jobs).fit(X, y)
    model.save(tmp_path / "model.cw")
    whole = model.predict_proba_interval(X)
    assert np.array_equal(cw.load(tmp_path / "model.cw").predict_proba_interval(X), whole)
    assert np.array_equal(model.predict_proba_interval(X[7:9]), whole[7:9])
    assert np.array_equal(cw.KDBClassifier(k=2).fit(X, y).predict_proba_interval(X), whole)


def test_models_of_files_without_precision():
    X, _ = cw.datasets.load("iris")
    model = cw.load(GOLDEN / "v1-iris-kdb.cw")
    limits, proba = model.predict_proba_interval(X), model.predict_proba(X)
    assert (limits[..., 0] <= proba).all()
    assert (proba <= limits[..., 1]).all()
    assert np.ptp(limits, axis=2).max() > 0.3


# Coverage: how often intervals hold the true probability, with the true structure


def dirichlet_network(n_parents, strength, rng):
    """A table's rows are Dirichlet around the row one level up: (), (class), (class, parent 1), ..."""
    shape = random_network(n_attributes=8, arity=(2, 5), n_parents=n_parents, random_state=rng)
    cpts = []
    for cpt in shape.tables:
        proba = rng.dirichlet(np.full(cpt.shape[-1], 2.0))
        for n in cpt.shape[:-1]:
            draws = np.maximum(rng.gamma(strength * np.repeat(proba[..., None, :], n, axis=-2)), 1e-9)
            proba = draws / draws.sum(axis=-1, keepdims=True)
        cpts.append(proba)
    return TrueNetwork(shape.class_prior, shape.parents, tuple(cpts))


def coverage(make, n_rows, smoothing, level, n_networks=8):
    shares = []
    for seed in range(n_networks):
        rng = np.random.default_rng([seed, n_rows])
        network = make(rng)
        train, test = network.sample(n_rows, random_state=rng), network.sample(200, random_state=rng)
        structure = {f"x{i}": [f"x{p}" for p in above] for i, above in enumerate(network.parents)}
        model = cw.BNClassifier(structure, smoothing=smoothing).fit(train.X, train.y)
        low, high = np.moveaxis(model.predict_proba_interval(test.X, level), 2, 0)
        true = network.class_proba(test.X)
        shares.append(((low <= true) & (true <= high)).mean())
    return np.mean(shares)


@pytest.mark.parametrize("n_parents", [0, 1, 2])
@pytest.mark.parametrize("n_rows", [100, 1000, 10_000])
@pytest.mark.parametrize("truth", ["dirichlet", "mixture"])
def test_coverage(truth, n_rows, n_parents):
    def make(rng):
        if truth == "dirichlet":
            return dirichlet_network(n_parents, 20.0, rng)
        return random_network(n_attributes=8, arity=(2, 5), n_parents=n_parents, random_state=rng)

    assert 0.8 < coverage(make, n_rows, "m-branch", 0.9) < 0.98
    assert 0.4 < coverage(make, n_rows, "m-branch", 0.5, 4) < 0.7


def test_coverage_of_more_classes_and_a_flat_smoother():
    def make(rng):
        return random_network(n_attributes=8, arity=(2, 5), n_classes=5, n_parents=1, random_state=rng)

    for n_rows in (300, 3000):
        assert 0.8 < coverage(make, n_rows, "m", 0.9, 4) < 0.98


def test_a_wrong_structure_is_not_covered():
    # Ten copies of one noisy attribute: naive Bayes counts its evidence ten times and is sure of itself.
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=5000)
    X = np.tile(np.where(rng.random(5000) < 0.3, 1 - y, y)[:, None], (1, 10)).astype(str).astype(object)
    limits = cw.NBClassifier().fit(X, y).predict_proba_interval(X, 0.99)
    assert not ((limits[..., 0] <= 0.7) & (limits[..., 1] >= 0.7)).any()
