"""The difference of two models on every data set, as bars in the order of the data sets' sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.plots.checks import keep, numbers, texts
from countwise.plots.display import Display
from countwise.plots.style import INK, PALETTE, canvas, dress, font_size, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETTER, WORSE = PALETTE[0], PALETTE[1]


@dataclass(frozen=True, eq=False)
class DifferenceBarsDisplay(Display):
    """By how much the first of two models is better, data set by data set: paper 003, figure 7.

    Parameters
    ----------
    difference : array of n_datasets, or n_panels x n_datasets
        Positive where the first model is better: of errors, second minus first. Missing values have no bar.
    first, second : str
        The models.
    score : str
        What the difference is one of; goes into the label of the axis.
    sizes : array of n_datasets, optional
        Numbers of rows; the data sets are drawn smallest first. Without, as they come.
    labels : list of str, optional
        The data sets; without, they are numbered from 1 in the order drawn.
    panels : list of str, optional
        One for each row of ``difference``, such as "n = 20": drawn one above the other.
    same_scale : bool
        Whether the panels share the scale of differences.
    title : str, optional

    Examples
    --------
    >>> sizes, labels = [900, 50, 200], ["c", "a", "b"]
    >>> display = DifferenceBarsDisplay([0.01, -0.02, 0.03], "HDP", "BDeu", sizes=sizes, labels=labels)
    >>> display.labels, display.difference.tolist(), display.counts
    (('a', 'b', 'c'), [[-0.02, 0.03, 0.01]], ((2, 0, 1),))
    >>> ax = display.plot()

    """

    difference: FloatArray
    first: str
    second: str
    score: str = "score"
    sizes: FloatArray | None = None
    labels: tuple[str, ...] | None = None
    panels: tuple[str, ...] | None = None
    same_scale: bool = True
    title: str | None = None

    def __post_init__(self) -> None:
        flat = np.ndim(self.difference) == 1
        difference = numbers("difference", [self.difference] if flat else self.difference, 2)
        n = difference.shape[1]
        panels = None if self.panels is None else texts("panels", self.panels, len(difference), "rows of differences")
        if panels is None and len(difference) > 1:
            raise DataError(f"panels: give the names of the {len(difference)} rows of differences")
        empty = np.isnan(difference).all(axis=1)
        if empty.any():
            raise DataError(f"difference: all values of panel {int(empty.argmax())} are missing; leave it out")
        labels = None if self.labels is None else texts("labels", self.labels, n, "data sets")
        sizes = None if self.sizes is None else numbers("sizes", self.sizes, 1)
        if sizes is not None:
            if len(sizes) != n or np.isnan(sizes).any():
                raise DataError(f"sizes: {n} numbers of rows are needed, none of them missing")
            order = np.argsort(sizes, kind="stable")
            sizes, difference = sizes[order], difference[:, order]
            labels = None if labels is None else tuple(labels[i] for i in order)
        keep(self, difference=difference, sizes=sizes, labels=labels, panels=panels)

    @property
    def counts(self) -> tuple[tuple[int, int, int], ...]:
        """Of each panel: on how many data sets the first model is better, equal, worse."""
        rows = self.difference
        return tuple((int((r > 0).sum()), int((r == 0).sum()), int((r < 0).sum())) for r in rows)

    def plot(self, ax: Any = None) -> Any:
        """Draw into ``ax`` (a sequence of axes if there are several panels), or into a new figure.

        The axes; for several panels a list of them, from the top.
        """
        n_panels, n = self.difference.shape
        letters = max(map(len, self.labels)) if self.labels is not None else 2
        width, height = max(4.6, 0.118 * n + 1.1), 0.5 + 0.05 * letters + (2.0 if n_panels == 1 else 1.25 * n_panels)
        given = [None] if ax is None else [ax] if n_panels == 1 and not isinstance(ax, Sequence | np.ndarray) else ax
        if ax is not None and len(given) != n_panels:
            raise DataError(f"ax: {n_panels} panels need as many axes; {len(given)} are given")
        with canvas(given[0], width, height) as top:
            axes = list(np.ravel(np.array(given, dtype=object))) if ax is not None else _stack(top, n_panels)
            for row, on in enumerate(axes):
                self._draw_panel(on, row, last=row == n_panels - 1)
            if self.title:
                axes[0].set_title(self.title, pad=16.0)
            label = f"gain in {self.score}\nover {self.second}\n(above 0: {self.first} better)"
            if ax is None and n_panels > 1:
                _label_all(axes, label)
            else:
                axes[(n_panels - 1) // 2].set_ylabel(label, fontsize="small")
        return axes[0] if n_panels == 1 else axes

    def _draw_panel(self, ax: "Axes", row: int, *, last: bool) -> None:
        values = self.difference[row]
        n = len(values)
        dress(ax, grid="y")
        place = np.arange(n)
        for own, color, hatch in ((values >= 0.0, BETTER, ""), (values < 0.0, WORSE, "//////")):
            ax.bar(place[own], values[own], width=0.75, color=color, hatch=hatch, edgecolor="white", linewidth=0.0)
        ax.axhline(0.0, color=INK, linewidth=0.8)
        half = max(n, 6) / 2.0 + 0.3  # few bars are not made wider
        ax.set_xlim((n - 1) / 2.0 - half, (n - 1) / 2.0 + half)
        low, high = self._limits(slice(None) if self.same_scale else slice(row, row + 1))
        ax.set_ylim(low, high)
        better, equal, worse = self.counts[row]
        name = f"{self.panels[row]}:  " if self.panels else ""
        note = f"{name}{self.first} better on {better}, equal on {equal}, worse on {worse}"
        ax.text(1.0, 1.01, note, transform=ax.transAxes, ha="right", va="bottom", fontsize="small", color=INK)
        names = self.labels if self.labels is not None else tuple(str(i + 1) for i in range(n))
        size = "xx-small" if n > 30 else "x-small" if n > 12 else "small"
        ax.set_xticks(place, names if last else [""] * n, rotation=90 if self.labels or n > 30 else 0)
        ax.tick_params(axis="x", length=1.5, labelsize=font_size(size), pad=1.5)
        if last:
            ax.set_xlabel(self._size_text(), color=INK)

    def _limits(self, rows: slice) -> tuple[float, float]:
        """0 and all values, with some room."""
        values = self.difference[rows]
        low, high = min(0.0, float(np.nanmin(values))), max(0.0, float(np.nanmax(values)))
        pad = 0.06 * (high - low) or 1.0
        return low - pad, high + pad

    def _size_text(self) -> str:
        if self.sizes is None:
            return "data sets"
        if len(self.sizes) == 1:
            return f"data set of {self.sizes[0]:,.0f} rows"
        return f"data sets, from {self.sizes[0]:,.0f} rows (left) to {self.sizes[-1]:,.0f} rows (right)"


def _stack(top: "Axes", n_panels: int) -> list[Any]:
    """Axes one above the other in the figure of ``top``, which is the only one there."""
    if n_panels == 1:
        return [top]
    figure: Any = top.figure
    top.remove()
    return list(figure.subplots(n_panels, 1))


def _label_all(axes: Sequence[Any], label: str) -> None:
    """One label at the left of all panels, half-way up."""
    figure = axes[0].figure
    settle(figure)
    left = (figure.get_tightbbox().x0 - 0.05) / figure.get_figwidth()
    middle = (axes[0].get_position().y1 + axes[-1].get_position().y0) / 2.0
    figure.text(left, middle, label, rotation=90, ha="right", va="center", multialignment="center", fontsize="small")
