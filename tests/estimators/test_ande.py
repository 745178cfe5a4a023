"""Averaged n-dependence: probabilities by hand, support, memory."""

import numpy as np
import pandas as pd
import pytest

import countwise as cw
from countwise.estimators.ande import Support
from oracle.aode import aode_proba

ROWS = [("a", "u"), ("a", "u"), ("a", "v"), ("b", "v"), ("b", "v"), ("a", "v"), ("b", "u"), ("c", "u")]
LABELS = [0, 0, 0, 0, 1, 1, 1, 1]
X = pd.DataFrame(ROWS, columns=["one", "two"])
M = cw.MEstimate(1.0)


def test_aode_by_hand():
    # Row (a, u), m = 1, three values of one, two of two; 4 rows of each class, so P(y) = 4.5 / 9 for both.
    # Super-parent one, y = 0: P(a | 0) = (3 + 1/3) / 5, P(u | 0, a) = (2 + 1/2) / 4;
    #                   y = 1: P(a | 1) = (1 + 1/3) / 5, P(u | 1, a) = (0 + 1/2) / 2.
    # Super-parent two, y = 0: P(u | 0) = (2 + 1/2) / 5, P(a | 0, u) = (2 + 1/3) / 3;
    #                   y = 1: P(u | 1) = (2 + 1/2) / 5, P(a | 1, u) = (0 + 1/3) / 3.
    zero = 0.5 * (10 / 3 / 5 * 2.5 / 4 + 2.5 / 5 * (7 / 3) / 3)
    one = 0.5 * (4 / 3 / 5 * 0.5 / 2 + 2.5 / 5 * (1 / 3) / 3)
    model = cw.AnDEClassifier(smoothing=M).fit(X, LABELS)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[zero / (zero + one), one / (zero + one)]], rtol=1e-12)
    assert model.n_passes_ == 1


@pytest.mark.parametrize("min_support", [0, 1, 2, 4, 5, 9])
def test_aode_equals_the_oracle(min_support):
    model = cw.AnDEClassifier(smoothing=M, min_support=min_support).fit(X, LABELS)
    every = pd.DataFrame([(a, b) for a in "abc" for b in "uv"], columns=X.columns)
    expected = [
        aode_proba(ROWS, LABELS, row, (3, 2), (0, 1), 1.0, min_support) for row in every.itertuples(index=False)
    ]
    np.testing.assert_allclose(model.predict_proba(every), expected, rtol=1e-12)


def test_naive_bayes_answers_where_no_super_parent_is_known():
    rng = np.random.default_rng(0)
    Z = rng.choice(["p", "q", "r"], (200, 4)).astype(object)
    y = rng.integers(0, 2, 200)
    strange = np.array([["new"] * 4, ["p", "new", "new", "new"]], dtype=object)
    naive = cw.NBClassifier(tune=None).fit(Z, y)
    model = cw.AnDEClassifier().fit(Z, y)
    np.testing.assert_allclose(model.predict_proba(strange), naive.predict_proba(strange), rtol=1e-12)
    rare = cw.AnDEClassifier(min_support=1e6).fit(Z, y)
    np.testing.assert_allclose(rare.predict_proba(Z), naive.predict_proba(Z), rtol=1e-12)
    none = cw.AnDEClassifier(n=0).fit(Z, y)
    np.testing.assert_array_equal(none.predict_proba(Z), naive.predict_proba(Z))


def test_pairs_need_support_together():
    # p and q were seen often, but never in one row: the pair says nothing, and naive Bayes is all that is left.
    Z = pd.DataFrame([("p", "p"), ("q", "q")] * 20, columns=["one", "two"])
    y = [0, 1] * 20
    model = cw.AnDEClassifier(n=2).fit(Z, y)
    both = pd.DataFrame([("p", "q")], columns=Z.columns)
    naive = cw.NBClassifier(tune=None).fit(Z, y)
    np.testing.assert_allclose(model.predict_proba(both), naive.predict_proba(both), rtol=1e-12)
    assert model.n_passes_ == 2
    pair = model.members_[0]
    assert str(pair.structure) == "one <- class\ntwo <- class, one"


def test_two_dependence_equals_a_network_of_the_pair():
    # With three attributes and support for one pair only, A2DE is that pair's network.
    Z = pd.DataFrame([(f"a{i % 2}", f"b{i // 2 % 2}", f"c{i}") for i in range(40)], columns=["a", "b", "c"])
    y = [(i * 7 + i // 3) % 2 for i in range(40)]
    model = cw.AnDEClassifier(n=2, min_support=2).fit(Z, y)
    pair = model.members_[0]
    single = cw.BNClassifier(pair.structure, tune=None).fit(Z, y)
    np.testing.assert_allclose(model.predict_proba(Z), single.predict_proba(Z), rtol=1e-12)


def test_partial_fit_raises_support():
    model = cw.AnDEClassifier(min_support=3, smoothing=M).partial_fit(X[:4], LABELS[:4], classes=[0, 1])
    model.partial_fit(X[4:7], LABELS[4:7])
    expected = aode_proba(ROWS[:7], LABELS[:7], ("b", "u"), (2, 2), (0, 1), 1.0, 3)
    row = pd.DataFrame([("b", "u")], columns=X.columns)
    np.testing.assert_allclose(model.predict_proba(row), [expected], rtol=1e-12)


def test_too_many_pairs_are_refused_before_they_are_counted():
    rng = np.random.default_rng(1)
    Z = rng.integers(0, 9, (300, 30)).astype(str).astype(object)
    y = rng.integers(0, 3, 300)
    with pytest.raises(cw.MemoryLimitError, match=r"n=2 has .* tables .*use a smaller n, fewer columns"):
        cw.AnDEClassifier(n=2, max_memory="4MB").fit(Z, y)
    assert cw.AnDEClassifier(n=1, max_memory="16MB").fit(Z, y).n_passes_ == 1


@pytest.mark.parametrize("least", [0, 1, 3, 50])
@pytest.mark.parametrize("n", [1, 2])
def test_support_is_the_number_of_rows_with_these_values(n, least):
    rng = np.random.default_rng(3)
    Z = pd.DataFrame(rng.integers(4, size=(90, 3)).astype(str).astype(object), columns=list("abc"))
    model = cw.AnDEClassifier(n=n, min_support=least).fit(Z, rng.integers(3, size=90))
    new = pd.concat([Z[:20], pd.DataFrame([("9", "1", "2"), (None, "0", "9"), ("9", "9", "9")], columns=list("abc"))])
    batch, _ = next(iter(model._rows(new)))
    said = np.isfinite(model._log_weight()(batch))
    for m, member in enumerate(model.members_[:-1]):
        columns = [Z.columns[i] for i in member.structure.order[:n]]
        rows = [int((Z[columns] == row).all(axis=1).sum()) for _, row in new[columns].iterrows()]
        assert said[:, m].tolist() == [count >= least for count in rows]
    assert said[:, -1].tolist() == (~said[:, :-1].any(axis=1)).tolist()


def test_support_takes_memory_by_rows_not_by_pairs_of_values():
    names = np.array([f"n{i}" for i in range(30_000)], dtype=object)
    Z = pd.DataFrame({c: np.random.default_rng(i).permutation(names) for i, c in enumerate("abc")})
    model = cw.AnDEClassifier(n=2).fit(Z, np.arange(30_000) % 2)  # a table of a pair would be 900,000,000 cells
    support = Support(model.members_[0], 2, 1)
    assert support.often.nbytes == 8 * 30_000
    assert np.isfinite(model.predict_proba(Z[:5])).all()
