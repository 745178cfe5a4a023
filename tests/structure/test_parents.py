"""Searches for parents: against recounting row by row, and where the answer is known."""

from dataclasses import replace

import numpy as np
import pytest

from countwise.structure.parents import N_LATER, SearchRows, class_structure, gain_structure
from oracle.parents import ClassSearch, gain_parents
from oracle.tables import Table, dependent_table


def search_rows(table):
    return SearchRows(table.judged(), [f"x{i}" for i in range(len(table.arity))], table.arity, table.n_classes)


def weighted(table, seed=0):
    times = np.random.default_rng(seed).integers(1, 4, table.n_rows).astype(float)
    return Table(table.X, table.y, table.arity, table.n_classes, times)


def mixed_table(seed, n_rows, n_classes):
    """Dependent columns of different arities."""
    table = dependent_table(seed, n_rows, 5, arity=4, n_classes=n_classes)
    X = np.column_stack([table.X[:, 0], table.X[:, 1] % 2, table.X[:, 2], table.X[:, 3] % 3, table.X[:, 4]])
    return Table(X, table.y, [4, 2, 4, 3, 4], n_classes)


def sequence_of(order, k, seed):
    """The visits that class_structure draws."""
    rng = np.random.default_rng(seed)
    return [[order[i] for i in rng.permutation(len(order))] for _ in range(k)]


def exclusive_or(n_rows=300, n_columns=5, pair=(1, 3), seed=0):
    """The class is the exclusive or of two columns: neither says anything by itself."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_columns))
    return Table(X, X[:, pair[0]] ^ X[:, pair[1]], [2] * n_columns, 2)


@pytest.mark.parametrize("kind", ["plain", "weights"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_gain_equals_oracle(seed, n_classes, kind):
    table = mixed_table(seed, 60, n_classes)
    table = weighted(table, seed) if kind == "weights" else table
    order = [int(i) for i in np.random.default_rng(seed).permutation(5)]
    found = gain_structure(search_rows(table), order, 2)
    assert found.parents == gain_parents(table, order, 2)
    assert found.order == tuple(order)


@pytest.mark.parametrize("kind", ["plain", "weights"])
@pytest.mark.parametrize("seed", range(3))
def test_columns_of_many_values_are_counted_by_sorting(seed, kind):
    """More pairs of values than a table is made for: 300 x 300 x 2."""
    table = mixed_table(seed, 120, 2)
    wide = np.column_stack([table.X[:, 0] * 70 + table.X[:, 1], *table.X[:, 1:4].T, table.X[:, 4] * 70 + table.X[:, 0]])
    table = Table(wide, table.y, [300, 2, 4, 3, 300], 2)
    table = weighted(table, seed) if kind == "weights" else table
    order = [0, 4, 1, 2, 3] if seed % 2 else [4, 0, 3, 2, 1]
    found = gain_structure(search_rows(table), order, 2)
    assert found.parents == gain_parents(table, order, 2)
    assert any(0 in parents or 4 in parents for parents in found.parents)


@pytest.mark.parametrize("kind", ["plain", "weights"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_class_equals_oracle(seed, n_classes, kind):
    table = mixed_table(seed, 90, n_classes)
    table = weighted(table, seed) if kind == "weights" else table
    order = [int(i) for i in np.random.default_rng(seed).permutation(5)]
    n_scored = 90 if seed % 2 else 50  # the others are counted only
    found = class_structure(search_rows(table), order, 3, np.random.default_rng(seed), n_scored)
    assert found.parents == ClassSearch(table, order, n_scored).run(sequence_of(order, 3, seed))
    assert any(found.parents)


def late_table():
    """Of 8 columns the first four tell, with the class, what the last is in 256 rows; the fifth does in all others."""
    rng = np.random.default_rng(3)
    n_rows, early = 600, np.arange(600) < 256
    X, y = rng.integers(0, 2, (n_rows, 8)), rng.integers(0, 2, n_rows)
    for column in range(4):
        told = early & (rng.random(n_rows) < 0.4)
        X[:, column] = np.where(told, X[:, 7] ^ y, X[:, column])
    X[:, 4] = np.where(~early & (rng.random(n_rows) < 0.6), X[:, 7] ^ y, X[:, 4])
    return Table(X, y, [2] * 8, 2)


def test_only_finalists_of_the_first_rows_are_tried_on_all():
    table, order = late_table(), list(range(8))
    found = class_structure(search_rows(table), order, 2, np.random.default_rng(0), 600)
    assert found.parents == ClassSearch(table, order, 600).run(sequence_of(order, 2, 0))
    assert found.parents[7][0] != 4
    all_tried = ClassSearch(table, order, 600, first_rows=600).run(sequence_of(order, 1, 0))
    assert all_tried[7] == (4,)


@pytest.mark.parametrize(("n_weak", "kept"), [(N_LATER - 5, True), (N_LATER + 5, False)])
def test_later_parents_are_among_the_best_of_the_first_round(n_weak, kept):
    """Column 0 tells nothing about the last one before column 1 is its parent; weak ones tell a little."""
    rng = np.random.default_rng(0)
    a, b, y = rng.integers(0, 2, 1000), rng.integers(0, 3, 1000), rng.integers(0, 2, 1000)
    signal = np.choose(b, [np.zeros(1000, int), a, 1 - a])
    weak = [np.where(rng.random(1000) < 0.2, signal, rng.integers(0, 2, 1000)) for _ in range(n_weak)]
    X = np.column_stack([a, b, *weak, signal ^ y])
    n = X.shape[1]
    rows = search_rows(Table(X, y, [2, 3, *[2] * (n - 2)], 2))
    found = class_structure(rows, list(range(n)), 5, np.random.default_rng(0), 1000).parents[-1]
    assert found[0] == 1
    assert (0 in found) == kept


@pytest.mark.parametrize("n_classes", [2, 4])
def test_integer_weights_are_repetitions(n_classes):
    table = weighted(mixed_table(7, 70, n_classes))
    repeated = table.repeated()
    order = [3, 0, 4, 1, 2]
    assert gain_structure(search_rows(table), order, 3) == gain_structure(search_rows(repeated), order, 3)
    a, b = (class_structure(search_rows(t), order, 3, np.random.default_rng(0), 1000) for t in (table, repeated))
    assert a == b
    assert any(a.parents)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [3, 0, 2, 1, 4]])
def test_a_pair_that_tells_the_class_is_found(order):
    rows = search_rows(exclusive_or())
    first, second = sorted((1, 3), key=order.index)
    found = class_structure(rows, order, 2, np.random.default_rng(0), 300)
    assert found.parents[second] == (first,)
    assert first in gain_structure(rows, order, 2).parents[second]


def test_contexts_of_two_parents_are_found():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1500, 5))
    y = np.where(rng.random(1500) < 0.1, 0, X[:, 0] ^ X[:, 2] & X[:, 4])  # a pair tells something, the three all
    found = class_structure(search_rows(Table(X, y, [2] * 5, 2)), [0, 2, 4, 1, 3], 3, np.random.default_rng(0), 1500)
    assert set(found.parents[4]) == {0, 2}


each_method = pytest.mark.parametrize("method", [gain_structure, class_structure])


def search(method, rows, order, k):
    return method(rows, order, k) if method is gain_structure else method(rows, order, k, np.random.default_rng(0), 200)


@each_method
@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_parents_come_earlier_and_are_at_most_k(method, k):
    table = dependent_table(2, 300, 8, arity=3, n_classes=3)
    order = [int(i) for i in np.random.default_rng(4).permutation(8)]
    found = search(method, search_rows(table), order, k)
    assert any(found.parents) == (k > 0)
    for child, parents in enumerate(found.parents):
        assert len(parents) <= k
        assert len(set(parents)) == len(parents)
        assert all(order.index(parent) < order.index(child) for parent in parents)


@each_method
def test_noise_has_few_parents_and_one_row_none(method):
    rng = np.random.default_rng(5)
    noise = Table(rng.integers(0, 3, (500, 6)), rng.integers(0, 2, 500), [3] * 6, 2)
    found = search(method, search_rows(noise), list(range(6)), 5)
    assert sum(map(len, found.parents)) <= 5
    alone = search(method, search_rows(noise.take(slice(0, 1))), list(range(6)), 5)
    assert not any(alone.parents)


@each_method
@pytest.mark.parametrize("seed", range(5))
def test_a_column_of_names_is_no_parent(method, seed):
    """Each row is alone with its name: what it gains is 0, and rounding errors are not gains."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.permutation(200), rng.integers(0, 3, (200, 3))])
    table = Table(X, rng.integers(0, 2, 200), [200, 3, 3, 3], 2)
    found = search(method, search_rows(table), [0, 1, 2, 3], 3)
    assert not any(0 in parents for parents in found.parents)


