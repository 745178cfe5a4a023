"""Average ranks of many models with the differences that matter: Demsar's diagram."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.evaluate.ranks import find_cliques
from countwise.plots.checks import keep, model_names, numbers
from countwise.plots.display import Display
from countwise.plots.style import INK, MUTED, PALETTE, canvas, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, ROW = 7.0, 0.185  # inches: the figure, and one label's row
CAPTION, CD_BAR, AXIS, FIRST_BAR, BAR_STEP = 0.6, 1.9, 3.9, 4.7, 0.55  # rows from the top
STUB, GAP = 6.0, 4.0  # points: from the axis' end to that of a leader line, and from there to the label


@dataclass(frozen=True, eq=False)
class CriticalDifferenceDisplay(Display):
    """Demsar's diagram (2006, *Statistical comparisons of classifiers over multiple data sets*, JMLR 7).

    The best (lowest) rank is at the left. The better half of the models is labelled at the left, the other at the
    right, each with its average rank; leader lines do not cross. A thick bar joins models that do not differ
    significantly, with a dot at each of them; a vertical line that a bar passes without a dot is not in the group.

    Parameters
    ----------
    names : list of str
        The models.
    average_ranks : array of n_models
        1 is the best. A missing rank is an error: leave the model out.
    critical_difference : float
        Ranks that differ by this much, or more, differ significantly.
    cliques : list of lists of int, optional
        Groups that do not differ, as positions in ``names``, as of :func:`countwise.evaluate.nemenyi`. If None, the
        largest groups whose ranks differ by less than the critical difference.
    title : str, optional

    Examples
    --------
    >>> display = CriticalDifferenceDisplay(["nb", "hdp", "tan"], [2.9, 1.2, 1.9], critical_difference=0.9)
    >>> display.cliques
    ((1, 2),)
    >>> ax = display.plot()

    """

    names: tuple[str, ...]
    average_ranks: FloatArray
    critical_difference: float
    cliques: tuple[tuple[int, ...], ...] | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        names, ranks = model_names("names", self.names), numbers("average_ranks", self.average_ranks, 1)
        if len(names) != len(ranks):
            raise DataError(f"average_ranks: {len(ranks)} ranks for {len(names)} names")
        if np.isnan(ranks).any():
            raise DataError(f"average_ranks: that of {names[int(np.isnan(ranks).argmax())]!r} is missing; leave it out")
        if not 0.0 < self.critical_difference < np.inf:
            raise DataError(f"critical_difference={self.critical_difference}: a number above 0 is needed")
        if self.cliques is None:
            cliques = find_cliques(ranks, self.critical_difference)
        else:
            cliques = tuple(tuple(map(int, clique)) for clique in self.cliques)
            wrong = [clique for clique in cliques if len(clique) < 2 or not set(clique) <= set(range(len(names)))]
            if wrong:
                raise DataError(f"cliques: {wrong[0]} is not a group of positions from 0 to {len(names) - 1}")
        keep(self, names=names, average_ranks=ranks, cliques=cliques)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure, as wide and as high as the models need."""
        order = np.argsort(self.average_ranks, kind="stable").tolist()
        n_left = (len(order) + 1) // 2
        bars = self._bars()
        first_label = FIRST_BAR + BAR_STEP * (1 + max((level for *_, level in bars), default=0)) + 0.6
        n_rows = first_label + n_left - 0.5
        with canvas(ax, WIDTH, ROW * n_rows) as on:
            on.set_axis_off()
            on.set_ylim(n_rows, 0.0)
            if self.title:
                on.set_title(self.title)
            per_point = self._scale(on, order[:n_left], order[n_left:], own=ax is None)
            self._draw_axis(on, per_point)
            for members, level in bars:
                _draw_bar(on, members, FIRST_BAR + BAR_STEP * level, per_point)
            for i, model in enumerate(order[:n_left]):
                self._draw_label(on, model, first_label + i, -per_point)
            for i, model in enumerate(reversed(order[n_left:])):  # outermost at the top: lines do not cross
                self._draw_label(on, model, first_label + i, per_point)
        return on

    def _ends(self) -> tuple[float, float]:
        """Of the axis of ranks: whole ranks, and far enough for the critical difference to be drawn."""
        low = float(np.floor(self.average_ranks.min()))
        return low, float(max(np.ceil(self.average_ranks.max()), np.ceil(low + self.critical_difference), low + 1.0))

    def _bars(self) -> list[tuple[FloatArray, int]]:
        """Members' ranks and level of each clique's bar: bars on one level do not touch."""
        spans = sorted((np.sort(self.average_ranks[list(clique)]) for clique in self.cliques or ()), key=tuple)
        low, high = self._ends()
        gap = 0.03 * (high - low)
        ends: list[float] = []
        bars = []
        for members in spans:
            level = next((i for i, end in enumerate(ends) if end + gap < members[0]), len(ends))
            ends[level : level + 1] = [members[-1]]
            bars.append((members, level))
        return bars

    def _scale(self, ax: "Axes", left: list[int], right: list[int], *, own: bool) -> float:
        """Set the x-axis so that labels fit on both sides of the axis of ranks; ranks per point (1/72 inch)."""
        figure: Any = ax.get_figure(root=True)
        low, high = self._ends()
        unit = figure.dpi / 72.0
        before = 1.03 * _widest(ax, [self._label(i) for i in left]) + (STUB + GAP) * unit
        after = 1.03 * _widest(ax, [*(self._label(i) for i in right), self._cd_text()]) + (STUB + GAP) * unit
        if own:
            figure.set_figwidth(max(WIDTH, (before + after) / figure.dpi + 3.2))
        settle(figure)
        width = ax.get_window_extent().width
        per_pixel = (high - low) / max(width - before - after, 0.2 * width)
        ax.set_xlim(low - before * per_pixel, high + after * per_pixel)
        return float(per_pixel * unit)

    def _cd_text(self) -> str:
        return f"CD = {self.critical_difference:.2f}"

    def _label(self, model: int, *, rank_first: bool = True) -> str:
        words = (f"{self.average_ranks[model]:.2f}", self.names[model])
        return "  ".join(words if rank_first else words[::-1])

    def _draw_axis(self, ax: "Axes", per_point: float) -> None:
        low, high = self._ends()
        ink: dict[str, Any] = {"color": INK, "linewidth": 0.9, "zorder": 2}
        word: dict[str, Any] = {"fontsize": "small", "color": INK}
        ax.text(low, CAPTION, "average rank (best at the left)", ha="left", va="center", **word)
        end = low + self.critical_difference
        ax.plot([low, end], [CD_BAR, CD_BAR], **ink | {"linewidth": 1.6})
        for x in (low, end):
            ax.plot([x, x], [CD_BAR - 0.25, CD_BAR + 0.25], **ink)
        ax.text(end + GAP * per_point, CD_BAR, self._cd_text(), ha="left", va="center", **word)
        ax.plot([low, high], [AXIS, AXIS], **ink)
        step = 1.0 if high - low > 6 else 0.5
        for tick in np.arange(low, high + 0.5 * step, step):
            whole = tick % 1.0 == 0.0
            ax.plot([tick, tick], [AXIS - (0.3 if whole else 0.18), AXIS], **ink)
            if whole:
                ax.text(tick, AXIS - 0.4, f"{tick:.0f}", ha="center", va="bottom", **word)

    def _draw_label(self, ax: "Axes", model: int, row: float, step: float) -> None:
        """``step``: ranks per point, negative for a label at the left."""
        rank, left = float(self.average_ranks[model]), step < 0.0
        end = self._ends()[0 if left else 1] + STUB * step
        ax.plot([rank, rank, end], [AXIS, row, row], color=MUTED, linewidth=0.7, zorder=1)
        ax.plot([rank], [AXIS], marker="o", markersize=2.6, color=INK, zorder=3)
        word: dict[str, Any] = {"va": "center", "fontsize": "small", "color": INK}
        label = self._label(model, rank_first=not left)
        ax.text(end + GAP * step, row, label, ha="right" if left else "left", **word)


def _draw_bar(ax: "Axes", members: FloatArray, row: float, per_point: float) -> None:
    """A thick bar, a little longer than its group, with a dot at each member."""
    ends = [members[0] - 3.0 * per_point, members[-1] + 3.0 * per_point]
    ax.plot(ends, [row, row], color=PALETTE[0], linewidth=3.0, solid_capstyle="butt", zorder=3)
    ax.plot(
        members, np.full(len(members), row), linestyle="none", marker="o", markersize=3.4, color="white",
        markeredgecolor=PALETTE[0], markeredgewidth=0.8, zorder=4,
    )  # fmt: skip


def _widest(ax: "Axes", words: Sequence[str]) -> float:
    """Width of the widest text, in pixels."""
    widths = []
    for word in words:
        text = ax.text(0.5, 0.5, word, fontsize="small", in_layout=False)
        widths.append(text.get_window_extent().width)
        text.remove()
    return float(max(widths))
