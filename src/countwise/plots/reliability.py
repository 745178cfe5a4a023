"""Stated probabilities against what happened."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.plots.checks import keep, model_names, model_table
from countwise.plots.display import Display
from countwise.plots.style import MUTED, canvas, dress, legend, line_props, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from countwise.evaluate.reliability import ReliabilityBins

Z = 1.959963984540054  # of a 95% interval


@dataclass(frozen=True, eq=False)
class ReliabilityDisplay(Display):
    """Reliability diagram of one or several models, from sums over bins.

    A point is a bin: the mean probability stated there, and how often it came true, with Wilson's 95% interval for a
    share of ``weight`` trials. Below: the share of the weight in each bin. The legend has the expected calibration
    error, ``sum |stated - happened| / sum weight``.

    Parameters
    ----------
    weight, stated_sum, happened_sum : array of n_bins, or n_models x n_bins
        Of each bin of equal width: number of rows (or their weight), sum of their stated probabilities, and number
        (weight) of those that came true. Sums are not averages: parts of the data can be added. Bins without weight
        are left out.
    names : list of str, optional
        The models; needed if there are several.
    x_label, y_label, title : str

    Examples
    --------
    Two predictions of 0.8, one of them right, are 0.3 off:

    >>> display = ReliabilityDisplay.from_predictions(["a", "b"], [[0.8, 0.2], [0.8, 0.2]], n_bins=2)
    >>> display.weight.tolist(), display.stated.tolist(), display.happened.tolist(), display.ece.round(6).tolist()
    ([[0.0, 2.0]], [[nan, 0.8]], [[nan, 0.5]], [0.3])
    >>> ax = display.plot()

    """

    weight: FloatArray
    stated_sum: FloatArray
    happened_sum: FloatArray
    names: tuple[str, ...] = ("model",)
    x_label: str = "stated probability of the predicted class"
    y_label: str = "share of correct predictions"
    title: str | None = None

    def __post_init__(self) -> None:
        names = model_names("names", self.names)
        n_bins = np.shape(self.weight)[-1] if np.ndim(self.weight) else 0
        fields = {n: getattr(self, n) for n in ("weight", "stated_sum", "happened_sum")}
        tables = {n: model_table(n, values, names, n_bins, "bins") for n, values in fields.items()}
        for name, table in tables.items():
            if np.isnan(table).any() or (table < 0.0).any():
                raise DataError(f"{name}: a sum is missing or negative; an empty bin has 0")
            if name != "weight" and (table > tables["weight"] * (1.0 + 1e-9) + 1e-12).any():
                raise DataError(f"{name}: larger than weight in a bin; sums are needed, of weight * probability")
        if (tables["weight"].sum(axis=1) == 0.0).any():
            raise DataError(
                f"weight: {names[int((tables['weight'].sum(axis=1) == 0).argmax())]!r} has no weight at all"
            )
        keep(self, names=names, **tables)

    @classmethod
    def from_bins(cls, bins: "ReliabilityBins | Mapping[str, ReliabilityBins]", **labels: Any) -> Self:
        """From :func:`countwise.evaluate.reliability_bins`: of one model, or of several by name."""
        by_name = bins if isinstance(bins, Mapping) else {"model": bins}
        rows = list(by_name.values())
        if len({len(row.weight) for row in rows}) > 1:
            raise DataError("bins: the models have different numbers of bins; use one n_bins")
        weight = np.array([row.weight for row in rows])
        stated = np.array([row.stated for row in rows])
        happened = np.array([row.happened for row in rows])
        return cls(weight, stated, happened, tuple(by_name), **labels)

    @classmethod
    def from_predictions(
        cls, y_true: Any, proba: Any, classes: Any = None, n_bins: int = 15, *, sample_weight: Any = None, **labels: Any
    ) -> Self:
        """From the probability of the predicted class, in the bins of :func:`countwise.evaluate.ece`.

        ``proba`` is a table of rows x classes, or a dict of them by model. ``labels`` are the other fields.
        """
        from countwise.evaluate.scores import reliability_bins

        tables = proba if isinstance(proba, Mapping) else {"model": proba}
        made = {name: reliability_bins(y_true, p, classes, sample_weight, n_bins) for name, p in tables.items()}
        return cls.from_bins(made, **labels)

    @property
    def stated(self) -> FloatArray:
        """Mean stated probability of each bin; NaN for those without weight."""
        return _ratio(self.stated_sum, self.weight)

    @property
    def happened(self) -> FloatArray:
        """Share of each bin that came true; NaN for those without weight."""
        return _ratio(self.happened_sum, self.weight)

    @property
    def ece(self) -> FloatArray:
        """Expected calibration error of each model."""
        return np.abs(self.stated_sum - self.happened_sum).sum(axis=1) / self.weight.sum(axis=1)

    @property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Ends of Wilson's 95% interval of each bin (Wilson 1927, JASA 22); NaN for bins without weight."""
        p, n = self.happened, np.where(self.weight > 0.0, self.weight, np.nan)
        centre = (p + Z**2 / (2.0 * n)) / (1.0 + Z**2 / n)
        half = Z / (1.0 + Z**2 / n) * np.sqrt(p * (1.0 - p) / n + Z**2 / (4.0 * n**2))
        return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure; the weights are drawn in axes of their own below ``ax``."""
        with canvas(ax, 4.0, 4.8) as on:
            dress(on)
            on.set_xlim(0.0, 1.0)
            on.set_ylim(0.0, 1.0)
            on.set_box_aspect(1)
            on.plot([0.0, 1.0], [0.0, 1.0], color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
            lines = [self._draw_model(on, i) for i in range(len(self.names))]
            on.tick_params(axis="x", labelbottom=False)
            on.set_ylabel(self.y_label)
            if self.title:
                on.set_title(self.title)
            self._draw_weights(on.inset_axes((0.0, -0.25, 1.0, 0.2)))
            several = len(self.names) > 1
            words = [f"{name} (ECE {ece:.3f})" for name, ece in zip(self.names, self.ece, strict=True)]
            legend(on, lines, words, outside=ax is None and several, title="bars: Wilson's 95% interval")
        return on

    def _draw_model(self, ax: "Axes", i: int) -> Any:
        there = self.weight[i] > 0.0
        stated, happened = self.stated[i][there], self.happened[i][there]
        low, high = (end[i][there] for end in self.interval)
        ax.vlines(stated, low, high, color=look(i).color, linewidth=1.0, alpha=0.7, zorder=2)
        (line,) = ax.plot(stated, happened, **line_props(i, 1) | {"clip_on": False, "zorder": 3})
        return line

    def _draw_weights(self, ax: "Axes") -> None:
        """Share of the weight in each bin, as steps; filled if there is one model only."""
        dress(ax, grid="y")
        edges = np.linspace(0.0, 1.0, self.weight.shape[1] + 1)
        for i, row in enumerate(self.weight):
            shape = look(i)
            fill: dict[str, Any] = (
                {"fill": True, "alpha": 0.55} if len(self.names) == 1 else {"linestyle": shape.dashes}
            )
            ax.stairs(row / row.sum(), edges, color=shape.color, linewidth=1.2, **fill)
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel(self.x_label)
        ax.set_ylabel("share of rows", fontsize="small")


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0.0)
