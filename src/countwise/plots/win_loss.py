"""Wins against losses: several lines of models, each compared with a rival over the same data sets."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.plots.checks import keep, model_names, model_table, texts
from countwise.plots.display import Display
from countwise.plots.place import place_labels
from countwise.plots.style import GRID, MUTED, PALETTE, canvas, dress, legend, line_props, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class WinLossDisplay(Display):
    """Wins (upwards) against losses (to the right): paper 000, figures 4 to 6.

    A line joins the points of one method, such as "TAN level" after 500, 5,000 and 50,000 iterations. Below the
    diagonal there are more losses than wins. Inside the band a two-sided sign test without the draws is not
    significant: its p is above 0.05. The band's edges run half a data set beyond the last point that is not.

    Parameters
    ----------
    wins, losses : array of n_lines x n_points
        Numbers of data sets. Points with a missing value are left out.
    names : list of str
        The lines.
    points : list, optional
        What the points of a line are, such as numbers of iterations; the first and the last one are written.
    rival : str, optional
        What all are compared with, for the labels of the axes.
    title : str, optional

    Examples
    --------
    >>> display = WinLossDisplay([[20, 35]], [[30, 15]], ["TAN level"], points=[500, 5000], rival="m-estimate")
    >>> display.is_significant.tolist()
    [[False, True]]
    >>> display.plot().get_xlabel()
    'losses against m-estimate'

    """

    wins: FloatArray
    losses: FloatArray
    names: tuple[str, ...]
    points: tuple[str, ...] | None = None
    rival: str | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        names = model_names("names", self.names)
        n_points = np.shape(self.wins)[-1] if np.ndim(self.wins) else 0
        wins = model_table("wins", self.wins, names, n_points, "points")
        losses = model_table("losses", self.losses, names, n_points, "points")
        for name, values in (("wins", wins), ("losses", losses)):
            if (values < 0.0).any() or (values % 1.0 > 0.0).any():
                raise DataError(f"{name}: numbers of data sets are needed: whole, and not negative")
        missing = np.isnan(wins) | np.isnan(losses)
        if missing.all(axis=1).any():
            raise DataError(f"wins, losses: {names[int(missing.all(axis=1).argmax())]!r} has no point with both")
        points = None if self.points is None else texts("points", [*map(_word, self.points)], n_points, "points")
        keep(self, wins=np.where(missing, np.nan, wins), losses=np.where(missing, np.nan, losses), names=names)
        keep(self, points=points)

    @property
    def is_significant(self) -> Any:
        """Whether the two-sided sign test is significant at 0.05; False for missing points."""
        return np.vectorize(_p_value, otypes=[float])(self.wins, self.losses) <= LEVEL

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure."""
        with canvas(ax, 4.2, 4.2) as on:
            top = 1.06 * max(float(np.nanmax(self.wins)), float(np.nanmax(self.losses)), 10.0)
            dress(on)
            on.set_xlim(0.0, top)
            on.set_ylim(0.0, top)
            on.locator_params(integer=True)  # data sets are counted
            on.set_box_aspect(1)
            shades = _draw_regions(on, top)
            lines = []
            for i in range(len(self.names)):
                there = ~np.isnan(self.wins[i])
                props = line_props(i, 1) | {"markersize": 5.5, "clip_on": False, "zorder": 3}
                lines += on.plot(self.losses[i][there], self.wins[i][there], **props)
            against = f" against {self.rival}" if self.rival else ""
            on.set_xlabel("losses" + against)
            on.set_ylabel("wins" + against)
            if self.title:
                on.set_title(self.title)
            notes = ["more losses than wins", "sign test not significant\n(two-sided, p > 0.05)"]
            legend(on, [*lines, *shades], [*self.names, *notes], outside=ax is None)
            self._name_ends(on)
        return on

    def _name_ends(self, ax: "Axes") -> None:
        if self.points is None:
            return
        x, y, words = [], [], []
        for wins, losses in zip(self.wins, self.losses, strict=True):
            there = np.flatnonzero(~np.isnan(wins))
            for j in dict.fromkeys([int(there[-1]), int(there[0])]):
                x.append(losses[j])
                y.append(wins[j])
                words.append(self.points[j])
        drawn = ~np.isnan(self.wins)
        points = np.column_stack([self.losses[drawn], self.wins[drawn]])
        place_labels(ax, np.array(x), np.array(y), words, points, [np.asarray(line.get_xydata()) for line in ax.lines])


def _draw_regions(ax: "Axes", top: float) -> list[Any]:
    """The half of more losses than wins, and the band of the sign test; what a legend shows for them."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    corners = np.array([0.0, top])
    ax.fill_between(corners, 0.0, corners, color=GRID, alpha=0.7, linewidth=0, zorder=0)
    few = np.arange(np.ceil(top) + 1.0)
    edge = np.array([significant_wins(int(n)) - 0.5 for n in few])
    outline = np.concatenate([[[0.0, 0.0]], np.column_stack([few, edge]), np.column_stack([edge, few])[::-1]])
    ax.fill(*outline.T, color=PALETTE[5], alpha=0.2, linewidth=0.0, zorder=0.5)
    for a, b in ((few, edge), (edge, few)):
        ax.plot(a, b, color=MUTED, linewidth=0.7, zorder=1)
    ax.plot(corners, corners, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    half = Patch(facecolor=GRID, alpha=0.7, linewidth=0.0)
    return [half, Patch(facecolor=to_rgba(PALETTE[5], 0.2), edgecolor=MUTED, linewidth=0.7)]  # told apart in grey too


def significant_wins(n_losses: int) -> int:
    """The least number of wins that is significantly more than ``n_losses``.

    Six wins and no loss have p = 2 / 2^6 = 0.031, five have 0.0625:

    >>> significant_wins(0), significant_wins(10)
    (6, 23)
    """
    n_wins = n_losses + 1
    while _p_value(n_wins, n_losses) > LEVEL:
        n_wins += 1
    return n_wins


def _word(point: Any) -> str:
    """Numbers as on an axis, such as 5k."""
    return short_number(float(point)) if isinstance(point, int | float | np.number) else str(point)


def _p_value(n_wins: float, n_losses: float) -> float:
    """Two-sided sign test; 1 for a missing point."""
    from countwise.evaluate.pairs import WinDrawLoss

    if np.isnan(n_wins) or np.isnan(n_losses):
        return 1.0
    return WinDrawLoss(int(n_wins), 0, int(n_losses)).sign_test()
