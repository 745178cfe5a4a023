"""What holds of all pictures: nothing leaks, nothing overlaps, nothing is cut, equal numbers give equal bytes."""

import sys
from functools import cache

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import matplotlib
import matplotlib.figure

from countwise.errors import DataError
from countwise.plots import Display, svg_text
from plots.pictures import cut_off, one_of_each, overlapping, texts_of

DISPLAYS = one_of_each()


@cache
def figure_of(name):
    return DISPLAYS[name].figure()


@cache
def picture(name):
    return svg_text(figure_of(name))


every = pytest.mark.parametrize("name", list(DISPLAYS))


@every
def test_draws_into_a_figure_that_pyplot_does_not_know(name):
    import matplotlib.pyplot as plt

    assert isinstance(figure_of(name), matplotlib.figure.Figure)
    assert plt.get_fignums() == []


@every
def test_draws_into_the_axes_of_a_user(name):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(12, 5))
    try:
        assert DISPLAYS[name].plot(axes[1]) is axes[1]
        assert axes[1].get_figure() is figure
        assert len(axes[1].lines) + len(axes[1].patches) > 0
        assert not axes[0].lines
    finally:
        plt.close(figure)


@every
def test_settings_of_the_user_stay_and_do_not_matter(name):
    before = picture(name)
    with matplotlib.rc_context({"font.size": 23.0, "axes.grid": True, "xtick.labelsize": 19, "lines.linewidth": 7}):
        kept = dict(matplotlib.rcParams)
        figure = DISPLAYS[name].figure()
        text = svg_text(figure)
        assert dict(matplotlib.rcParams) == kept
    assert text == before


@every
def test_equal_numbers_give_equal_bytes(name):
    assert svg_text(one_of_each()[name].figure()) == picture(name)
    assert svg_text(figure_of(name)) == picture(name)  # drawing moves nothing


@every
def test_texts_do_not_overlap_and_are_not_cut(name):
    figure = figure_of(name)
    assert len(texts_of(figure)) > 3
    assert overlapping(figure) == []
    assert cut_off(figure) == []


@every
def test_numbers_are_copied_and_locked(name):
    arrays = [v for v in vars(DISPLAYS[name]).values() if isinstance(v, np.ndarray)]
    assert name.startswith(("box", "critical")) or len(arrays) > 0
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@every
def test_without_matplotlib_there_is_one_message(name, monkeypatch):
    for module in [m for m in sys.modules if m == "matplotlib" or m.startswith("matplotlib.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    display = one_of_each()[name]  # numbers need no matplotlib
    with pytest.raises(ModuleNotFoundError, match=r"pictures need matplotlib: pip install 'countwise\[plot\]'"):
        display.plot()
    assert display._repr_svg_() is None


def test_shows_itself_in_a_notebook():
    assert DISPLAYS["mean_dots"]._repr_svg_() == picture("mean_dots")


@every
def test_refuses_what_is_not_axes(name):
    with pytest.raises(DataError, match="axes of matplotlib are needed, not Figure"):
        DISPLAYS[name].plot(matplotlib.figure.Figure())


@every
def test_is_a_display(name):
    assert isinstance(DISPLAYS[name], Display)
