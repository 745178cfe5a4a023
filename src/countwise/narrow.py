"""Arrays in as few bytes as they need: counts, codes and offsets for files and pickles.

>>> stored, start = narrowed(np.array([0, 2, 2, 5]))
>>> stored, start
(array([0, 2, 0, 3], dtype=uint8), 0)
>>> widened(stored, start, np.dtype(np.int64))
array([0, 2, 2, 5])
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from countwise.dtypes import AnyArray

NARROW = ("|u1", "<u2", "<u4")  # what whole numbers are stored as, if they fit


def narrowed(array: AnyArray) -> tuple[AnyArray, int | None]:
    """Whole numbers of a vector in the narrowest type; of integers that never fall the steps, and where they start."""
    start, kind = None, array.dtype.kind
    if not len(array) or kind not in "if":
        return array, None
    if kind == "i" and bool((array[1:] >= array[:-1]).all()):
        array, start = np.diff(array, prepend=array[:1]), int(array[0])
    elif kind == "f" and not bool((np.isfinite(array) & (array == np.floor(array)) & ~np.signbit(array)).all()):
        return array, None
    least, most = array.min(), array.max()
    for name in NARROW:
        if np.dtype(name).itemsize < array.itemsize and least >= 0 and most <= np.iinfo(name).max:
            return array.astype(name), start
    return array, start


def widened(stored: AnyArray, start: int | None, dtype: npt.DTypeLike) -> AnyArray:
    """What was narrowed: an array of its own, of the type that it had, in the machine's byte order."""
    array = stored if start is None else np.cumsum(stored, dtype=np.int64) + start
    return array.astype(np.dtype(dtype).newbyteorder("="))


class Narrow(NamedTuple):
    """An array that was narrowed, with what :func:`widened` needs."""

    stored: AnyArray
    start: int | None
    dtype: str


class NarrowPickles:
    """Base of dataclasses with large vectors: pickles and copies take few bytes, and leave out what is cached."""

    def __getstate__(self) -> dict[str, Any]:
        state = {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}
        return {name: _narrow(value) if isinstance(value, np.ndarray) else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            self.__dict__[name] = widened(*value) if isinstance(value, Narrow) else value


def _narrow(array: AnyArray) -> Narrow:
    return Narrow(*narrowed(array), array.dtype.str)
