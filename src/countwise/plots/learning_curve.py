"""Scores against the amount of training data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.plots.checks import choice, keep, model_names, model_table, numbers, positive
from countwise.plots.display import Display
from countwise.plots.style import by_last_value, canvas, dress, legend, line_props, log_axis, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BANDS = {"standard error": "mean ± standard error", "quantiles": "mean, 10% to 90% of runs"}


@dataclass(frozen=True, eq=False)
class LearningCurveDisplay(Display):
    """Mean score of several models against training size, on a logarithmic axis: paper 000, figure 7.

    Parameters
    ----------
    sizes : array of n_sizes
        Numbers of training rows, above 0 and increasing.
    mean : array of n_models x n_sizes
        Missing points are left out, and the line goes on from the point before to the one after.
    names : list of str
        The models; the legend has them in the order in which the lines end.
    low, high : array of n_models x n_sizes, optional
        The band around each line.
    band : str, optional
        What the band is: the title of the legend.
    y_label, x_label, title : str

    Examples
    --------
    >>> runs = [[[0.40, 0.42], [0.30, 0.30]], [[0.35, 0.37], [0.33, 0.31]]]  # models x sizes x runs
    >>> display = LearningCurveDisplay.from_runs([100, 1000], runs, ["hdp", "nb"], y_label="RMSE")
    >>> display.mean.round(2).tolist(), display.band
    ([[0.41, 0.3], [0.36, 0.32]], 'mean ± standard error')
    >>> ax = display.plot()

    """

    sizes: FloatArray
    mean: FloatArray
    names: tuple[str, ...]
    low: FloatArray | None = None
    high: FloatArray | None = None
    band: str | None = None
    y_label: str = "score"
    x_label: str = "training rows"
    title: str | None = None

    def __post_init__(self) -> None:
        names, sizes = model_names("names", self.names), numbers("sizes", self.sizes, 1)
        positive("sizes", sizes, None, "numbers of rows are needed")
        if not (np.diff(sizes) > 0.0).all():
            raise DataError("sizes: they must increase, without a missing one; sort the columns by size")
        mean = model_table("mean", self.mean, names, len(sizes), "sizes")
        if (self.low is None) != (self.high is None):
            raise DataError("low, high: give both or neither")
        keep(self, names=names, sizes=sizes, mean=mean)
        if self.low is not None:
            low = model_table("low", self.low, names, len(sizes), "sizes")
            high = model_table("high", self.high, names, len(sizes), "sizes")
            if (low > high).any():
                model = names[int((low > high).any(axis=1).argmax())]
                raise DataError(f"low, high: low is above high for {model!r}; are they swapped?")
            keep(self, low=low, high=high)

    @classmethod
    def from_runs(cls, sizes: Any, values: Any, names: Any, *, band: str = "standard error", **labels: Any) -> Self:
        """From ``values`` of n_models x n_sizes x n_runs; missing runs are left out.

        ``band`` is "standard error" (deviation of the runs, with n - 1, over the root of their number; none for a
        single run) or "quantiles" (from 10% to 90% of the runs). ``labels`` are ``y_label``, ``x_label``, ``title``.
        """
        choice("band", band, tuple(BANDS))
        runs = numbers("values", values, 3)
        there = ~np.isnan(runs)
        n = there.sum(axis=2)
        total = np.where(there, runs, 0.0).sum(axis=2)
        mean = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
        if band == "standard error":
            squares = np.where(there, (runs - mean[..., None]) ** 2, 0.0).sum(axis=2)
            error = np.sqrt(np.divide(squares, (n - 1) * n, out=np.zeros(n.shape), where=n > 1))
            low, high = mean - error, mean + error
        else:
            pairs = [[_quantiles(cell) for cell in row] for row in runs]
            low, high = np.moveaxis(np.array(pairs), 2, 0)
        return cls(sizes, mean, names, low, high, band=BANDS[band], **labels)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure."""
        with canvas(ax, 4.6, 3.4) as on:
            dress(on)
            lines = []
            for i in range(len(self.names)):
                there = ~np.isnan(self.mean[i])
                if self.low is not None and self.high is not None:
                    low, high = self.low[i][there], self.high[i][there]
                    on.fill_between(self.sizes[there], low, high, color=look(i).color, alpha=0.15, linewidth=0)
                lines += on.plot(self.sizes[there], self.mean[i][there], **line_props(i, int(there.sum())))
            log_axis(on, "x", ticks=self.sizes)
            on.set_xlabel(self.x_label)
            on.set_ylabel(self.y_label)
            if self.title:
                on.set_title(self.title)
            order = by_last_value(self.mean)
            legend(on, [lines[i] for i in order], [self.names[i] for i in order], outside=ax is None, title=self.band)
        return on


def _quantiles(cell: FloatArray) -> tuple[float, float]:
    """10% and 90% of the runs that are there."""
    there = cell[~np.isnan(cell)]
    low, high = np.quantile(there, [0.1, 0.9]) if there.size else (np.nan, np.nan)
    return float(low), float(high)
