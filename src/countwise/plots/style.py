"""How the pictures look: colours, markers, line styles, font sizes, and axes without pyplot's global state.

Colour is never the only cue: every model has its own marker, line style and hatch as well, so that pictures can be
read in grey and by readers who do not tell red from green.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito 2008, Color Universal Design. Dark ones first; yellow is last, as it is faint on white paper.
PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
# 8, 9 and 5 have no common divisor: the first 360 models look different from each other.
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DASHES: Final[Sequence[Any]] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (9, 2)))
HATCHES: Final = ("", "////", "....", "xxxx", "----", "\\\\\\\\", "oo")

INK: Final = "0.15"  # text and marks that must be read
MUTED: Final = "0.45"  # leader lines, notes
GRID: Final = "0.90"
MARGIN: Final = 0.1  # around the picture, in inches
LONGEST_NAME: Final = 44  # characters of a name in a label

HOUSE: Final[dict[str, Any]] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same letters on every machine
    "font.size": 9.0,
    "axes.titlesize": "medium",
    "axes.labelsize": "medium",
    "xtick.labelsize": "small",
    "ytick.labelsize": "small",
    "legend.fontsize": "small",
    "legend.title_fontsize": "small",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.linewidth": 0.7,
    "hatch.linewidth": 0.6,
    "figure.dpi": 200.0,  # sizes of letters are measured at this resolution, that of our PNG files
}


@dataclass(frozen=True)
class Look:
    """What tells one model from the others."""

    color: str
    marker: str
    dashes: Any
    hatch: str


def look(i: int) -> Look:
    """The look of the i-th model.

    >>> look(0).color, look(0).marker, look(1).marker
    ('#0072B2', 'o', 's')
    >>> len({(look(i).color, look(i).marker, look(i).dashes) for i in range(360)})
    360
    """
    return Look(
        PALETTE[i % len(PALETTE)], MARKERS[i % len(MARKERS)], DASHES[i % len(DASHES)], HATCHES[i % len(HATCHES)]
    )


def need_matplotlib() -> Any:
    """The package, or one clear message."""
    try:
        import matplotlib
    except ImportError as error:
        raise ModuleNotFoundError("pictures need matplotlib: pip install 'countwise[plot]'") from error
    return matplotlib


@contextmanager
def house_style() -> Iterator[None]:
    """Settings of our pictures inside the ``with``; the user's own, untouched, after it.

    They start from matplotlib's defaults, so that a picture does not depend on a user's configuration file.
    """
    need_matplotlib()
    import matplotlib.style

    with matplotlib.style.context(["default", HOUSE]):
        yield


@contextmanager
def canvas(ax: "Axes | None", width: float, height: float) -> Iterator["Axes"]:
    """``ax`` as it is, with the user's settings; or axes on a figure of our own, in inches, in the house style.

    Our figure is known to nobody but its axes: it needs no display, and pyplot does not keep it alive.
    """
    need_matplotlib()
    if ax is not None:
        if not hasattr(ax, "get_figure") or not hasattr(ax, "transData"):
            raise DataError(
                f"ax: axes of matplotlib are needed, not {type(ax).__name__}; leave it out for a new figure"
            )
        yield ax
        return
    from matplotlib.figure import Figure

    with house_style():
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure.add_subplot()
        _finish(figure)


def settle(figure: Any) -> None:
    """Lay the figure out, and make its ticks while our settings hold: matplotlib makes them when it first draws."""
    for _ in range(2):  # square axes take more than one go
        figure.draw_without_rendering()


def _finish(figure: Any) -> None:
    """Fix the layout, and cut or widen the page so that all that is drawn just fits.

    The axes keep their size in inches. Without this the axes would move a little each time the figure is drawn, and
    saving it twice would give two different files.
    """
    settle(figure)
    for ax in figure.axes:
        if ax.get_legend() is not None:
            ax.get_legend().set_in_layout(True)
    page, drawn = figure.get_size_inches(), figure.get_tightbbox()
    corner = np.array([drawn.x0 - MARGIN, drawn.y0 - MARGIN])
    new_page = np.array([drawn.width, drawn.height]) + 2.0 * MARGIN
    places = [np.array(ax.get_position().bounds) for ax in figure.axes]
    figure.set_layout_engine("none")
    figure.set_size_inches(new_page)
    for ax, place in zip(figure.axes, places, strict=True):
        ax.set_position([*((place[:2] * page - corner) / new_page), *(place[2:] * page / new_page)])
    for text in figure.texts:
        text.set_position((np.array(text.get_position()) * page - corner) / new_page)


def dress(ax: "Axes", grid: Any = "both") -> None:
    """A light grid behind the data (``grid``: "x", "y", "both" or "none"), and no frame at the top and right."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    ax.tick_params(which="major", length=3.0, width=0.7, labelsize=font_size("small"))
    ax.tick_params(which="minor", length=1.5, width=0.5)
    ax.grid(visible=False, which="both")
    if grid != "none":
        ax.grid(visible=True, which="major", axis=grid, color=GRID, linewidth=0.6)


