"""Arrays in few bytes: the same values and types when they are widened."""

import pickle

import numpy as np
import pytest

import countwise as cw
from countwise.narrow import narrowed, widened

ARRAYS = {
    "none": (np.zeros(0, np.int32), np.int32),
    "counts": (np.array([3.0, 0.0, 255.0]), np.uint8),
    "many": (np.array([3.0, 2.0**32, 1.0]), np.float64),
    "halves": (np.array([3.0, 0.5]), np.float64),
    "minus zero": (np.array([3.0, -0.0]), np.float64),
    "not numbers": (np.array([3.0, np.nan, np.inf]), np.float64),
    "codes": (np.array([300, 2, 7], np.int32), np.uint16),
    "negative codes": (np.array([3, -2, 7], np.int32), np.int32),
    "offsets": (np.array([5, 5, 2**40, 2**40 + 9]), np.int64),
    "near offsets": (np.arange(2**40, 2**40 + 9), np.uint8),
    "parents": (np.array([-1, 0, 0, 1, 2], np.int32), np.uint8),
    "truths": (np.array([True, False]), np.bool_),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_widened_is_what_was_narrowed(name):
    array, expected = ARRAYS[name]
    stored, start = narrowed(array)
    again = widened(stored, start, array.dtype)
    assert stored.dtype == expected
    assert again.dtype == array.dtype
    assert again.tobytes() == array.tobytes()
    assert again.flags.writeable


@pytest.mark.parametrize("model", [cw.PoolClassifier(), cw.KDBClassifier(k=5)])
def test_pickles_hold_counts_in_few_bytes(model):
    X, y = cw.datasets.load("tic-tac-toe")
    trees = [tree for network in networks_of(model.fit(X, y)) for tree in network]
    in_memory = sum(tree.nbytes for tree in trees)
    assert len(pickle.dumps(model, protocol=5)) < in_memory / 2


@pytest.mark.parametrize("model", [cw.PoolClassifier(), cw.KDBClassifier(k=2), cw.ProbabilityTreeClassifier()])
def test_what_predicts_is_not_in_a_pickle(model):
    X, y = cw.datasets.load("tic-tac-toe")
    data = pickle.dumps(model.fit(X, y), protocol=5)
    model.predict_proba_interval(X)
    assert len(pickle.dumps(model, protocol=5)) == len(data)
    assert b"cell_proba" not in data


def test_pickles_keep_what_took_long():
    X, y = cw.datasets.load("monks-1")
    model = cw.KDBClassifier(k=2, smoothing="hls").fit(X, y)
    assert b"cell_proba" in pickle.dumps(model, protocol=5)


def networks_of(model):
    return [member.trees for member in model.members_] if hasattr(model, "members_") else [model.trees_]
