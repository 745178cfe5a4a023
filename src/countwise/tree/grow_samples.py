"""Growth of many trees from more rows than memory holds: each from a sample that fits, counted from all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from countwise.data.coded import CodedBatch
from countwise.data.sample import sample_apart
from countwise.errors import MemoryLimitError, size_text
from countwise.parallel import thread_map
from countwise.tree.ends import count_ends, with_counts
from countwise.tree.growth import Growth
from countwise.tree.splits import SplitTree

SAMPLES_AT_ONCE = 2  # that share a pass and the memory: more would be smaller, and trees are worth what they have seen
FEWEST_ROWS = 100  # of a sample; a tree of fewer would tell next to nothing


def sample_size(growth: Growth) -> int:
    """Rows of the sample of each tree."""
    limit = growth.sample_limit(SAMPLES_AT_ONCE)
    if limit < FEWEST_ROWS:
        assert growth.max_memory is not None
        raise MemoryLimitError(
            f"max_memory = {size_text(growth.max_memory)} holds samples of {limit} rows to grow trees from, fewer than "
            f"{FEWEST_ROWS}; use fewer columns, or raise max_memory"
        )
    return limit


def grow_from_samples(
    growth: Growth, seeds: Sequence[int], grow_one: Callable[[CodedBatch, int], SplitTree]
) -> list[SplitTree]:
    """A tree for each seed, ``grow_one(rows, t)`` from its own sample of the distinct rows, counted from all rows.

    A sample depends on the seed and on what rows hold, not on their order, batches or repetitions. The rows of some
    samples are collected in one pass; a last one counts all rows in all trees. Every leaf has rows then: those
    of its sample. A row with a category that its node did not meet in the sample comes to no leaf, and is left out of
    that tree.
    """
    limit = sample_size(growth)
    trees: list[SplitTree] = []
    for start in range(0, len(seeds), SAMPLES_AT_ONCE):
        samples = sample_apart(growth.data, limit, seeds[start : start + SAMPLES_AT_ONCE], growth.threads)
        jobs = [(sample, start + s) for s, sample in enumerate(samples)]
        trees += thread_map(lambda job: grow_one(*job), jobs, growth.threads)
    ends = count_ends(growth.data, [tree.splits for tree in trees], growth.codec, growth.threads)
    return with_counts(trees, ends)