def font_size(word: str) -> float:
    """Points of "small" and the like by the settings that hold now; of ticks, matplotlib asks again when it draws."""
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=word).get_size_in_points())


def legend(
    ax: "Axes", handles: Sequence[Any], names: Sequence[str], *, outside: bool, title: str | None = None
) -> None:
    """The legend: to the right of our own axes, where it hides nothing; inside a user's axes, where there is room.

    A user's axes may have neighbours that a legend beside them would cover.
    """
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if outside else {"loc": "best"}
    box = ax.legend(
        handles, names, title=title, fontsize="small", title_fontsize="small", handlelength=3.2, frameon=not outside,
        framealpha=0.85, edgecolor=GRID, borderaxespad=0.2, alignment="left", **place,
    )  # fmt: skip
    box.set_zorder(6)
    box.set_in_layout(not outside)  # the page gets wider by it, not the axes narrower


def line_props(i: int, n_points: int) -> dict[str, Any]:
    """How the i-th model's line is drawn; of many points some get a marker, each model's at other places."""
    shape = look(i)
    return {
        "color": shape.color,
        "linestyle": shape.dashes,
        "linewidth": 1.5,
        "marker": shape.marker,
        "markersize": 4.5,
        "markeredgecolor": "white" if shape.color != PALETTE[-1] else MUTED,
        "markeredgewidth": 0.5,
        "markevery": None if n_points <= 12 else (0.03 * (i % 4), 0.12),  # equal steps along the line as drawn
    }


def by_last_value(values: FloatArray) -> list[int]:
    """Rows in the order of their last value that is not missing, largest first: as the lines end in the picture.

    >>> by_last_value(np.array([[5.0, 1.0], [4.0, 3.0], [9.0, np.nan]]))
    [2, 1, 0]
    """
    last = [row[~np.isnan(row)][-1] for row in values]
    return sorted(range(len(last)), key=lambda i: -last[i])


def log_axis(ax: "Axes", which: str, ticks: Any = None) -> None:
    """A logarithmic axis with plain numbers; ``ticks`` at most 9 places to label instead of 1, 2, 5, 10 ..."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

    getattr(ax, f"set_{which}scale")("log")
    axis = getattr(ax, f"{which}axis")
    low, high = getattr(ax, f"get_{which}lim")()
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    axis.set_minor_formatter(NullFormatter())
    if ticks is not None and len(ticks) <= 9 and (np.diff(np.log(ticks)) > np.log(high / low) / 14).all():
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_minor_locator(NullLocator())
    elif high / low < 300:
        few = high / low < 8.0
        axis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0) if few else (1.0, 2.0, 5.0)))
        axis.set_minor_locator(NullLocator())


def clipped(text: str, most: int = LONGEST_NAME) -> str:
    """A long name without its middle: names of models can hold all their parameters.

    >>> clipped("tan-gibbs(smoothing__n_iter=500,smoothing__tying=single)", most=24)
    'tan-gibbs(sm…ing=single)'
    """
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


def short_number(value: float) -> str:
    """A number as an axis says it.

    >>> short_number(500), short_number(2500), short_number(10_000), short_number(3e6), short_number(0.002)
    ('500', '2.5k', '10k', '3M', '0.002')
    """
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.4g}{letter}"
    return f"{value:.4g}"
