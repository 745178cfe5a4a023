"""Drawn trees: the nodes of the model, each where it belongs."""

import numpy as np
import pytest

import countwise as cw
from countwise.errors import DataError
from countwise.plots import TreeDisplay
from countwise.smooth import dense_proba
from oracle.grown import X, Y


def test_nodes_of_the_model():
    model = cw.ProbabilityTreeClassifier().fit(X, Y)
    display = TreeDisplay.from_model(model, max_depth=2)
    tree, level = model.tree_, model.tree_.level
    shown = np.flatnonzero(level <= 2)
    assert sorted(display.rows.tolist()) == sorted(tree.total[shown].tolist())
    assert sorted(display.depth.tolist()) == sorted(level[shown].tolist())
    table = dense_proba(tree, model._parameters[0])[shown]
    np.testing.assert_allclose(np.sort(display.proba, axis=0), np.sort(table, axis=0))
    assert display.labels[0] == "all rows"
    assert len(TreeDisplay.from_model(model, max_depth=None).rows) == tree.n_nodes


def test_bars_and_conditions_stand_beside_each_other():
    pytest.importorskip("matplotlib")
    display = TreeDisplay.from_model(cw.ProbabilityTreeClassifier().fit(X, Y), max_depth=1)
    ax = display.plot()
    widths = np.array([patch.get_width() for patch in ax.patches]).reshape(3, -1).T
    np.testing.assert_allclose(widths, display.proba)
    assert [text.get_text() for text in ax.texts] == list(display.labels)
    assert [text.get_position()[1] for text in ax.texts] == list(range(len(display.labels)))
    assert [label.get_text() for label in ax.get_legend().get_texts()] == ["maybe", "no", "yes"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"depth": [0, 0]}, "depth: 0 for the first node alone"),
        ({"depth": [0, 2]}, "depth: 0 for the first node alone"),
        ({"labels": ["all"]}, "labels: 1 texts for 2 nodes"),
        ({"proba": [[1.0, 0.0]]}, "proba: shape"),
        ({"names": ["a", "a"]}, "given twice"),
    ],
)
def test_bad_numbers(change, message):
    sound = {
        "depth": [0, 1],
        "labels": ["all", "x = 1"],
        "rows": [2, 1],
        "proba": [[0.5, 0.5]] * 2,
        "names": ["a", "b"],
    }
    TreeDisplay(**sound)
    with pytest.raises(DataError, match=message):
        TreeDisplay(**(sound | change))
