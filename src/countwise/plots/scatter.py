"""Two models over many data sets: one point for each."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.plots.checks import keep, numbers, positive, texts
from countwise.plots.display import Display
from countwise.plots.place import place_labels
from countwise.plots.style import INK, MUTED, PALETTE, canvas, clipped, dress, log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X_COLOR, Y_COLOR = PALETTE[1], PALETTE[0]
X_MARKER, Y_MARKER, DRAW_MARKER = "s", "o", "D"


@dataclass(frozen=True, eq=False)
class ScatterDisplay(Display):
    """Scores of two models as a scatter plot with the diagonal: papers 000 (figures 6a, 8) and 004 (figures 10-12).

    The half above the diagonal touches the upper edge, where it says who is better there and how often; the half
    below touches the right edge. The counts are those of :func:`countwise.evaluate.win_draw_loss`.

    Parameters
    ----------
    x, y : array of n_datasets
        Scores of the two models. Pairs with a missing value are left out.
    x_label, y_label : str
        The models.
    labels : list of str, optional
        The data sets; those furthest from the diagonal are named where there is room.
    title, score : str, optional
        ``score`` goes into the labels of the axes, as in "RMSE of HDP".
    higher_is_better : bool
        False for errors and losses.
    log : bool
        Logarithmic axes; all values must be above 0. "Furthest" is then by ratio.
    n_named : int
        How many data sets to name.
    decimals : int, optional
        Values that are equal after rounding to so many decimals are draws; None: only equal values are.

    Examples
    --------
    >>> display = ScatterDisplay([0.30, 0.20, 0.10], [0.25, 0.20, 0.15], "m-estimate", "HDP")
    >>> display.n_x_better, display.n_draws, display.n_y_better
    (1, 1, 1)
    >>> ax = display.plot()
    >>> ax.get_ylabel()
    'HDP'

    """

    x: FloatArray
    y: FloatArray
    x_label: str
    y_label: str
    labels: tuple[str, ...] | None = None
    title: str | None = None
    higher_is_better: bool = False
    log: bool = False
    score: str | None = None
    n_named: int = 6
    decimals: int | None = 4

    def __post_init__(self) -> None:
        x, y = numbers("x", self.x, 1), numbers("y", self.y, 1)
        if len(x) != len(y):
            raise DataError(f"x has {len(x)} values and y has {len(y)}; give one of each per data set")
        labels = None if self.labels is None else texts("labels", self.labels, len(x), "data sets")
        whole = ~(np.isnan(x) | np.isnan(y))
        if not whole.any():
            raise DataError("x, y: no data set has both values")
        x, y = x[whole], y[whole]
        labels = None if labels is None else tuple(np.array(labels, dtype=object)[whole])
        if self.log:
            for name, values in (("x", x), ("y", y)):
                positive(name, values, labels, "log=True needs values above 0; use log=False")
        keep(self, x=x, y=y, labels=labels)

    @property
    def gain(self) -> FloatArray:
        """By how much y's model is better, for each data set; the logarithm of the ratio if ``log``; 0 for draws."""
        gain = np.log(self.y / self.x) if self.log else self.y - self.x
        if self.decimals is not None:
            gain = np.where(np.round(self.x, self.decimals) == np.round(self.y, self.decimals), 0.0, gain)
        return gain if self.higher_is_better else -gain

    @property
    def n_x_better(self) -> int:
        """Number of data sets on which x's model is better."""
        return int((self.gain < 0.0).sum())

    @property
    def n_y_better(self) -> int:
        """Number of data sets on which y's model is better."""
        return int((self.gain > 0.0).sum())

    @property
    def n_draws(self) -> int:
        """Number of data sets without a difference."""
        return int((self.gain == 0.0).sum())

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure."""
        with canvas(ax, 4.3, 4.3) as on:
            low, high = self._limits()
            dress(on)
            if self.log:
                on.set_xlim(low, high)
                log_axis(on, "x")
                on.set_ylim(low, high)
                log_axis(on, "y")
            on.set_xlim(low, high)
            on.set_ylim(low, high)
            on.set_box_aspect(1)
            on.spines[["top", "right"]].set_visible(True)
            self._draw_halves(on, low, high)
            self._draw_points(on)
            of = f"{self.score} of " if self.score else ""
            on.set_xlabel(of + clipped(self.x_label))
            on.set_ylabel(of + clipped(self.y_label))
            if self.title:
                on.set_title(self.title, pad=18.0)
            self._name_extremes(on)
        return on

    def _limits(self) -> tuple[float, float]:
        """Limits of both axes; room is left around the points, but not below 0 if no value is."""
        both = np.concatenate([self.x, self.y])
        if self.log:
            low, high = np.log(both.min()), np.log(both.max())
            pad = 0.06 * (high - low) or 0.5
            return float(np.exp(low - pad)), float(np.exp(high + pad))
        low, high = both.min(), both.max()
        pad = 0.06 * (high - low) or 0.5 * abs(high) or 0.5
        return float(max(low - pad, 0.0) if low >= 0.0 else low - pad), float(high + pad)

    def _draw_halves(self, ax: "Axes", low: float, high: float) -> None:
        above, below = (Y_COLOR, X_COLOR) if self.higher_is_better else (X_COLOR, Y_COLOR)
        corners = np.array([low, high])
        ax.fill_between(corners, corners, high, color=above, alpha=0.05, linewidth=0, zorder=0)
        ax.fill_between(corners, low, corners, color=below, alpha=0.05, linewidth=0, zorder=0)
        ax.plot(corners, corners, color=MUTED, linewidth=0.8, zorder=1)
        x_text = f"{clipped(self.x_label)} better: {self.n_x_better}"
        y_text = f"{clipped(self.y_label)} better: {self.n_y_better}"
        top, right = (y_text, x_text) if self.higher_is_better else (x_text, y_text)
        note: dict[str, Any] = {"transform": ax.transAxes, "fontsize": "small", "color": INK}
        ax.text(0.0, 1.015, top, ha="left", va="bottom", **note)
        ax.text(1.0, 1.015, f"draws: {self.n_draws}", ha="right", va="bottom", **note)
        ax.text(1.015, 0.0, right, ha="left", va="bottom", rotation=270, **note)

    def _draw_points(self, ax: "Axes") -> None:
        gain = self.gain
        for own, color, marker in (
            (gain > 0.0, Y_COLOR, Y_MARKER),
            (gain < 0.0, X_COLOR, X_MARKER),
            (gain == 0.0, INK, DRAW_MARKER),
        ):
            if own.any():
                ax.plot(
                    self.x[own], self.y[own], linestyle="none", marker=marker, markersize=4.8, color=color, alpha=0.85,
                    markeredgecolor="white", markeredgewidth=0.5, zorder=3, clip_on=False,
                )  # fmt: skip

    def _name_extremes(self, ax: "Axes") -> None:
        if self.labels is None:
            return
        gain = np.abs(self.gain)
        furthest = np.argsort(-gain, kind="stable")[: self.n_named]
        chosen = furthest[gain[furthest] > 0.0]
        points = np.column_stack([self.x, self.y])
        diagonal = np.array([ax.get_xlim(), ax.get_xlim()]).T
        words = [self.labels[i] for i in chosen]
        place_labels(ax, self.x[chosen], self.y[chosen], words, points, [diagonal])
