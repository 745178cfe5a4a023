"""Naive Bayes: no parents but the class."""

from collections.abc import Sequence

from countwise.structure.structure import Structure


def naive(names: Sequence[str]) -> Structure:
    """Every attribute depends on the class alone.

    >>> print(naive(["a", "b"]))
    a <- class
    b <- class
    """
    return Structure(tuple(names), tuple(range(len(names))), ((),) * len(names))
