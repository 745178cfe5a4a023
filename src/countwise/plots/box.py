"""Distributions of a score as boxes: groups of settings, and within each group one box for each model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.plots.checks import keep, model_names, numbers, positive, texts
from countwise.plots.display import Display
from countwise.plots.style import INK, canvas, dress, legend, log_axis, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Box:
    """The five numbers of a box, and what lies outside them. All are NaN for a box without values."""

    low: float
    first_quartile: float
    median: float
    third_quartile: float
    high: float
    outliers: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class BoxDisplay(Display):
    """Box plots by group and model: paper 003, figure 3.

    A box goes from the first to the third quartile, with a line at the median. Whiskers reach to the furthest values
    within 1.5 times the box's length; values beyond are points (Tukey).

    Parameters
    ----------
    values : list of lists of arrays
        ``values[g][m]`` are the values of model m in group g, any number of them. Missing ones are left out; a box
        without values is not drawn.
    groups, names : list of str
        The groups along the axis, and the models within each.
    value_label, group_label, title : str
    horizontal : bool
        Groups from top to bottom, for long names.
    log : bool
        Logarithmic axis of values; all must be above 0.

    Examples
    --------
    >>> display = BoxDisplay([[[1, 2, 3, 4, 50], [2, 3, 4]]], ["n=20"], ["MCMC", "VI"], value_label="MSE")
    >>> display.boxes[0][0]
    Box(low=1.0, first_quartile=2.0, median=3.0, third_quartile=4.0, high=4.0, outliers=(50.0,))
    >>> ax = display.plot()

    """

    values: tuple[tuple[FloatArray, ...], ...]
    groups: tuple[str, ...]
    names: tuple[str, ...]
    value_label: str = "score"
    group_label: str | None = None
    title: str | None = None
    horizontal: bool = False
    log: bool = False

    def __post_init__(self) -> None:
        names = model_names("names", self.names)
        groups = texts("groups", self.groups, len(self.values), "groups of values")
        kept = []
        for group, row in zip(groups, self.values, strict=True):
            if len(row) != len(names):
                raise DataError(f"values: group {group!r} has {len(row)} arrays for {len(names)} names")
            kept.append(tuple(_kept(f"values of {name!r} in {group!r}", v) for name, v in zip(names, row, strict=True)))
            if self.log:
                for name, v in zip(names, kept[-1], strict=True):
                    positive(f"values of {name!r} in {group!r}", v, None, "log=True needs values above 0")
        if not any(v.size for row in kept for v in row):
            raise DataError("values: all are missing")
        keep(self, values=tuple(kept), groups=groups, names=names)

    @property
    def boxes(self) -> tuple[tuple[Box, ...], ...]:
        """The numbers drawn, by group and model."""
        return tuple(tuple(_box(values) for values in row) for row in self.values)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure."""
        long = max(3.4, 0.24 * len(self.groups) * len(self.names) + 0.9)
        width, height = (5.6, max(2.2, 0.75 * long)) if self.horizontal else (min(long + 1.2, 11.0), 3.4)
        along, across = ("y", "x") if self.horizontal else ("x", "y")
        with canvas(ax, width, height) as on:
            dress(on, grid=across)
            handles = self._draw_boxes(on)
            if self.log:
                log_axis(on, across)
            getattr(on, f"set_{along}ticks")(range(len(self.groups)), self.groups)
            getattr(on, f"{along}axis").set_tick_params(length=0.0)
            getattr(on, f"set_{along}lim")(-0.6, len(self.groups) - 0.4)
            if self.horizontal:
                on.invert_yaxis()  # the first group is at the top, as one reads
            getattr(on, f"set_{across}label")(self.value_label)
            if self.group_label:
                getattr(on, f"set_{along}label")(self.group_label)
            if self.title:
                on.set_title(self.title)
            if len(self.names) > 1:
                legend(on, handles, self.names, outside=ax is None)
        return on

    def _draw_boxes(self, ax: "Axes") -> list[Any]:
        from matplotlib.colors import to_rgba
        from matplotlib.patches import Patch

        slot = min(0.8 / len(self.names), 0.4)
        thin = {"color": INK, "linewidth": 0.8}
        handles: list[Any] = []
        for m, _ in enumerate(self.names):
            shape = look(m)
            body: dict[str, Any] = {
                "facecolor": to_rgba(shape.color, 0.55),
                "edgecolor": INK,
                "linewidth": 0.8,
                "hatch": shape.hatch,
            }
            dots = {
                "marker": shape.marker,
                "markersize": 2.2,
                "markerfacecolor": shape.color,
                "markeredgecolor": "none",
            }
            drawn = [(g, row[m]) for g, row in enumerate(self.boxes) if not np.isnan(row[m].median)]
            ax.bxp(
                [_statistics(box) for _, box in drawn],
                positions=[g + (m - (len(self.names) - 1) / 2) * slot for g, _ in drawn],
                widths=0.78 * slot, orientation="horizontal" if self.horizontal else "vertical", patch_artist=True,
                manage_ticks=False, boxprops=body, flierprops=dots, medianprops={"color": INK, "linewidth": 1.6},
                whiskerprops=thin, capprops=thin, capwidths=0.35 * slot,
            )  # fmt: skip
            handles.append(Patch(**body))
        return handles


def _kept(name: str, values: Any) -> FloatArray:
    """Values that are there, locked; an empty list is allowed."""
    if np.size(values) == 0:
        return np.empty(0)
    array = numbers(name, values, 1)
    return array[~np.isnan(array)]


def _box(values: FloatArray) -> Box:
    if not values.size:
        return Box(np.nan, np.nan, np.nan, np.nan, np.nan, ())
    first, median, third = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    reach = 1.5 * (third - first)
    inside = (values >= first - reach) & (values <= third + reach)
    # Quartiles are interpolated: the furthest value within reach may lie inside the box, and whiskers end at the box.
    low, high = min(float(values[inside].min()), first), max(float(values[inside].max()), third)
    return Box(low, first, median, third, high, tuple(np.sort(values[~inside]).tolist()))


def _statistics(box: Box) -> dict[str, float | Sequence[float]]:
    """In matplotlib's words."""
    return {
        "whislo": box.low,
        "q1": box.first_quartile,
        "med": box.median,
        "q3": box.third_quartile,
        "whishi": box.high,
        "fliers": box.outliers,
    }
