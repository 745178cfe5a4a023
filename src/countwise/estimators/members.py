"""Learning the members of an ensemble: one look at the table for all codecs, as few passes as one member takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TypeVar

from countwise.data.coarse import Coarsening, coarsening, joined_codec
from countwise.data.codec import Codec
from countwise.data.coded import CodedData
from countwise.data.discretise import Discretiser
from countwise.data.passes import MemberData, Steps, run_each, run_together
from countwise.data.schema import summarise
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray
from countwise.errors import MemoryLimitError, size_text
from countwise.estimators.labels import check_classes
from countwise.estimators.learn import Plan, coded_data
from countwise.infer.members import NetworkMember
from countwise.structure import Structure
from countwise.tree.context import Family, count_trees
from countwise.tree.count_tree import CountedTree

Result = TypeVar("Result")

NODE_BYTES = 16  # parent, branch, first cell
CELL_BYTES = 12  # value and count
TREE_BYTES = 2048  # objects and headers of arrays


@dataclass(frozen=True, eq=False)
class Table:
    """The rows in codes of ``codec``, which joins those of the members."""

    codec: Codec
    codecs: list[Codec]  # one for each member
    views: list[Coarsening]  # how each reads the codes
    data: CodedData
    rank_error: float
    in_memory: bool

    def with_more(self, codecs: Sequence[Codec]) -> Table:
        """The same rows for members more, whose cut points are among those of ``codec``."""
        views = [coarsening(self.codec, own) for own in codecs]
        return replace(self, codecs=[*self.codecs, *codecs], views=[*self.views, *views])


def read_table(source: Source, labels: AnyArray | None, plan: Plan, discretisers: Sequence[Discretiser]) -> Table:
    """The schema pass, with a codec for each discretiser."""
    summary = summarise(source, plan.categorical, plan.threads)
    codecs = summary.codecs(discretisers, plan.threads)
    if labels is not None:
        codecs = [replace(codec, classes=labels) for codec in codecs]
    codec = joined_codec(codecs)
    check_classes(codec.classes)
    data = coded_data(source, codec, None if labels is not None else summary.target, summary.n_rows, plan.threads)
    return Table(codec, codecs, [coarsening(codec, own) for own in codecs], data, summary.rank_error, source.in_memory)


def learn_apart(
    table: Table, plan: Plan, steps: Callable[[int, MemberData], Steps[Result]], times: Sequence[AnyArray | None]
) -> list[Result]:
    """Members that choose their structures by passes of their own; ``times`` as in :class:`MemberData`.

    In memory they run side by side, a thread each; from files they share the passes.
    """
    rows = [
        MemberData(table.data, codec, view, own)
        for codec, view, own in zip(table.codecs, table.views, times, strict=True)
    ]
    members = [(own, steps(m, own)) for m, own in enumerate(rows)]
    if not table.in_memory:
        return run_together(table.data, members, plan.threads, plan.memory)
    results = run_each(members, plan.threads)
    table.data.n_passes += max(own.n_passes for own in rows)
    return results


def count_members(table: Table, plan: Plan, structures: Iterable[Structure]) -> tuple[list[NetworkMember], FloatArray]:
    """Members of one codec, all counted in one pass, and the class counts. A family that several have is counted once.

    Each member is a group of its own.
    """
    chosen = list(structures)
    families = list(dict.fromkeys(family for structure in chosen for family in structure.families))
    trees, class_counts = count_trees(table.data, families, plan.threads, plan.memory)
    tree_of = dict(zip(families, trees, strict=True))
    members = [
        NetworkMember(table.codec, [tree_of[family] for family in structure.families], structure, group=m)
        for m, structure in enumerate(chosen)
    ]
    return members, class_counts


class CountBudget:
    """Refuses the trees of members that are too large together, though each was not: as soon as they are."""

    def __init__(self, n_members: int, plan: Plan) -> None:
        self.n_members, self.memory, self.used, self.lock = n_members, plan.memory, 0, Lock()

    def take(self, trees: Sequence[CountedTree]) -> None:
        """One more member is counted."""
        with self.lock:
            self.used += sum(tree.nbytes for tree in trees)
        if self.used > self.memory:
            raise MemoryLimitError(
                f"the counts of {self.n_members} members take more than max_memory = {size_text(self.memory)}; use "
                "fewer members, lower k, or raise max_memory"
            )


def tree_bytes(families: Iterable[Family], arity: Sequence[int], n_classes: int, n_rows: int) -> int:
    """About the most memory that trees can take, before they are counted.

    A level has no more contexts than rows, nor than there are combinations of values.

    >>> tree_bytes([Family(0, (1,))], [2, 3], 2, 1000)
    2408
    """
    total = 0
    for family in families:
        nodes, total = 1, total + TREE_BYTES
        for branches in (n_classes, *(arity[p] for p in family.parents), 1):
            total += NODE_BYTES * nodes + CELL_BYTES * min(nodes * arity[family.child], n_rows)
            nodes = min(nodes * branches, n_rows)
    return total
