"""Boxes: Tukey's rule, groups and models."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.cbook import boxplot_stats

from countwise.errors import DataError
from countwise.plots import BoxDisplay
from plots.pictures import cut_off, overlapping


@pytest.mark.parametrize("n", [1, 2, 4, 5, 40, 200])
def test_boxes_are_those_of_matplotlib(n):
    values = np.random.default_rng(n).standard_cauchy(n)
    ((box,),) = BoxDisplay([[[*values, None]]], ["g"], ["m"]).boxes
    (expected,) = boxplot_stats(values)
    assert box.median == pytest.approx(expected["med"])
    assert (box.first_quartile, box.third_quartile) == pytest.approx((expected["q1"], expected["q3"]))
    assert (box.low, box.high) == pytest.approx((expected["whislo"], expected["whishi"]))
    np.testing.assert_allclose(box.outliers, np.sort(expected["fliers"]))


@pytest.mark.parametrize("horizontal", [False, True])
def test_medians_and_outliers_are_drawn_where_they_are(horizontal):
    values = [[[1, 2, 3, 4, 50], [7, 8, 9]], [[], [5, 6]]]
    ax = BoxDisplay(values, ["g", "h"], ["a", "b"], horizontal=horizontal, value_label="v", group_label="w").plot()
    drawn = {round(float(v), 6) for line in ax.lines for v in (line.get_xdata() if horizontal else line.get_ydata())}
    assert {1, 3, 4, 50, 7, 8, 9, 5, 5.5, 6} <= drawn
    labels = (ax.get_xlabel(), ax.get_ylabel())
    assert labels == (("v", "w") if horizontal else ("w", "v"))
    ticks = ax.get_yticklabels() if horizontal else ax.get_xticklabels()
    assert [t.get_text() for t in ticks] == ["g", "h"]
    assert len(ax.patches) == 3  # the empty box is not drawn
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b"]
    assert len({patch.get_hatch() for patch in ax.patches}) == 2
    assert ax.yaxis_inverted() == horizontal


def test_many_long_names():
    names = [f"tan-hierarchical-dirichlet-{i}" for i in range(25)]
    values = np.random.default_rng(0).gamma(2, 1, (25, 1, 30))
    figure = BoxDisplay(values, names, ["RMSE"], horizontal=True).figure()
    assert overlapping(figure) == []
    assert cut_off(figure) == []


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([[[1.0]]], {}, "values: group 'g' has 1 arrays for 2 names"),
        ([[[1.0], [2.0]]] * 2, {}, "groups: 1 texts for 2 groups of values"),
        ([[[], [None]]], {}, "values: all are missing"),
        ([[[1.0], [0.0]]], {"log": True}, "values of 'b' in 'g': the value at 0 is 0; log=True needs values above 0"),
    ],
)
def test_errors(values, options, message):
    with pytest.raises(DataError, match=message):
        BoxDisplay(values, ["g"], ["a", "b"], **options)
