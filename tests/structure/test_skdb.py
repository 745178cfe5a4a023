"""Selective kDB's leave-one-out against taking out every row and counting again."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import countwise as cw
from countwise.structure import LOSSES, kdb, select
from countwise.tree.context import Family, build_trees
from oracle.leave_one_out import loss_surface
from oracle.tables import Table, dependent_table, many, random_table, tables, weight_by_row

EVERY_LOSS = pytest.mark.parametrize("loss", list(LOSSES))


def chosen(table, families, k, loss, m=1.0, size=None, threads=1):
    trees = build_trees(table.batch(), families, table.arity, table.n_classes)
    classes = np.bincount(table.y, table.weights, minlength=table.n_classes).astype(float)
    return select(table.data(size), trees, classes, k, loss, m, threads)


def kdb_families(n, k):
    """Attributes in table order, each below the k before it, the nearest first."""
    return [Family(i, tuple(range(i - 1, -1, -1))[:k]) for i in range(n)]


def first_least(surface):
    """Fewer attributes, then fewer parents win ties."""
    return tuple(int(i) for i in np.unravel_index(np.argmin(surface), surface.shape))


def weights_have_a_unit(table):
    """Whether whole weights of a class have a common divisor, which may be what one row weighs, or fractions are whole
    when equal rows are joined.
    """
    if table.weights is None:
        return False
    if (table.weights % 1 != 0).any():
        return all(weight % 1 == 0 for weight in weight_by_row(table.batch()).values())
    by_class = [table.weights[table.y == y].astype(int) for y in range(table.n_classes)]
    return any(len(own) >= 4 and np.gcd.reduce(own) > 1 for own in by_class)


@EVERY_LOSS
@many
@given(
    table=tables(min_rows=2, max_rows=10, min_columns=1, max_columns=3, max_arity=3),
    m=st.sampled_from([1.0, 0.3, 5.0]),
)
def test_surface(loss, table, m):
    assume(not weights_have_a_unit(table))
    n = len(table.arity)
    selection = chosen(table, kdb_families(n, 2), 2, loss, m)
    if loss == "zero-one":  # small tables are full of ties, which rounding decides
        low, high = (loss_surface(table, kdb_families(n, 2), 2, f"{loss}, ties {end}", m) for end in ("won", "lost"))
        assert (selection.surface > low - 1e-7).all()
        assert (selection.surface < high + 1e-7).all()
    else:
        expected = loss_surface(table, kdb_families(n, 2), 2, loss, m)
        assert selection.surface == pytest.approx(expected, rel=1e-7, abs=2e-5)


@EVERY_LOSS
@pytest.mark.parametrize("seed", [1, 2])
def test_surface_of_dependent_columns(loss, seed):
    table = dependent_table(seed, 60, 5, n_classes=3)
    families = kdb_families(5, 3)
    selection = chosen(table, families, 3, loss)
    expected = loss_surface(table, families, 3, loss, 1.0)
    assert selection.surface == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert (selection.n_attributes, selection.k) == first_least(selection.surface)


@EVERY_LOSS
def test_surface_of_columns_with_many_values(loss):
    # Almost every context is a row's own: without the row it is gone, and the one above speaks.
    table = random_table(4, 25, [70, 300, 4])
    families = [Family(2, ()), Family(0, (2,)), Family(1, (0, 2))]
    expected = loss_surface(table, families, 2, loss, 1.0)
    assert chosen(table, families, 2, loss).surface == pytest.approx(expected, rel=1e-8, abs=1e-9)


@EVERY_LOSS
def test_integer_weights_are_repetitions(loss):
    table = dependent_table(5, 40, 4)
    weighted = Table(table.X, table.y, table.arity, 2, np.random.default_rng(5).integers(1, 5, 40) * 1.0)
    families = kdb_families(4, 2)
    a, b = chosen(weighted, families, 2, loss), chosen(weighted.repeated(), families, 2, loss)
    expected = loss_surface(weighted.repeated(), families, 2, loss, 1.0)
    assert a.surface == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert b.surface == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert (a.n_attributes, a.k) == (b.n_attributes, b.k)
    # Bit for bit, lest a near-tie be decided otherwise.
    assert np.array_equal(a.surface, b.surface)


@EVERY_LOSS
def test_weights_that_are_not_whole_are_taken_out_whole(loss):
    table = dependent_table(6, 40, 3)
    table = Table(table.X, table.y, table.arity, 2, np.random.default_rng(6).integers(1, 20, 40) / 8)
    assert table.weights.min() < 1 < table.weights.max()
    families = kdb_families(3, 2)
    expected = loss_surface(table, families, 2, loss, 1.0)
    assert chosen(table, families, 2, loss).surface == pytest.approx(expected, rel=1e-8, abs=1e-9)


@EVERY_LOSS
def test_rows_that_all_count_as_many_by_class_are_one_row_each(loss):
    table, families = dependent_table(14, 40, 3), kdb_families(3, 2)
    by_class = np.array([6.0, 5.0])[table.y]
    table = Table(table.X, table.y, table.arity, 2, by_class)
    found = chosen(table, families, 2, loss).surface
    expected = loss_surface(replace(table, one_row=by_class), families, 2, loss, 1.0)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert np.array_equal(found, chosen(table.repeated(), families, 2, loss).surface)
    several = Table(table.X, table.y, table.arity, 2, by_class * (1.0 + np.arange(40) % 3))
    again = chosen(several, families, 2, loss)
    assert np.array_equal(again.surface, chosen(several.repeated(), families, 2, loss).surface)
    expected = loss_surface(replace(several, one_row=by_class), families, 2, loss, 1.0)
    assert again.surface == pytest.approx(expected, rel=1e-8, abs=1e-9)


@EVERY_LOSS
@pytest.mark.parametrize(("size", "threads"), [(1, 1), (7, 2), (60, 2)])
def test_batches_threads_and_row_order_change_nothing(loss, size, threads):
    table = dependent_table(7, 60, 4)
    families = kdb_families(4, 2)
    whole = chosen(table, families, 2, loss)
    shuffled = table.take(np.random.default_rng(7).permutation(60))
    for part in (chosen(table, families, 2, loss, 1.0, size, threads), chosen(shuffled, families, 2, loss)):
        assert np.array_equal(part.surface, whole.surface)
        assert (part.n_attributes, part.k) == (whole.n_attributes, whole.k)


@EVERY_LOSS
def test_ties_keep_fewer_parents(loss):
    # One attribute, so that all k are the same model.
    table = dependent_table(8, 50, 1, noise=0.1)
    selection = chosen(table, kdb_families(1, 0), 3, loss)
    assert (selection.n_attributes, selection.k) == (1, 0)
    assert (selection.surface == selection.surface[:, :1]).all()


@EVERY_LOSS
def test_ties_keep_fewer_attributes(loss):
    # The second attribute has one value: it changes no posterior.
    table = dependent_table(9, 50, 1, noise=0.1)
    table = Table(np.column_stack([table.X, np.zeros(50, int)]), table.y, [3, 1], 2)
    selection = chosen(table, kdb_families(2, 0), 1, loss)
    assert selection.surface[2] == pytest.approx(selection.surface[1], rel=1e-9)
    assert selection.n_attributes == 1


def test_no_attributes_where_they_tell_nothing():
    # Each row of X occurs once with every class, so that attributes only point away from the class left out.
    X = np.repeat(np.indices((3, 3, 3)).reshape(3, -1).T, 2, axis=0).astype(str).astype(object)
    y = np.tile([0, 1], 27)
    model = cw.SKDBClassifier(k=2).fit(X, y)
    assert (model.n_attributes_, model.k_) == (0, 0)
    assert model.structure_.order == ()
    assert model.trees_ == []
    assert model.predict_proba(X) == pytest.approx(np.full((54, 2), 0.5))
    assert model.n_parameters_ == 2
    assert model.explain(X[:2]).contributions.tolist() == np.zeros((2, 3, 2)).tolist()


@EVERY_LOSS
@pytest.mark.parametrize("smoothing", ["m", "m-branch", cw.MEstimate(3.0)], ids=str)
def test_the_model_is_the_one_of_the_chosen_structure(loss, smoothing):
    table = dependent_table(10, 80, 4)
    X = table.X.astype(str).astype(object)
    model = cw.SKDBClassifier(k=3, loss=loss, smoothing=smoothing).fit(X, table.y)
    full = cw.KDBClassifier(k=3).fit(X, table.y).structure_
    assert model.loss_surface_.shape == (5, 4)
    assert (model.n_attributes_, model.k_) == first_least(model.loss_surface_)
    assert model.n_attributes_ > 0
    assert model.structure_ == full.restricted(model.n_attributes_, model.k_)
    direct = cw.BNClassifier(model.structure_, smoothing=smoothing).fit(X, table.y)
    assert np.array_equal(model.predict_proba(X), direct.predict_proba(X))
    # The surface is that of the kDB it came from, with the strength of the m-estimate, or 1.
    m = smoothing.m if isinstance(smoothing, cw.MEstimate) else 1.0
    expected = loss_surface(table, full.families, 3, loss, m)
    assert model.loss_surface_ == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_more_parents_allowed_than_attributes():
    table = dependent_table(11, 40, 2)
    structure = kdb(["x0", "x1"], [0, 1], np.zeros((2, 2)), 5)
    expected = loss_surface(table, structure.families, 5, "rmse", 1.0)
    assert chosen(table, structure.families, 5, "rmse").surface == pytest.approx(expected, rel=1e-8)


@EVERY_LOSS
def test_large_weights_do_not_overflow(loss):
    # Survey weights: rows that stand for millions. Sums of 2^-32 pass 2^63 at a total weight of 2^31.
    table = dependent_table(13, 40, 3)
    table = Table(table.X, table.y, table.arity, 2, np.random.default_rng(13).integers(10**9, 2 * 10**10, 40) * 1.0)
    families = kdb_families(3, 1)
    expected = loss_surface(table, families, 1, loss, 1.0)
    assert chosen(table, families, 1, loss).surface == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("loss", ["log"])
def test_hundreds_of_attributes_do_not_underflow(loss):
    # Estimates near 1/50 each: the product of 220 of them is below the smallest double, for every class.
    table = random_table(12, 8, [50] * 220, n_classes=2)
    families = [Family(i, ()) for i in range(220)]
    expected = loss_surface(table, families, 0, loss, 1.0)
    assert chosen(table, families, 0, loss).surface == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_unknown_loss():
    with pytest.raises(cw.DataError, match="loss='brier' is not known; choose one of rmse, zero-one, log"):
        cw.SKDBClassifier(loss="brier").fit(np.array([["a"], ["b"]], object), [0, 1])
