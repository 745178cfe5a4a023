"""Labels beside points, where they cover nothing."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from countwise.dtypes import FloatArray
from countwise.plots.style import INK, MUTED, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DISTANCES: Final = (5.0, 10.0, 17.0, 26.0, 38.0)  # from the point to the text's box, in points (1/72 inch)
DIRECTIONS: Final = np.deg2rad([0, 180, 45, -45, 135, -135, 90, -90, 20, -20, 160, -160, 65, -65, 115, -115])
MARKER: Final = 3.5  # half a marker, in points
GAP: Final = 1.5  # between boxes, in points
LEADER: Final = 8.0  # texts further away than this get a line to their point


def place_labels(
    ax: "Axes",
    x: FloatArray,
    y: FloatArray,
    labels: Sequence[str],
    points: FloatArray,
    lines: Sequence[FloatArray] = (),
) -> list[Any]:
    """Write ``labels[i]`` near ``(x[i], y[i])``, away from each other, from ``points``, ``lines`` and the frame.

    ``points`` is an array of n x 2, and so is each line of ``lines``.

    The first labels get the best places; one for which there is no room is left out, as no label is better than one
    that cannot be read. Everything else must have been drawn: places hold for the axes' size and limits as they are.
    """
    figure: Any = ax.get_figure(root=True)
    settle(figure)  # sizes on the page are known only now
    unit = figure.dpi / 72.0
    frame = ax.get_window_extent()
    taken = [_box(centre, MARKER * unit, MARKER * unit) for centre in ax.transData.transform(points)]
    barred = [ax.transData.transform(line) for line in lines]
    written = []
    for a, b, label in zip(x, y, labels, strict=True):
        text: Any = ax.annotate(
            label, (a, b), (0, 0), textcoords="offset points", ha="center", va="center", fontsize="x-small", color=INK
        )
        size = text.get_window_extent()
        anchor = ax.transData.transform((a, b))
        free = _first_free(anchor, size.width, size.height, unit, frame, taken, barred)
        text.remove()
        if free is None:
            continue
        box, offset, far = free
        line = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.5, "shrinkA": 0.0, "shrinkB": MARKER}
        text = ax.annotate(
            label, (a, b), tuple(offset / unit), textcoords="offset points", ha="center", va="center",
            fontsize="x-small", color=INK, arrowprops=line if far else None, zorder=5,
        )  # fmt: skip
        text.set_in_layout(False)
        taken.append(box)
        if far:
            barred.append(np.array([anchor, anchor + offset]))
        written.append(text)
    return written


def _first_free(
    anchor: FloatArray, width: float, height: float, unit: float, frame: Any, taken: list[Any], lines: list[FloatArray]
) -> tuple[Any, FloatArray, bool] | None:
    """The first place that is free: its box, the way to its centre, and whether a line must lead there."""
    from matplotlib.path import Path

    for distance, way in _ways():
        half = np.array([width, height]) / 2.0
        offset = way * (distance * unit + half)
        box = _box(anchor + offset, half[0] + GAP * unit, half[1] + GAP * unit)
        inside = frame.x0 < box.x0 and box.x1 < frame.x1 and frame.y0 < box.y0 and box.y1 < frame.y1
        if not inside or any(box.overlaps(other) for other in taken):
            continue
        if any(Path(line).intersects_bbox(box, filled=False) for line in lines):
            continue
        far = distance > LEADER
        if far:
            start = anchor + way * 1.2 * MARKER * unit  # beyond the point, and off the line that it may lie on
            own = Path(np.array([start, anchor + offset]))
            if any(own.intersects_bbox(other) for other in taken if not other.contains(*anchor)):
                continue
            if any(own.intersects_path(Path(line), filled=False) for line in lines):
                continue
        return box, offset, far
    return None


def _ways() -> Iterator[tuple[float, FloatArray]]:
    for distance in DISTANCES:
        for angle in DIRECTIONS:
            yield distance, np.array([np.cos(angle), np.sin(angle)])


def _box(centre: FloatArray, half_width: float, half_height: float) -> Any:
    from matplotlib.transforms import Bbox

    return Bbox.from_extents(
        centre[0] - half_width, centre[1] - half_height, centre[0] + half_width, centre[1] + half_height
    )
