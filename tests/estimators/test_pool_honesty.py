"""The pool and the single tuned network: rows that judge did not choose, and what says nothing is not believed."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import countwise as cw
from countwise.estimators import pool, pool_trees
from oracle.pools import each_model, forests_of, networks_of, words


def rows_of(batch):
    """How often each row is there."""
    rows = zip(*(column.tolist() for column in batch.codes), batch.target.tolist(), strict=True)
    weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
    return Counter(dict(zip(rows, weights.tolist(), strict=True)))


@pytest.fixture
def watched(monkeypatch):
    """Which rows search and grow trees, and which tune, by part."""
    searched, grown, judged = [], [], []
    search, tune_part, drawn_rows = cw.PoolClassifier._search, pool.tune_part, pool_trees.drawn_rows

    def watch_search(self, rows, recipe):
        searched.append((recipe.part, rows_of(rows.batch)))
        return search(self, rows, recipe)

    def watch_growth(rows, rng):
        grown.append(rows_of(rows))
        return drawn_rows(rows, rng)

    def watch_tune(networks, class_counts, rows, n_columns, threads):
        judged.append([rows_of(batch) for batch in rows])
        return tune_part(networks, class_counts, rows, n_columns, threads)

    monkeypatch.setattr(cw.PoolClassifier, "_search", watch_search)
    monkeypatch.setattr(pool, "tune_part", watch_tune)
    monkeypatch.setattr(pool_trees, "drawn_rows", watch_growth)
    return searched, grown, judged


def test_rows_that_tune_a_part_did_not_choose_its_structures(watched):
    X, y = words()
    model = cw.PoolClassifier(n_members=3, n_parts=3).fit(X, y)
    searched, grown, judged = watched
    assert len(searched) == 9
    assert [len(own) for own in judged] == [4, 4, 4]  # in the codes of three networks, and of the trees
    everything = sum((own[0] for own in judged), Counter())  # each row tunes one part
    assert sorted(everything.values()) == sorted(pd.concat([X, pd.Series(y)], axis=1).value_counts(dropna=False))
    for part, rows in searched:
        for own in judged[part]:
            assert rows + own == everything
            copies = {row[:-1] for row in rows} & {row[:-1] for row in own}  # of whatever class: only of frequent rows
            assert all(sum(n for row, n in everything.items() if row[:-1] == x) > 0.05 * 400 / 3 for x in copies)
    assert len(grown) == 3 * 8
    for t, rows in enumerate(grown):
        assert rows + judged[t // 8][-1] == everything
    for _, trees in networks_of(model):  # and is counted in all
        assert all(tree.counts.total[0] == 400 for tree in trees)
    for forest in forests_of(model):  # but where no branch leads on
        assert all(300 < tree.counts.total[0] <= 400 for tree in forest.trees)


def test_structures_bins_and_trees_of_a_part_do_not_see_its_labels(monkeypatch):
    """Parts are dealt by a hash with the class in it: here by a column, so that other labels leave them as they are."""
    X, y = words(600)
    X["number"] = np.random.default_rng(3).normal(size=600) + (y == "yes")
    X["part"] = np.random.default_rng(1).integers(0, 3, 600).astype(str)
    monkeypatch.setattr(pool, "honest_shares", lambda rows, n: np.eye(n)[:, rows.codes[-1] % n])
    own = (X["part"] == "1").to_numpy()
    permuted = y.copy()
    permuted[own] = np.random.default_rng(2).permutation(permuted[own])
    assert (permuted != y).sum() > 80
    before, after = (cw.PoolClassifier(n_members=4).fit(X, labels) for labels in (y, permuted))
    changed, cut_anew = {0: 0, 1: 0, 2: 0}, {0: 0, 1: 0, 2: 0}
    for a, b, recipe in zip(before.members_, after.members_, before._recipes(0), strict=False):
        changed[a.group] += a.structure != b.structure
        cut_anew[a.group] += not a.codec.same_as(b.codec)
        assert recipe.class_bins or a.codec.same_as(b.codec)  # quantiles do not look at any labels
    grown_anew = [
        sum(not s.splits.same_as(t.splits) for s, t in zip(a.trees, b.trees, strict=True))
        for a, b in zip(forests_of(before), forests_of(after), strict=True)
    ]
    for found in changed, cut_anew, grown_anew:
        assert found[1] == 0
        assert found[0] > 0
        assert found[2] > 0
    tuned = [[m.tuning.temperature for m in model.members_ if m.group == 1] for model in (before, after)]
    assert tuned[0] != tuned[1]


def test_few_rows_search_and_tune_where_many_grow_trees(watched, monkeypatch):
    """Trees want all rows of a sample; parents and weights are found by some of them, as honestly."""
    monkeypatch.setattr(pool, "SEARCH_ROWS", 60)
    monkeypatch.setattr(pool, "TUNE_ROWS", 30)
    monkeypatch.setattr(pool, "_sample_limit", lambda n_columns, memory: 400)
    X, y = words()
    cw.PoolClassifier(n_members=3, n_parts=3).fit(X, y)
    searched, grown, judged = watched
    assert sum(grown[0].values()) > 250
    for part, rows in searched:
        assert rows <= grown[8 * part]  # of the same rows, outside the part
        assert 0 < len(rows) <= 60
        assert 0 < len(judged[part][0]) <= 30
        copies = {row[:-1] for row in rows} & {row[:-1] for row in judged[part][0]}  # only of what is much of a part
        everything = grown[8 * part] + grown[8 * ((part + 1) % 3)]
        assert all(sum(n for row, n in everything.items() if row[:-1] == x) > 0.05 * 400 / 3 for x in copies)


@each_model
def test_noise_is_not_believed(make):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (200, 30)).astype(str).astype(object), rng.integers(0, 2, 200)
    new = rng.integers(0, 4, (200, 30)).astype(str).astype(object)
    assert np.abs(make().fit(X, y).predict_proba(new) - 0.5).mean() < 0.2
    assert np.abs(cw.TunedKDBClassifier(k=3, tune=None).fit(X, y).predict_proba(new) - 0.5).mean() > 0.3


@each_model
@pytest.mark.parametrize("n_values", [(1,), (3,), (2, 3), (2, 2, 4)])
def test_few_distinct_rows_keep_their_classes(make, n_values):
    """What is much of a part is dealt to all parts: in one, it would tune its biases to its own classes alone."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(n, size=3000) for n in n_values], axis=1).astype(str).astype(object)
    y = (rng.random(3000) < 0.05 + 0.1 * (X == "1").sum(axis=1)).astype(int)
    proba = make().fit(X, y).predict_proba(X)[:, 1]
    assert proba.mean() == pytest.approx(y.mean(), abs=0.01)
    for row in np.unique(X.astype(str), axis=0):
        same = (row == X).all(axis=1)
        assert proba[same].mean() == pytest.approx(y[same].mean(), abs=0.05)


@each_model
@pytest.mark.parametrize("beside", [False, True])
def test_a_column_of_names_says_nothing(make, beside):
    """A row left out leaves no other of its name: such a value is one never met, as a new row's will be."""
    rng = np.random.default_rng(0)
    names = np.array([f"n{i}" for i in range(1200)], dtype=object)
    other = rng.integers(3, size=1200)
    y = (rng.random(1200) < np.array([0.1, 0.3, 0.6])[other]).astype(int)
    X = pd.DataFrame({"name": names, "other": other.astype(str)})[["name", "other"] if beside else ["name"]]
    model = make().fit(X[:600], y[:600])
    proba = model.predict_proba(X[600:])[:, 1]
    if not beside:
        np.testing.assert_allclose(proba, y[:600].mean(), atol=0.01)
    else:
        without = make().fit(X[["other"]][:600], y[:600]).predict_proba(X[["other"]][600:])[:, 1]
        np.testing.assert_allclose(proba, without, atol=0.03)
