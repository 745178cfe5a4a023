"""All smoothers: against their formulas, and what each of them must keep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countwise.errors import DataError
from countwise.smooth import MLE, SMOOTHERS, Laplace, MBranch, MEstimate, as_smoother, dense_proba, shrink
from countwise.tree.context import Family, build_trees
from countwise.tree.count_tree import CountTree, single_node
from oracle import smoothing
from oracle.context_tree import context_counts, sorted_paths
from oracle.tables import many, tables

FORMULAS = [
    (MLE(), smoothing.mle),
    (MEstimate(0), smoothing.mle),
    (MEstimate(), lambda nodes, arity: smoothing.m_estimate(nodes, arity, 1.0)),
    (MEstimate(2.5), lambda nodes, arity: smoothing.m_estimate(nodes, arity, 2.5)),
    (Laplace(), smoothing.laplace),
    (MBranch(), lambda nodes, arity: smoothing.m_branch(nodes, arity, 4.0)),
    (MBranch(0.3), lambda nodes, arity: smoothing.m_branch(nodes, arity, 0.3)),
]
NAMES = [repr(smoother) for smoother, _ in FORMULAS]


def tree_and_nodes(table):
    *parents, child = range(len(table.arity))
    family = Family(child, tuple(parents))
    (tree,) = build_trees(table.batch(), [family], table.arity, table.n_classes)
    return tree.counts, context_counts(table, child, parents)


@pytest.mark.parametrize(("smoother", "formula"), FORMULAS, ids=NAMES)
@many
@given(tables(max_columns=3, max_arity=5))
def test_formula(smoother, formula, table):
    tree, nodes = tree_and_nodes(table)
    expected = formula(nodes, tree.arity)
    assert dense_proba(tree, smoother.smooth(tree)) == pytest.approx(
        np.array([expected[path] for path in sorted_paths(nodes)]), rel=1e-12
    )


@pytest.mark.parametrize("smoother", [smoother for smoother, _ in FORMULAS], ids=NAMES)
@many
@given(tables(max_columns=3, max_arity=5))
def test_vectors_are_positive_and_sum_to_one(smoother, table):
    tree, _ = tree_and_nodes(table)
    proba = dense_proba(tree, smoother.smooth(tree))
    assert (proba > 0).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(tree.n_nodes), rel=1e-12)


@pytest.mark.parametrize("smoother", [smoother for smoother, _ in FORMULAS], ids=NAMES)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=6).filter(any))
def test_a_class_prior(smoother, counts):
    tree = single_node(np.array(counts, float))
    (proba,) = dense_proba(tree, smoother.smooth(tree))
    assert (proba > 0).all()
    assert proba.sum() == pytest.approx(1.0, rel=1e-12)
    if smoother.get_params().get("m", 0):  # with pseudo-counts: more counts, more probability
        assert (np.argsort(counts, kind="stable") == np.argsort(proba.round(12), kind="stable")).all()


@many
@given(tables(max_columns=3))
def test_m_estimate_without_pseudo_counts_is_mle(table):
    tree, _ = tree_and_nodes(table)
    a, b = MEstimate(m=0).smooth(tree), MLE().smooth(tree)
    assert np.array_equal(a.cell_proba, b.cell_proba)
    assert np.array_equal(a.absent, b.absent)
    assert a.hierarchical is b.hierarchical is True


@many
@given(tables(max_columns=2))
def test_seeds_do_not_matter_to_closed_forms(table):
    tree, _ = tree_and_nodes(table)
    for smoother, _ in FORMULAS:
        assert np.array_equal(smoother.smooth(tree, 0).cell_proba, smoother.smooth(tree, 7).cell_proba)


def medical_tree():
    """Paper 004, figure 2: a root of 100 ill and 901 healthy, of whom 10 and 1 have the gene; the healthy one of
    them is the only male. Values: 0 = ill, 1 = healthy."""
    counts = {"root": (100, 901), "no gene": (90, 900), "gene": (10, 1), "female": (10, 0), "male": (0, 1)}
    return counts_tree(
        parent=[-1, 0, 0, 2, 2],
        level_ptr=[0, 1, 3, 5],
        counts=[counts[name] for name in ("root", "no gene", "gene", "female", "male")],
    )


def counts_tree(parent, level_ptr, counts):
    """A tree from dense counts."""
    cells = [(node, value) for node, row in enumerate(counts) for value, count in enumerate(row) if count]
    return CountTree(
        parent=np.array(parent, np.int32),
        level_ptr=np.array(level_ptr, np.int64),
        cell_ptr=np.cumsum([0, *(sum(map(bool, row)) for row in counts)]),
        cell_value=np.array([value for _, value in cells], np.int32),
        cell_count=np.array([counts[node][value] for node, value in cells], float),
        arity=len(counts[0]),
    )


GENE, FEMALE, MALE = 2, 3, 4


@pytest.mark.parametrize(
    ("smoother", "published"),
    [(Laplace(), 0.33), (MEstimate(m=1), 0.25)],  # paper 004, section 2.3.1
)
def test_medical_example(smoother, published):
    tree = medical_tree()
    assert dense_proba(tree, smoother.smooth(tree))[MALE, 0] == pytest.approx(published, abs=0.005)


def test_medical_example_of_mle():
    # No ill male carrier was seen: his estimate is that of all carriers, 10 / 11, beside 1 / 1 for healthy.
    tree = medical_tree()
    proba = dense_proba(tree, MLE().smooth(tree))
    assert proba[GENE] == pytest.approx([10 / 11, 1 / 11])
    assert proba[MALE, 0] == pytest.approx((10 / 11) / (10 / 11 + 1))


def test_medical_example_of_m_branch():
    # Paper 004, equations 17 and 18 with M = 4, N = 1001, by hand: heights 3, 2, 1 give
    # m = 4 (1 + 2/3 * 31.638584) = 88.369556, 4 (1 + 1/2 * 31.638584) = 67.277167 and 4.
    tree = medical_tree()
    root = (100 + 88.369556 * 0.5) / (1001 + 88.369556)
    gene = (10 + 67.277167 * root) / (11 + 67.277167)
    male = (0 + 4 * gene) / (1 + 4)
    # The other leaf, "no gene", has height 1 although its sibling has 2.
    no_gene = (90 + 4 * root) / (990 + 4)
    proba = dense_proba(tree, MBranch().smooth(tree))
    assert (root, gene, male) == pytest.approx((0.132356, 0.241508, 0.193206), abs=1e-6)
    assert proba[[0, 1, GENE, MALE], 0] == pytest.approx([root, no_gene, gene, male], rel=1e-7)


def test_shrink_by_hand():
    tree = counts_tree(parent=[-1, 0], level_ptr=[0, 1, 2], counts=[(3, 1, 0), (1, 0, 0)])
    proba = dense_proba(tree, shrink(tree, np.array([2.0, 5.0])))
    root = np.array([(3 + 2 / 3) / 6, (1 + 2 / 3) / 6, (2 / 3) / 6])
    assert proba[0] == pytest.approx(root)
    assert proba[1] == pytest.approx((np.array([1, 0, 0]) + 5 * root) / 6)


def test_names():
    assert {name: type(as_smoother(name)) for name in SMOOTHERS} == SMOOTHERS
    smoother = MEstimate(3)
    assert as_smoother(smoother) is smoother


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lapalce", r"smoothing='lapalce' is not known; choose one of mle, laplace, m, m-branch"),
        (3, "a name or a Smoother, got 3"),
        (MEstimate, "a name or a Smoother"),
        (MEstimate(-1), "m must be a number >= 0 or 'holdout', got -1"),
        (MEstimate("auto"), "got 'auto'"),
        (MEstimate(float("nan")), "got nan"),
        (MEstimate(float("inf")), "got inf"),
        (MBranch(0), "m must be a number > 0, got 0"),
        (MBranch("holdout"), "got 'holdout'"),
        (MBranch(float("nan")), "got nan"),
        (None, "got None"),
        (MEstimate(None), "got None"),
        (MBranch(None), "got None"),
    ],
)
def test_errors_name_the_culprit(spec, message):
    with pytest.raises(DataError, match=message):
        as_smoother(spec)


def test_candidates():
    assert [candidate.m for candidate in MEstimate("holdout").candidates] == [0.0, 0.05, 0.2, 1.0, 5.0, 20.0]
    assert MEstimate().candidates == MLE().candidates == MBranch().candidates == ()
