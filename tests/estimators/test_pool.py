"""The pool and the single tuned network: repeatable, at ease with little data, and good."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import countwise as cw
from countwise.datasets import load
from countwise.errors import DataError, MemoryLimitError
from countwise.estimators import pool
from countwise.evaluate import log_loss
from oracle.pools import each_model, forests_of, networks_of, numbers, words

# The same rows, the same model


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr("countwise.data.coded.CODED_BYTES", 1)


@each_model
def test_threads(make):
    for X, y in (words(), numbers()):
        one, two = (make(n_jobs=n).fit(X, y) for n in (1, 2))
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
        np.testing.assert_array_equal(one.explain(X).contributions, two.explain(X).contributions)


@each_model
def test_scans_and_batches(make, tmp_path, small_batches):
    X, y = words()
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(X.assign(y=y), preserve_index=False), path)
    expected = make().fit(X, y).predict_proba(X)
    for batch_rows in (30, 64, 1000):
        scanned = make().fit(cw.scan(path, target="y", batch_rows=batch_rows))
        np.testing.assert_array_equal(scanned.predict_proba(X), expected)


@each_model
def test_row_order_and_repetition(make):
    X, y = words()
    rng = np.random.default_rng(0)
    order, times = rng.permutation(400), rng.integers(0, 4, 400)
    np.testing.assert_array_equal(
        make().fit(X.iloc[order], y[order]).predict_proba(X), make().fit(X, y).predict_proba(X)
    )
    again = np.repeat(np.arange(400), times)
    np.testing.assert_array_equal(
        make().fit(X, y, sample_weight=times).predict_proba(X), make().fit(X.iloc[again], y[again]).predict_proba(X)
    )


@each_model
def test_seeds(make):
    X, y = numbers()
    a, b, c = (make(random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    np.testing.assert_array_equal(a, make().fit(X, y).predict_proba(X))


# What a model can do


@each_model
def test_explain_and_intervals(make):
    X, y = numbers(n_classes=3)
    model = make().fit(X, y)
    new = numbers(50, seed=1)[0]
    proba, told = model.predict_proba(new), model.explain(new)
    scores = told.scores()
    for label in (1, 2):
        found = told.log_odds(label, 0).sum(axis=1) + told.intercept[label] - told.intercept[0]
        np.testing.assert_allclose(found, np.log(proba[:, label] / proba[:, 0]), atol=1e-9)
    np.testing.assert_allclose(scores - scores[:, :1], np.log(proba / proba[:, :1]), atol=1e-9)
    for level in (0.5, 0.95):
        low, high = np.moveaxis(model.predict_proba_interval(new, level=level), 2, 0)
        assert (low >= 0).all()
        assert (high <= 1).all()
        assert ((low <= proba) & (proba <= high)).all()
        assert (low < high).all()


@each_model
def test_files_and_pickles(make, tmp_path):
    X, y = numbers()
    model = make().fit(X, y)
    model.save(tmp_path / "model.cw")
    more = numbers(60, seed=2)
    for again in (cw.load(tmp_path / "model.cw"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(again.explain(X).contributions, model.explain(X).contributions)
        np.testing.assert_array_equal(again.predict_proba_interval(X), model.predict_proba_interval(X))
        assert repr(again) == repr(model)
        expected = pickle.loads(pickle.dumps(model)).partial_fit(*more).predict_proba(X)
        np.testing.assert_array_equal(again.partial_fit(*more).predict_proba(X), expected)


@each_model
def test_partial_fit_adds_counts_and_keeps_the_rest(make):
    X, y = words()
    model = make().fit(X, y)
    before = model.predict_proba(X)
    structures = [structure for structure, _ in networks_of(model)]
    splits = [tree.splits for forest in forests_of(model) for tree in forest.trees]
    known = [tree.counts.total[0] for forest in forests_of(model) for tree in forest.trees]
    model.partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    np.testing.assert_array_equal(model.class_counts_, 2 * make().fit(X, y).class_counts_)
    assert [structure for structure, _ in networks_of(model)] == structures
    assert all(tree.counts.total[0] == 800 for _, trees in networks_of(model) for tree in trees)
    grown = [tree for forest in forests_of(model) for tree in forest.trees]
    assert all(tree.splits.same_as(before) for tree, before in zip(grown, splits, strict=True))
    assert [tree.counts.total[0] for tree in grown] == [2 * n for n in known]
    assert not np.array_equal(model.predict_proba(X), before)


def assert_sound(model, X):
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    return proba


@each_model
def test_values_never_met_and_missing_ones(make):
    X, y = words()
    model = make().fit(X, y)
    strange = X.head(20).copy()
    strange["c0"], strange["c1"], strange["c2"] = "new", None, [None, "v1"] * 10
    assert_sound(model, strange)
    nothing = pd.DataFrame([dict.fromkeys(X, "new")])
    known = nothing.assign(c0="v0")
    assert not np.allclose(assert_sound(model, nothing), assert_sound(model, known))
    X, y = numbers()
    assert_sound(make().fit(X, y), np.array([[np.nan] * 4, [1e9, -1e9, 0.0, np.nan]]))


# Little data


@each_model
@pytest.mark.parametrize("n_rows", [4, 20])
def test_few_rows(make, n_rows):
    X, y = numbers(n_rows)
    y = np.arange(n_rows) % 2
    proba = assert_sound(make().fit(X, y), X)
    assert proba.max() < 0.999


@each_model
def test_a_class_of_one_row(make):
    X, y = numbers(100)
    y[17] = 2
    proba = assert_sound(make().fit(X, y), X)
    assert proba[:, 2].mean() < 0.1


@each_model
def test_constant_columns_and_one_column(make):
    X, y = numbers(100)
    X[:, 0], X[:, 1] = 3.0, np.nan
    assert_sound(make().fit(X, y), X)
    assert_sound(make().fit(X[:, 2:3], y), X[:, 2:3])
    same = assert_sound(make().fit(X[:, :1], y), X[:, :1])  # nothing but the class
    assert (same == same[0]).all()
    assert same[0] == pytest.approx(np.bincount(y) / 100, abs=0.05)


@each_model
def test_all_rows_equal_but_the_class(make):
    y = np.arange(30) % 3
    proba = assert_sound(make().fit(np.zeros((30, 2)), y), np.zeros((1, 2)))
    assert proba[0] == pytest.approx([1 / 3] * 3, abs=0.05)


@each_model
@pytest.mark.parametrize("k", [0, 1, 7])
def test_numbers_of_parents(make, k):
    X, y = words()
    model = make(k=k).fit(X, y)
    for structure, _ in networks_of(model):
        assert max(len(parents) for parents in structure.parents) <= min(k, 4)
    assert_sound(model, X)


# Better than one network as counted


@each_model
def test_a_class_that_only_pairs_tell(make):
    data = load("tic-tac-toe")
    order = np.random.default_rng(0).permutation(len(data.y))
    train, test = order[:600], order[600:]
    X, y = data.X, np.asarray(data.y)

    def loss(model):
        model.fit(X.take(train), y[train])
        return log_loss(y[test], model.predict_proba(X.take(test)), model.classes_)

    assert loss(make(k=5)) < 0.6 * loss(cw.TANClassifier())


def test_a_tuned_network_weighs_attributes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    signal = y + rng.normal(0, 1.0, 1500)
    copies = np.column_stack([signal, y + rng.normal(0, 1.0, 1500), *[signal + rng.normal(0, 0.1, 1500)] * 3])
    weight = cw.TunedKDBClassifier(k=0).fit(copies, y).tuning_.weight
    assert weight.shape == (5,)
    assert weight[1] > 1.5 * weight[[0, 2, 3, 4]].max()  # the same told four times over counts less each time
    assert cw.TunedKDBClassifier(tune=None).fit(copies, y).tuning_ is None


# Members


def test_members_are_as_the_recipe_says():
    X, y = numbers(500)
    model = cw.PoolClassifier(n_members=3, n_parts=4, k=2).fit(X, y)
    recipes = model._recipes(0)
    assert [recipe.discriminative for recipe in recipes] == 4 * [False, True, True]
    assert [recipe.informative_first for recipe in recipes] == 4 * [True, False, True]
    assert [recipe.class_bins for recipe in recipes] == 4 * [False, True, True]
    six = cw.PoolClassifier(n_members=6)._recipes(0)[:6]
    assert [recipe.class_bins for recipe in six] == [False, True, True, False, False, True]
    networks, forests = model.members_[:12], forests_of(model)
    assert [member.group for member in networks] == [p for p in range(4) for _ in range(3)]
    assert [member.group for member in forests] == [0, 1, 2, 3]
    assert [len(member.trees) for member in forests] == 4 * [8]
    assert [member.weight for member in forests] == 4 * [1.0]  # a quarter of four
    assert len({tuple(member.codec.arity) for member in networks}) > 4  # bins of their own
    assert len({member.structure.order for member in networks}) > 4
    fine = model.codec_
    for member in model.members_:
        for whole, own in zip(fine.columns, member.codec.columns, strict=True):
            assert set(own.cuts.tolist()) <= set(whole.cuts.tolist())


def test_bins_that_tell_classes_apart_find_a_threshold(monkeypatch):
    """x > 0.7 decides: members with such bins cut there, and the pool is far surer beside it than without them."""
    x = np.random.default_rng(0).normal(size=(2000, 1))
    new = np.concatenate([np.linspace(0.5, 0.69, 50), np.linspace(0.71, 0.9, 50)])[:, None]
    model = cw.PoolClassifier(n_trees=0).fit(x, x[:, 0] > 0.7)
    chosen = [m for m, recipe in zip(model.members_, model._recipes(0), strict=False) if recipe.class_bins]
    assert len(chosen) == 6
    assert all(np.abs(member.codec.columns[0].cuts - 0.7).min() < 0.02 for member in chosen)
    recipes = [replace(recipe, class_bins=False) for recipe in model._recipes(0)]
    monkeypatch.setattr(cw.PoolClassifier, "_recipes", lambda self, seed: recipes)
    without = cw.PoolClassifier(n_trees=0).fit(x, x[:, 0] > 0.7)
    losses = [log_loss(new[:, 0] > 0.7, m.predict_proba(new), m.classes_) for m in (model, without)]
    assert losses[0] < 0.1 * losses[1]


def test_trees_see_conditions_within_conditions():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 5))
    y = np.where(X[:, 0] > 0.4, X[:, 1] < 0.5, (X[:, 2] > 0.7) & (X[:, 3] < 0.6)).astype(int)
    losses = {
        n: log_loss(y[1500:], cw.PoolClassifier(n_trees=n).fit(X[:1500], y[:1500]).predict_proba(X[1500:]), [0, 1])
        for n in (0, 8)
    }
    assert losses[8] < 0.7 * losses[0]


def test_trees_leave_names_to_networks():
    """Names that come once or twice tell a tree about the rows that it was grown from, and about no others."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    once, often = np.arange(600).astype(str), rng.integers(8, size=600).astype(str)
    X = pd.DataFrame(
        {"once": once, "twice": (np.arange(600) // 2).astype(str), "often": often, "size": y + rng.normal(size=600)}
    )
    (*_, forest) = cw.PoolClassifier().fit(X, y).members_
    split_on = {int(i) for tree in forest.trees for i in tree.splits.column} - {-1}
    assert split_on == {2, 3}
    (*_, forest) = cw.PoolClassifier().fit(X[["once"]], y).members_
    assert all(tree.splits.n_nodes == 1 for tree in forest.trees)


def test_a_sample_is_enough(monkeypatch):
    X, y = numbers(900)
    whole = cw.PoolClassifier(n_members=2).fit(X, y)
    monkeypatch.setattr(pool, "SAMPLE_ROWS", 300)
    monkeypatch.setattr(pool, "TUNE_ROWS", 50)
    some = cw.PoolClassifier(n_members=2).fit(X, y)
    assert all(tree.counts.total[0] == 900 for _, trees in networks_of(some) for tree in trees)
    for forest in forests_of(some):  # a gap where the rows that grew a tree had none comes to no leaf
        assert all(850 < tree.counts.total[0] <= 900 for tree in forest.trees)
    assert not np.array_equal(some.predict_proba(X), whole.predict_proba(X))
    X_new, y_new = numbers(2000, seed=3)
    losses = [log_loss(y_new, model.predict_proba(X_new), model.classes_) for model in (whole, some)]
    assert losses[1] < 1.2 * losses[0]
    order = np.random.default_rng(0).permutation(900)
    again = cw.PoolClassifier(n_members=2).fit(X[order], y[order])
    np.testing.assert_array_equal(again.predict_proba(X), some.predict_proba(X))


def test_samples_are_smaller_where_memory_or_many_columns_want_it():
    limit, memory = pool._sample_limit, 10**12
    assert limit(1, memory) == limit(200, memory) == pool.SAMPLE_ROWS
    assert limit(400, memory) == pool.SAMPLE_ROWS // 2
    assert limit(10_000, memory) == pool.SEARCH_ROWS
    assert limit(10_000, 8 * 10_000 * 7000) == 7000
    assert limit(200, 1000) == pool.FEWEST_ROWS


# Errors


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"discretiser": "mdlp"}, "discretiser='mdlp' looks at the classes.*use 'random-quantiles'"),
        ({"discretiser": cw.TreeBins()}, "looks at the classes"),
        ({"smoothing": "m"}, "PoolClassifier needs smoothing='hdp'"),
        ({"smoothing": cw.HDP("gibbs")}, "PoolClassifier needs smoothing='hdp'"),
        ({"smoothing": cw.HDP(tying="node")}, "tying 'level' or 'single'"),
        ({"n_members": 0}, "n_members"),
        ({"n_parts": 1}, "n_parts"),
        ({"k": -1}, "k must be"),
        ({"k": 1.5}, "k must be"),
        ({"n_trees": -1}, "n_trees must be"),
    ],
)
def test_wrong_parameters_of_a_pool(wrong, message):
    with pytest.raises(DataError, match=message):
        cw.PoolClassifier(**wrong).fit(*numbers(50))


