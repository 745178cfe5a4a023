"""What decisions cost at every threshold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.plots.checks import keep, model_names, model_table, numbers
from countwise.plots.display import Display
from countwise.plots.style import INK, MUTED, canvas, dress, legend, line_props, look, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 1000  # thresholds that are drawn: 0, 0.001, ..., 1


@dataclass(frozen=True, eq=False)
class CostDisplay(Display):
    """Mean cost against the threshold on the probability of the second of two classes, for one or several models.

    The upright line is the threshold of least expected cost, which follows from the costs alone; a star is the best
    threshold of a model on the rows at hand. Good probabilities bring the two together: the legend says what both cost.

    Parameters
    ----------
    threshold : array of n_thresholds
        Increasing.
    cost : array of n_models x n_thresholds
        Mean costs.
    chosen : float
        The threshold of least expected cost.
    chosen_cost, best, best_cost : array of n_models
        Mean cost at ``chosen``, the best threshold, and mean cost there.
    names : list of str, optional
        The models; needed if there are several.
    x_label, y_label, title : str

    Examples
    --------
    >>> proba = [[0.9, 0.1], [0.3, 0.7], [0.6, 0.4], [0.2, 0.8]]
    >>> display = CostDisplay.from_predictions(["no", "no", "yes", "yes"], proba, {("no", "yes"): 1, ("yes", "no"): 3})
    >>> display.chosen, display.chosen_cost.tolist(), display.best.tolist(), display.best_cost.tolist()
    (0.25, [0.25], [0.25], [0.25])
    >>> ax = display.plot()

    """

    threshold: FloatArray
    cost: FloatArray
    chosen: float
    chosen_cost: FloatArray
    best: FloatArray
    best_cost: FloatArray
    names: tuple[str, ...] = ("model",)
    x_label: str = "threshold on the probability of the second class"
    y_label: str = "mean cost"
    title: str | None = None

    def __post_init__(self) -> None:
        names, threshold = model_names("names", self.names), numbers("threshold", self.threshold, 1)
        if len(threshold) < 2 or not (np.diff(threshold) > 0.0).all():
            raise DataError("threshold: at least two are needed, and they must increase")
        if not np.isfinite(self.chosen):
            raise DataError(f"chosen: a threshold is needed, got {self.chosen}")
        cost = model_table("cost", self.cost, names, len(threshold), "thresholds")
        points = {name: numbers(name, getattr(self, name), 1) for name in ("chosen_cost", "best", "best_cost")}
        for name, values in points.items():
            if len(values) != len(names) or np.isnan(values).any():
                raise DataError(f"{name}: one number for each of the {len(names)} names is needed")
        keep(self, names=names, threshold=threshold, cost=cost, chosen=float(self.chosen), **points)

    @classmethod
    def from_predictions(
        cls, y_true: Any, proba: Any, cost_matrix: Any, classes: Any = None, *, sample_weight: Any = None, **labels: Any
    ) -> Self:
        """From probabilities of two classes: a table of rows x 2, or a dict of them by model.

        ``cost_matrix`` is as in :class:`~countwise.CostSensitive`, ``classes`` are the columns (None: the sorted
        distinct labels), ``labels`` are the other fields. Costs by which one class is always decided have the
        threshold 0 or 1.
        """
        from countwise.evaluate.costs import cost_curve
        from countwise.evaluate.scores import label_codes
        from countwise.infer.costs import as_costs, least_cost_threshold

        tables = proba if isinstance(proba, Mapping) else {"model": proba}
        curves = [cost_curve(y_true, p, cost_matrix, classes, sample_weight) for p in tables.values()]
        known = label_codes(y_true)[0] if classes is None else np.asarray(classes).tolist()
        exact = least_cost_threshold(as_costs(cost_matrix, known))
        if np.isnan(exact):
            raise DataError("cost_matrix: mistakes cost less than right decisions; are they gains? Turn their signs")
        chosen = float(np.clip(exact, 0.0, 1.0))
        grid = np.linspace(0.0, 1.0, STEPS + 1)
        best = np.array([curve.best(chosen) for curve in curves])
        return cls(
            grid,
            np.array([curve.at(grid) for curve in curves]),
            chosen,
            np.array([curve.at(chosen) for curve in curves]),
            best,
            np.array([curve.at(t) for curve, t in zip(curves, best, strict=True)]),
            tuple(tables),
            **{"x_label": f"threshold on the probability of {known[1]!r}"} | labels,
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure."""
        with canvas(ax, 4.6, 3.4) as on:
            dress(on)
            upright = on.axvline(self.chosen, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
            lines = []
            for i in range(len(self.names)):
                shape = look(i)
                lines += on.plot(self.threshold, self.cost[i], **line_props(i, 100) | {"marker": None})
                mark: dict[str, Any] = {"color": shape.color, "linestyle": "none", "zorder": 4, "clip_on": False}
                on.plot([self.chosen], [self.chosen_cost[i]], marker=shape.marker, markersize=5, **mark)
                on.plot(
                    [self.best[i]], [self.best_cost[i]], marker="*", markersize=11, **mark | {"mec": INK, "mew": 0.5}
                )
            on.set_xlim(self.threshold[0], self.threshold[-1])
            on.set_xlabel(self.x_label)
            on.set_ylabel(self.y_label)
            if self.title:
                on.set_title(self.title)
            legend(on, [upright, *lines], self._words(), outside=ax is None, title="★ best on these rows")
        return on

    def _words(self) -> list[str]:
        each = zip(self.names, self.chosen_cost, self.best_cost, self.best, strict=True)
        return [
            f"threshold of least expected cost: {self.chosen:.3g}",
            *(f"{name}: {_cost(a)} there, best {_cost(b)} at {at:.2f}" for name, a, b, at in each),
        ]


def _cost(value: float) -> str:
    return short_number(float(f"{value:.3g}"))
