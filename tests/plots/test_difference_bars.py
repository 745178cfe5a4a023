"""Bars by data set: order, signs, panels."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from countwise.errors import DataError
from countwise.plots import DifferenceBarsDisplay
from plots.pictures import cut_off, overlapping

LABELS = [f"heart-disease-{i}" for i in range(60)]


def bars(ax):
    """Height of the bar at each place."""
    return {round(p.get_x() + p.get_width() / 2): p.get_height() for p in ax.patches}


def test_bars_are_in_the_order_of_sizes():
    display = DifferenceBarsDisplay([0.1, None, -0.3], "a", "b", "RMSE", sizes=[30, 20, 10], labels=["p", "q", "r"])
    assert display.labels == ("r", "q", "p")
    ax = display.plot()
    assert bars(ax) == {0: -0.3, 2: 0.1}  # the missing one keeps its place
    assert [t.get_text() for t in ax.get_xticklabels()] == ["r", "q", "p"]
    assert ax.get_ylabel() == "gain in RMSE\nover b\n(above 0: a better)"
    assert ax.get_xlabel() == "data sets, from 10 rows (left) to 30 rows (right)"
    assert ax.texts[0].get_text() == "a better on 1, equal on 0, worse on 1"


def test_losses_differ_in_hatch_as_well():
    ax = DifferenceBarsDisplay([0.1, -0.3], "a", "b").plot()
    assert len({p.get_hatch() for p in ax.patches}) == 2
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "2"]


def test_panels_share_the_scale_unless_told():
    rows = [[0.5, -0.5], [0.1, -0.1]]
    same = DifferenceBarsDisplay(rows, "a", "b", panels=["n = 20", "n = 40"]).plot()
    assert same[0].get_ylim() == same[1].get_ylim()
    assert [ax.texts[0].get_text().split(":")[0] for ax in same] == ["n = 20", "n = 40"]
    own = DifferenceBarsDisplay(rows, "a", "b", panels=["n = 20", "n = 40"], same_scale=False).plot()
    assert own[0].get_ylim()[1] > 4 * own[1].get_ylim()[1]


def test_panels_in_the_axes_of_a_user():
    axes = Figure().subplots(2, 1)
    display = DifferenceBarsDisplay([[0.5], [0.1]], "a", "b", panels=["x", "y"])
    assert display.plot(axes) == list(axes)
    assert bars(axes[1]) == {0: 0.1}
    with pytest.raises(DataError, match="ax: 2 panels need as many axes; 3 are given"):
        display.plot(Figure().subplots(3, 1))


@pytest.mark.parametrize(("n_panels", "n"), [(1, 1), (1, 60), (2, 60), (3, 5), (6, 12)])
def test_names_can_be_read(n_panels, n):
    difference = np.random.default_rng(0).normal(0.01, 0.02, (n_panels, n))
    panels = [f"n = {20 * 2**i}" for i in range(n_panels)]
    display = DifferenceBarsDisplay(
        difference, "HDP", "BDeu (s = 1)", "RMSE", np.arange(n) + 50, LABELS[:n], panels, title="TAN"
    )
    figure = display.figure()
    assert overlapping(figure) == []
    assert cut_off(figure) == []


def test_nothing_but_draws():
    display = DifferenceBarsDisplay([0.0, 0.0], "a", "b")
    assert display.counts == ((0, 2, 0),)
    assert display.plot().get_ylim() == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("difference", "options", "message"),
    [
        ([[1.0], [2.0]], {}, "panels: give the names of the 2 rows of differences"),
        ([1.0, 2.0], {"sizes": [1, None]}, "sizes: 2 numbers of rows are needed, none of them missing"),
        ([1.0, 2.0], {"labels": ["p"]}, "labels: 1 texts for 2 data sets"),
        ([[1.0], [None]], {"panels": ["x", "y"]}, "difference: all values of panel 1 are missing"),
    ],
)
def test_errors(difference, options, message):
    with pytest.raises(DataError, match=message):
        DifferenceBarsDisplay(difference, "a", "b", **options)
