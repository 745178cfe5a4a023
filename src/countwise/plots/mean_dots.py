"""Average scores of many models: one dot and one interval each, best at the top."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.plots.checks import keep, model_names, numbers
from countwise.plots.display import Display
from countwise.plots.style import GRID, INK, PALETTE, canvas, clipped, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class MeanDotsDisplay(Display):
    """Means of a score over data sets, sorted: paper 004, figure 9, turned so that long names can be read.

    Parameters
    ----------
    names : list of str
        The models; models whose mean is missing are left out.
    mean : array of n_models
    low, high : array of n_models, optional
        Ends of the intervals; a missing end means no interval.
    interval : str, optional
        What the intervals are; goes into the label of the axis.
    score : str
    higher_is_better : bool
        The best model is at the top.
    title : str, optional

    Examples
    --------
    >>> scores = [[0.3, 0.5, 0.1], [0.2, 0.4, 0.0], [0.6, 0.7, None]]  # models x data sets
    >>> display = MeanDotsDisplay.from_scores(["nb", "hdp", "lr"], scores, score="RMSE")
    >>> display.names, display.mean.round(2).tolist(), display.interval
    (('hdp', 'nb', 'lr'), [0.3, 0.4, 0.65], 'mean ± standard error, 2 data sets')
    >>> ax = display.plot()

    """

    names: tuple[str, ...]
    mean: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    interval: str | None = None
    score: str = "score"
    higher_is_better: bool = False
    title: str | None = None

    def __post_init__(self) -> None:
        names, mean = model_names("names", self.names), numbers("mean", self.mean, 1)
        if len(names) != len(mean):
            raise DataError(f"mean: {len(mean)} means for {len(names)} names")
        if np.isnan(mean).all():
            raise DataError("mean: all means are missing")
        if (self.low is None) != (self.high is None):
            raise DataError("low, high: give both or neither")
        order = np.argsort(-mean if self.higher_is_better else mean, kind="stable")  # NaN come last
        order = order[: int((~np.isnan(mean)).sum())]
        if self.low is not None:
            low, high = numbers("low", self.low, 1), numbers("high", self.high, 1)
            if len(low) != len(mean) or len(high) != len(mean):
                raise DataError(f"low, high: {len(low)} and {len(high)} values for {len(mean)} means")
            outside = (low > mean) | (high < mean)
            if outside.any():
                raise DataError(f"low, high: the interval of {names[int(outside.argmax())]!r} is not around its mean")
            keep(self, low=low[order], high=high[order])
        keep(self, names=tuple(names[i] for i in order), mean=mean[order])

    @classmethod
    def from_scores(cls, names: Any, scores: Any, **options: Any) -> Self:
        """From ``scores`` of n_models x n_datasets; data sets that a model lacks are left out for all.

        The interval is the mean plus and minus its standard error over data sets. ``options`` are the other fields.
        """
        table = numbers("scores", scores, 2)
        table = table[:, ~np.isnan(table).any(axis=0)]
        n = table.shape[1]
        if n == 0:
            raise DataError("scores: no data set has a score of every model; leave out models that failed")
        mean = table.mean(axis=1)
        if n == 1:
            return cls(names, mean, interval="1 data set", **options)
        error = table.std(axis=1, ddof=1) / np.sqrt(n)
        text = f"mean ± standard error, {n} data sets"
        return cls(names, mean, mean - error, mean + error, interval=text, **options)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure as high as the number of models needs."""
        n = len(self.names)
        with canvas(ax, 5.2, 0.85 + 0.2 * n) as on:
            dress(on, grid="x")
            place = np.arange(n)
            on.hlines(place, 0.0, 1.0, transform=on.get_yaxis_transform(), color=GRID, linewidth=0.6, zorder=0)
            if self.low is not None and self.high is not None:
                whole = ~(np.isnan(self.low) | np.isnan(self.high))
                on.hlines(place[whole], self.low[whole], self.high[whole], color=PALETTE[0], linewidth=1.6, zorder=2)
            on.plot(self.mean, place, linestyle="none", marker="o", markersize=5.0, color=PALETTE[0], zorder=3)
            on.set_yticks(place, [clipped(name) for name in self.names])
            on.set_ylim(n - 0.4, -0.6)
            on.tick_params(axis="y", length=0.0)
            on.spines["left"].set_visible(False)
            n_digits = int(np.clip(3 - np.floor(np.log10(np.abs(self.mean).max() or 1.0)), 0, 8))
            for y, value in enumerate(self.mean):
                on.text(
                    1.015, y, f"{value:.{n_digits}f}", transform=on.get_yaxis_transform(), ha="left", va="center",
                    fontsize="small", color=INK,
                )  # fmt: skip
            better = "higher" if self.higher_is_better else "lower"
            note = f"; {self.interval}" if self.interval else ""
            on.set_xlabel(f"{self.score} ({better} is better{note})")
            if self.title:
                on.set_title(self.title)
        return on
