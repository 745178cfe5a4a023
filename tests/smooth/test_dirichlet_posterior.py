"""Posteriors of the hierarchical Multinomial-Dirichlet model: exact ones, the lemmas of paper 003, simulation."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from scipy.integrate import dblquad, quad

from countwise.smooth import HierarchicalDirichlet, dense_proba
from countwise.tree.context import Family, build_trees
from oracle import hierarchical_dirichlet as oracle
from oracle.hierarchical_dirichlet import drawn, table_tree
from oracle.tables import many, tables

# The exact posterior


def test_exact_moments_by_quadrature():
    counts, s = np.array([[3, 0, 1], [1, 2, 0]]), Fraction(5, 2)
    alpha0 = [Fraction(1, 2), Fraction(3)]

    def density(a):
        rising = np.prod(
            [np.prod(2.5 * p + np.arange(n)) for p, row in zip((a, 1 - a), counts, strict=True) for n in row]
        )
        return a**-0.5 * (1 - a) ** 2 * rising

    whole = quad(density, 0, 1, epsabs=0, epsrel=1e-10)[0]
    mean = quad(lambda a: a * density(a), 0, 1, epsrel=1e-10)[0] / whole
    square = quad(lambda a: a * a * density(a), 0, 1, epsrel=1e-10)[0] / whole
    assert oracle.exact_mean(counts, s, alpha0)[0] == pytest.approx(mean, rel=1e-8)
    assert oracle.exact_covariance(counts, s, alpha0)[0, 0] == pytest.approx(square - mean**2, rel=1e-6)


def test_exact_moments_by_quadrature_in_two_dimensions():
    counts = np.array([[3, 0], [1, 2], [0, 1]])

    def density(b, a):
        rows = zip((a, b, 1 - a - b), counts, strict=True)
        return np.prod([np.prod(3 * p + np.arange(n)) for p, row in rows for n in row])

    limits = (0, 1, 0, lambda a: 1 - a)
    whole = dblquad(density, *limits)[0]
    mean = dblquad(lambda b, a: a * density(b, a), *limits)[0] / whole
    assert oracle.exact_mean(counts, 3, [1, 1, 1])[0] == pytest.approx(mean, rel=1e-7)


def errors_to_exact(counts):
    """Mean squared errors of theta to its exact posterior mean: the library's, and by the bound as in the paper."""
    n, ones = len(counts), np.ones(len(counts))

    def theta(kappa):
        return (counts + n * kappa[:, None]) / (counts.sum(0) + n)

    exact = theta(oracle.exact_mean(counts, n, [1] * n))
    tree = table_tree(counts)
    ours = dense_proba(tree, HierarchicalDirichlet().smooth(tree))[1:].T
    paper = theta(oracle.best(counts.astype(float), n, ones)[0])
    return ((ours - exact) ** 2).mean(), ((paper - exact) ** 2).mean()


def test_posterior_means_are_close_to_exact_ones():
    # Paper 003, section 3.2: 1e-5 on average.
    rng = np.random.default_rng(11)
    grid = [(2, 2, 20), (2, 8, 40), (4, 2, 20), (4, 4, 40), (4, 8, 80), (6, 6, 20), (8, 2, 40), (8, 8, 20)]
    errors = np.array([errors_to_exact(drawn(rng, *size)) for size in grid for _ in range(3)])
    ours, paper = errors.mean(0)
    assert ours < 5e-6
    assert paper < 1e-5
    assert ours < paper  # values without rows: see the class


def test_the_bound_is_below_the_evidence():
    rng = np.random.default_rng(12)
    for size in [(2, 3, 10), (3, 2, 15), (4, 5, 30)]:
        counts = drawn(rng, *size)
        counts = counts[counts.sum(1) > 0]
        n = len(counts)
        for s, weight in [(n, 1), (1, 2), (3 * n, Fraction(1, 2))]:
            posterior = HierarchicalDirichlet(float(s), float(weight)).posterior(table_tree(counts))
            evidence = oracle.exact_log_evidence(counts, s, [weight] * n)
            assert evidence - 4 < posterior.bound < evidence


def test_columns_without_rows_are_no_columns():
    # In the model an empty column changes nothing. The bound pays for it, because theta and alpha are independent in
    # it, and makes alpha more certain: further from the exact posterior, which it takes for too certain anyway.
    counts = np.array([[6, 2, 1, 0], [1, 0, 1, 2], [2, 1, 0, 0]])
    empty = np.hstack([counts, np.zeros((3, 20), int)])
    exact = oracle.exact_mean(counts, 3, [1, 1, 1])
    assert oracle.exact_mean(empty, 3, [1, 1, 1]) == pytest.approx(exact, rel=1e-12)
    without, with_empty = (oracle.best(c.astype(float), 3.0, np.ones(3)) for c in (counts, empty))
    tops = [oracle.profile(c, tau, k, 3.0, np.ones(3)) for c, (k, tau) in ((counts, without), (empty, with_empty))]
    assert tops[1] < tops[0] - 0.1
    variance = [(k * (1 - k)).sum() / (tau + 1) for k, tau in (without, with_empty)]
    assert variance[1] < 0.8 * variance[0] < 0.8 * np.trace(oracle.exact_covariance(counts, 3, [1, 1, 1]))
    assert HierarchicalDirichlet().posterior(table_tree(empty)).kappa == pytest.approx(without[0], rel=1e-5)


