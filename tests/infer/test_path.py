import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_softmax, logsumexp

from countwise.infer.path import path_integrals, spread_remainder


def log_mixture(start, slope, weight, t, normalised):
    scores = start + t * slope
    if normalised:
        scores = log_softmax(scores, axis=1)
    return logsumexp(scores + weight[:, None], axis=0)


def example(scale, n_rows=6, n_models=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    start = rng.normal(size=(n_models, n_classes))
    slope = rng.normal(size=(n_rows, n_models, n_classes)) * scale
    return start, slope, rng.normal(size=(n_rows, n_models))


@pytest.mark.parametrize("normalised", [True, False])
def test_against_adaptive_quadrature(normalised):
    start, slope, weight = example(5.0, n_rows=2)
    share, cross = path_integrals(start, slope, weight, normalised)
    for row in range(2):
        for g in range(3):
            for y in range(3):

                def part(t, row=row, g=g, y=y):
                    scores = start + t * slope[row]
                    own = log_softmax(scores, axis=1) if normalised else scores
                    f = log_mixture(start, slope[row], weight[row], t, normalised)
                    return np.exp(own[g, y] + weight[row, g] - f[y]), np.exp(log_softmax(scores, axis=1)[g])

                assert share[row, g, y] == pytest.approx(quad(lambda t: part(t)[0], 0, 1)[0], abs=1e-7)
                for z in range(3 * normalised):
                    expected = quad(lambda t: part(t)[0] * part(t)[1][z], 0, 1)[0]  # noqa: B023
                    assert cross[row, g, y, z] == pytest.approx(expected, abs=1e-7)
    assert (cross is None) == (not normalised)


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 300.0])
def test_parts_add_up_even_of_sharp_posteriors(scale, normalised):
    start, slope, weight = example(scale, n_rows=50)
    share, cross = path_integrals(start, slope, weight, normalised)
    parts = (share * slope).sum(axis=1)
    if normalised:
        parts -= np.einsum("rgyz,rgz->ry", cross, slope)
    for row in range(50):
        goal = log_mixture(start, slope[row], weight[row], 1, normalised)
        goal -= log_mixture(start, slope[row], weight[row], 0, normalised)
        error = parts[row] - goal
        assert np.ptp(error) < 1e-6


def test_a_row_does_not_depend_on_the_others():
    start, slope, weight = example(30.0, n_rows=20)
    share, cross = path_integrals(start, slope, weight, True)
    one, pairs = path_integrals(start, slope[3:4], weight[3:4], True)
    np.testing.assert_array_equal(one[0], share[3])
    np.testing.assert_array_equal(pairs[0], cross[3])


def test_the_remainder_goes_to_those_that_speak():
    parts = np.array([[[1.0, -1.0], [0.0, 0.0], [3.0, -3.0]], [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]])
    out = spread_remainder(parts, np.array([[0.8, 0.0], [3.0, -3.0]]))
    np.testing.assert_allclose(out[0], [[1.1, -1.1], [0, 0], [3.3, -3.3]])
    np.testing.assert_allclose(out[1], [[1.0, -1.0]] * 3)
