"""Passes for one and for many: each batch is read once, and short memory only costs passes."""

import numpy as np
import pytest

from countwise.data.coarse import Coarsening
from countwise.data.codec import Codec, NumberCodec
from countwise.data.passes import MemberData, run, run_each, run_together
from oracle.tables import dependent_table

TABLE = dependent_table(1, 100, 3)
CODEC = Codec(
    tuple(NumberCodec(f"x{i}", np.arange(a - 1.0), a, False) for i, a in enumerate(TABLE.arity)),
    np.arange(TABLE.n_classes),
)


class Sum:
    """Rows, and the sum of the first column's codes; it grows by 10 bytes a row."""

    label = "adding"

    def __init__(self, nbytes=0):
        self.start = nbytes
        self.clear()

    def clear(self):
        self.rows, self.value, self.nbytes = 0, 0.0, self.start

    def add(self, batch, threads):
        self.rows += batch.n_rows
        self.nbytes += 10 * batch.n_rows
        self.value += float(np.sum(batch.codes[0] * (1 if batch.weights is None else batch.weights)))


def adding(n_passes):
    values = []
    for _ in range(n_passes):
        counter = Sum()
        yield counter
        values.append((counter.rows, counter.value))
    return values


def members(data, n_passes, times=None):
    plain = Coarsening((None,) * len(TABLE.arity), tuple(TABLE.arity))
    return [(MemberData(data, CODEC, plain, times), adding(n)) for n in n_passes]


ONCE = (100, float(TABLE.X[:, 0].sum()))


@pytest.mark.parametrize("size", [1, 30, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_as_many_passes_as_the_longest_takes(size, threads):
    data = TABLE.data(size)
    found = run_together(data, members(data, [1, 3, 0, 2]), threads, 10**6)
    assert found == [[ONCE], [ONCE] * 3, [], [ONCE] * 2]
    assert data.n_passes == 3
    assert run_each(members(data, [1, 3, 0, 2]), threads) == found
    assert run(TABLE.data(size), adding(2), 1) == [ONCE] * 2


def test_members_that_do_not_fit_wait_for_another_pass():
    data = TABLE.data(30)
    with pytest.warns(ResourceWarning, match="members need more passes"):
        found = run_together(data, members(data, [1, 1, 1]), 2, 2500)  # 1000 bytes each
    assert found == [[ONCE]] * 3
    assert data.n_passes == 2


def test_one_member_is_never_left_out():
    data = TABLE.data(30)
    with pytest.warns(ResourceWarning, match="2 members need more passes"):
        assert run_together(data, members(data, [1, 1]), 1, 1) == [[ONCE]] * 2
    assert data.n_passes == 2


@pytest.mark.parametrize("size", [7, 100])
def test_rows_that_count_several_times(size):
    times = np.arange(100) % 3
    data = TABLE.data(size)
    expected = (int((times > 0).sum()), float((TABLE.X[:, 0] * times).sum()))
    (together,), (apart,) = (
        run_together(data, members(data, [1], times), 1, 10**6),
        run_each(members(data, [1], times), 1),
    )
    assert together == apart == [expected]


def test_members_see_their_own_codes():
    data = TABLE.data(40)
    arity = TABLE.arity[0]
    map = np.array([0] * arity + [1], np.uint8)  # all values are one
    view = MemberData(data, CODEC, Coarsening((map, None, None), (1, *TABLE.arity[1:])))
    batches = list(view.batches("looking"))
    assert sum(batch.n_rows for batch in batches) == 100
    assert all((batch.codes[0] == 0).all() for batch in batches)
    np.testing.assert_array_equal(np.concatenate([batch.codes[1] for batch in batches]), TABLE.X[:, 1])
