"""Data sets: read when needed, checked at the door, prepared as asked."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import countwise as cw
from countwise.errors import DataError
from countwise.evaluate.bias_variance import unpack_codes
from countwise.evaluate.prepare import PREPARATIONS
from countwise.evaluate.problems import Problems

X, Y = np.arange(12.0).reshape(6, 2), np.array(["b", "a", "b", "a", "b", "b"])


class Counting(dict):
    reads = 0

    def __getitem__(self, name):
        Counting.reads += 1
        return super().__getitem__(name)


def test_a_mapping_is_read_when_asked_and_the_last_is_kept():
    Counting.reads = 0
    problems = Problems(Counting(one=(X, Y), two=(X, Y)))
    assert problems.names == ["one", "two"]
    assert Counting.reads == 0
    assert problems["one"] is problems["one"]
    assert problems["two"].name == "two"
    assert Counting.reads == 2


def test_facts_and_identity():
    problem = Problems({"d": (X, Y)})["d"]
    facts = problem.facts()
    assert (facts["n_rows"], facts["n_attributes"], facts["n_classes"]) == (6, 2, 2)
    assert unpack_codes(facts["codes"], 6).tolist() == [1, 0, 1, 0, 1, 1]
    other = Problems({"d": (X[:, :1], Y)})["d"].identity()
    assert {key for key, value in problem.identity().items() if other[key] != value} == {"columns"}


def test_large_sets_are_cut_to_a_stratified_sample():
    y = np.repeat(["a", "b"], [75, 25])
    problem = Problems({"d": (np.arange(100.0)[:, None], y)}, max_rows=20, seed=3)["d"]
    assert len(problem.y) == 20
    assert (problem.y == "a").sum() == 15
    assert np.all((problem.X[:, 0] < 75) == (problem.y == "a"))
    again = Problems({"d": (np.arange(100.0)[:, None], y)}, max_rows=20, seed=3)["d"]
    assert np.array_equal(again.X, problem.X)
    assert len(Problems({"d": (X, Y)}, max_rows=6)["d"].y) == 6


def test_bad_settings_are_named():
    with pytest.raises(DataError, match="prepare='whole' is not known; there are none, discretised"):
        Problems({"d": (X, Y)}, "whole")
    with pytest.raises(DataError, match="max_rows=1"):
        Problems({"d": (X, Y)}, max_rows=1)


MIXED = {"x": [1.0, 2.0, None, 8.0, 9.0] * 9, "c": ["u", None, "v", "v", "u"] * 9, "n": [3, 3, 3, 3, 3] * 9}
CODES = np.array([0, 0, 0, 1, 1] * 9)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_preparations_of_frames_agree_and_keep_the_type(make):
    for prepare in PREPARATIONS.values():
        given = make(MIXED)
        found = prepare(given, CODES)
        assert type(found) is type(given)
        assert found.shape == given.shape
    bins = nw.from_native(PREPARATIONS["discretised"](make(MIXED), CODES), eager_only=True)["x"]
    assert bins.fill_null("missing").to_list()[:5] == ["b0", "b0", "missing", "b1", "b1"]


def test_whole_set_bins_are_those_of_a_model_that_saw_all_rows():
    dataset = cw.datasets.load("iris")
    binned = PREPARATIONS["discretised"](dataset.X, np.unique(dataset.y, return_inverse=True)[1])
    codec = cw.NBClassifier().fit(dataset.X, dataset.y).codec_
    for name, column in zip(codec.names, codec.columns, strict=True):
        assert len(set(binned[name].to_pylist())) == column.arity


def test_imputation_leaves_no_gap():
    found = PREPARATIONS["imputed-quintiles"](pa.table(MIXED), CODES)
    assert sum(column.null_count for column in found.columns) == 0
    assert set(found["c"].to_pylist()) == {"u", "v"}
    matrix = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 6.0]])
    assert PREPARATIONS["imputed-quintiles"](matrix, np.zeros(3, int)).num_rows == 3
