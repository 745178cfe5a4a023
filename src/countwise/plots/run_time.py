"""Seconds against the number of rows: how fast, and how it grows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from countwise.dtypes import FloatArray
from countwise.plots.checks import keep, model_names, model_table, numbers, positive
from countwise.plots.display import Display
from countwise.plots.style import by_last_value, canvas, dress, legend, line_props, log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class TimeDisplay(Display):
    """Time against number of rows, both logarithmic, with a line of least squares for each model.

    The slope says how time grows: 1 is proportional to the number of rows, 2 is quadratic. The line is fitted to the
    logarithms of all of a model's points; a model with fewer than two has none.

    Parameters
    ----------
    n_rows : array of n_sizes
    seconds : array of n_models x n_sizes
        Above 0; missing points are left out.
    names : list of str
        The models; the legend has them slowest first, at the largest size.
    y_label, x_label, title : str

    Examples
    --------
    >>> display = TimeDisplay([100, 1000, 10_000], [[0.1, 1.0, 10.0], [0.1, 10.0, None]], ["hdp", "svm"])
    >>> display.slopes.round(3).tolist()
    [1.0, 2.0]
    >>> ax = display.plot()

    """

    n_rows: FloatArray
    seconds: FloatArray
    names: tuple[str, ...]
    y_label: str = "seconds"
    x_label: str = "rows"
    title: str | None = None

    def __post_init__(self) -> None:
        names, n_rows = model_names("names", self.names), numbers("n_rows", self.n_rows, 1)
        seconds = model_table("seconds", self.seconds, names, len(n_rows), "sizes")
        positive("n_rows", np.nan_to_num(n_rows, nan=-1.0), None, "numbers of rows above 0 are needed, none missing")
        for name, row in zip(names, seconds, strict=True):
            positive(f"seconds of {name!r}", row, None, "times above 0 are needed, or NaN")
        keep(self, names=names, n_rows=n_rows, seconds=seconds)

    @property
    def fits(self) -> FloatArray:
        """Slope and intercept of ``log10 seconds`` on ``log10 rows`` for each model; NaN where there is no line."""
        fits = np.full((len(self.names), 2), np.nan)
        for i, row in enumerate(self.seconds):
            there = ~np.isnan(row)
            if len(np.unique(self.n_rows[there])) > 1:
                fits[i] = np.polyfit(np.log10(self.n_rows[there]), np.log10(row[there]), 1)
        return fits

    @property
    def slopes(self) -> FloatArray:
        """Slope of each model's line."""
        return self.fits[:, 0]

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure."""
        with canvas(ax, 4.6, 3.4) as on:
            dress(on)
            points, words = [], []
            for i, (slope, intercept) in enumerate(self.fits):
                there = ~np.isnan(self.seconds[i])
                props = line_props(i, 1)
                points += on.plot(
                    self.n_rows[there], self.seconds[i][there], **props | {"linestyle": "none", "markersize": 5.5}
                )
                words.append(self.names[i] + ("" if np.isnan(slope) else f" (slope {slope:.2f})"))
                if not np.isnan(slope):
                    ends = np.array([self.n_rows[there].min(), self.n_rows[there].max()])
                    thin = {"color": props["color"], "linestyle": props["linestyle"], "linewidth": 0.9, "zorder": 1.5}
                    on.plot(ends, 10.0 ** (intercept + slope * np.log10(ends)), **thin)
            log_axis(on, "x")
            log_axis(on, "y")
            on.set_xlabel(self.x_label)
            on.set_ylabel(self.y_label)
            if self.title:
                on.set_title(self.title)
            order = by_last_value(self.seconds[:, np.argsort(self.n_rows)])
            legend(on, [points[i] for i in order], [words[i] for i in order], outside=ax is None)
        return on
