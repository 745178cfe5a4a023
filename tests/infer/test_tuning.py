"""Leave-one-out along paths: against recounting and finite differences; what tuning must do."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

from countwise.infer.tuning import RowLoss, Tuning, tune, tune_weights
from countwise.smooth import dense_proba
from countwise.smooth.hdp import HDP, ROOT_CONCENTRATION
from countwise.tree.context import Family, build_trees
from oracle import path_loss
from oracle.path_loss import all_families, raw_kernel
from oracle.tables import Table, tables


def evaluate(kernel, strength, weight, bias, threads=1):
    gradient = np.zeros(strength.size), np.zeros(len(weight)), np.zeros(len(bias))
    return kernel.evaluate(strength.reshape(-1), weight, bias, threads, *gradient), gradient


@settings(max_examples=40, deadline=None)
@given(tables(max_columns=3, max_arity=4))
def test_exact_against_recounting_when_counts_are_raw(table):
    assume(table.n_rows > 0)
    families = all_families(table)
    rows = np.arange(0, table.n_rows, 2)
    kernel, n_levels = raw_kernel(table, families, rows)
    rng = np.random.default_rng(0)
    strength = rng.uniform(0.2, 5.0, (len(families), n_levels))
    weight, bias = rng.uniform(0.5, 1.5, len(families)), rng.normal(size=table.n_classes)
    expected = path_loss.loss(
        table, [(f.child, f.parents) for f in families], strength, weight, bias, ROOT_CONCENTRATION, rows
    )
    assert evaluate(kernel, strength, weight, bias)[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def a_table(n_rows=700, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    a = (y + rng.integers(0, 2, n_rows)) % 4
    b = (a + y + rng.geometric(0.6, n_rows)) % 5
    c = rng.integers(0, 3, n_rows)
    return Table(np.column_stack([a, b, c]), y, [4, 5, 3], 3)


def test_gradient_against_finite_differences():
    table = a_table()
    families = all_families(table)
    kernel, n_levels = raw_kernel(table, families, np.arange(table.n_rows))
    rng = np.random.default_rng(1)
    log_strength = rng.normal(size=(len(families), n_levels))
    weight, bias = rng.uniform(0.5, 1.5, len(families)), rng.normal(size=3)

    def at(x):
        split = np.split(x, [log_strength.size, log_strength.size + len(weight)])
        return evaluate(kernel, np.exp(split[0]).reshape(log_strength.shape), split[1], split[2])

    x = np.concatenate([log_strength.reshape(-1), weight, bias])
    analytic = np.concatenate(at(x)[1])
    step = 1e-5
    numeric = [(at(x + e)[0] - at(x - e)[0]) / (2 * step) for e in np.eye(len(x)) * step]
    assert analytic == pytest.approx(np.array(numeric), rel=1e-5, abs=1e-5)


def test_threads_do_not_change_a_bit():
    table = a_table(5000)
    families = all_families(table)
    kernel, n_levels = raw_kernel(table, families, np.arange(table.n_rows))
    arguments = np.full((len(families), n_levels), 2.0), np.ones(len(families)), np.zeros(3)
    one, many = evaluate(kernel, *arguments), evaluate(kernel, *arguments, threads=3)
    assert one[0] == many[0]
    for a, b in zip(one[1], many[1], strict=True):
        np.testing.assert_array_equal(a, b)


def row_loss(table, rows=None):
    trees = build_trees(table.batch(), all_families(table), table.arity, table.n_classes)
    counts = np.bincount(table.y, table.weights, minlength=table.n_classes).astype(float)
    part = table if rows is None else table.take(rows)
    return RowLoss(trees, counts, HDP(), table.arity, part.batch(), 1)


def test_row_loss_gradient():
    loss = row_loss(a_table())
    factor, temperature, bias = np.full(loss.n_levels, 0.3), -0.2, np.array([0.1, -0.4, 0.2])
    _, d_factor, d_temperature, d_bias = loss(factor, temperature, bias)
    step = 1e-5
    for level in range(1, loss.n_levels):
        e = step * (np.arange(loss.n_levels) == level)
        numeric = (loss(factor + e, temperature, bias)[0] - loss(factor - e, temperature, bias)[0]) / (2 * step)
        assert d_factor[level] == pytest.approx(numeric, rel=1e-4, abs=1e-5)
    numeric = (loss(factor, temperature + step, bias)[0] - loss(factor, temperature - step, bias)[0]) / (2 * step)
    assert d_temperature == pytest.approx(numeric, rel=1e-4)
    e = np.array([0.0, step, 0.0])
    assert d_bias[1] == pytest.approx(
        (loss(factor, temperature, bias + e)[0] - loss(factor, temperature, bias - e)[0]) / (2 * step), rel=1e-4
    )


def test_left_out_rows_of_an_hdp_fit_are_close_to_refits():
    table = a_table(150)
    exact = 0.0
    families = all_families(table)
    n_levels = max(len(f.parents) for f in families) + 2
    for r in range(table.n_rows):
        rest = table.take(np.delete(np.arange(table.n_rows), r))
        trees = build_trees(rest.batch(), families, table.arity, table.n_classes)
        counts = np.bincount(rest.y, minlength=3)
        score = np.log((counts + 2 / 3) / (counts.sum() + 2))
        for tree in trees:
            smoothed = HDP().fit_tree(tree.counts)
            nodes = {(): 0}
            for j in range(1, tree.counts.n_nodes):
                up = next(path for path, number in nodes.items() if number == tree.counts.parent[j])
                nodes[(*up, int(tree.branch[j]))] = j
            proba = dense_proba(tree.counts, smoothed.smoothed(tree.counts))
            for y in range(3):
                path = (y, *(int(table.X[r, p]) for p in tree.family.parents))
                while path not in nodes:
                    path = path[:-1]
                score[y] += np.log(proba[nodes[path], table.X[r, tree.family.child]])
        exact -= score[table.y[r]] - np.logaddexp.reduce(score)
    closed, *_ = row_loss(table)(np.zeros(n_levels), 0.0, np.zeros(3))
    assert closed / table.n_rows == pytest.approx(exact / table.n_rows, abs=0.02)


def test_tuning_lowers_the_loss_and_cools_a_doubled_network():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    a = np.where(rng.random(2000) < 0.75, y, 1 - y)
    twice = Table(np.column_stack([a, a, a]), y, [2, 2, 2], 2)  # the same evidence three times
    trees = build_trees(twice.batch(), [Family(i, ()) for i in range(3)], twice.arity, 2)
    loss = RowLoss(trees, np.bincount(y).astype(float), HDP(), twice.arity, twice.batch(), 1)
    tuning = tune([loss])
    assert tuning.temperature < 0.5
    log_factor = np.log(tuning.factor_of(np.arange(loss.n_levels)))
    tuned = loss(log_factor, np.log(tuning.temperature), tuning.bias)[0]
    once = loss(np.zeros(loss.n_levels), np.log(1 / 3), np.zeros(2))[0]
    assert tuned == pytest.approx(once, abs=1.0)
    assert once < loss(np.zeros(loss.n_levels), 0.0, np.zeros(2))[0] - 100


def test_parts_of_different_depths_are_tuned_together():
    table = a_table(400)
    deep = row_loss(table)
    trees = build_trees(table.batch(), [Family(i, ()) for i in range(3)], table.arity, table.n_classes)
    flat = RowLoss(trees, np.bincount(table.y).astype(float), HDP(), table.arity, table.batch(), 1)
    tuning = tune([flat, deep])
    assert len(tuning.level_factor) == deep.n_levels - 1

    def total(log_factor, log_temperature, bias):
        return sum(part(log_factor[: part.n_levels], log_temperature, bias)[0] for part in (flat, deep))

    at = np.log(tuning.factor_of(np.arange(deep.n_levels))), np.log(tuning.temperature), tuning.bias
    assert total(*at) < total(np.zeros(deep.n_levels), 0.0, np.zeros(3))
    for step in (-0.3, 0.3):  # near an optimum of loss and prior
        assert total(at[0] + step, at[1], at[2]) > total(*at) - 1.0
        assert total(at[0], at[1] + step, at[2]) > total(*at) - 0.2


def test_weights_of_columns_lower_the_loss_of_all_parts():
    table = a_table(600)
    skewed = np.flatnonzero((table.y == 0) | (np.arange(600) % 4 == 0))  # so that biases matter
    parts = [row_loss(table, skewed[::2]), row_loss(table, skewed[1::2])]
    tuning = tune_weights(parts, 4)  # one column is in no network
    assert tuning.weight.shape == (4,)

    def loss(log_factor, by_column, bias):
        total = 0.0
        for part in parts:
            scores = part.log_prior + bias + np.tensordot(by_column[part.children], part.terms(log_factor), axes=1)
            own = scores[np.arange(len(scores)), part.rows.target]
            total += part.rows.weights @ (np.logaddexp.reduce(scores, axis=1) - own)
        return total

    log_factor = float(np.log(tuning.level_factor[0]))
    best = loss(log_factor, tuning.term_factors([0, 1, 2, 3]), tuning.bias)
    assert best < loss(0.0, np.ones(4), np.zeros(3)) - 5
    assert best < loss(log_factor, np.full(4, tuning.temperature), tuning.bias)
    for step in (-0.4, 0.4):
        shifted = tuning.bias + np.array([step, 0.0, 0.0])
        assert best < loss(log_factor, tuning.term_factors([0, 1, 2, 3]), shifted)
    whole, *_ = zip(*(part(np.full(part.n_levels, log_factor), 0.0, tuning.bias) for part in parts), strict=True)
    assert sum(whole) == pytest.approx(loss(log_factor, np.ones(4), tuning.bias), rel=1e-9)


def test_factors_of_deeper_levels():
    tuning = Tuning(np.array([1.0, 2.0]), 1.0, np.zeros(2))
    assert tuning.factor_of(np.array([0, 1, 2, 7])) == pytest.approx([1.0, 1.0, 2.0, 2.0])