def test_values_without_rows_by_exact_moments():
    # Their share follows alpha0 down to nothing, which the bound by itself does not see.
    counts = np.array([[5, 3], [2, 1], [0, 0]])
    for weight in (Fraction(1), Fraction(1, 10), Fraction(1, 100)):
        exact = oracle.exact_mean(counts, 3, [weight] * 3)
        kappa = HierarchicalDirichlet(3.0, float(weight)).posterior(table_tree(counts)).kappa
        assert kappa[2] == pytest.approx(exact[2], rel=0.1)
    assert oracle.best(counts.astype(float), 3.0, np.full(3, 0.01))[0][2] > 10 * exact[2]


# Means, covariances, correlations


def test_nu_is_at_its_optimum():
    counts, kappa = np.array([[3.0, 0.0], [1.0, 2.0]]), np.array([0.6, 0.4])
    nu = counts + 2.0 * kappa[:, None]
    top = oracle.bound(counts, nu, 5.0, kappa, 2.0, np.ones(2))
    for x, y in np.ndindex(2, 2):
        for factor in (0.9, 1.1):
            moved = nu.copy()
            moved[x, y] *= factor
            assert oracle.bound(counts, moved, 5.0, kappa, 2.0, np.ones(2)) < top


def test_lemma_1_by_simulation():
    # The statement of Lemma 1 says s / (s + s0 + 1), its proof ends with (s + 1) / (s + s0 + 1). The proof is right:
    # with v = Var(alpha) / s^2, the covariance is v and Var(theta) = v + E[Var(theta | alpha)] = v + v s0 / (s + 1).
    rng = np.random.default_rng(13)
    for s, s0 in [(1.0, 2.0), (0.5, 1.0), (4.0, 3.0)]:
        alpha = s * rng.dirichlet([s0 / 3, 2 * s0 / 3], size=400_000)
        columns = [rng.beta(alpha[:, 0], alpha[:, 1]) for _ in range(2)]
        found = np.corrcoef(columns)[0, 1]
        assert found == pytest.approx((s + 1) / (s + s0 + 1), abs=0.006)
        assert abs(found - s / (s + s0 + 1)) > 0.05


def test_lemma_2_by_importance_sampling():
    # Posterior means and covariances of theta from draws of the prior, weighted by the likelihood of alpha; the
    # formulas are given the exact moments of alpha.
    counts = np.array([[2, 0], [1, 3]])
    rng = np.random.default_rng(14)
    s, size = 2.0, 400_000
    a = rng.dirichlet([1.0, 1.0], size=size)
    weights = np.ones(size)
    for (x, _), n in np.ndenumerate(counts):
        for m in range(n):
            weights *= s * a[:, x] + m
    theta = [rng.beta(s * a[:, 0] + counts[0, y], s * a[:, 1] + counts[1, y]) for y in range(2)]
    found = np.cov(theta, aweights=weights)
    mean, variance = oracle.exact_mean(counts, 2, [1, 1])[0], s**2 * oracle.exact_covariance(counts, 2, [1, 1])[0, 0]
    weight = counts.sum(0) + s
    p = (counts[0] + s * mean) / weight
    own = variance / (weight * (weight + 1)) + p * (1 - p) / (weight + 1)
    assert np.average(theta, axis=1, weights=weights) == pytest.approx(p, abs=0.002)
    assert np.diag(found) == pytest.approx(own, rel=0.02)  # eq. 9
    assert found[0, 1] == pytest.approx(variance / weight.prod(), rel=0.03)  # eq. 10


def test_covariances_by_simulation_of_the_posterior():
    counts = np.array([[4, 1], [0, 2], [0, 0], [0, 0]])
    smoother, tree = HierarchicalDirichlet(3.0, 0.8), table_tree(counts)
    posterior = smoother.posterior(tree)
    rng, size = np.random.default_rng(15), 200_000
    z = rng.beta(*posterior.rest, size=size)[:, None]
    k = posterior.kappa[:2] / posterior.kappa[:2].sum()
    seen, unseen = rng.dirichlet(posterior.tau * k, size=size), rng.dirichlet([0.8, 0.8], size=size)
    alpha = 3.0 * np.hstack([(1 - z) * seen, z * unseen])
    assert alpha.mean(0) == pytest.approx(3.0 * posterior.kappa, abs=0.01)
    assert np.cov(alpha.T) == pytest.approx(posterior.alpha_covariance(), abs=0.01)
    draws = [rng.gamma(alpha + counts[:, y]) for y in range(2)]
    first, second = (d / d.sum(1, keepdims=True) for d in draws)
    assert first.mean(0) == pytest.approx(posterior.mean(1), abs=0.003)
    assert np.cov(first.T) == pytest.approx(posterior.covariance(1), abs=0.001)
    both = np.cov(first.T, second.T)[:4, 4:]
    assert both == pytest.approx(posterior.covariance(1, 2), abs=0.001)


@many
@given(tables(max_columns=2, max_arity=4))
def test_precision_has_the_trace_of_the_covariance(table):
    *parents, child = range(len(table.arity))
    (context,) = build_trees(table.batch(), [Family(child, tuple(parents))], table.arity, table.n_classes)
    tree = context.counts
    smoother = HierarchicalDirichlet()
    smoothed, posterior = smoother.smooth(tree), smoother.posterior(tree)
    for node in range(tree.n_nodes):
        p = posterior.mean(node)
        assert p == pytest.approx(dense_proba(tree, smoothed)[node], rel=1e-10)
        if tree.arity > 1:
            implied = (p * (1 - p)).sum() / (smoothed.precision[node] + 1)
            assert implied == pytest.approx(np.trace(posterior.covariance(node)), rel=1e-8)
