"""Learning, step by step: codec, codes, structure, counts; once for a model, and again for each part that tunes it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.data.codec import CategoryCodec, Codec
from countwise.data.coded import CodedBatch, CodedData, MemoryCodes, PickedRows, StreamCodes, encode_batch, joined
from countwise.data.discretise import Discretiser
from countwise.data.frequent import FrequentKeys, FrequentRows, count_frequent
from countwise.data.parts import Part, WithoutRows, deal
from countwise.data.schema import learn_schema
from countwise.data.shares import MUCH
from countwise.data.source import Source
from countwise.dtypes import AnyArray, FloatArray, code_dtype
from countwise.estimators.door import first_batch
from countwise.estimators.labels import check_classes
from countwise.infer.holdout import HeldRows
from countwise.infer.tuning import RowLoss, Tuning, tune, tune_weights
from countwise.smooth import HDP, Smoother
from countwise.structure import Structure
from countwise.tree.context import ContextTree, count_trees

if TYPE_CHECKING:
    from countwise.estimators.network import NetworkClassifier

N_PARTS = 2  # that tune in turn: 3 or 5 gave the same scores; one is enough where rows abound
FEWEST_ROWS = 10  # of a part, and outside it, as weights; with fewer the priors would decide alone


@dataclass(frozen=True)
class Plan:
    """The checked parameters of a fit."""

    smoother: Smoother
    discretiser: Discretiser
    categorical: Any
    threads: int
    memory: int
    seed: int
    tune: bool = False


@dataclass(frozen=True, eq=False)
class Learned:
    """What passes over the data have found; ``target`` codes the classes of a scan, None in memory."""

    codec: Codec
    target: CategoryCodec | None
    data: CodedData
    structure: Structure
    trees: list[ContextTree]
    class_counts: FloatArray
    rank_error: float
    attributes: dict[str, Any]  # that the estimator shows
    held: HeldRows | None


def learn(
    model: NetworkClassifier,
    source: Source,
    labels: AnyArray | None,
    plan: Plan,
    hold: bool = False,
    like: Learned | None = None,
) -> Learned:
    """All passes. ``hold`` keeps a sample of the rows.

    With ``like`` the source is a part of the rows of that: classes are the same, and counts that do not choose the
    structure are left out.
    """
    schema = learn_schema(source, plan.discretiser, plan.categorical, plan.threads)
    codec, target = schema.codec, schema.target if labels is None else None
    if like is not None:  # a part may leave a column without values, or a class without rows
        columns = tuple(
            other if own.arity == own.has_missing else own
            for own, other in zip(codec.columns, like.codec.columns, strict=True)
        )
        codec, target = Codec(columns, like.codec.classes), like.target
    elif labels is not None:
        codec = replace(codec, classes=labels)
    check_classes(codec.classes)
    data = coded_data(source, codec, target, schema.n_rows, plan.threads)
    structure = model._learn_structure(data, codec.names)
    if like is not None and not model._selects:  # the structure is all that a part is asked for
        return Learned(codec, target, data, structure, [], np.zeros(0), schema.rank_error, {}, None)
    held = HeldRows(data.n_rows, plan.seed) if hold else None
    trees, class_counts = count_trees(data, structure.families, plan.threads, plan.memory, held.watch if held else None)
    structure, trees, attributes = model._select(data, structure, trees, class_counts)
    return Learned(codec, target, data, structure, trees, class_counts, schema.rank_error, attributes, held)


def coded_data(source: Source, codec: Codec, target: CategoryCodec | None, n_rows: int, threads: int) -> CodedData:
    """The rows as codes: kept if they are in memory, made anew for each pass if not."""
    if target is None:
        return MemoryCodes(coded_memory(source, codec, threads), codec)
    return StreamCodes(source, codec, target, n_rows, threads)


def coded_memory(source: Source, codec: Codec, threads: int) -> CodedBatch:
    """A table in memory, whose target is class codes already, as one coded batch."""
    raw = first_batch(source).without_zero_weights()
    target = np.asarray(raw.target).astype(code_dtype(len(codec.classes)))
    return replace(encode_batch(raw, codec, None, threads), target=target)


class JudgedRows:
    """The distinct rows of a part and its share of those that come often, picked up while a pass goes by."""

    def __init__(self, part: Part, often: FrequentRows | None, n_parts: int) -> None:
        self.often, self.n_parts = often, n_parts
        self.own = PickedRows(part.positions)
        self.shared = PickedRows(np.zeros(0, np.int64) if often is None else often.positions)

    def watch(self, batch: CodedBatch) -> None:
        """Keep this batch's share."""
        self.own.watch(batch)
        self.shared.watch(batch)

    @property
    def batch(self) -> CodedBatch:
        """All of them."""
        found = [self.own.batch.distinct()] if self.own.parts else []
        if self.shared.parts:
            assert self.often is not None
            weights = self.often.weights / self.n_parts
            rows = replace(self.shared.batch, weights=weights, one_row=self.often.one_row)
            assert rows.target is not None
            found.append(rows.select(np.lexsort((rows.target, self.often.keys))))  # in whatever order they came
        return joined(found)


def tune_honestly(
    model: NetworkClassifier, source: Source, labels: AnyArray | None, learned: Learned, smoother: Smoother, plan: Plan
) -> Tuning | None:
    """What parts of the rows say about a network that was learned without them; None if there are too few rows.

    Rows that have chosen the parents or the cut points think too well of them. So cut points and structure are learned
    again without each part; counts and smoothing then take all rows, and the part, each row left out in turn, tunes.
    The few numbers are the same for all parts. Where parts are samples, every one has its share of what comes often:
    in one part it would be far too much, and where it is in none, nothing would speak for it.
    """
    assert isinstance(smoother, HDP)
    weight, limit = float(learned.class_counts.sum()), model.tune_rows
    is_whole = bool((learned.class_counts == np.floor(learned.class_counts)).all())
    size = max(weight, learned.data.n_rows) if is_whole else learned.data.n_rows  # other weights are no numbers of rows
    n_used = N_PARTS if size <= 10 * limit else 1
    n_parts = max(N_PARTS, math.ceil(n_used * size / limit))
    losses = []
    frequent = FrequentKeys() if n_parts > n_used else None  # else all rows are in a part that is used
    parts = deal(source, learned.codec, n_parts, n_used, plan.seed, frequent)
    often = None
    if frequent is not None:
        often = count_frequent(source, learned.codec, learned.target, plan.seed, frequent, MUCH / n_parts)
    learned.data.n_passes += 1 if frequent is None or not len(frequent.candidates) else 2
    for dealt in parts:
        part = dealt if often is None else dealt.select(~np.isin(dealt.keys, often.keys)).at_most(2 * limit)
        part_weight = part.weight + (0.0 if often is None else float(often.weights.sum()) / n_parts)
        if not FEWEST_ROWS <= part_weight <= weight - FEWEST_ROWS:
            continue
        rest = learn(model, WithoutRows(source, part.positions), labels, plan, like=learned)
        data = coded_data(source, rest.codec, learned.target, learned.data.n_rows, plan.threads)
        rows = JudgedRows(part, often, n_parts)
        trees, class_counts = count_trees(data, rest.structure.families, plan.threads, plan.memory, rows.watch)
        losses.append(RowLoss(trees, class_counts, smoother, data.arity, rows.batch, plan.threads))
        learned.data.n_passes += 1 + rest.data.n_passes + data.n_passes
    if not losses:
        return None
    return tune_weights(losses, len(learned.codec.columns)) if model._weighs else tune(losses)
