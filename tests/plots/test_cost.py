"""Cost against threshold: the numbers drawn are those of the decisions."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import countwise as cw
from countwise.errors import DataError
from countwise.evaluate import mean_cost
from countwise.plots import CostDisplay
from plots.pictures import COSTS, NAMES, two_classes

TRUTH, STATED = two_classes(200)
MODELS = dict(zip(NAMES, STATED, strict=True))


def paid(p, t):
    return mean_cost(TRUTH, np.where(p[:, 1] > t, "yes", "no"), COSTS)


def test_numbers_are_mean_costs():
    display = CostDisplay.from_predictions(TRUTH, MODELS, COSTS)
    assert display.names == tuple(NAMES)
    assert display.chosen == 0.2  # 1 / (1 + 4)
    for i, p in enumerate(STATED):
        for k in (0, 77, 200, 500, 1000):
            assert display.cost[i, k] == pytest.approx(paid(p, display.threshold[k]))
        assert display.chosen_cost[i] == pytest.approx(paid(p, 0.2))
        assert display.best_cost[i] == pytest.approx(paid(p, display.best[i]))
        assert display.best_cost[i] <= display.cost[i].min() + 1e-12


def test_cost_sensitive_pays_what_the_upright_line_says():
    X, y = cw.datasets.load("tic-tac-toe")
    costs = {("negative", "positive"): 1.0, ("positive", "negative"): 3.0}
    model = cw.CostSensitive(cw.NBClassifier(), costs).fit(X, y)
    display = CostDisplay.from_predictions(y, model.predict_proba(X), costs, model.classes_)
    assert display.chosen == model.decision_threshold_
    assert display.chosen_cost[0] == pytest.approx(mean_cost(y, model.predict(X), costs))


def test_lines_and_marks_are_the_numbers_held():
    display = CostDisplay.from_predictions(TRUTH, MODELS, COSTS)
    ax = display.plot()
    upright, line, dot, star = ax.lines[:4]
    assert upright.get_xdata() == [0.2, 0.2]
    np.testing.assert_array_equal(line.get_xydata().T, [display.threshold, display.cost[0]])
    assert dot.get_xydata().tolist() == [[0.2, display.chosen_cost[0]]]
    assert star.get_xydata().tolist() == [[display.best[0], display.best_cost[0]]]
    assert ax.get_xlabel() == "threshold on the probability of 'yes'"
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[0] == "threshold of least expected cost: 0.2"
    assert words[1].startswith(f"{NAMES[0]}: {display.chosen_cost[0]:.3g} there, best {display.best_cost[0]:.3g} at ")


@pytest.mark.parametrize(("costs", "chosen"), [([[0, -1], [5, 0]], 0.0), ([[0, 5], [-1, 0]], 1.0)])
def test_one_decision_for_all(costs, chosen):
    display = CostDisplay.from_predictions(TRUTH, STATED[0], costs)
    assert display.chosen == chosen
    assert display.names == ("model",)
    display.figure()


def test_errors():
    with pytest.raises(DataError, match="mistakes cost less than right decisions; are they gains"):
        CostDisplay.from_predictions(TRUTH, STATED[0], [[5, 0], [0, 1]])
    with pytest.raises(DataError, match="threshold: at least two are needed, and they must increase"):
        CostDisplay([0.5, 0.1], [1.0, 2.0], 0.2, [1.0], [0.1], [1.0])
    with pytest.raises(DataError, match="chosen: a threshold is needed, got nan"):
        CostDisplay([0.0, 1.0], [1.0, 2.0], np.nan, [1.0], [0.1], [1.0])
    with pytest.raises(DataError, match="best: one number for each of the 1 names is needed"):
        CostDisplay([0.0, 1.0], [1.0, 2.0], 0.2, [1.0], [0.1, 0.2], [1.0])
    with pytest.raises(DataError, match=r"cost: shape \(1, 3\), but 1 names and 2 thresholds"):
        CostDisplay([0.0, 1.0], [1.0, 2.0, 3.0], 0.2, [1.0], [0.1], [1.0])
