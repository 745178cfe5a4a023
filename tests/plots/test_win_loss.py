"""Wins against losses: points, and the band of the sign test."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import scipy.stats
from matplotlib.path import Path

from countwise.errors import DataError
from countwise.plots import WinLossDisplay
from countwise.plots.win_loss import significant_wins
from plots.pictures import cut_off, overlapping

WINS, LOSSES = [[12, 30, 38], [8, 22, np.nan]], [[44, 25, 18], [50, 36, 25]]


def test_lines_drawn_are_the_numbers_held():
    ax = WinLossDisplay(WINS, LOSSES, ["TAN", "kDB"], points=[500, 5000, "end"]).plot()
    assert ax.lines[-2].get_xydata().tolist() == [[44, 12], [25, 30], [18, 38]]
    assert ax.lines[-1].get_xydata().tolist() == [[50, 8], [36, 22]]  # the point without wins is left out
    assert [t.get_text() for t in ax.get_legend().get_texts()][:2] == ["TAN", "kDB"]
    assert {"500", "end"} <= {t.get_text() for t in ax.texts}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("losses", "wins")
    assert ax.get_xlim() == ax.get_ylim()


def test_the_band_holds_exactly_the_points_that_are_not_significant():
    ax = WinLossDisplay([[40]], [[40]], ["a"]).plot()
    (band,) = [p for p in ax.patches if len(p.get_xy()) > 10]
    inside = Path(band.get_xy())
    for wins in range(1, 41):
        for losses in range(1, 41):
            p_value = scipy.stats.binomtest(wins, wins + losses).pvalue
            assert inside.contains_point((losses, wins)) == (p_value > 0.05), (wins, losses)


@pytest.mark.parametrize("n_losses", [0, 1, 7, 25])
def test_significant_wins_is_the_least(n_losses):
    n_wins = significant_wins(n_losses)
    assert scipy.stats.binomtest(n_wins, n_wins + n_losses).pvalue <= 0.05
    assert scipy.stats.binomtest(n_wins - 1, n_wins - 1 + n_losses).pvalue > 0.05


def test_is_significant():
    display = WinLossDisplay([[6, 5, None]], [[0, 0, 1]], ["a"])
    assert display.is_significant.tolist() == [[True, False, False]]


@pytest.mark.parametrize(("wins", "losses"), [([[1]], [[0]]), ([[0]], [[0]]), ([[61, 61], [60, 60]], [[0, 0], [0, 1]])])
def test_extremes(wins, losses):
    figure = WinLossDisplay(wins, losses, ["a", "b"][: len(wins)], points=[1, 2][: len(wins[0])]).figure()
    assert overlapping(figure) == []
    assert cut_off(figure) == []


@pytest.mark.parametrize(
    ("wins", "losses", "options", "message"),
    [
        ([[1.5]], [[0]], {}, "wins: numbers of data sets are needed: whole"),
        ([[1]], [[-1]], {}, "losses: numbers of data sets are needed"),
        ([[1, 2]], [[1]], {}, r"losses: shape \(1, 1\), but 1 names and 2 points"),
        ([[None, 1]], [[1, None]], {}, "wins, losses: 'a' has no point with both"),
        ([[1, 2]], [[1, 2]], {"points": [500]}, "points: 1 texts for 2 points"),
    ],
)
def test_errors(wins, losses, options, message):
    with pytest.raises(DataError, match=message):
        WinLossDisplay(wins, losses, ["a"], **options)
