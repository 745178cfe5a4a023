"""The search for the factor on all concentrations."""

import numpy as np
import pytest

from countwise.infer.factor import FACTOR_SD, best_factor, least_argument
from countwise.infer.softmax_fit import fit_temperature, judged_rows


@pytest.mark.parametrize("place", [-8.2, -4.0, -1.5, -0.4, 0.0, 0.3, 0.75, 1.5, 2.2, 5.1, 7.4])
def test_least_argument(place):
    asked = []

    def lopsided(x):
        asked.append(x)
        return np.exp(0.3 * (x - place)) - 0.3 * (x - place)

    assert least_argument(lambda x: (x - place) ** 2) == pytest.approx(place, abs=0.1)
    found = least_argument(lopsided)
    assert found == pytest.approx(place, abs=0.25)
    assert found in asked  # so that what was computed there can be used
    assert len(asked) == len(set(asked))
    assert len(asked) <= 12


def test_least_argument_stops_at_the_end_and_on_the_flat():
    assert least_argument(lambda x: -x) == 9.0
    assert least_argument(lambda x: x) == -9.0
    assert least_argument(lambda x: 7.0) == 0.0
    assert least_argument(lambda x: max(abs(x) - 1.0, 0.0)) in (0.0, 1.5, -1.5)


def test_best_factor_is_least_with_its_prior():
    rng = np.random.default_rng(0)
    rows = judged_rows(rng.integers(0, 3, 500), rng.integers(1, 3, 500).astype(float))
    truth, noise, log_prior = 2.0 * np.eye(3)[rows.target], rng.normal(size=(500, 3)), np.zeros((500, 3))

    def evidence(log_factor):  # strong smoothing takes noise away, and later the truth
        return truth / (1 + np.exp(log_factor - 4)) + 4.0 * noise / (1 + np.exp(log_factor))

    def loss(log_factor):
        return fit_temperature(rows, log_prior, evidence(log_factor)).loss + 0.5 * (log_factor / FACTOR_SD) ** 2

    found, at = best_factor(rows, log_prior, evidence, 1)
    grid = np.arange(-9.0, 9.0, 0.1)
    values = [loss(x) for x in grid]
    assert found == pytest.approx(grid[np.argmin(values)], abs=0.3)
    assert 1.0 < found < 8.0
    again = fit_temperature(rows, log_prior, evidence(found))
    assert at.loss == pytest.approx(again.loss, abs=2e-3)
    assert at.temperature == pytest.approx(again.temperature, rel=0.01)


def test_a_factor_that_hardly_matters_stays_near_1():
    rng = np.random.default_rng(1)
    rows = judged_rows(rng.integers(0, 2, 300), None)
    truth, noise, log_prior = np.eye(2)[rows.target], rng.normal(size=(300, 2)), np.zeros((300, 2))

    def evidence(log_factor):
        return truth + noise * (1 - 0.0005 * log_factor)

    losses = [fit_temperature(rows, log_prior, evidence(x)).loss for x in (0.0, 3.0, 9.0)]
    assert losses[0] > losses[1] > losses[2] > losses[0] - 1.0
    assert 0.0 <= best_factor(rows, log_prior, evidence, 1)[0] < 3.0
