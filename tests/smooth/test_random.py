"""The generator of the samplers: its published stream, and the distributions drawn from it."""

from itertools import islice

import numpy as np
import pytest
from scipy import stats

from countwise import _kernels
from oracle.random import xoshiro


def draws(kind, a=1.0, b=1.0, seed=1, size=20_000):
    out = np.empty(size)
    _kernels.random_draws(kind, a, b, seed, out)
    return out


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_stream(seed):
    expected = [(word >> 11) / 2**53 for word in islice(xoshiro(seed), 50)]
    assert draws("uniform", seed=seed, size=50).tolist() == expected


@pytest.mark.parametrize("shape", [0.05, 0.5, 1.0, 1.7, 30.0, 1e6])
def test_gamma(shape):
    assert stats.kstest(draws("gamma", shape), stats.gamma(shape).cdf).pvalue > 1e-3
    assert stats.kstest(draws("log_gamma", shape), stats.loggamma(shape).cdf).pvalue > 1e-3


def test_small_shapes_do_not_underflow_as_logarithms():
    assert np.isfinite(draws("log_gamma", 1e-6)).all()
    assert (draws("gamma", 1e-6) == 0).any()


@pytest.mark.parametrize(("a", "b"), [(0.01, 5), (0.5, 1), (2, 3), (4000, 2), (2, 1e6)])
def test_beta(a, b):
    minus_log = draws("minus_log_beta", a, b)
    assert (minus_log >= 0).all()
    assert stats.kstest(minus_log, lambda x: stats.beta(a, b).sf(np.exp(-x))).pvalue > 1e-3


def table_law(n, c):
    """P(t tables) for t = 0 .. n: a sum of independent Bernoulli(c / (c + i)) variables."""
    law = np.array([1.0])
    for i in range(n):
        p = c / (c + i)
        law = np.convolve(law, [1 - p, p])
    return law


@pytest.mark.parametrize(
    ("n", "c"), [(1, 3.0), (5, 0.5), (40, 10.0), (300, 1e-3), (300, 2.0), (300, 40.0), (300, 900.0)]
)
def test_tables(n, c):
    found = np.bincount(draws("tables", c, n).astype(int), minlength=n + 1)
    expected = 20_000 * table_law(n, c)
    likely = expected > 5
    pooled_found = np.append(found[likely], found[~likely].sum())
    pooled = np.append(expected[likely], expected[~likely].sum())
    positive = pooled > 0.5
    assert found[~likely].sum() < 5 * (expected[~likely].sum() + 5)
    if positive.sum() > 1:
        chi = ((pooled_found - pooled)[positive] ** 2 / pooled[positive]).sum()
        assert stats.chi2(positive.sum() - 1).sf(chi) > 1e-3


def test_tables_of_many_customers():
    n, c = 3_000_000, 5.0
    p = c / (c + np.arange(n))
    found = draws("tables", c, n)
    assert found.mean() == pytest.approx(p.sum(), abs=5 * found.std() / np.sqrt(len(found)))
    assert found.var() == pytest.approx((p * (1 - p)).sum(), rel=0.05)
