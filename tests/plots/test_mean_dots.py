"""Average scores: order, intervals, numbers beside them."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from countwise.errors import DataError
from countwise.plots import MeanDotsDisplay
from plots.pictures import cut_off, overlapping


@pytest.mark.parametrize(("higher", "order"), [(False, ["b", "c", "a"]), (True, ["a", "c", "b"])])
def test_best_is_at_the_top(higher, order):
    ax = MeanDotsDisplay(["a", "b", "c"], [0.9, 0.8, 0.85], score="s", higher_is_better=higher).plot()
    assert [t.get_text() for t in ax.get_yticklabels()] == order
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == f"s ({'higher' if higher else 'lower'} is better)"


def test_dots_and_intervals_drawn_are_the_numbers_held():
    display = MeanDotsDisplay(["a", "b", "c", "d"], [3.0, 1.0, 2.0, None], [2.0, 0.5, None, 0], [4.0, 2.0, 3.0, 1])
    ax = display.plot()
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 0], [2.0, 1], [3.0, 2]]
    bars = [segment[:, 0].tolist() for segment in ax.collections[1].get_segments()]
    assert bars == [[0.5, 2.0], [2.0, 4.0]]  # one has no interval
    assert [t.get_text() for t in ax.texts] == ["1.000", "2.000", "3.000"]


def test_standard_error_over_data_sets_that_all_models_have():
    display = MeanDotsDisplay.from_scores(["a", "b"], [[1.0, 3.0, None], [4.0, 8.0, 0.0]])
    assert display.mean.tolist() == [2.0, 6.0]
    assert display.low.tolist() == [1.0, 4.0]
    assert display.interval == "mean ± standard error, 2 data sets"
    assert MeanDotsDisplay.from_scores(["a", "b"], [[1.0], [4.0]]).low is None


def test_25_long_names():
    names = [f"tan-hierarchical-dirichlet-{i}" for i in range(25)]
    figure = MeanDotsDisplay.from_scores(names, np.random.default_rng(0).random((25, 61)), title="t").figure()
    assert overlapping(figure) == []
    assert cut_off(figure) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], [1.0, 2.0]), "mean: 2 means for 1 names"),
        ((["a"], [None]), "mean: all means are missing"),
        ((["a"], [1.0], [0.0]), "low, high: give both or neither"),
        ((["a"], [1.0], [2.0], [3.0]), "low, high: the interval of 'a' is not around its mean"),
        ((["a"], [1.0], [0.0, 0.0], [3.0]), "low, high: 2 and 1 values for 1 means"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(DataError, match=message):
        MeanDotsDisplay(*arguments)


def test_no_common_data_set():
    with pytest.raises(DataError, match="scores: no data set has a score of every model"):
        MeanDotsDisplay.from_scores(["a", "b"], [[1.0, None], [None, 1.0]])
