"""Small fits of the class log loss: at the optimum of what is written out here, and tame where data say little."""

import numpy as np
import pytest
from scipy.optimize import minimize

from countwise.infer import softmax_fit
from countwise.infer.softmax_fit import BIAS_SD, TEMPERATURE_SD, WEIGHT_SD, fit_temperature, fit_weights, judged_rows


def problem(seed=0, n_rows=400, n_classes=3, n_terms=5, sharp=1.0, shift=0.4):
    """Terms of log probabilities that hold some truth, in the proportions 1 : 1/2 : 1/3 ..."""
    rng = np.random.default_rng(seed)
    terms = rng.normal(size=(n_terms, n_rows, n_classes))
    offset = np.log(rng.dirichlet(np.full(n_classes, 5.0), n_rows))
    scores = offset + sharp * np.tensordot(1 / np.arange(1.0, n_terms + 1), terms, axes=1)
    scores[:, 0] += shift
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return judged_rows(y, rng.integers(1, 4, n_rows).astype(float)), offset, terms


def log_loss(rows, scores):
    own = scores[np.arange(len(scores)), rows.target]
    return rows.weights @ (np.logaddexp.reduce(scores, axis=1) - own)


def temperature_objective(rows, offset, evidence, x):
    log_t, bias = x[0], x[1:]
    prior = 0.5 * (log_t / TEMPERATURE_SD) ** 2 + 0.5 * (bias**2).sum() / BIAS_SD**2
    return log_loss(rows, offset + bias + np.exp(log_t) * evidence) + prior


def weight_objective(rows, offset, terms, group, sd, x):
    """By what each term has of its own, what is common to its group, and biases."""
    n_terms = len(terms)
    own, common, bias = np.split(x, [n_terms, len(x) - offset.shape[1]])
    scores = offset + bias
    for t in range(n_terms):
        scores = scores + (1.0 + own[t] + common[group[t]]) * terms[t]
    prior = 0.5 * ((own**2).sum() + (common**2).sum()) / sd**2 + 0.5 * (bias**2).sum() / BIAS_SD**2
    return log_loss(rows, scores) + prior


def slopes(function, x, step=1e-5):
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in np.eye(len(x)) * step])


@pytest.mark.parametrize("seed", range(4))
def test_temperature_is_optimal(seed):
    rows, offset, terms = problem(seed, sharp=[0.3, 1.0, 3.0, 0.05][seed])
    evidence = terms.sum(axis=0)
    fitted = fit_temperature(rows, offset, evidence)
    x = np.array([np.log(fitted.temperature), *fitted.bias])
    start = np.zeros(len(x))

    def objective(x):
        return temperature_objective(rows, offset, evidence, x)

    assert fitted.loss == pytest.approx(objective(x), rel=1e-12)
    assert np.abs(slopes(objective, x)).max() < 0.5  # Newton's last step promises a loss within 0.001 of the best
    assert np.abs(slopes(objective, start)).max() > 20
    for move in np.random.default_rng(0).normal(0, 0.05, (50, len(x))):
        assert objective(x + move) > fitted.loss - 1e-3


@pytest.mark.parametrize("log_mean", [0.0, -1.5])
def test_a_temperature_that_tells_nothing_stays_at_its_prior(log_mean):
    rows, offset, terms = problem(0)
    fitted = fit_temperature(rows, offset, np.zeros_like(terms[0]), log_mean)
    assert fitted.temperature == pytest.approx(np.exp(log_mean), rel=1e-9)
    few = fit_temperature(rows, offset, terms.sum(axis=0), log_mean)
    assert few.temperature < fit_temperature(rows, offset, terms.sum(axis=0), log_mean + 1).temperature


def test_temperature_from_another_start():
    rows, offset, terms = problem()
    first = fit_temperature(rows, offset, terms.sum(axis=0))
    for start in (first, fit_temperature(rows, offset, 20 * terms[0]), fit_temperature(rows, offset, -terms[0])):
        again = fit_temperature(rows, offset, terms.sum(axis=0), start=start)
        assert again.loss == pytest.approx(first.loss, abs=2e-3)
        assert again.temperature == pytest.approx(first.temperature, rel=0.01)
        assert again.bias == pytest.approx(first.bias, abs=0.01)


