"""Which of very many keys are frequent, in memory for a few: the summary of Misra and Gries (1982), in batches."""

from __future__ import annotations

import numpy as np

from countwise.dtypes import AnyArray, FloatArray

FREQUENT = 4000  # a key that has more than one so-many-th of all weight is


class FrequentKeys:
    """Finds every frequent key in one pass, and some others; a second pass can tell.

    It has up to ``2 * FREQUENT`` counts. Where there are more, all lose as much as the next largest has: no count is
    off by more than the sum of what was lost, half of what makes a key frequent.
    """

    def __init__(self) -> None:
        self.keys, self.counts = np.zeros(0, np.uint64), np.zeros(0)
        self.lost = self.total = 0.0

    def add(self, keys: AnyArray, weights: FloatArray | None) -> None:
        """Some keys more."""
        found, place = np.unique(np.concatenate([self.keys, keys]), return_inverse=True)
        own = np.ones(len(keys)) if weights is None else weights
        counts = np.bincount(place, np.concatenate([self.counts, own])).astype(np.float64)
        self.total += float(own.sum())
        if len(found) > 2 * FREQUENT:
            cut = np.partition(counts, -2 * FREQUENT - 1)[-2 * FREQUENT - 1]
            self.lost += float(cut)
            counts = counts - cut
            found, counts = found[counts > 0], counts[counts > 0]
        self.keys, self.counts = found, counts

    @property
    def least(self) -> float:
        """The weight above which a key is frequent."""
        return self.total / FREQUENT

    @property
    def candidates(self) -> AnyArray:
        """Keys that may be frequent, ascending; no other is."""
        return self.keys[self.counts + self.lost > self.least]
