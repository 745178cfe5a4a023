import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countwise.structure import tan
from oracle.structures import best_tree_weight, kruskal_weight, spanning_trees
from oracle.tables import many


def symmetric(n, values):
    weight = np.zeros((n, n))
    weight[np.triu_indices(n, 1)] = values
    return weight + weight.T


@st.composite
def weights(draw, max_nodes):
    n = draw(st.integers(1, max_nodes))
    values = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5])  # ties too
    edges = draw(st.lists(values, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    return np.array(draw(st.lists(values, min_size=n, max_size=n))), symmetric(n, edges)


def names(n):
    return [f"x{i}" for i in range(n)]


def total(structure, cmi):
    return sum(cmi[i, p] for i in structure.order for p in structure.parents[i])


def test_the_oracle_counts_trees_as_cayley():
    assert [len(list(spanning_trees(n))) for n in range(1, 6)] == [1, 1, 3, 16, 125]  # n^(n - 2)


@many
@given(weights(5))
def test_no_spanning_tree_is_better(case):
    mi, cmi = case
    assert total(tan(names(len(mi)), mi, cmi), cmi) == pytest.approx(best_tree_weight(cmi), abs=1e-12)


@many
@given(weights(12))
def test_a_tree_directed_from_its_root(case):
    mi, cmi = case
    structure = tan(names(len(mi)), mi, cmi)
    assert total(structure, cmi) == pytest.approx(kruskal_weight(cmi), abs=1e-12)
    assert structure.order[0] == int(np.argmax(mi))  # ties: the first of the table
    assert sorted(structure.order) == list(range(len(mi)))
    assert structure.parents[structure.order[0]] == ()
    for position, child in enumerate(structure.order[1:], 1):
        (parent,) = structure.parents[child]
        assert parent in structure.order[:position]


def test_ties_go_to_the_first_attribute_then_to_the_first_parent():
    # All edges equal: from root 2 the attributes join in table order, each below the root.
    structure = tan(names(4), np.array([0.0, 0.0, 1.0, 0.5]), symmetric(4, [0.5] * 6))
    assert structure.order == (2, 0, 1, 3)
    assert structure.parents == ((2,), (2,), (), (2,))
    # 1 joins through 0 because that edge is greater; 3 ties between 0 and 1, and 0 joined first.
    cmi = symmetric(4, [0.9, 0.1, 0.4, 0.2, 0.4, 0.8])  # 01 02 03 12 13 23
    structure = tan(names(4), np.array([1.0, 0, 0, 0]), cmi)
    assert structure.parents == ((), (0,), (3,), (0,))


def test_one_attribute():
    structure = tan(["a"], np.array([0.0]), np.zeros((1, 1)))
    assert (structure.order, structure.parents) == ((0,), ((),))
