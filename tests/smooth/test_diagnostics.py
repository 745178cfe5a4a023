"""Convergence diagnostics: against their definitions, and on chains whose effective size is known."""

import numpy as np
import pytest

from countwise.errors import DataError
from countwise.smooth.diagnostics import effective_sample_size, split_rhat


def definition(chains):
    """BDA3, section 11.4-11.5, written out for one quantity: (R-hat, n_eff)."""
    halves = [part for chain in chains for part in (chain[: len(chain) // 2], chain[-(len(chain) // 2) :])]
    m, n = len(halves), len(halves[0])
    between = n * np.var([np.mean(half) for half in halves], ddof=1)
    within = np.mean([np.var(half, ddof=1) for half in halves])
    pooled = (n - 1) / n * within + between / n

    def rho(lag):
        variogram = sum((half[i] - half[i - lag]) ** 2 for half in halves for i in range(lag, n)) / (m * (n - lag))
        return 1 - variogram / (2 * pooled)

    last = 1
    while last + 2 < n and rho(last + 1) + rho(last + 2) >= 0:
        last += 2
    return np.sqrt(pooled / within), m * n / (1 + 2 * sum(rho(lag) for lag in range(1, last + 1)))


def autoregressive(rng, coefficient, shape):
    """Stationary AR(1) chains of variance 1 / (1 - coefficient^2)."""
    noise = rng.normal(size=shape)
    noise[0] /= np.sqrt(1 - coefficient**2)
    for i in range(1, shape[0]):
        noise[i] += coefficient * noise[i - 1]
    return noise


@pytest.mark.parametrize("n_draws", [8, 9, 50, 61])
@pytest.mark.parametrize("n_chains", [1, 3])
def test_definition(n_chains, n_draws):
    rng = np.random.default_rng(n_draws)
    chains = np.stack([autoregressive(rng, 0.6, (n_draws, 2)) for _ in range(n_chains)])
    expected = np.array([definition(chains[:, :, column]) for column in range(2)])
    assert split_rhat(chains) == pytest.approx(expected[:, 0], rel=1e-10)
    assert effective_sample_size(chains) == pytest.approx(expected[:, 1], rel=1e-9)
    if n_chains == 1:
        assert np.array_equal(split_rhat(chains[0]), split_rhat(chains))


def test_independent_draws_count_fully():
    trace = np.random.default_rng(1).normal(size=(20_000, 5))
    assert effective_sample_size(trace) == pytest.approx(20_000, rel=0.06)
    assert split_rhat(trace) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("coefficient", [0.5, 0.9])
def test_autoregressive_chains_count_as_known(coefficient):
    # The autocorrelation coefficient^t sums to n_eff = n (1 - coefficient) / (1 + coefficient).
    rng = np.random.default_rng(2)
    chains = np.stack([autoregressive(rng, coefficient, (20_000, 3)) for _ in range(4)])
    known = 80_000 * (1 - coefficient) / (1 + coefficient)
    assert effective_sample_size(chains) == pytest.approx(known, rel=0.1)


def test_chains_that_disagree():
    rng = np.random.default_rng(3)
    chains = rng.normal(size=(2, 500, 2))
    chains[1, :, 1] += 3.0  # the second column's chains sample different places
    rhat, size = split_rhat(chains), effective_sample_size(chains)
    assert rhat[0] < 1.01 < 1.5 < rhat[1]
    assert size[1] < 20 < 800 < size[0]


def test_a_column_that_never_moves():
    trace = np.column_stack([np.ones(100), np.random.default_rng(4).normal(size=100)])
    assert np.isnan(split_rhat(trace)).tolist() == np.isnan(effective_sample_size(trace)).tolist() == [True, False]
    assert split_rhat(np.repeat([[[1.0]], [[2.0]]], 10, axis=1)) == [np.inf]


@pytest.mark.parametrize("shape", [(100,), (7, 2), (2, 7, 2), (1, 1, 100, 2)])
def test_bad_traces(shape):
    with pytest.raises(DataError, match="at least 8 draws"):
        split_rhat(np.zeros(shape))
