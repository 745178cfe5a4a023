"""One codec fine enough for several: members of an ensemble have cut points of their own and read the same table.

The fine codec has the cut points of all of them, so that rows are coded once; each member's codes are then a map of
the fine ones, column by column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from countwise import _kernels
from countwise.data.codec import CategoryCodec, Codec, ColumnCodec, NumberCodec
from countwise.data.coded import THREADED_ROWS, CodedBatch
from countwise.dtypes import CodeArray, code_dtype
from countwise.errors import DataError
from countwise.parallel import thread_map


def joined_codec(codecs: Sequence[Codec]) -> Codec:
    """The codec whose cut points are those of all; names, kinds, categories and classes must be the same.

    A value is *missing* for it where one of them has met a missing value.
    """
    first = codecs[0]
    for other in codecs[1:]:
        if other.names != first.names or not np.array_equal(other.classes, first.classes):
            raise DataError("the codecs are not of the same columns and classes")
    return Codec(tuple(_joined(columns) for columns in zip(*(c.columns for c in codecs), strict=True)), first.classes)


def _joined(columns: Sequence[ColumnCodec]) -> ColumnCodec:
    first, has_missing = columns[0], any(column.has_missing for column in columns)
    numbers = [column for column in columns if isinstance(column, NumberCodec)]
    if isinstance(first, CategoryCodec):
        if numbers or not all(column.categories.equals(first.categories) for column in columns):  # type: ignore[union-attr]
            raise DataError(f"column {first.name!r} has different categories in the codecs to join")
        return replace(first, has_missing=has_missing)
    filled = [column for column in numbers if column.n_bins]
    if len(numbers) < len(columns) or len({column.measure for column in filled}) > 1:
        raise DataError(f"column {first.name!r} is not of the same kind in the codecs to join")
    if not filled:
        return replace(first, has_missing=has_missing)
    cuts = np.unique(np.concatenate([column.cuts for column in filled]))
    return NumberCodec(first.name, cuts, len(cuts) + 1, has_missing, filled[0].measure)


@dataclass(frozen=True, eq=False)
class Coarsening:
    """How codes of a fine codec become those of a coarser one.

    ``maps[i][code]`` is the new code of column i, *unseen* included; None where the column stays as it is. ``arity``
    is that of the coarser codec.
    """

    maps: tuple[CodeArray | None, ...]
    arity: tuple[int, ...]

    def recode(self, batch: CodedBatch, threads: int = 1) -> CodedBatch:
        """The same rows in coarser codes."""
        if all(map is None for map in self.maps):
            return batch
        if batch.n_rows < THREADED_ROWS:
            threads = 1
        return replace(batch, codes=thread_map(_recoded, zip(batch.codes, self.maps, strict=True), threads))


def _recoded(column: tuple[CodeArray, CodeArray | None]) -> CodeArray:
    codes, map = column
    if map is None:
        return codes
    out = np.empty(len(codes), map.dtype)
    _kernels.recode(codes, map, out)
    return out


def coarsening(fine: Codec, own: Codec) -> Coarsening:
    """From a codec of :func:`joined_codec` to one of those that it joins."""
    maps = tuple(_map(a, b) for a, b in zip(fine.columns, own.columns, strict=True))
    return Coarsening(maps, tuple(own.arity))


def _map(fine: ColumnCodec, own: ColumnCodec) -> CodeArray | None:
    n_values, own_values = fine.arity - fine.has_missing, own.arity - own.has_missing
    if isinstance(fine, NumberCodec) and isinstance(own, NumberCodec):
        # Bin b is (cuts[b - 1], cuts[b]]: its values are above the own cuts up to cuts[b - 1].
        values = np.searchsorted(own.cuts, fine.cuts, side="right")
        values = np.concatenate([[0], values])[:n_values] if own_values else np.full(n_values, own.arity)
    elif own.arity == fine.arity:  # the same categories
        return None
    else:
        values = np.arange(n_values)
    # A column that met no missing value has one code for missing and unseen, in both codecs.
    code_of = np.concatenate([values, [own_values] * fine.has_missing, [own.arity]])
    if own.arity == fine.arity and np.array_equal(code_of, np.arange(fine.arity + 1)):
        return None
    return code_of.astype(code_dtype(own.arity))
