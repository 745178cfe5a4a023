"""Learning curves, convergence and times: lines drawn are the numbers held."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from countwise.errors import DataError
from countwise.plots import ConvergenceDisplay, LearningCurveDisplay, TimeDisplay
from plots.pictures import cut_off, overlapping

NAN = float("nan")


def entries(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


def test_learning_curve_draws_means_and_bands():
    mean, low, high = [[0.4, NAN, 0.2]], [[0.3, NAN, 0.1]], [[0.5, NAN, 0.3]]
    ax = LearningCurveDisplay([10, 100, 1000], mean, ["a"], low, high, band="range", y_label="RMSE").plot()
    assert ax.lines[0].get_xydata().tolist() == [[10, 0.4], [1000, 0.2]]
    corners = ax.collections[0].get_paths()[0].vertices
    assert {tuple(corner) for corner in corners} == {(10, 0.3), (10, 0.5), (1000, 0.1), (1000, 0.3)}
    assert ax.get_xscale() == "log"
    assert [t.get_text() for t in ax.get_xticklabels()] == ["10", "100", "1k"]
    assert ax.get_legend().get_title().get_text() == "range"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("training rows", "RMSE")


def test_standard_error_by_hand():
    display = LearningCurveDisplay.from_runs([10, 20], [[[1.0, 3.0, NAN], [2.0, NAN, NAN]]], ["a"])
    assert display.mean.tolist() == [[2.0, 2.0]]
    assert display.low.tolist() == [[1.0, 2.0]]  # deviation sqrt(2), over sqrt(2); a single run has no band
    assert display.high.tolist() == [[3.0, 2.0]]


def test_quantiles_and_sizes_without_runs():
    runs = [[np.arange(11.0), np.full(11, NAN)]]
    display = LearningCurveDisplay.from_runs([10, 20], runs, ["a"], band="quantiles", y_label="RMSE")
    assert (display.mean[0, 0], display.low[0, 0], display.high[0, 0]) == (5.0, 1.0, 9.0)
    assert np.isnan(display.mean[0, 1])
    assert display.band == "mean, 10% to 90% of runs"
    assert len(display.plot().lines[0].get_xdata()) == 1


def test_legend_is_in_the_order_in_which_lines_end():
    ax = LearningCurveDisplay([1, 2], [[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]], ["low", "high", "middle"]).plot()
    assert entries(ax) == ["high", "middle", "low"]


def test_a_legend_of_many_models_is_beside_our_axes_and_inside_those_of_a_user():
    from matplotlib.figure import Figure

    names = [f"hierarchical-model-{i}" for i in range(25)]
    display = LearningCurveDisplay([10, 100], np.random.default_rng(0).random((25, 2)), names)
    ax = display.plot()
    assert overlapping(ax.figure) == []
    assert cut_off(ax.figure) == []
    assert ax.get_legend().get_window_extent().x0 > ax.get_window_extent().x1
    own = display.plot(Figure(figsize=(9, 9)).add_subplot())
    own.figure.draw_without_rendering()
    assert own.get_legend().get_window_extent().x1 < own.get_window_extent().x1


@pytest.mark.parametrize(
    ("sizes", "mean", "options", "message"),
    [
        ([20, 10], [[1, 2]], {}, "sizes: they must increase"),
        ([0, 10], [[1, 2]], {}, "sizes: the value at 0 is 0; numbers of rows are needed"),
        ([10, 20], [[1, 2, 3]], {}, r"mean: shape \(1, 3\), but 1 names and 2 sizes"),
        ([10, 20], [[NAN, NAN]], {}, "mean: all values of 'a' are missing; leave it out"),
        ([10, 20], [[1, 2]], {"low": [[0, 0]]}, "low, high: give both or neither"),
        ([10, 20], [[1, 2]], {"low": [[3, 3]], "high": [[0, 0]]}, "low is above high for 'a'; are they swapped"),
    ],
)
def test_learning_curve_errors(sizes, mean, options, message):
    with pytest.raises(DataError, match=message):
        LearningCurveDisplay(sizes, mean, ["a"], **options)


def test_unknown_bands_are_refused():
    with pytest.raises(DataError, match="band='sd' is not known; there are 'standard error', 'quantiles'"):
        LearningCurveDisplay.from_runs([1], [[[1.0]]], ["a"], band="sd")


def test_time_draws_points_and_fitted_lines():
    n_rows = np.array([1000.0, 100.0, 10_000.0])
    display = TimeDisplay(n_rows, [2e-3 * n_rows**1.5, [1.0, NAN, NAN]], ["power", "one"])
    assert display.slopes[0] == pytest.approx(1.5)
    assert np.isnan(display.slopes[1])
    ax = display.plot()
    points, line, single = ax.lines
    assert points.get_xdata().tolist() == [1000, 100, 10_000]
    assert line.get_xdata().tolist() == [100, 10_000]
    np.testing.assert_allclose(line.get_ydata(), [2e-3 * 100**1.5, 2e-3 * 10_000**1.5])
    assert single.get_xydata().tolist() == [[1000, 1.0]]
    assert entries(ax) == ["power (slope 1.50)", "one"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


@pytest.mark.parametrize(
    ("n_rows", "seconds", "message"),
    [
        ([10, 20], [[1.0, 0.0]], "seconds of 'a': the value at 1 is 0; times above 0 are needed, or NaN"),
        ([0, 20], [[1.0, 1.0]], "n_rows: the value at 0 is 0; numbers of rows above 0"),
        ([10, None], [[1.0, 1.0]], "n_rows: .* none missing"),
    ],
)
def test_time_errors(n_rows, seconds, message):
    with pytest.raises(DataError, match=message):
        TimeDisplay(n_rows, seconds, ["a"])


def test_convergence_draws_each_method_as_far_as_it_went():
    values = [[9.0, 4.0, 3.0], [8.0, 7.0, NAN]]
    ax = ConvergenceDisplay([1, 2, 3], values, ["a", "b"], log_x=True, y_label="NLL").plot()
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[1, 9], [2, 4], [3, 3]], [[1, 8], [2, 7]]]
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylabel()) == ("log", "linear", "NLL")
    own = ConvergenceDisplay([[1, 2], [5, None]], [[2.0, 1.0], [3.0, 1.0]], ["a", "b"]).plot()
    assert own.lines[1].get_xydata().tolist() == [[5, 3]]


def test_convergence_errors():
    with pytest.raises(DataError, match=r"iteration: the value at 0 is 0; .* count from 1 or use log_x=False"):
        ConvergenceDisplay([0, 1], [[1.0, 2.0]], ["a"], log_x=True)
    with pytest.raises(DataError, match="values: the value at 1 is -2; log_y=True needs values above 0"):
        ConvergenceDisplay([1, 2], [[1.0, -2.0]], ["a"], log_y=True)
    with pytest.raises(DataError, match="iteration, values: all values of 'a' are missing"):
        ConvergenceDisplay([[1, None]], [[None, 2.0]], ["a"])


def test_lines_of_many_points_have_few_markers_and_lines_differ():
    ax = ConvergenceDisplay(
        np.arange(1, 1001), np.random.default_rng(0).random((3, 1000)).cumsum(1), list("abc")
    ).plot()
    assert all(line.get_markevery() is not None for line in ax.lines)
    assert len({line.get_marker() for line in ax.lines}) == 3
    assert len({str(line._dash_pattern) for line in ax.lines}) == 3
