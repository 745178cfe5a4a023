"""kDB forests: orders and parents worked by hand."""

import numpy as np
import pytest

from countwise.structure import kdf
from countwise.structure.kdf import forest_order

#            0    1    2    3    4
CMI = np.array(
    [
        [0.0, 0.5, 0.2, 0.1, 0.1],
        [0.5, 0.0, 0.4, 0.3, 0.1],
        [0.2, 0.4, 0.0, 0.6, 0.2],
        [0.1, 0.3, 0.6, 0.0, 0.7],
        [0.1, 0.1, 0.2, 0.7, 0.0],
    ]
)


@pytest.mark.parametrize(
    ("root", "order"),
    [
        # 0, then 1 (0.5); sums with {0, 1}: 2 has 0.6, 3 has 0.4, 4 has 0.2; then 3 has 1.0, 4 has 0.4
        (0, [0, 1, 2, 3, 4]),
        # 3, then 4 (0.7); sums: 0 has 0.2, 1 has 0.4, 2 has 0.8; then 0 has 0.4, 1 has 0.8
        (3, [3, 4, 2, 1, 0]),
    ],
)
def test_orders_by_hand(root, order):
    assert forest_order(root, CMI) == order


def test_order_ties_go_to_the_first_column():
    assert forest_order(2, np.zeros((4, 4))) == [2, 0, 1, 3]


@pytest.mark.parametrize(
    ("k", "parents"),
    [
        # Order 0 1 2 3 4. First parents: 1 <- 0, 2 <- 1 (0.4), 3 <- 2 (0.6), 4 <- 3 (0.7).
        # Ancestors of the first parent: of 0 none; of 1 {0}: min(1, k) - 1 = 0 others; of 2 {0, 1}; of 3 {0, 1, 2}.
        (1, ((), (0,), (1,), (2,), (3,))),
        (2, ((), (0,), (1,), (2, 1), (3, 2))),
        (3, ((), (0,), (1,), (2, 1), (3, 2, 0))),  # for 4: 2 has 0.2, then 0 and 1 tie at 0.1, 0 is earlier
        (9, ((), (0,), (1,), (2, 1), (3, 2, 0))),
    ],
)
def test_parents_by_hand(k, parents):
    structure = kdf(list("abcde"), 0, CMI, k)
    assert structure.order == (0, 1, 2, 3, 4)
    assert structure.parents == parents


@pytest.mark.parametrize("seed", range(5))
def test_parents_come_before_and_are_ancestors_of_the_first(seed):
    rng = np.random.default_rng(seed)
    cmi = rng.random((8, 8))
    cmi = cmi + cmi.T
    for root in range(8):
        structure = kdf([f"x{i}" for i in range(8)], root, cmi, 3)
        place = {i: position for position, i in enumerate(structure.order)}
        assert structure.order[0] == root
        for child in structure.order[1:]:
            first, *others = structure.parents[child]
            assert all(place[p] < place[child] for p in (first, *others))
            above, waiting = set(), list(structure.parents[first])
            while waiting:
                above.add(i := waiting.pop())
                waiting += structure.parents[i]
            assert set(others) <= above
            assert len(others) == max(min(len(above), 3) - 1, 0)
