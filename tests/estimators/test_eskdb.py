"""ESKDB: a member without chance is a selective kDB, and what each switch does."""

import numpy as np
import pandas as pd
import pytest

import countwise as cw
from countwise.errors import DataError

RNG = np.random.default_rng(4)
N = 400
Y = RNG.integers(0, 3, N)
X = pd.DataFrame({f"n{i}": np.round(RNG.normal(size=N) + Y * (i % 3) * 0.6, 1) for i in range(5)})
X["word"] = np.where(RNG.random(N) < 0.6, Y.astype(str), RNG.choice(["p", "q"], N))
X.loc[::9, "n1"] = np.nan
PLAIN = {"random_cuts": False, "random_order": False}


def shapes(model):
    return [(member.structure, [c.cuts.tolist() for c in member.codec.columns[:5]]) for member in model.members_]


@pytest.mark.parametrize("smoothing", ["hdp", "m", "m-branch", "hierarchical-dirichlet", cw.MEstimate(3.0)])
@pytest.mark.parametrize("loss", ["rmse", "zero-one", "log"])
def test_a_member_without_chance_is_a_selective_kdb(smoothing, loss):
    one = cw.ESKDBClassifier(1, 3, smoothing=smoothing, loss=loss, **PLAIN).fit(X, Y)
    single = cw.SKDBClassifier(3, smoothing=smoothing, loss=loss, tune=None).fit(X, Y)
    assert one.members_[0].structure == single.structure_
    np.testing.assert_array_equal(one.predict_proba(X), single.predict_proba(X))
    np.testing.assert_array_equal(one.predict_proba_interval(X[:20]), single.predict_proba_interval(X[:20]))
    assert (one.n_passes_, one.n_parameters_) == (single.n_passes_, single.n_parameters_)


def test_members_are_averaged():
    model = cw.ESKDBClassifier(4, 2, random_state=1).fit(X, Y)
    alone = []
    for member in model.members_:
        parts = [(c.name, c.cuts) for c in member.codec.columns if c.kind == "number"]
        coded = X.assign(**{name: _binned(X[name], cuts) for name, cuts in parts})
        alone.append(cw.BNClassifier(member.structure, tune=None).fit(coded, Y).predict_proba(coded))
    np.testing.assert_allclose(model.predict_proba(X), np.mean(alone, axis=0), rtol=1e-10)


def _binned(column, cuts):
    """Bins as text, so that they are categories in the order of the bins."""
    bins = np.searchsorted(cuts, column, side="left")
    return np.where(column.isna(), None, np.char.add("b", np.char.zfill(bins.astype(str), 3)).astype(object))


def test_each_switch_changes_what_it_says():
    plain = shapes(cw.ESKDBClassifier(3, 2, **PLAIN).fit(X, Y))
    assert plain[0] == plain[1] == plain[2]
    cuts = shapes(cw.ESKDBClassifier(3, 2, random_order=False).fit(X, Y))
    assert len({str(own[1]) for own in cuts}) == 3
    orders = shapes(cw.ESKDBClassifier(3, 2, random_cuts=False).fit(X, Y))
    assert all(own[1] == plain[0][1] for own in orders)
    assert len({own[0].order for own in orders}) > 1
    both = shapes(cw.ESKDBClassifier(3, 2).fit(X, Y))
    assert [own[1] for own in both] == [own[1] for own in cuts]  # the streams do not depend on other switches
    parents = shapes(cw.ESKDBClassifier(3, 4, random_parents=True, **PLAIN).fit(X, Y))
    assert len({own[0].parents for own in parents}) > 1
    assert shapes(cw.ESKDBClassifier(3, 2, random_state=1).fit(X, Y)) != both


def test_members_are_the_same_in_a_larger_ensemble():
    few, many = (cw.ESKDBClassifier(n, 2).fit(X, Y) for n in (2, 5))
    assert shapes(few) == shapes(many)[:2]


def test_max_features():
    for given, most in [(2, 2), (0.5, 3), (99, 6), (1e-9, 1)]:
        model = cw.ESKDBClassifier(6, 2, max_features=given).fit(X, Y)
        used = [set(member.structure.order) for member in model.members_]
        assert max(map(len, used)) <= most
    assert len(set().union(*used)) > 1  # not the same attribute for all


def test_bags_are_weights():
    model = cw.ESKDBClassifier(3, 2, bootstrap=True, **PLAIN).fit(X, Y)
    plain = cw.ESKDBClassifier(3, 2, **PLAIN).fit(X, Y)
    totals = [member.trees[0].counts.cell_count[:1] for member in model.members_]
    assert len({float(t[0]) for t in totals}) > 1
    assert model.class_counts_.sum() == pytest.approx(N)
    for member, other in zip(model.members_, plain.members_, strict=True):
        assert member.trees[0].counts.total[0] == N == other.trees[0].counts.total[0]
    again = cw.ESKDBClassifier(3, 2, bootstrap=True, n_jobs=2, **PLAIN).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    scanned = cw.ESKDBClassifier(3, 2, bootstrap=True, **PLAIN).fit(
        cw.StreamSource(lambda: (X[i : i + 60].assign(y=Y[i : i + 60]) for i in range(0, N, 60)), target="y")
    )
    np.testing.assert_array_equal(model.predict_proba(X), scanned.predict_proba(X))


def test_members_are_weighed_by_leave_one_out():
    model = cw.ESKDBClassifier(5, 2, member_weights="loo").fit(X, Y)
    plain = cw.ESKDBClassifier(5, 2).fit(X, Y)
    assert {member.weight for member in plain.members_} == {1.0}
    assert len({member.weight for member in model.members_}) > 1
    best = max(model.members_, key=lambda member: member.weight)
    single = cw.SKDBClassifier(2, order=list(best.structure.order), tune=None, smoothing="m")
    binned = X.assign(**{c.name: _binned(X[c.name], c.cuts) for c in best.codec.columns if c.kind == "number"})
    surface = single.fit(binned, Y).loss_surface_
    squares = N * surface[single.n_attributes_, single.k_] ** 2
    assert best.weight == pytest.approx(1 / (1 + squares))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"k": -1}, "k must be a whole number >= 0"),
        ({"k": 1.5}, "k must be a whole number"),
        ({"loss": "brier"}, "loss='brier' is not known"),
        ({"member_weights": "best"}, "member_weights='best' is not known"),
        ({"max_features": 0}, "max_features must be"),
        ({"max_features": 1.5}, "max_features must be"),
        ({"max_features": True}, "max_features must be"),
        ({"discretiser": "equal-width"}, "random_cuts draws the cut points of MDLP"),
        ({"smoothing": cw.MEstimate("holdout")}, "holds no rows out"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(DataError, match=message):
        cw.ESKDBClassifier(**params).fit(X, Y)


def test_other_cut_points_with_random_orders():
    model = cw.ESKDBClassifier(2, 2, random_cuts=False, discretiser=cw.EqualFrequency(4)).fit(X, Y)
    assert [c.n_bins for c in model.codec_.columns[:5]] == [4] * 5
