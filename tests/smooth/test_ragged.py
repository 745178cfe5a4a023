"""Leaves at any level, as decision trees have them: every smoother against its oracle on random ragged trees.

HLS and HGS have such trees in all of their tests, the samplers in ``test_hdp_samplers.py::test_three_levels``.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings

from countwise.smooth import HDP, MLE, BDeu, HierarchicalDirichlet, Laplace, MBranch, MEstimate, dense_proba, shrink
from countwise.smooth.hdp import TYINGS
from oracle import hdp_vb, hierarchical_dirichlet, smoothing
from oracle.count_trees import leaves

few = settings(max_examples=40, deadline=None, derandomize=True)
FORMULAS = {
    "mle": (MLE(), smoothing.mle),
    "laplace": (Laplace(), smoothing.laplace),
    "m": (MEstimate(2.5), lambda nodes, arity: smoothing.m_estimate(nodes, arity, 2.5)),
    "m-branch": (MBranch(3.0), lambda nodes, arity: smoothing.m_branch(nodes, arity, 3.0)),
}


def node_counts(case):
    """{path: {value: count}} of every node, in level order."""
    return {path: {int(v): row[v] for v in np.flatnonzero(row)} for path, row in case.nodes.items()}


def dense(by_path):
    return np.array(list(by_path.values()))


@pytest.mark.parametrize("name", FORMULAS)
@given(case=leaves())
@few
def test_closed_forms(name, case):
    smoother, formula = FORMULAS[name]
    expected = formula(node_counts(case), case.arity)
    assert dense_proba(case.tree, smoother.smooth(case.tree)) == pytest.approx(dense(expected), rel=1e-10)


@given(case=leaves())
@few
def test_bdeu_hands_the_sample_on_in_equal_parts(case):
    nodes, share = node_counts(case), {(): 6.0}
    for path in list(nodes)[1:]:
        siblings = [other for other in nodes if len(other) == len(path) and other[:-1] == path[:-1]]
        share[path] = share[path[:-1]] / len(siblings)
    expected = [smoothing.m_estimate({path: nodes[path]}, case.arity, share[path])[path] for path in nodes]
    assert dense_proba(case.tree, BDeu(6.0).smooth(case.tree)) == pytest.approx(np.array(expected), rel=1e-10)


@pytest.mark.parametrize("tying", TYINGS)
@given(case=leaves(max_arity=5))
@few
def test_hdp(tying, case):
    tree = case.tree
    assume(tree.n_nodes > 1)
    group = TYINGS[tying](tree)
    fit = HDP(tying=tying).fit_tree(tree)
    n, alpha, sweeps = hdp_vb.fit(tree, group)
    counts = n[tree.cell_node, tree.cell_value]
    assert fit.n_sweeps == sweeps
    assert fit.concentration == pytest.approx(alpha, rel=1e-5)
    assert fit.counts == pytest.approx(counts, rel=1e-5)
    assert dense_proba(tree, HDP(tying=tying).smooth(tree)) == pytest.approx(
        dense_proba(tree, shrink(tree, alpha[group], counts)), rel=1e-5
    )


@pytest.mark.parametrize("tying", TYINGS)
@given(case=leaves())
@few
def test_groups_of_a_tying_are_runs_of_nodes(tying, case):
    """What the kernel of HDP needs: the root alone in group 0, and numbers that rise by 0 or 1."""
    group = TYINGS[tying](case.tree)
    assert group[0] == 0
    assert set(np.diff(group)) <= {0, 1}
    assert (group[1:] > 0).all()


@pytest.mark.parametrize(
    ("levels", "formula"), [("flat", hierarchical_dirichlet.flat), ("tree", hierarchical_dirichlet.tree)]
)
@given(case=leaves(max_arity=4, max_levels=3))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_hierarchical_dirichlet(levels, formula, case):
    assume(max(map(sum, case.counts.values())) < 200)  # the oracle's optimiser is slow to find sharp maxima
    expected = dense(formula(node_counts(case), case.arity, 3.0, 0.5))
    found = dense_proba(case.tree, HierarchicalDirichlet(3.0, 0.5, levels).smooth(case.tree))
    assert found == pytest.approx(expected, rel=1e-4)
