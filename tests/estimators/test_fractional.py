"""Rows whose value is missing take all branches of a tree: what is grown, predicted, counted and explained."""

import numpy as np
import pytest

import countwise as cw
from countwise.errors import DataError, MemoryLimitError
from oracle.grown import NEW, X, Y, assert_same, shares_of

GAPS = X.assign(age=X["age"].where(np.arange(len(X)) % 7 > 0))


def model(**params):
    return cw.ProbabilityTreeClassifier(missing="fractional", **params)


@pytest.mark.parametrize("params", [{}, {"category_splits": "binary"}, {"curtail": 20}], ids=repr)
def test_predictions_are_means_over_nodes(params):
    fitted = model(**params).fit(GAPS, Y)
    nodes = fitted._compiled.node_proba(0, np.arange(fitted.tree_.n_nodes, dtype=np.int32))
    answer, total = np.arange(fitted.tree_.n_nodes), fitted.tree_.total
    if "curtail" in params:
        for node in answer:
            while answer[node] and total[answer[node]] < 20:
                answer[node] = fitted.splits_.parent[answer[node]]
    several = 0
    for row, found in zip(NEW.to_dict("records"), fitted.predict_proba(NEW), strict=True):
        ends = shares_of(fitted, row)
        several += len(ends) > 2
        assert sum(ends.values()) == pytest.approx(1)
        np.testing.assert_allclose(found, sum(w * nodes[answer[n]] for n, w in ends.items()), rtol=1e-10)
    assert several > 5


def test_counts_are_of_the_shares():
    fitted = model(thresholds="sharp").fit(GAPS, Y)
    tree, counts = fitted.tree_, np.zeros((fitted.tree_.n_nodes, 3))
    for row, label in zip(GAPS.to_dict("records"), Y, strict=True):
        for node, share in shares_of(fitted, row).items():
            at = node
            while at >= 0:
                counts[at, list(fitted.classes_).index(label)] += share
                at = tree.parent[at]
    dense = np.zeros_like(counts)
    dense[tree.cell_node, tree.cell_value] = tree.cell_count
    np.testing.assert_allclose(dense, counts, atol=1e-9)
    again = model().fit(GAPS, Y).partial_fit(GAPS, Y)
    np.testing.assert_allclose(again.tree_.total, 2 * tree.total, rtol=1e-9)


@pytest.mark.parametrize("make", [model, lambda: cw.ProbabilityForestClassifier(missing="fractional")])
def test_explanations_and_limits(make):
    fitted = make().fit(GAPS, Y)
    p = fitted.predict_proba(NEW)
    scores = np.exp(fitted.explain(NEW).scores())
    np.testing.assert_allclose(scores / scores.sum(axis=1, keepdims=True), p, rtol=1e-9)
    limits = fitted.predict_proba_interval(NEW)
    assert (limits[:, :, 0] <= p).all()
    assert (limits[:, :, 1] >= p).all()
    assert (limits[:, :, 0] < limits[:, :, 1]).any()


def test_without_gaps_it_is_the_tree_of_values(tmp_path):
    whole, rows = X.dropna(), X.notna().all(axis=1).to_numpy()
    one, other = model().fit(whole, Y[rows]), cw.ProbabilityTreeClassifier().fit(whole, Y[rows])
    assert one.splits_.same_as(other.splits_)
    np.testing.assert_allclose(one.predict_proba(whole), other.predict_proba(whole), rtol=1e-12)
    assert not np.allclose(one.predict_proba(NEW), other.predict_proba(NEW))  # gaps are new: shares, not the node above
    one.save(tmp_path / "tree.cw")
    assert_same(cw.load(tmp_path / "tree.cw"), one)


def test_order_does_not_matter_and_out_of_bag_is_there():
    order = np.random.default_rng(0).permutation(len(X))
    one, other = model().fit(GAPS, Y), model(n_jobs=2).fit(GAPS.iloc[order], Y[order])
    assert one.splits_.same_as(other.splits_)
    np.testing.assert_allclose(one.predict_proba(NEW), other.predict_proba(NEW), rtol=1e-9)
    forest = cw.ProbabilityForestClassifier(20, missing="fractional", oob_score=True).fit(GAPS, Y)
    assert forest.oob_score_ > 0.6


def test_a_scan_that_does_not_fit_is_refused():
    source = cw.StreamSource([GAPS.assign(target=Y)], target="target")
    with pytest.raises(MemoryLimitError, match="or use missing='value'"):
        model(max_memory=5000).fit(source)
    assert_same(model().fit(source), model().fit(GAPS, Y))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"missing": "drop"}, "missing='drop' is not known; choose one of value, fractional"),
        ({"category_splits": "three"}, "category_splits='three' is not known"),
        ({"missing": "fractional", "pruning": "pessimistic"}, "use missing='value' to prune it"),
        ({"missing": "fractional", "validation": True}, "use missing='value' to prune it"),
    ],
)
def test_errors(params, message):
    with pytest.raises(DataError, match=message):
        cw.ProbabilityTreeClassifier(**params).fit(X, Y)
