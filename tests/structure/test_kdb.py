import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import countwise as cw
from countwise.stats.information import conditional_mutual_information, mutual_information
from countwise.stats.pairs import pair_statistics
from countwise.structure import information_order, kdb
from oracle import counts
from oracle.structures import kdb_parents
from oracle.tables import dependent_table, many


@many
@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.9]), min_size=1, max_size=8))
def test_order(mi):
    assert information_order(np.array(mi)) == sorted(range(len(mi)), key=lambda i: (-mi[i], i))


@many
@given(st.integers(1, 7), st.integers(0, 8), st.data())
def test_parents(n, k, data):
    order = data.draw(st.permutations(range(n)))
    order = order[: data.draw(st.integers(1, n))]  # attributes may be left out
    values = data.draw(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.9]), min_size=n * n, max_size=n * n))
    cmi = np.array(values).reshape(n, n)
    cmi = cmi + cmi.T
    structure = kdb([f"x{i}" for i in range(n)], order, cmi, k)
    expected = kdb_parents(order, cmi, k)
    assert structure.order == tuple(order)
    assert structure.parents == tuple(expected.get(i, ()) for i in range(n))


@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_from_data(k):
    table = dependent_table(1, 400, 6)
    mi = np.array([counts.mutual_information(table, i) for i in range(6)])
    cmi = np.array([[counts.conditional_mutual_information(table, i, j) for j in range(6)] for i in range(6)])
    np.fill_diagonal(cmi, 0)
    stats = pair_statistics(table.data(), 1, 2**30)
    assert mutual_information(stats) == pytest.approx(mi, abs=1e-11)
    assert conditional_mutual_information(stats) == pytest.approx(cmi, abs=1e-11)
    order = sorted(range(6), key=lambda i: -mi[i])
    model = cw.KDBClassifier(k=k).fit(table.X.astype(str).astype(object), table.y)
    expected = kdb_parents(order, cmi, k)
    assert model.structure_.order == tuple(order)
    assert model.structure_.parents == tuple(expected[i] for i in range(6))


def test_zero_parents_is_naive_bayes():
    table = dependent_table(2, 200, 4)
    X = table.X.astype(str).astype(object)
    a, b = cw.KDBClassifier(k=0).fit(X, table.y), cw.NBClassifier().fit(X, table.y)
    assert a.predict_proba(X) == pytest.approx(b.predict_proba(X), rel=1e-12)


def test_own_order():
    table = dependent_table(3, 200, 5)
    X = table.X.astype(str).astype(object)
    model = cw.KDBClassifier(k=1, order=["x3", 0, "x1"]).fit(X, table.y)
    assert model.structure_.order == (3, 0, 1)
    assert model.structure_.parents[0] == (3,)
    assert model.structure_.parents[2] == model.structure_.parents[4] == ()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": -1}, "k must be a whole number >= 0, got -1"),
        ({"k": 1.5}, "got 1.5"),
        ({"k": True}, "got True"),
        ({"order": ["x0", "x0"]}, "names a column twice"),
        ({"order": ["x0", 0]}, "names a column twice"),
        ({"order": ["nose"]}, "'nose', which is not a column"),
        ({"order": [7]}, "holds 7; there are 5 columns"),
        ({"order": [-1]}, "holds -1"),
        ({"k": "2"}, "got '2'"),
        ({"k": None}, "got None"),
        ({"k": float("nan")}, "got nan"),
        ({"k": 2.0}, "got 2.0"),
    ],
)
def test_errors(params, message):
    table = dependent_table(4, 50, 5)
    with pytest.raises(cw.DataError, match=message):
        cw.KDBClassifier(**params).fit(table.X.astype(str).astype(object), table.y)
