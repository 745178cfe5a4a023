"""A :class:`Structure`: which attributes the model uses and the parents of each besides the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from countwise.errors import DataError
from countwise.tree.context import Family


@dataclass(frozen=True)
class Structure:
    """A Bayesian network classifier: the class is a parent of every attribute in ``order``.

    ``parents[i]`` are the other parents of attribute i, the strongest first, all earlier in ``order``; empty for
    attributes that are left out. Attributes are column positions; ``names`` say what they are called.
    """

    names: tuple[str, ...]
    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]

    @property
    def families(self) -> list[Family]:
        """One family per attribute in use, in order."""
        return [Family(i, self.parents[i]) for i in self.order]

    @property
    def edges(self) -> list[tuple[str, str]]:
        """Arcs between attributes as (parent, child) names; the arcs from the class are understood."""
        return [(self.names[p], self.names[i]) for i in self.order for p in self.parents[i]]

    def restricted(self, n_attributes: int, k: int) -> Structure:
        """The first attributes of the order with at most k parents each."""
        order = self.order[:n_attributes]
        kept = set(order)
        parents = tuple(p[:k] if i in kept else () for i, p in enumerate(self.parents))
        return Structure(self.names, order, parents)

    def __str__(self) -> str:
        lines = [f"{self.names[i]} <- class, {', '.join(self.names[p] for p in self.parents[i])}" for i in self.order]
        return "\n".join(line.removesuffix(", ") for line in lines)


def position_of(names: Sequence[str], item: Any, what: str) -> int:
    """The column position of a name or a position."""
    if isinstance(item, str):
        if item not in names:
            raise DataError(f"{what} names {item!r}, which is not a column; columns: {list(names)[:20]}")
        return list(names).index(item)
    if not 0 <= int(item) < len(names):
        raise DataError(f"{what} holds {item!r}; there are {len(names)} columns")
    return int(item)


def check_order(names: Sequence[str], order: Sequence[Any]) -> list[int]:
    """A user's attribute order as positions, each column at most once."""
    if isinstance(order, str):
        raise DataError(f"order must be a list of columns, got the string {order!r}")
    positions = [position_of(names, item, "order") for item in order]
    if len(set(positions)) != len(positions):
        raise DataError("order names a column twice")
    return positions


def given_structure(names: Sequence[str], parents: Mapping[Any, Sequence[Any]] | Structure) -> Structure:
    """A structure from a mapping attribute -> parents; attributes that are not named are left out.

    >>> print(given_structure(["a", "b"], {"a": [], "b": ["a"]}))
    a <- class
    b <- class, a
    """
    if isinstance(parents, Structure):
        if list(parents.names) != list(names):
            raise DataError(f"structure is for columns {list(parents.names)[:20]}, the table has {list(names)[:20]}")
        return parents
    if not isinstance(parents, Mapping):
        raise DataError(f"structure must map attributes to lists of parents, or be a Structure; got {parents!r}")
    of: dict[int, tuple[int, ...]] = {}
    for child, its_parents in parents.items():
        if isinstance(its_parents, str):
            raise DataError(f"structure[{child!r}] must be a list of columns, got the string {its_parents!r}")
        found = tuple(position_of(names, p, "structure") for p in its_parents)
        i = position_of(names, child, "structure")
        if i in of:
            raise DataError(f"structure lists column {names[i]!r} twice, by name and by position")
        if i in found or len(set(found)) != len(found):
            raise DataError(f"structure[{child!r}] names a column twice or the attribute itself")
        of[i] = found
    absent = sorted({names[p] for ps in of.values() for p in ps if p not in of})
    if absent:
        raise DataError(f"structure uses {absent} as parents but does not list them as attributes")
    return Structure(
        tuple(names), tuple(_sorted_parents_first(of, names)), tuple(of.get(i, ()) for i in range(len(names)))
    )


def _sorted_parents_first(of: dict[int, tuple[int, ...]], names: Sequence[str]) -> list[int]:
    order: list[int] = []
    waiting = dict(of)
    while waiting:
        ready = [i for i, ps in waiting.items() if all(p in order for p in ps)]
        if not ready:
            raise DataError(f"structure has a cycle through {[names[i] for i in waiting]}")
        order += ready
        for i in ready:
            del waiting[i]
    return order