def test_constant_columns_are_no_parents():
    table = exclusive_or(200, 3, (0, 1))
    X = np.column_stack([np.zeros(200, int), table.X])
    rows = search_rows(Table(X, table.y, [1, 2, 2, 2], 2))
    for method in (gain_structure, class_structure):
        found = search(method, rows, [0, 1, 2, 3], 3)
        assert not any(0 in parents for parents in found.parents)
        assert 1 in found.parents[2]


# Weights that are not whole, and units


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_weigh_by_class_are_left_out_whole(seed):
    """Against the oracle in units in which as much weight as there are effective rows is spread over the rows."""
    table = mixed_table(seed, 60, 3)
    by_class = np.array([0.5, 1.25, 4.75])[table.y]
    rows = search_rows(Table(table.X, table.y, table.arity, 3, by_class))
    unit = rows.batch.rows_per_weight
    assert unit * by_class.sum() == pytest.approx(by_class.sum() ** 2 / (by_class**2).sum())
    scaled = Table(table.X, table.y, table.arity, 3, by_class * unit)
    order = [int(i) for i in np.random.default_rng(seed).permutation(5)]
    assert gain_structure(rows, order, 2).parents == gain_parents(scaled, order, 2)
    oracle = ClassSearch(scaled, order, 1000, n_later=N_LATER)
    assert class_structure(rows, order, 2, np.random.default_rng(seed)).parents == oracle.run(
        sequence_of(order, 2, seed)
    )


def test_the_unit_of_weights_does_not_matter():
    table = dependent_table(0, 200, 5, n_classes=3)
    plain = search_rows(table)
    for unit in (0.37, 250.5, 1000.0):
        heavy = search_rows(Table(table.X, table.y, table.arity, 3, np.full(200, unit)))
        heavy = SearchRows(replace(heavy.batch, one_row=np.full(200, unit)), plain.names, plain.arity, 3)
        for search in (
            gain_structure,
            lambda rows, order, k: class_structure(rows, order, k, np.random.default_rng(0)),
        ):
            assert search(heavy, [4, 2, 0, 1, 3], 3).parents == search(plain, [4, 2, 0, 1, 3], 3).parents
