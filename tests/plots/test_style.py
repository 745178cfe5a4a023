"""Colours, markers and labels of axes."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from countwise.plots.style import PALETTE, house_style, log_axis, look, short_number


def test_every_cue_alone_tells_the_first_models_apart():
    first = [look(i) for i in range(5)]
    for cue in ("color", "marker", "dashes", "hatch"):
        assert len({str(getattr(shape, cue)) for shape in first}) == 5


def test_palette_is_that_of_okabe_and_ito():
    expected = "000000 E69F00 56B4E9 009E73 F0E442 0072B2 D55E00 CC79A7"
    assert sorted(PALETTE) == sorted(f"#{code}" for code in expected.split())


def test_house_style_ends():
    import matplotlib

    before = matplotlib.rcParams["font.size"]
    with house_style():
        assert matplotlib.rcParams["font.size"] == 9.0
    assert matplotlib.rcParams["font.size"] == before


@pytest.mark.parametrize(
    ("low", "high", "at_least"), [(1, 1e6, 3), (100, 900, 3), (10_000, 40_000, 3), (0.001, 0.002, 2)]
)
def test_log_axis_has_plain_labels(low, high, at_least):
    ax = Figure().add_subplot()
    ax.set_xlim(low, high)
    log_axis(ax, "x")
    ax.figure.draw_without_rendering()
    inside = [t.get_text() for t in ax.get_xticklabels() if low <= t.get_position()[0] <= high]
    assert len(inside) >= at_least
    assert not any("$" in word for word in inside)


def test_log_axis_labels_the_sizes_given_unless_they_are_too_close():
    for ticks, expected in (([20, 40, 80], ["20", "40", "80"]), ([20, 20.1, 80], None)):
        ax = Figure().add_subplot()
        ax.set_xlim(10, 100)
        log_axis(ax, "x", ticks=np.array(ticks))
        words = [t.get_text() for t in ax.get_xticklabels()]
        assert words == expected if expected else "20.1" not in words


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (999, "999"), (1000, "1k"), (-2500, "-2.5k"), (1e9, "1G")])
def test_short_number(value, text):
    assert short_number(value) == text
