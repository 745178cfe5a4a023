"""Tuning a part of a pool: left-out evidence against recounting, and what tuning must do."""

from dataclasses import replace

import numpy as np
import pytest

from countwise.infer.pool import MOST_ENTRIES, FittedNetwork, PartEvidence, most_rows, tune_part
from countwise.smooth.hdp import HDP, ROOT_CONCENTRATION
from countwise.tree.context import Family, build_trees
from oracle import path_loss
from oracle.path_loss import all_families, raw_kernel
from oracle.tables import Table, dependent_table, random_table


def group_sums(kernel, strength, group, shape, threads=1):
    out = np.full((max(group) + 1, *shape), np.nan)
    kernel.group_sums(strength.reshape(-1), group, max(group) + 1, threads, out.reshape(-1))
    return out


def with_unseen(table, seed):
    """Some codes become ones that are never counted."""
    X = table.X.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = 99
    return Table(np.minimum(X, table.arity), table.y, table.arity, table.n_classes, table.weights)


# Evidence


@pytest.mark.parametrize("weights", [None, "integer", "eighths"])
@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("n_rows", [1, 12, 60])
def test_exact_against_recounting_when_counts_are_raw(n_rows, unseen, weights):
    table = random_table(n_rows, n_rows, [3, 2, 4], weights=weights)
    table = with_unseen(table, 1) if unseen else table
    families, rows = all_families(table), np.arange(0, n_rows, 2)
    kernel, n_levels = raw_kernel(table, families, rows)
    strength = np.random.default_rng(0).uniform(0.2, 5.0, (3, n_levels))
    plain = [(family.child, family.parents) for family in families]
    expected = np.stack([path_loss.evidence(table, plain, strength, ROOT_CONCENTRATION, r) for r in rows], axis=1)
    found = group_sums(kernel, strength, [0, 1, 2], expected.shape[1:])
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)
    grouped = group_sums(kernel, strength, [1, 0, 1], expected.shape[1:])
    assert grouped == pytest.approx(np.stack([expected[1], expected[0] + expected[2]]), rel=1e-10, abs=1e-10)


def test_blocks_and_threads_do_not_change_a_bit():
    table = dependent_table(0, 1000, 4, n_classes=3)
    kernel, n_levels = raw_kernel(table, all_families(table), np.arange(1000))
    strength = np.full((4, n_levels), 2.0)
    one, many = (group_sums(kernel, strength, [0, 0, 1, 1], (1000, 3), threads) for threads in (1, 3))
    np.testing.assert_array_equal(one, many)
    some = np.arange(200, 700)  # other blocks, the same rows
    part, _ = raw_kernel(table, all_families(table), some)
    np.testing.assert_array_equal(group_sums(part, strength, [0, 0, 1, 1], (500, 3)), one[:, some])


def network(table, families):
    trees = build_trees(table.batch(), families, table.arity, table.n_classes)
    return FittedNetwork(trees, [HDP().fit_tree(tree.counts) for tree in trees], table.arity)


def class_counts(table):
    return np.bincount(table.y, table.weights, minlength=table.n_classes).astype(float)


def two_networks(table):
    """Of different depths, both over all columns."""
    n = len(table.arity)
    return [
        network(table, [Family(i, (i - 1,) if i else ()) for i in range(n)]),
        network(table, [Family(i, tuple(j for j in (i + 1, i + 2) if j < n)) for i in range(n)]),
    ]


def evidence_of(table, rows, threads=1):
    networks = two_networks(table)
    batch = table.judged(rows)
    return networks, PartEvidence(networks, class_counts(table), [batch, batch], threads)


@pytest.mark.parametrize("weights", [None, "integer", "eighths"])
def test_rows_leave_an_hdp_in_closed_form(weights):
    table = random_table(3, 50, [3, 2, 3], weights=weights)
    networks, evidence = evidence_of(table, np.arange(50))
    for log_factor in (0.0, 1.3):
        found = evidence.terms(log_factor)
        pairs = [(tree, fit) for net in networks for tree, fit in zip(net.trees, net.fits, strict=True)]
        for t, (tree, fit) in enumerate(pairs):
            for r, ((codes, label, _), left) in enumerate(zip(table.rows, table.left_out, strict=True)):
                expected = path_loss.fitted_evidence(
                    tree, fit, np.exp(log_factor), ROOT_CONCENTRATION, codes, label, left, 3
                )
                assert found[t, r] == pytest.approx(expected, rel=1e-9)
        sums = evidence.sums(log_factor, evidence.group.tolist(), 2)
        assert sums == pytest.approx(np.stack([found[:3].sum(axis=0), found[3:].sum(axis=0)]), rel=1e-12)
        assert evidence.mean(log_factor) == pytest.approx(sums.mean(axis=0), rel=1e-12)


def test_log_prior_leaves_the_row_out():
    table = random_table(4, 20, [2, 2, 2], weights="integer")
    _, evidence = evidence_of(table, np.arange(20))
    for r in range(20):
        counts = np.bincount(table.y, table.without(r), minlength=3)
        expected = np.log((counts + ROOT_CONCENTRATION / 3) / (counts.sum() + ROOT_CONCENTRATION))
        assert evidence.log_prior[r] == pytest.approx(expected, rel=1e-12)


