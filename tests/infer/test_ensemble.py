"""Ensembles against formulas written out from classifiers of one network each."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

import countwise as cw
from oracle.bags import Bag, JointBag, MaskedBag, group_mixture, log_joints, single_models

N = 400
RNG = np.random.default_rng(5)
Y = RNG.integers(3, size=N)
X = RNG.normal(size=(N, 4)) + Y[:, None] * [1.0, 0.5, 0.0, -0.7]
X[RNG.random((N, 4)) < 0.05] = np.nan
X[:, 2] = np.round(X[:, 2])
NEW = np.vstack([X[:50], RNG.normal(size=(30, 4)) * 4])
BINS, WEIGHTS = (2, 3, 5, 4), (1.0, 2.0, 0.5, 1.5)


@pytest.mark.parametrize("smoothing", ["hdp", "m-branch", "laplace"])
@pytest.mark.parametrize("groups", [(0, 1, 2, 3), (0, 0, 0, 0), (0, 1, 1, 0)], ids=["each", "one", "two"])
def test_groups(groups, smoothing):
    bag = Bag(BINS, groups, WEIGHTS, smoothing=smoothing).fit(X, Y)
    log_proba = np.stack([model.predict_log_proba(NEW) for model in single_models(bag, X, Y)])
    expected = group_mixture(log_proba, groups, WEIGHTS)
    np.testing.assert_allclose(bag.predict_proba(NEW), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.exp(bag.predict_log_proba(NEW)), expected, rtol=0, atol=1e-12)


def test_one_member_is_its_network_to_the_bit():
    for kind in (Bag, JointBag):
        bag = kind((3,)).fit(X, Y)
        (alone,) = single_models(bag, X, Y)
        np.testing.assert_array_equal(bag.predict_proba(NEW), alone.predict_proba(NEW))
        np.testing.assert_array_equal(bag.explain(NEW).contributions, alone.explain(NEW).contributions)
        np.testing.assert_array_equal(bag.explain(NEW).intercept, alone.explain(NEW).intercept)
        np.testing.assert_allclose(bag.predict_proba_interval(NEW), alone.predict_proba_interval(NEW), atol=1e-15)


def test_joint():
    bag = JointBag(BINS, None, WEIGHTS, smoothing="m").fit(X, Y)
    joint = logsumexp(log_joints(single_models(bag, X, Y), NEW) + np.log(WEIGHTS)[:, None, None], axis=0)
    np.testing.assert_allclose(bag.predict_proba(NEW), softmax(joint, axis=1), rtol=0, atol=1e-12)


def test_joint_with_weights_of_rows():
    bag = MaskedBag(BINS, None, WEIGHTS, smoothing="m").fit(X, Y)
    first = bag.codec_.columns[0].encode(NEW[:, 0].copy()).astype(int)
    weight = np.tile(np.array(WEIGHTS)[:, None], len(NEW))
    weight[0, first % 2 == 0] = 0.0
    weight[-1, first == 3] *= 0.25
    assert {0, 1, 2, 3} <= set(first)
    joint = logsumexp(log_joints(single_models(bag, X, Y), NEW), axis=0, b=weight[:, :, None])
    np.testing.assert_allclose(bag.predict_proba(NEW), softmax(joint, axis=1), rtol=0, atol=1e-12)


MODELS = {
    "each": Bag(BINS, None, WEIGHTS),
    "one": Bag(BINS, (7, 7, 7, 7), WEIGHTS),
    "two": Bag(BINS, (0, 1, 1, 0), WEIGHTS),
    "joint": JointBag(BINS, None, WEIGHTS),
    "masked": MaskedBag(BINS, None, WEIGHTS),
}


@pytest.fixture(scope="module", params=MODELS)
def bag(request):
    return MODELS[request.param].fit(X, Y)


def test_explanations_add_up(bag):
    why = bag.explain(NEW)
    assert why.intercept.shape == (3,)
    assert why.contributions.shape == (len(NEW), 4, 3)
    np.testing.assert_allclose(softmax(why.scores(), axis=1), bag.predict_proba(NEW), rtol=0, atol=1e-9)
    np.testing.assert_allclose(why.contributions.sum(axis=2), 0.0, atol=1e-9)
    odds = why.log_odds(2, 0).sum(axis=1) + why.intercept[2] - why.intercept[0]
    log_proba = bag.predict_log_proba(NEW)
    np.testing.assert_allclose(odds, log_proba[:, 2] - log_proba[:, 0], atol=1e-9)


def test_one_group_is_exactly_linear():
    bag = Bag(BINS, (0, 0, 0, 0), WEIGHTS, smoothing="m").fit(X, Y)
    shares = np.array(WEIGHTS) / sum(WEIGHTS)
    parts = [model.explain(NEW) for model in single_models(bag, X, Y)]
    why = bag.explain(NEW)
    expected = sum(share * part.contributions for share, part in zip(shares, parts, strict=True))
    np.testing.assert_allclose(why.contributions, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(why.intercept, parts[0].intercept, atol=1e-12)


@pytest.mark.parametrize("kind", [Bag, JointBag])
def test_equal_members_are_linear_too(kind):
    bag = kind((3, 3, 3), smoothing="m").fit(X, Y)
    for member in bag.members_[1:]:  # the same network three times
        object.__setattr__(member, "structure", bag.members_[0].structure)
        object.__setattr__(member, "trees", bag.members_[0].trees)
    bag._derived = type(bag._derived)()
    alone = single_models(bag, X, Y)[0].explain(NEW)
    why = bag.explain(NEW)
    np.testing.assert_allclose(why.contributions, alone.contributions, atol=1e-7)
    np.testing.assert_allclose(why.intercept, alone.intercept, atol=1e-12)


def test_attributes_take_their_part_along_the_path():
    # Two groups, by a Riemann sum over t of the derivative with regard to one attribute's factor.
    bag = Bag((2, 5), smoothing="m").fit(X, Y)
    parts = [model.explain(NEW[:5]) for model in single_models(bag, X, Y)]
    total = np.zeros((5, 4, 3))
    n = 2000
    for t in (np.arange(n) + 0.5) / n:
        proba = [softmax(part.intercept + t * part.contributions.sum(axis=1), axis=1) for part in parts]
        mean = sum(proba) / 2
        for part, p in zip(parts, proba, strict=True):
            slope = part.contributions - np.einsum("riy,ry->ri", part.contributions, p)[:, :, None]
            total += (0.5 * p / mean)[:, None, :] * slope / n
    total -= total.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(bag.explain(NEW[:5]).contributions, total, atol=1e-4)


def test_sharp_posteriors():
    y = np.repeat(["a", "b"], 50)
    copies = np.tile((y == "b")[:, None], (1, 400)).astype(float)
    copies += np.random.default_rng(0).normal(scale=0.3, size=copies.shape)
    bag = Bag((2, 3, 4)).fit(copies, y)
    log_proba = bag.predict_log_proba(copies)
    assert np.isfinite(log_proba).all()
    assert log_proba.min() < -100
    why = bag.explain(copies)
    np.testing.assert_allclose(softmax(why.scores(), axis=1), bag.predict_proba(copies), atol=1e-9)
    odds = why.scores()[:, 1] - why.scores()[:, 0]
    np.testing.assert_allclose(odds, log_proba[:, 1] - log_proba[:, 0], atol=1e-9)


def test_intervals_hold_the_estimate_and_widen_with_the_level(bag):
    proba = bag.predict_proba(NEW)
    narrow, wide = bag.predict_proba_interval(NEW, 0.5), bag.predict_proba_interval(NEW, 0.95)
    for limits in (narrow, wide):
        assert (limits[..., 0] <= proba).all()
        assert (proba <= limits[..., 1]).all()
        assert ((limits >= 0) & (limits <= 1)).all()
    assert (np.ptp(wide, axis=2) >= np.ptp(narrow, axis=2)).all()
    assert np.ptp(wide, axis=2).max() > 0.1


def test_groups_average_the_limits_of_their_members():
    bag = Bag(BINS, None, WEIGHTS, smoothing="m").fit(X, Y)
    limits = [model.predict_proba_interval(NEW) for model in single_models(bag, X, Y)]
    expected = np.tensordot(np.array(WEIGHTS) / sum(WEIGHTS), limits, axes=1)
    np.testing.assert_allclose(bag.predict_proba_interval(NEW), expected, atol=1e-12)


def test_members_without_weight_have_no_say():
    some, none = Bag((2, 3), None, (1.0, 0.0)).fit(X, Y), Bag((2,)).fit(X, Y)
    np.testing.assert_array_equal(some.predict_proba(X), none.predict_proba(X))


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba", "predict_proba_interval", "contributions"])
def test_threads_batches_and_single_rows_agree(bag, method):
    many = np.tile(X, (30, 1))

    def run(rows):
        return bag.explain(rows).contributions if method == "contributions" else getattr(bag, method)(rows)

    whole = run(many)
    np.testing.assert_array_equal(run(many[7:9]), whole[7:9])
    np.testing.assert_array_equal(run(many[100:101]), whole[100:101])
    np.testing.assert_array_equal(run(cw.StreamSource(np.array_split(many, 7))), whole)
    bag.set_params(n_jobs=2)
    try:
        np.testing.assert_array_equal(run(many), whole)
    finally:
        bag.set_params(n_jobs=None)
