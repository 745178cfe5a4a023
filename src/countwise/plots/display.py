"""What all Displays share: numbers inside, a picture on demand."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Display(ABC):
    """Numbers that can be drawn. Making one needs no matplotlib; ``plot`` does, and computes nothing new.

    In a notebook a Display at the end of a cell shows its picture.
    """

    @abstractmethod
    def plot(self, ax: Any = None) -> Any:
        """Draw into ``ax``, or into a new figure, ``ax.figure``; the axes drawn into."""

    def figure(self) -> "Figure":
        """The picture as a figure of its own, which pyplot does not know."""
        return np.ravel(np.asarray(self.plot(), dtype=object))[0].figure

    def _repr_svg_(self) -> str | None:
        from countwise.plots.save import svg_text

        try:
            return svg_text(self.figure())
        except ModuleNotFoundError:  # no matplotlib: a notebook then shows the plain text
            return None
