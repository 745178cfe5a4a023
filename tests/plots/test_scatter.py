"""Two models over data sets: counts, halves, labels that keep clear of each other."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

from countwise.errors import DataError
from countwise.evaluate import win_draw_loss
from countwise.plots import ScatterDisplay
from plots.pictures import cut_off, overlapping


def drawn_points(ax):
    """Of the lines that are markers only."""
    return np.concatenate([line.get_xydata() for line in ax.lines if line.get_linestyle() == "None"])


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_points_drawn_are_the_pairs_without_the_incomplete():
    display = ScatterDisplay([0.1, None, 0.3, 0.2], [0.2, 0.1, np.nan, 0.2], "a", "b", labels=["p", "q", "r", "s"])
    assert display.labels == ("p", "s")
    assert sorted(map(tuple, drawn_points(display.plot()))) == [(0.1, 0.2), (0.2, 0.2)]


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_counts_are_those_of_win_draw_loss(higher_is_better):
    rng = np.random.default_rng(0)
    x, y = rng.random(50).round(2), rng.random(50).round(2)
    y[:5] = x[:5] + 1e-6  # equal after rounding
    display = ScatterDisplay(x, y, "a", "b", higher_is_better=higher_is_better)
    expected = win_draw_loss(x, y, higher_is_better=higher_is_better)
    assert (display.n_x_better, display.n_draws, display.n_y_better) == (expected.wins, expected.draws, expected.losses)
    assert ScatterDisplay(x, y, "a", "b", decimals=None).n_draws == (x == y).sum() < display.n_draws


def test_the_upper_edge_names_the_winner_above_the_diagonal():
    # One point, above the diagonal: y's score is larger.
    texts = {better: ScatterDisplay([0.1], [0.4], "a", "b", higher_is_better=better).plot().texts for better in (0, 1)}
    for better, top in ((0, "a better: 1"), (1, "b better: 1")):
        above, draws, beside = texts[better][:3]
        assert above.get_text() == top
        assert above.get_position()[1] > 1.0
        assert draws.get_text() == "draws: 0"
        assert beside.get_position()[0] > 1.0
        assert beside.get_rotation() == 270.0


def test_axes_are_equal_with_the_diagonal():
    ax = ScatterDisplay([0.1, 0.5], [0.4, 0.3], "a", "b", score="RMSE", title="t").plot()
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_box_aspect() == 1.0
    low, high = ax.get_xlim()
    assert any(np.array_equal(line.get_xydata(), [[low, low], [high, high]]) for line in ax.lines)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("RMSE of a", "RMSE of b", "t")


def test_the_most_extreme_are_named():
    x = np.full(20, 0.5)
    y = 0.5 + np.linspace(0.0, 0.2, 20)
    display = ScatterDisplay(x, y, "a", "b", labels=[f"d{i}" for i in range(20)], n_named=2)
    assert set(words(display.plot())[3:]) == {"d19", "d18"}


def test_log_measures_ratios_and_refuses_zero():
    display = ScatterDisplay([1.0, 1000.0], [4.0, 2000.0], "a", "b", labels=["four", "two"], log=True, n_named=1)
    assert words(display.plot())[3:] == ["four"]
    with pytest.raises(DataError, match="y: the value of 'q' is 0; log=True needs values above 0; use log=False"):
        ScatterDisplay([1.0, 1.0], [1.0, 0.0], "a", "b", labels=["p", "q"], log=True)


@pytest.mark.parametrize(
    ("x", "y", "labels", "message"),
    [
        ([1, 2], [1], None, "x has 2 values and y has 1"),
        ([1, 2], [1, 2], ["p"], "labels: 1 texts for 2 data sets"),
        ([1, 2], [1, 2], "pq", "labels: a list of texts is needed, not str"),
        ([None], [1], None, "no data set has both values"),
        ([], [], None, "x: there is no number in it"),
        ([[1]], [[1]], None, r"x: a row of numbers is needed; shape \(1, 1\)"),
        ([np.inf], [1], None, r"x: the value at \(0,\) is infinite; give NaN"),
        (["a"], [1], None, "x: numbers in rows of equal length are needed"),
    ],
)
def test_errors(x, y, labels, message):
    with pytest.raises(DataError, match=message):
        ScatterDisplay(x, y, "a", "b", labels=labels)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000), n=st.sampled_from([1, 3, 15, 61]), spread=st.sampled_from([0.0, 0.01, 0.3]))
def test_labels_never_overlap_texts_points_or_the_page(seed, n, spread):
    rng = np.random.default_rng(seed)
    x = rng.beta(2, 5, n)
    y = x + rng.normal(0.0, spread, n)
    display = ScatterDisplay(
        x, y, "skdb5-m-estimate", "skdb5-hdp-tuned", [f"diabetes-{i}" for i in range(n)], n_named=10
    )
    figure = display.figure()
    assert overlapping(figure) == []
    assert cut_off(figure) == []
    (ax,) = figure.axes
    pixels = ax.transData.transform(np.column_stack([x, y]))
    for text in ax.texts[3:]:
        box = Text.get_window_extent(text)  # without the line to its point, which ends there
        assert not any(box.contains(*point) for point in pixels)


def test_a_single_point_far_off_is_named():
    x = np.linspace(0.2, 0.3, 30)
    y = x.copy()
    y[7] = 0.95
    assert words(ScatterDisplay(x, y, "a", "b", [f"d{i}" for i in range(30)]).plot())[3:] == ["d7"]
