"""Count trees of any shape, from the counts of their leaves."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from countwise.tree.count_tree import CountTree


@dataclass(frozen=True)
class Leaves:
    """{path: [count of every value]}: paths of branch numbers from the root, none a part of another."""

    counts: dict[tuple[int, ...], tuple[float, ...]]
    arity: int

    @property
    def nodes(self):
        """{path: counts} of every node, in level order with siblings by branch; the root alone if there are no rows."""
        total = {(): np.zeros(self.arity)}
        for path, counts in self.counts.items():
            for depth in range(len(path) + 1):
                total[path[:depth]] = total.get(path[:depth], 0.0) + np.array(counts, float)
        return {path: total[path] for path in sorted(total, key=lambda path: (len(path), path))}

    @property
    def tree(self):
        nodes = self.nodes
        number = {path: i for i, path in enumerate(nodes)}
        depths = [len(path) for path in nodes]
        counts = np.array(list(nodes.values()))
        node, value = np.nonzero(counts)
        return CountTree(
            parent=np.array([number[path[:-1]] if path else -1 for path in nodes], np.int32),
            level_ptr=np.searchsorted(depths, np.arange(max(depths) + 2)).astype(np.int64),
            cell_ptr=np.searchsorted(node, np.arange(len(nodes) + 1)).astype(np.int64),
            cell_value=value.astype(np.int32),
            cell_count=counts[node, value],
            arity=self.arity,
        )

    @property
    def leaf_positions(self):
        """Node numbers of the leaves, and their counts, one row each."""
        number = {path: i for i, path in enumerate(self.nodes)}
        return [number[path] for path in self.counts], np.array(list(self.counts.values()), float)

    def scaled(self, factor):
        return Leaves({path: tuple(factor * n for n in counts) for path, counts in self.counts.items()}, self.arity)

    def with_values(self, order):
        """Value ``order[k]`` takes the place of value k."""
        return Leaves({path: tuple(np.array(n)[order]) for path, n in self.counts.items()}, self.arity)

    def mirrored(self):
        """Siblings in the opposite order, and where each node has gone."""
        nodes = list(self.nodes)
        moved = Leaves({tuple(-b for b in path): n for path, n in self.counts.items()}, self.arity)
        there = {path: i for i, path in enumerate(moved.nodes)}
        return moved, [there[tuple(-b for b in path)] for path in nodes]


@st.composite
def leaves(draw, max_arity=12, max_levels=4, max_children=3):
    """Ragged trees of 1 to ``max_levels`` levels; counts are whole numbers, eighths or any weights."""
    arity = draw(st.integers(1, max_arity))
    numbers = draw(
        st.sampled_from(
            [
                st.integers(0, 30).map(float),
                st.integers(0, 3).map(float),
                st.integers(0, 80).map(lambda eighths: eighths / 8),
                st.one_of(st.just(0.0), st.floats(0.01, 1000.0)),
            ]
        )
    )
    vector = st.lists(numbers, min_size=arity, max_size=arity).filter(any).map(tuple)
    counts = {}

    def grow(path):
        if len(path) + 1 < max_levels and draw(st.integers(0, 2)):  # two of three nodes have children
            for branch in range(draw(st.integers(1, max_children))):
                grow((*path, branch))
        else:
            counts[path] = draw(vector)

    grow(())
    return Leaves(counts, arity)