def test_memory_of_a_part_is_bounded():
    assert most_rows(0, 2) > 1_000_000
    assert most_rows(10**9, 100) == 1
    for n_terms, n_classes in ((100, 2), (1000, 26)):
        assert most_rows(n_terms, n_classes) * n_terms * n_classes <= MOST_ENTRIES
        assert (most_rows(n_terms, n_classes) + 1) * n_terms * n_classes > MOST_ENTRIES


# Tuning


def log_loss(table, scores):
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    return weights @ (np.logaddexp.reduce(scores, axis=1) - scores[np.arange(table.n_rows), table.y])


def tuned_loss(evidence, table, tunings, by_term):
    """The part's loss by tunings, written out: temperature, weights, biases."""
    tuning = tunings[0]
    terms = evidence.terms(float(np.log(tuning.level_factor[0])))
    scores = evidence.log_prior + tuning.bias
    for t, (m, child) in enumerate(by_term):
        scores = scores + tunings[m].temperature * tunings[m].weight[child] / len(tunings) * terms[t]
    return log_loss(table, scores)


def plain_loss(evidence, table):
    return log_loss(table, evidence.log_prior + evidence.mean(0.0))


BY_TERM = [(m, child) for m in range(2) for child in range(6)]


@pytest.mark.parametrize("weighted", [False, True])
def test_tuning_lowers_the_loss_of_the_part(weighted):
    table = dependent_table(5, 900, 6, n_classes=3, noise=0.6)
    if weighted:
        times = np.random.default_rng(0).integers(1, 4, 900).astype(float)
        table = Table(table.X, table.y, table.arity, 3, times)
    rows = np.arange(0, 900, 3)
    part, (networks, evidence) = table.take(rows), evidence_of(table, rows)
    batch = part.batch()
    tunings = tune_part(networks, class_counts(table), [batch, batch], 6, 1)
    assert len(tunings) == 2
    assert tunings[0].temperature == tunings[1].temperature
    assert not np.array_equal(tunings[0].weight, tunings[1].weight)
    before, after = plain_loss(evidence, part), tuned_loss(evidence, part, tunings, BY_TERM)
    assert after < 0.98 * before
    even = [replace(t, weight=np.ones(6)) for t in tunings]
    assert after < tuned_loss(evidence, part, even, BY_TERM)  # weights say more than one temperature


def test_biases_follow_the_classes_of_the_part():
    table = dependent_table(5, 900, 6, n_classes=3, noise=0.6)
    rows = np.flatnonzero((table.y == 0) | (np.arange(900) % 5 == 0))
    part, (networks, evidence) = table.take(rows), evidence_of(table, rows)
    tunings = tune_part(networks, class_counts(table), [part.batch()] * 2, 6, 1)
    assert (tunings[0].bias == tunings[1].bias).all()
    best = tuned_loss(evidence, part, tunings, BY_TERM)
    for step in (-0.5, 0.5):
        shifted = [replace(t, bias=t.bias + np.array([step, 0.0, 0.0])) for t in tunings]
        assert tuned_loss(evidence, part, shifted, BY_TERM) > best + 1.0


def test_threads_do_not_change_the_tuning():
    table = dependent_table(6, 800, 6, n_classes=3, noise=0.6)
    networks, batch = two_networks(table), table.batch()
    one, many = (tune_part(networks, class_counts(table), [batch, batch], 6, threads) for threads in (1, 3))
    for a, b in zip(one, many, strict=True):
        assert (a.temperature, a.level_factor.tolist()) == (b.temperature, b.level_factor.tolist())
        np.testing.assert_array_equal(a.bias, b.bias)
        np.testing.assert_array_equal(a.weight, b.weight)


def test_a_network_of_noise_loses_its_say():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    told = [np.where(rng.random(1500) < 0.8, y, 1 - y) for _ in range(3)]
    X = np.column_stack([*told, *rng.integers(0, 8, (3, 1500))])
    table = Table(X, y, [2, 2, 2, 8, 8, 8], 2)
    good, poor = (network(table, [Family(i, ()) for i in own]) for own in ((0, 1, 2), (3, 4, 5)))
    batch = table.batch()
    a, b = tune_part([good, poor], class_counts(table), [batch, batch], 6, 1)
    assert b.weight[3:].max() < 0.7 * a.weight[:3].min()
    assert (a.weight[3:] == 1.0).all()  # columns that are not in the network
    assert (b.weight[:3] == 1.0).all()


def test_one_row_and_one_class_in_the_part():
    table = random_table(7, 30, [2, 3, 2], n_classes=2)
    networks = two_networks(table)
    for rows in (np.array([4]), np.flatnonzero(table.y == 1)):
        batch = table.take(rows).batch()
        for tuning in tune_part(networks, class_counts(table), [batch, batch], 3, 1):
            assert np.isfinite([tuning.temperature, *tuning.level_factor, *tuning.bias, *tuning.weight]).all()