def test_what_a_pool_can_be_given():
    X, y = numbers(100)
    for given in (
        {"smoothing": cw.HDP(tying="single")},
        {"discretiser": "equal-frequency"},
        {"discretiser": "k-means"},
    ):
        assert_sound(cw.PoolClassifier(n_members=2, n_parts=2, **given).fit(X, y), X)


def test_wrong_parameters_of_a_tuned_network():
    with pytest.raises(DataError, match="k must be"):
        cw.TunedKDBClassifier(k=-1).fit(*numbers(50))
    with pytest.raises(DataError, match="needs smoothing='hdp'"):
        cw.TunedKDBClassifier(tune="loo", smoothing="m").fit(*numbers(50))


def test_counts_that_do_not_fit_are_refused_before_they_are_smoothed(monkeypatch):
    X, y = words()
    members = cw.PoolClassifier().fit(X, y).members_
    n_bytes = sum(tree.nbytes for member in members for tree in member.trees)

    def fail(*args):
        pytest.fail("smoothed in vain")

    monkeypatch.setattr(pool, "fit_trees", fail)
    with pytest.raises(MemoryLimitError, match="the counts of 18 members take"):
        cw.PoolClassifier(max_memory=n_bytes // 2).fit(X, y)


def test_cut_points_of_few_values_can_be_saved(tmp_path):
    """Bins of equal width of a column of few values fall between the same two of them."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.where(np.arange(200) == 7, 1e4, rng.integers(2, size=200)), rng.normal(size=200)])
    y = (X[:, 1] > 0).astype(int)
    model = cw.PoolClassifier(n_members=3, n_parts=2, k=2, discretiser="equal-width").fit(X, y)
    model.save(tmp_path / "pool.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "pool.cw").predict_proba(X), model.predict_proba(X))
