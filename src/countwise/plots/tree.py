"""A probability tree: its nodes as an indented list, each with its rows and a bar of its class probabilities."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from countwise.dtypes import FloatArray, IntArray
from countwise.errors import DataError
from countwise.plots.checks import keep, model_names, numbers, texts
from countwise.plots.display import Display
from countwise.plots.style import GRID, INK, MUTED, canvas, clipped, dress, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_WIDTH: Final = 1.9  # inches
ROW_HEIGHT: Final = 0.22
INDENT: Final = 0.09  # of the width of the bars
LETTER: Final = 0.07  # about the width of one, in inches
LEGEND_COLUMNS: Final = 4


@dataclass(frozen=True, eq=False)
class TreeDisplay(Display):
    """The nodes of a tree from the root down, children below their parents.

    Parameters
    ----------
    depth : array of n_nodes
        0 for the root; each node comes after its parent, with one more.
    labels : list of n_nodes str
        What a row has to fulfil to come here from the parent.
    rows : array of n_nodes
        Rows (weight) of each node.
    proba : array of n_nodes x n_classes
    names : list of str
        The classes.
    title : str

    Examples
    --------
    >>> import countwise as cw
    >>> X, y = cw.datasets.load("iris")
    >>> display = TreeDisplay.from_model(cw.ProbabilityTreeClassifier(max_depth=2).fit(X, y))
    >>> display.labels[1], display.rows[1]
    ('petal width (cm) <= 0.8', np.float64(50.0))
    >>> ax = display.plot()

    """

    depth: IntArray
    labels: tuple[str, ...]
    rows: FloatArray
    proba: FloatArray
    names: tuple[str, ...]
    title: str | None = None

    def __post_init__(self) -> None:
        names, proba = model_names("names", self.names), numbers("proba", self.proba, 2)
        depth, rows = numbers("depth", self.depth, 1), numbers("rows", self.rows, 1)
        if proba.shape != (len(rows), len(names)) or len(depth) != len(rows):
            raise DataError(
                f"proba: shape {proba.shape}, but {len(rows)} rows, {len(depth)} depths and {len(names)} names"
            )
        if depth[0] != 0 or (depth[1:] < 1).any() or (np.diff(depth) > 1).any():
            raise DataError("depth: 0 for the first node alone, and for no other more than one above the node before")
        labels = texts("labels", self.labels, len(rows), "nodes")
        keep(self, names=names, labels=labels, depth=depth.astype(np.int32), rows=rows, proba=proba)

    @classmethod
    def from_model(cls, model: Any, tree: int = 0, max_depth: int | None = 4, title: str | None = None) -> Self:
        """The tree of a :class:`ProbabilityTreeClassifier`, or one of a forest, down to ``max_depth``."""
        from countwise.estimators.tree_text import condition, in_order, tree_of

        own, proba = tree_of(model, tree)
        nodes, depth = np.array(in_order(own.splits, max_depth)).T
        labels = [condition(model.codec_, own.splits, int(node)) if node else "all rows" for node in nodes]
        names = [str(label) for label in model.classes_]
        return cls(depth, tuple(labels), own.counts.total[nodes], proba[nodes], tuple(names), title)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into ``ax``, or into a new figure; the list stands to the right of the axes."""
        ends = [
            INDENT * BAR_WIDTH * d + LETTER * len(clipped(text))
            for d, text in zip(self.depth, self.labels, strict=True)
        ]
        with canvas(ax, BAR_WIDTH + 1.0 + max(ends), ROW_HEIGHT * len(self.rows) + 0.9) as on:
            from matplotlib.patches import Patch  # canvas() has seen to it that there is matplotlib

            dress(on, grid="none")
            looks = [look(i) for i in range(len(self.names))]
            y, start = np.arange(len(self.rows)), np.zeros(len(self.rows))
            for part, shape in zip(self.proba.T, looks, strict=True):
                on.barh(y, part, 0.72, start, color=shape.color, hatch=shape.hatch, edgecolor="white", linewidth=0.4)
                start = start + part
            on.set_xlim(0.0, 1.0)
            on.set_ylim(len(self.rows) - 0.4, -0.6)
            on.set_xlabel("probability")
            on.set_yticks(y, [f"{n:,.6g}" for n in self.rows])
            on.set_ylabel("rows")
            self._write(on)
            handles = [Patch(facecolor=s.color, hatch=s.hatch, edgecolor="white") for s in looks]
            columns = min(len(handles), LEGEND_COLUMNS)
            on.legend(
                handles, [clipped(name) for name in self.names], loc="lower left", bbox_to_anchor=(0.0, 1.0),
                ncols=columns, fontsize="small", frameon=False, borderaxespad=0.2, title=self.title, alignment="left",
            )  # fmt: skip
        return on

    def _write(self, on: "Axes") -> None:
        """The conditions, indented, with lines from parents to children; x is in widths of the axes."""
        across = on.get_yaxis_transform()
        last: dict[int, int] = {}  # the node of each depth that children hang on
        for i, (depth, label) in enumerate(zip(self.depth.tolist(), self.labels, strict=True)):
            x = 1.05 + INDENT * depth
            if depth:
                elbow = x - 0.7 * INDENT
                on.plot(
                    [elbow, elbow, x - 0.02], [last[depth - 1] + 0.35, i, i],
                    color=MUTED, linewidth=0.7, transform=across, clip_on=False, zorder=1,
                )  # fmt: skip
            last[depth] = i
            on.text(x, i, clipped(label), transform=across, va="center", fontsize="small", color=INK)
        on.axvline(1.0, color=GRID, linewidth=0.6)
