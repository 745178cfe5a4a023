"""One of each Display, and questions to ask of a picture."""

from itertools import combinations

import numpy as np

from countwise.plots import (
    BoxDisplay,
    ConvergenceDisplay,
    CostDisplay,
    CriticalDifferenceDisplay,
    DifferenceBarsDisplay,
    LearningCurveDisplay,
    MeanDotsDisplay,
    ReliabilityDisplay,
    ScatterDisplay,
    TimeDisplay,
    TreeDisplay,
    WinLossDisplay,
)

NAMES = ["skdb5-hdp-tuned", "nb-m-estimate", "random-forest-100"]
COSTS = {("no", "yes"): 1.0, ("yes", "no"): 4.0}


def two_classes(n_rows):
    """Labels, and each model's probabilities, which know something about them."""
    rng = np.random.default_rng(1)
    truth = np.where(rng.random(n_rows) < 0.3, "yes", "no")
    lean = (truth == "yes")[:, None] * [[-0.3, 0.3]]
    return truth, [np.clip(rng.dirichlet([4, 3], n_rows) + lean, 0.0, 1.0) for _ in NAMES]


def one_of_each():
    """Displays by name, with the same numbers each time."""
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 5, (3, 20))
    labels = [f"data-set-{i}" for i in range(20)]
    sums = rng.integers(5, 50, (3, 10)).astype(float)
    sizes = [100, 1000, 10_000]
    truth, stated = two_classes(200)
    return {
        "scatter": ScatterDisplay(scores[0], scores[1], "m-estimate", "HDP", labels, title="t", score="RMSE"),
        "win_loss": WinLossDisplay([[5, 20], [9, 15]], [[25, 9], [21, 14]], NAMES[:2], points=[500, 5000], rival="m"),
        "critical_difference": CriticalDifferenceDisplay(NAMES, rng.uniform(1, 3, 3), 0.7, title="t"),
        "learning_curve": LearningCurveDisplay.from_runs(sizes, rng.random((3, 3, 5)), NAMES, y_label="RMSE"),
        "box": BoxDisplay(rng.gamma(2, 1, (2, 3, 30)), ["n=20", "n=40"], NAMES, value_label="MSE"),
        "box_horizontal": BoxDisplay(rng.gamma(2, 1, (2, 3, 30)), ["n=20", "n=40"], NAMES, horizontal=True, log=True),
        "difference_bars": DifferenceBarsDisplay(scores[0] - 0.3, "HDP", "BDeu", "RMSE", np.arange(20), labels),
        "reliability": ReliabilityDisplay(sums, sums * 0.6, sums * 0.5, NAMES),
        "time": TimeDisplay(sizes, rng.random((3, 3)), NAMES),
        "convergence": ConvergenceDisplay(np.arange(1, 101), rng.random((3, 100)), NAMES, log_x=True),
        "cost": CostDisplay.from_predictions(truth, dict(zip(NAMES, stated, strict=True)), COSTS, title="t"),
        "tree": TreeDisplay(
            [0, 1, 2, 2, 1],
            ["all rows", "size <= 3", "colour = red", "colour = blue", "size > 3"],
            [90, 60, 25, 35, 30],
            rng.dirichlet([1, 2, 3], 5),
            ["no", "maybe", "yes"],
            "t",
        ),
        "mean_dots": MeanDotsDisplay.from_scores(NAMES, scores, score="RMSE"),
    }


def texts_of(figure):
    """All texts that can be seen, with their boxes in pixels."""
    import matplotlib.text

    figure.draw_without_rendering()
    seen = [t for t in figure.findobj(matplotlib.text.Text) if t.get_visible() and t.get_text().strip()]
    extent = matplotlib.text.Text.get_window_extent  # that of an annotation would take in its leader line
    return [(t.get_text(), extent(t)) for t in _drawn(figure, seen)]


def _drawn(figure, texts):
    """Without labels of ticks that lie outside the axes, which matplotlib keeps but does not draw."""
    hidden = set()
    for ax in [*figure.axes, *(child for parent in figure.axes for child in parent.child_axes)]:
        for axis in (ax.xaxis, ax.yaxis):
            drawn = axis._update_ticks() if ax.axison and axis.get_visible() else []
            shown = {id(label) for tick in drawn for label in (tick.label1, tick.label2)}
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                hidden |= {id(label) for label in (tick.label1, tick.label2)} - shown
            if not ax.axison:
                hidden |= {id(axis.label), id(axis.get_offset_text())}
    return [t for t in texts if id(t) not in hidden]


def overlapping(figure, shrink=0.5):
    """Pairs of texts whose boxes share more than a hair (``shrink`` pixels)."""
    from matplotlib.transforms import Bbox

    boxes = [
        (word, Bbox.from_extents(b.x0 + shrink, b.y0 + shrink, b.x1 - shrink, b.y1 - shrink))
        for word, b in texts_of(figure)
    ]
    return [(a, b) for (a, p), (b, q) in combinations(boxes, 2) if p.overlaps(q)]


def cut_off(figure):
    """Texts that reach beyond the page."""
    page = figure.bbox
    return [w for w, b in texts_of(figure) if b.x0 < page.x0 or b.y0 < page.y0 or b.x1 > page.x1 or b.y1 > page.y1]