def test_temperature_follows_a_known_truth():
    rows, offset, terms = problem(n_rows=20_000, n_terms=1)
    fitted = fit_temperature(rows, offset, 4.0 * terms[0])
    assert fitted.temperature == pytest.approx(0.25, rel=0.05)
    assert fitted.bias - fitted.bias.mean() == pytest.approx([0.4 * 2 / 3, -0.4 / 3, -0.4 / 3], abs=0.05)
    assert fitted.bias.sum() == pytest.approx(0.0, abs=1e-3)  # what changes nothing is pulled to 0


@pytest.mark.parametrize("groups", [[0, 0, 0, 0, 0], [0, 0, 1, 1, 1], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("sd", [0.3, WEIGHT_SD])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_optimal(seed, groups, sd, monkeypatch):
    rows, offset, terms = problem(seed, n_rows=[400, 100, 60][seed], shift=[0.4, 1.5, -2.0][seed])
    group = np.array(groups)
    monkeypatch.setattr(softmax_fit, "WEIGHT_SD", sd)
    weight, bias = fit_weights(rows, offset, terms, group)
    # The priors share a change between a group and its terms in one way only, the cheapest.
    n_groups = group.max() + 1
    change = weight - 1.0
    common = np.array([change[group == g].sum() / (1 + (group == g).sum()) for g in range(n_groups)])
    x = np.concatenate([change - common[group], common, bias])

    def objective(x):
        return weight_objective(rows, offset, terms, group, sd, x)

    best = minimize(objective, x, method="L-BFGS-B", options={"ftol": 1e-12}).fun
    assert best - 1e-6 <= objective(x) < best + 0.02  # in nats of all rows together
    assert objective(np.zeros(len(x))) > best + 5


def test_threads_do_not_change_the_weights():
    rows, offset, terms = problem(n_rows=5000)
    one, many = (fit_weights(rows, offset, terms, np.array([0, 0, 1, 1, 1]), threads) for threads in (1, 3))
    np.testing.assert_array_equal(one[0], many[0])
    np.testing.assert_array_equal(one[1], many[1])


def test_what_little_data_say_is_not_believed():
    rows, offset, terms = problem(n_rows=4000)
    group = np.zeros(5, int)
    assert fit_weights(rows, offset, terms, group)[0] == pytest.approx(1 / np.arange(1.0, 6.0), abs=0.15)
    few = judged_rows(rows.target[:8], np.full(8, 0.01)), offset[:8]
    weight, bias = fit_weights(*few, np.ascontiguousarray(terms[:, :8]), group)
    assert weight == pytest.approx(np.ones(5), abs=0.15)
    assert bias == pytest.approx(np.zeros(3), abs=0.1)
    weak = fit_temperature(*few, terms[:, :8].sum(axis=0))
    assert weak.temperature == pytest.approx(1.0, abs=0.3)
    assert weak.bias == pytest.approx(np.zeros(3), abs=0.1)


def test_a_group_moves_together():
    """Terms that nobody has seen speak take what is common to their group."""
    rows, offset, terms = problem(n_rows=3000, n_terms=4)
    terms *= 3.0  # all are three times too loud
    silent = np.concatenate([terms, np.zeros((2, *offset.shape))])
    weight, _ = fit_weights(rows, offset, silent, np.array([0, 0, 0, 0, 0, 1]))
    assert weight[:4].max() < 0.5
    assert weight[4] < 0.8
    assert weight[5] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_separable_rows_stay_finite(scale):
    y = np.arange(60) % 3
    rows, offset = judged_rows(y, np.ones(60)), np.zeros((60, 3))
    evidence = scale * np.eye(3)[y]
    for sign in (1.0, -1.0):  # always right, always wrong
        fitted = fit_temperature(rows, offset, sign * evidence)
        assert np.exp(-7.001) < fitted.temperature < np.exp(3.001)
        assert np.isfinite([fitted.loss, fitted.temperature, *fitted.bias]).all()
    right = fit_temperature(rows, offset, evidence)
    assert right.temperature >= 1.0 - 1e-9
    weight, bias = fit_weights(rows, offset, np.stack([evidence, -evidence]), np.array([0, 0]))
    assert np.isfinite([*weight, *bias]).all()
    assert weight[0] > weight[1]


def test_no_terms_leave_biases():
    rows = judged_rows(np.array([0, 0, 0, 1]), np.ones(4))
    weight, bias = fit_weights(rows, np.zeros((4, 2)), np.zeros((0, 4, 2)), np.zeros(0, int))
    assert len(weight) == 0
    assert bias[0] > 0 > bias[1]
