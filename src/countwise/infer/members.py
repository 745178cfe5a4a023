"""The members of an ensemble: what each holds of the data, and how it becomes a compiled model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from countwise.data.codec import Codec
from countwise.data.coded import CodedBatch
from countwise.dtypes import FloatArray
from countwise.infer.forest import Forest, ForestSpread
from countwise.infer.interval import Spread
from countwise.infer.network import Network, Parameters, smooth_network
from countwise.infer.tuning import Tuning
from countwise.smooth import Smoothed, Smoother
from countwise.structure import Structure
from countwise.tree.context import ContextTree, Family, build_trees
from countwise.tree.count_tree import CountedTree
from countwise.tree.ends import EndCounter, with_counts
from countwise.tree.splits import SplitTree, number_values


class Scorer(Protocol):
    """A compiled member; ``intercept`` are the scores of no evidence."""

    intercept: FloatArray

    def scores(self, batch: CodedBatch) -> FloatArray:
        """What P(y | x) is the softmax of, rows x classes."""

    def contributions(self, batch: CodedBatch) -> FloatArray:
        """What each attribute adds to the scores, rows x columns x classes."""


class Distances(Protocol):
    """What gives intervals for the scores of a member."""

    def distances(self, batch: CodedBatch, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The scores, and how far up and down their limits are: three times rows x classes."""


@dataclass(frozen=True, eq=False)
class Member(ABC):
    """One model of an ensemble: how it reads a table, its counts, and its say.

    ``codec`` has the columns and classes of the ensemble's, with cut points that are among those of the ensemble's.
    """

    codec: Codec
    trees: Sequence[CountedTree]
    tuning: Tuning | None = field(default=None, kw_only=True)
    group: int = field(default=0, kw_only=True)
    weight: float = field(default=1.0, kw_only=True)

    @abstractmethod
    def counted(self, batch: CodedBatch, n_classes: int, threads: int, done: dict[Family, ContextTree]) -> Self:
        """The same with the counts of these rows, in its codes. ``done`` are trees of members of the same codec."""

    def smoothed(
        self,
        class_counts: FloatArray,
        smoother: Smoother,
        seed: int,
        threads: int,
        done: dict[int, Smoothed],
        row_weight: FloatArray | None,
    ) -> Parameters:
        """The smoothed trees; ``done`` and ``row_weight`` as in :func:`smooth_network`."""
        return smooth_network(self.trees, class_counts, smoother, seed, threads, self.tuning, done, row_weight)

    @abstractmethod
    def compiled(self, parameters: Parameters, threads: int) -> Scorer:
        """What predicts."""

    @abstractmethod
    def spread(self, scorer: Scorer, parameters: Parameters, prior_precision: float, threads: int) -> Distances:
        """What gives intervals; ``scorer`` as made by :meth:`compiled`."""

    def same_shape(self, other: Member) -> bool:
        """Whether the counts of both can be added."""
        alike = type(self) is type(other) and self.codec.same_as(other.codec)
        return alike and (self.group, self.weight) == (other.group, other.weight)


@dataclass(frozen=True, eq=False)
class NetworkMember(Member):
    """A network."""

    trees: Sequence[ContextTree]
    structure: Structure

    def counted(
        self, batch: CodedBatch, n_classes: int, threads: int, done: dict[Family, ContextTree]
    ) -> NetworkMember:
        """A tree for each attribute."""
        families = self.structure.families
        new = [family for family in families if family not in done]
        done |= zip(new, build_trees(batch, new, self.codec.arity, n_classes, threads), strict=True)
        return replace(self, trees=[done[family] for family in families])

    def compiled(self, parameters: Parameters, threads: int) -> Network:
        """Look-up tables."""
        return Network(self.trees, parameters, self.codec.arity, threads)

    def spread(self, scorer: Scorer, parameters: Parameters, prior_precision: float, threads: int) -> Spread:
        """Look-up tables of precisions."""
        assert isinstance(scorer, Network)
        return Spread(scorer, self.trees, parameters, prior_precision, threads)

    def same_shape(self, other: Member) -> bool:
        """Of the same structure too."""
        return super().same_shape(other) and isinstance(other, NetworkMember) and self.structure == other.structure


@dataclass(frozen=True, eq=False)
class ForestMember(Member):
    """Grown trees, whose evidence is added up; the weights of ``tuning`` are by tree."""

    trees: Sequence[SplitTree]

    def counted(self, batch: CodedBatch, n_classes: int, threads: int, done: dict[Family, ContextTree]) -> ForestMember:
        """The same splits."""
        counter = EndCounter([tree.splits for tree in self.trees], self.codec)
        counter.add(batch, threads)
        return replace(self, trees=with_counts(self.trees, counter.ends))

    def compiled(self, parameters: Parameters, threads: int) -> Forest:
        """Tables of the nodes' probabilities."""
        return Forest(self.trees, parameters, number_values(self.codec), threads)

    def spread(self, scorer: Scorer, parameters: Parameters, prior_precision: float, threads: int) -> ForestSpread:
        """By the precisions of the nodes."""
        assert isinstance(scorer, Forest)
        return ForestSpread(scorer, prior_precision)

    def same_shape(self, other: Member) -> bool:
        """Of the same splits too."""
        if not (super().same_shape(other) and isinstance(other, ForestMember) and len(self.trees) == len(other.trees)):
            return False
        return all(a.splits.same_as(b.splits) for a, b in zip(self.trees, other.trees, strict=True))
