"""Orders by chance: in proportion, without replacement, repeatable."""

from collections import Counter
from itertools import permutations

import numpy as np
from scipy.stats import chisquare

from countwise.structure import Structure, sampled_order, shuffled_parents


def test_orders_have_the_chances_of_draws_without_replacement():
    mi = np.array([0.5, 0.3, 0.0, 0.2, 0.0])
    rng = np.random.default_rng(1)
    found = Counter(tuple(sampled_order(mi, rng)) for _ in range(6000))

    def chance(order):
        left, p = 1.0, 1.0
        for i in order[:3]:
            p *= mi[i] / left
            left -= mi[i]
        return p / 2  # the two that tell nothing, in either order

    orders = [(*a, *b) for a in permutations([0, 1, 3]) for b in permutations([2, 4])]
    assert set(found) == set(orders)
    assert chisquare([found[o] for o in orders], [6000 * chance(o) for o in orders]).pvalue > 1e-3


def test_orders_repeat():
    mi = np.linspace(0, 1, 20)
    first, again = (sampled_order(mi, np.random.default_rng(7)) for _ in range(2))
    assert first == again
    assert sorted(first) == list(range(20))
    assert first != sampled_order(mi, np.random.default_rng(8))


def test_no_information_is_a_plain_shuffle():
    rng = np.random.default_rng(3)
    firsts = Counter(sampled_order(np.zeros(4), rng)[0] for _ in range(2000))
    assert chisquare([firsts[i] for i in range(4)]).pvalue > 1e-3


def test_parents_are_shuffled_within_each_attribute():
    structure = Structure(("a", "b", "c", "d"), (0, 1, 2, 3), ((), (0,), (0, 1), (0, 1, 2)))
    rng = np.random.default_rng(0)
    found = Counter(shuffled_parents(structure, rng).parents for _ in range(600))
    assert len(found) == 12  # 2! x 3!
    assert all([sorted(p) for p in parents] == [[], [0], [0, 1], [0, 1, 2]] for parents in found)
    assert chisquare(list(found.values())).pvalue > 1e-3
