"""Stratification: properties by hypothesis, and row subsets of every kind of table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from countwise.errors import DataError
from countwise.evaluate.folds import column_types, stratified_folds, take_rows

labels = st.lists(st.integers(0, 4), min_size=2, max_size=60)


@given(labels, st.integers(2, 10), st.integers(0, 100))
@settings(max_examples=150, deadline=None)
def test_folds_and_classes_within_folds_differ_by_at_most_one_row(codes, n_splits, seed):
    n_splits = min(n_splits, len(codes))
    folds = stratified_folds(codes, n_splits, seed)
    sizes = np.bincount(folds, minlength=n_splits)
    assert len(sizes) == n_splits
    assert np.ptp(sizes) <= 1
    for code in set(codes):
        per_fold = np.bincount(folds[np.array(codes) == code], minlength=n_splits)
        assert np.ptp(per_fold) <= 1


@given(labels, st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_equal_seeds_give_equal_folds(codes, seed):
    assert np.array_equal(stratified_folds(codes, 2, (seed, 1)), stratified_folds(codes, 2, (seed, 1)))


def test_seeds_matter_and_every_row_can_be_in_any_fold():
    drawn = np.array([stratified_folds([0] * 6 + [1], 3, seed) for seed in range(60)])
    assert all(set(column) == {0, 1, 2} for column in drawn.T)
    assert len({tuple(row) for row in drawn}) > 30


def test_rows_that_go_together_are_torn_apart_independently_of_their_position():
    """Two neighbouring rows of one class share a fold as often as chance has it: (n/k - 1) / (n - 1)."""
    together = np.mean([np.equal(*stratified_folds([0] * 20, 2, seed)[:2]) for seed in range(600)])
    assert together == pytest.approx(9 / 19, abs=0.07)


@pytest.mark.parametrize("n_splits", [1, 4])
def test_impossible_numbers_of_folds(n_splits):
    with pytest.raises(DataError, match=f"n_splits={n_splits}"):
        stratified_folds([0, 1, 1], n_splits)


COLUMNS = {"number": [1, 2, 3, 4], "text": ["a", "b", None, "d"]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_rows_of_frames(make):
    part = take_rows(make(COLUMNS), np.array([3, 0]))
    assert type(part) is type(make(COLUMNS))
    arrow = part if isinstance(part, pa.Table) else pa.table(part)
    assert arrow.column("number").to_pylist() == [4, 1]
    assert arrow.column("text").to_pylist() == ["d", "a"]


def test_rows_of_a_pandas_frame_with_a_shuffled_index_go_by_position():
    frame = pd.DataFrame(COLUMNS, index=[3, 2, 1, 0])
    assert take_rows(frame, np.array([0]))["number"].tolist() == [1]


def test_rows_of_a_frame_with_one_column_stay_a_frame():
    assert take_rows(pl.DataFrame({"a": [1, 2]}), np.array([1])).shape == (1, 1)


def test_rows_of_matrices_and_lists():
    matrix = np.arange(6).reshape(3, 2)
    assert take_rows(matrix, np.array([2])).tolist() == [[4, 5]]
    assert take_rows(matrix.tolist(), np.array([2])).tolist() == [[4, 5]]
    assert take_rows(scipy.sparse.csr_array(matrix), np.array([2])).toarray().tolist() == [[4, 5]]


def test_column_types_tell_tables_apart():
    assert column_types(pa.table(COLUMNS)) == ["number: Int64", "text: String"]
    assert column_types(np.zeros((2, 3))) != column_types(np.zeros((2, 4)))
    assert column_types([[1, 2]]) == ["int64 x 2"]
