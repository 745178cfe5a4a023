"""A value against the iterations of the methods that improve it."""

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
class ConvergenceDisplay(Display):
    """Value against iteration for several methods: paper 001, figure 13.

    Parameters
    ----------
    iteration : array of n_points, or n_methods x n_points
        Shared by the methods, or each method's own. Points with a missing value are left out, so methods that
        stopped earlier end with NaN.
    values : array of n_methods x n_points
    names : list of str
        The methods; the legend has them in the order in which the lines end.
    y_label, x_label, title : str
    log_x, log_y : bool
        Logarithmic axes: iterations from 1, values above 0.

    Examples
    --------
    >>> display = ConvergenceDisplay([1, 2, 3], [[9.0, 4.0, 3.0], [8.0, 7.0, None]], ["weighted", "plain"])
    >>> display.values.shape
    (2, 3)
    >>> ax = display.plot()

    """

    iteration: FloatArray
    values: FloatArray
    names: tuple[str, ...]
    y_label: str = "negative log likelihood"
    x_label: str = "iteration"
    title: str | None = None
    log_x: bool = False
    log_y: bool = False

    def __post_init__(self) -> None:
        names = model_names("names", self.names)
        n_points = np.shape(self.iteration)[-1] if np.ndim(self.iteration) else 0
        values = model_table("values", self.values, names, n_points, "iterations")
        if np.ndim(self.iteration) == 1:
            iteration = np.tile(numbers("iteration", self.iteration, 1), (len(names), 1))
        else:
            iteration = model_table("iteration", self.iteration, names, n_points, "points")
        missing = np.isnan(iteration) | np.isnan(values)
        iteration, values = np.where(missing, np.nan, iteration), np.where(missing, np.nan, values)
        model_table("iteration, values", values, names, n_points, "points")  # no method without a whole point
        if self.log_x:
            positive("iteration", iteration, None, "a logarithmic axis starts above 0; count from 1 or use log_x=False")
        if self.log_y:
            positive("values", values, None, "log_y=True needs values above 0; use log_y=False")
        keep(self, names=names, iteration=iteration, values=values)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure."""
        with canvas(ax, 4.6, 3.4) as on:
            dress(on)
            lines = []
            for i in range(len(self.names)):
                there = ~np.isnan(self.values[i])
                lines += on.plot(self.iteration[i][there], self.values[i][there], **line_props(i, int(there.sum())))
            if self.log_x:
                log_axis(on, "x")
            if self.log_y:
                log_axis(on, "y")
            on.set_xlabel(self.x_label)
            on.set_ylabel(self.y_label)
            if self.title:
                on.set_title(self.title)
            order = by_last_value(self.values)
            legend(on, [lines[i] for i in order], [self.names[i] for i in order], outside=ax is None)
        return on
