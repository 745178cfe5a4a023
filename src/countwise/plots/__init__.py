"""Pictures that compare probability estimators: compute, then draw.

A Display holds numbers and is made without matplotlib; ``plot(ax)`` draws them into the axes given, or into a new
figure that needs no display and that pyplot does not know. ``pip install 'countwise[plot]'`` brings matplotlib.

>>> display = ScatterDisplay([0.30, 0.20], [0.25, 0.20], "m-estimate", "HDP", labels=["adult", "led"], score="RMSE")
>>> text = svg_text(display.figure(), label="RMSE of two models")  # or save(display.figure(), "scatter.pdf")
"""

from countwise.plots.box import Box, BoxDisplay
from countwise.plots.convergence import ConvergenceDisplay
from countwise.plots.cost import CostDisplay
from countwise.plots.critical_difference import CriticalDifferenceDisplay
from countwise.plots.difference_bars import DifferenceBarsDisplay
from countwise.plots.display import Display
from countwise.plots.learning_curve import LearningCurveDisplay
from countwise.plots.mean_dots import MeanDotsDisplay
from countwise.plots.reliability import ReliabilityDisplay
from countwise.plots.run_time import TimeDisplay
from countwise.plots.save import save, svg_text
from countwise.plots.scatter import ScatterDisplay
from countwise.plots.style import PALETTE, house_style
from countwise.plots.tree import TreeDisplay
from countwise.plots.win_loss import WinLossDisplay

__all__ = [
    "PALETTE",
    "Box",
    "BoxDisplay",
    "ConvergenceDisplay",
    "CostDisplay",
    "CriticalDifferenceDisplay",
    "DifferenceBarsDisplay",
    "Display",
    "LearningCurveDisplay",
    "MeanDotsDisplay",
    "ReliabilityDisplay",
    "ScatterDisplay",
    "TimeDisplay",
    "TreeDisplay",
    "WinLossDisplay",
    "house_style",
    "save",
    "svg_text",
]
