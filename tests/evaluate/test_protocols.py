"""Which rows train and which test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countwise.errors import DataError
from countwise.evaluate.protocols import PAPER_SIZES, RepeatedFolds, TrainSizes, as_protocol

CODES = np.arange(90) % 3


def splits(protocol, codes=CODES, seed=0):
    return list(protocol.splits(codes, seed))


def rows(split):
    return split.train.tolist(), split.test.tolist()


PROTOCOLS = [
    RepeatedFolds(),
    RepeatedFolds(1, 10),
    RepeatedFolds(once_above=50),
    TrainSizes(),
    TrainSizes(sizes=None, n_repeats=3),
    TrainSizes((5, 89, 90, 200), 2, 7),
]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_train_and_test_never_meet_and_are_repeatable(protocol):
    found = splits(protocol)
    assert found
    for split, again in zip(found, splits(protocol), strict=True):
        assert len(split.train) > 0 < len(split.test)
        assert not set(split.train) & set(split.test)
        assert len(set(split.train)) == len(split.train)
        assert rows(split) == rows(again)
    assert [rows(s) for s in splits(protocol, seed=1)] != [rows(s) for s in found]
    keys = [(s.repeat, s.fold, s.train_size) for s in found]
    assert len(set(keys)) == len(keys)


@given(st.integers(2, 60), st.integers(2, 5), st.integers(1, 4))
def test_every_row_is_tested_once_in_each_repeat(n_rows, n_splits, n_classes):
    codes = np.arange(n_rows) % min(n_classes, n_rows)
    found = splits(RepeatedFolds(2, min(n_splits, n_rows)), codes)
    for repeat in (0, 1):
        tested = np.concatenate([s.test for s in found if s.repeat == repeat])
        assert sorted(tested) == list(range(n_rows))
        assert all(len(s.train) + len(s.test) == n_rows for s in found)


def test_large_sets_are_split_once():
    protocol = RepeatedFolds(5, 2, once_above=89)
    assert len(splits(protocol, CODES[:89])) == 10
    assert len(splits(protocol)) == 2
    assert [rows(s) for s in splits(protocol)] == [rows(s) for s in splits(RepeatedFolds(5, 2))[:2]]


def test_training_sets_are_nested_and_tested_on_the_same_rows():
    found = [s for s in splits(TrainSizes((10, 40, 80), 2, 20)) if s.repeat == 1]
    assert [len(s.train) for s in found] == [10, 40, 80] == [s.train_size for s in found]
    assert found[1].train[:10].tolist() == found[0].train.tolist()
    assert found[0].test.tolist() == found[1].test.tolist()
    assert len(found[2].test) == 10  # what is left


def test_a_size_is_the_same_whatever_other_sizes_are_asked_for():
    one = {s.repeat: rows(s) for s in splits(TrainSizes((40,), 3))}
    many = {s.repeat: rows(s) for s in splits(TrainSizes(PAPER_SIZES, 3)) if s.train_size == 40}
    assert one == many


def test_sizes_of_a_curve_double_up_to_two_thirds():
    codes = np.zeros(900, dtype=np.int64)
    found = splits(TrainSizes(sizes=None, n_repeats=1), codes)
    assert [s.train_size for s in found] == [32, 64, 128, 256, 512, 600]
    assert {len(s.test) for s in found} == {300}
    assert [s.train_size for s in splits(TrainSizes(sizes=None, n_repeats=1), codes[:30])] == [20]


def test_names():
    assert as_protocol("5x2") == RepeatedFolds(5, 2)
    assert as_protocol("10-fold") == as_protocol("10") == RepeatedFolds(1, 10)
    assert as_protocol("sizes").sizes == PAPER_SIZES
    assert as_protocol("curve").sizes is None
    assert as_protocol(RepeatedFolds(3, 3)) == RepeatedFolds(3, 3)
    with pytest.raises(DataError, match=r"'loo' is not known; there are 5x2 \(any RxF\), 10-fold, sizes, curve"):
        as_protocol("loo")


@pytest.mark.parametrize("make", [lambda: RepeatedFolds(0), lambda: RepeatedFolds(1, 1), lambda: TrainSizes((0,))])
def test_impossible_protocols_are_refused(make):
    with pytest.raises(DataError, match="at least"):
        make()
