import numpy as np
import pytest
from hypothesis import given

from countwise.stats.information import class_information, conditional_mutual_information, mutual_information
from countwise.stats.pairs import pair_statistics
from oracle import counts
from oracle.tables import Table, many, random_table, tables

PLENTY = 2**30


@many
@given(tables(min_columns=2))
def test_against_the_definition(table):
    stats = pair_statistics(table.data(), 1, PLENTY)
    mi, cmi = mutual_information(stats), conditional_mutual_information(stats)
    n = len(table.arity)
    for i in range(n):
        assert mi[i] == pytest.approx(counts.mutual_information(table, i), abs=2e-12)
        for j in range(n):
            expected = 0.0 if i == j else counts.conditional_mutual_information(table, i, j)
            assert cmi[i, j] == pytest.approx(expected, abs=2e-12)
    assert (mi >= 0).all()
    assert (cmi >= 0).all()
    assert np.array_equal(cmi, cmi.T)


def test_a_copy_of_the_class_tells_all():
    y = np.array([0, 0, 0, 1, 1, 2])
    table = Table(np.stack([y, np.zeros(6, int)], axis=1), y, [3, 1], 3)
    entropy = -sum(p * np.log(p) for p in (3 / 6, 2 / 6, 1 / 6))
    assert mutual_information(pair_statistics(table.data(), 1, PLENTY)) == pytest.approx([entropy, 0.0], abs=1e-12)


def test_exclusive_or():
    # x0 and x1 say nothing about y = x0 xor x1 alone; given y each determines the other: log 2.
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    table = Table(X, X[:, 0] ^ X[:, 1], [2, 2], 2)
    stats = pair_statistics(table.data(), 1, PLENTY)
    assert mutual_information(stats).tolist() == [0.0, 0.0]
    assert conditional_mutual_information(stats) == pytest.approx(np.log(2) * (1 - np.eye(2)), abs=1e-12)


def test_equal_columns_tie_exactly():
    table = random_table(1, 5000, [7, 7, 7])
    X = np.stack([table.X[:, 0], table.X[:, 1], (table.X[:, 0] + 3) % 7], axis=1)  # column 2: column 0 renamed
    stats = pair_statistics(Table(X, table.y, [7, 7, 7], 3).data(), 1, PLENTY)
    mi, cmi = mutual_information(stats), conditional_mutual_information(stats)
    assert mi[0] == mi[2]
    assert cmi[0, 1] == cmi[2, 1]


@many
@given(tables())
def test_class_information_is_less_what_chance_gives(table):
    found = class_information(table.batch(), table.arity, table.n_classes)
    total = table.n_rows if table.weights is None else table.weights.sum()
    for i in range(len(table.arity)):
        chance = (len(set(table.X[:, i])) - 1) * (len(set(table.y)) - 1) / (2 * max(total, 1.0))
        expected = counts.mutual_information(table, i) * total / max(total, 1.0) - chance
        assert found[i] == pytest.approx(max(expected, 0.0), abs=2e-12)


def test_class_information_of_no_rows():
    table = random_table(0, 10, [2, 3]).take(slice(0, 0))
    assert class_information(table.batch(), [2, 3], 3).tolist() == [0.0, 0.0]
