"""Titles as names of files and of places on a page."""

import unicodedata
from typing import Final

LONGEST: Final = 100  # characters; systems allow 255 with the ending


def slug(title: str) -> str:
    """A title in small letters, digits and hyphens.

    >>> slug("Average ranks by 0-1 loss"), slug("<b>&"), slug("Mean RMSE: tan-gibbs(n_iter=500)")
    ('average-ranks-by-0-1-loss', 'b', 'mean-rmse-tan-gibbs-n-iter-500')
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = "".join(c if c.isalnum() else " " for c in plain).split()
    return "-".join(words)[:LONGEST].rstrip("-") or "untitled"


class Names:
    """Slugs that differ: a second one of the same title gets a number.

    >>> names = Names()
    >>> names.new("Means"), names.new("means!"), names.new("Means")
    ('means', 'means-2', 'means-3')
    """

    def __init__(self) -> None:
        self._used: set[str] = set()

    def new(self, title: str) -> str:
        """A slug that was not given before."""
        first = slug(title)
        name, n = first, 1
        while name in self._used:
            n += 1
            name = f"{first}-{n}"
        self._used.add(name)
        return name
