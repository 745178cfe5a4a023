"""Passes over the data, for one model or for many at once.

Learning is written as *steps*: a generator that yields a counter when it wants a pass, goes on when the counter has
seen all rows, and returns what it has learned. So a model need not know who else looks at the batches:
:func:`run` makes the passes of one, :func:`run_together` those of many, which then cost no more passes than one.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np

from countwise.data.coarse import Coarsening
from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch, CodedData
from countwise.errors import size_text
from countwise.parallel import thread_map

Result = TypeVar("Result")


class Counter(Protocol):
    """What a pass adds up."""

    label: str  # what the pass is for, where progress is shown

    def add(self, batch: CodedBatch, threads: int) -> None:
        """Add some rows."""

    def clear(self) -> None:
        """As if there had been no rows, to begin again in a later pass."""

    @property
    def nbytes(self) -> int:
        """Memory of what is held."""


Steps = Generator[Counter, None, Result]


def run(data: CodedData, steps: Steps[Result], threads: int) -> Result:
    """The passes of one model."""
    while True:
        try:
            counter = next(steps)
        except StopIteration as done:
            return done.value
        for batch in data.batches(counter.label):
            counter.add(batch, threads)


class MemberData(CodedData):
    """The rows as one member of an ensemble sees them: in codes of its own, some perhaps more often than others.

    ``times`` says how often each row counts, by its position; None is once.
    """

    def __init__(self, data: CodedData, codec: Codec, coarsening: Coarsening, times: np.ndarray | None = None) -> None:
        n_rows = data.n_rows if times is None else int(np.count_nonzero(times))
        super().__init__(codec, n_rows, data.weighted or times is not None)
        self.data, self.coarsening, self.times = data, coarsening, times

    def view(self, batch: CodedBatch, first_row: int) -> CodedBatch:
        """A batch of the data that begins with this row."""
        batch = self.coarsening.recode(batch)
        if self.times is None:
            return batch
        times = self.times[first_row : first_row + batch.n_rows]
        weights = times.astype(np.float64) if batch.weights is None else batch.weights * times
        drawn = CodedBatch(batch.codes, batch.target, weights, batch.n_rows)
        return drawn.select(np.flatnonzero(times))

    def _read(self) -> Iterator[CodedBatch]:
        first_row = 0
        for batch in self.data._read():
            yield self.view(batch, first_row)
            first_row += batch.n_rows


def run_each(members: Sequence[tuple[MemberData, Steps[Result]]], threads: int) -> list[Result]:
    """Members one after the other, several at a time: for data in memory, where a pass costs no reading.

    Their results do not depend on each other, nor on the threads.
    """
    return thread_map(lambda member: run(*member, threads=1), members, threads)


def run_together(
    data: CodedData, members: Sequence[tuple[MemberData, Steps[Result]]], threads: int, max_memory: int
) -> list[Result]:
    """Each batch is read once and shown to all members.

    Where their counters pass ``max_memory`` bytes together, the last of them wait for another pass, which is announced.
    One that passes it alone refuses by itself.
    """
    results: dict[int, Result] = {}
    counters: dict[int, Counter] = {}

    def go_on(i: int) -> None:
        try:
            counters[i] = next(members[i][1])
        except StopIteration as done:
            counters.pop(i, None)
            results[i] = done.value

    thread_map(go_on, range(len(members)), threads)
    while counters:
        seen = _one_pass(data, members, dict(sorted(counters.items())), threads, max_memory)
        thread_map(go_on, seen, threads)
    return [results[i] for i in range(len(members))]


def _one_pass(
    data: CodedData,
    members: Sequence[tuple[MemberData, Steps[Result]]],
    counters: dict[int, Counter],
    threads: int,
    max_memory: int,
) -> list[int]:
    """The members that have seen all rows; there is one at least."""
    group = list(counters)
    _shrink(group, counters, max_memory)
    label, first_row = counters[group[0]].label, 0
    for batch in data.batches(label):
        inner = max(threads // len(group), 1)

        def add(i: int, batch: CodedBatch = batch, first_row: int = first_row, inner: int = inner) -> None:
            counters[i].add(members[i][0].view(batch, first_row), inner)

        thread_map(add, group, threads)
        first_row += batch.n_rows
        _shrink(group, counters, max_memory)
    return group


def _shrink(group: list[int], counters: dict[int, Counter], max_memory: int) -> None:
    """Leave out the last members until the counters fit."""
    n_members = len(group)
    while len(group) > 1 and sum(counters[i].nbytes for i in group) > max_memory:
        counters[group.pop()].clear()
    if len(group) < n_members:
        warnings.warn(
            f"the counts of {n_members} members need more passes over the data to stay within max_memory = "
            f"{size_text(max_memory)}",
            ResourceWarning,
            stacklevel=2,
        )
