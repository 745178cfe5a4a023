"""The error for a data set's name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from countwise.errors import DataError


class UnknownDatasetError(DataError, KeyError):
    """There is no data set of this name; a ``KeyError`` too, as mappings raise it.

    >>> print(unknown_dataset("cra", ["car", "iris"], "the folder"))
    no data set 'cra' in the folder; did you mean 'car'? Known: car, iris
    """

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the message's repr


def unknown_dataset(name: object, names: Iterable[str], place: str, *, shown: int = 20) -> UnknownDatasetError:
    """The error for ``name``: it suggests the nearest name and lists the first ones."""
    known = sorted(names)
    nearest = get_close_matches(str(name).lower(), known, n=1, cutoff=0.5)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ";"
    rest = f", ... ({len(known):,} in all)" if len(known) > shown else ""
    return UnknownDatasetError(f"no data set {name!r} in {place}{hint} Known: {', '.join(known[:shown])}{rest}")
