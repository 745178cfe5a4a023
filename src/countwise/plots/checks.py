"""What all Displays check when they are made: numbers, their shapes, and names.

Missing values are NaN or None; every Display says what it leaves out for them. Arrays are copied and locked: a
picture drawn later shows the numbers that were given.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError


def keep(display: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass while it is being made, and lock those that are arrays."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(display, name, value)


def numbers(name: str, values: Any, n_dim: int) -> FloatArray:
    """A locked copy as floats of ``n_dim`` dimensions; infinities are refused.

    >>> numbers("x", [1, None], 1)
    array([ 1., nan])
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: numbers in rows of equal length are needed ({error})") from None
    if array.ndim != n_dim:
        kind = {1: "a row of numbers", 2: "a table of numbers"}.get(n_dim, f"an array of {n_dim} dimensions")
        raise DataError(f"{name}: {kind} is needed; shape {array.shape}")
    if array.size == 0:
        raise DataError(f"{name}: there is no number in it")
    if np.isinf(array).any():
        place = tuple(int(i) for i in np.argwhere(np.isinf(array))[0])
        raise DataError(f"{name}: the value at {place} is infinite; give NaN to leave it out")
    array.setflags(write=False)
    return array


def model_table(name: str, values: Any, names: tuple[str, ...], n_columns: int, columns: str) -> FloatArray:
    """A table with one row for each model and at least one value in every row; one model's may be a plain row.

    >>> model_table("mean", [0.3, 0.2], ("hdp",), 2, "sizes")
    array([[0.3, 0.2]])
    """
    flat = numbers(name, [values] if len(names) == 1 and np.ndim(values) == 1 else values, 2)
    if flat.shape != (len(names), n_columns):
        raise DataError(f"{name}: shape {flat.shape}, but {len(names)} names and {n_columns} {columns}")
    empty = np.isnan(flat).all(axis=1)
    if empty.any():
        raise DataError(f"{name}: all values of {names[int(empty.argmax())]!r} are missing; leave it out")
    return flat


def model_names(name: str, values: Any) -> tuple[str, ...]:
    """Names that differ, as a legend needs them.

    >>> model_names("names", ["nb", "tan"])
    ('nb', 'tan')
    """
    names = texts(name, values)
    twice = [text for i, text in enumerate(names) if text in names[:i]]
    if twice:
        raise DataError(f"{name}: {twice[0]!r} is given twice; give every one a name of its own")
    return names


def texts(name: str, values: Any, n: int | None = None, of: str = "values") -> tuple[str, ...]:
    """A sequence of texts, ``n`` of them if given."""
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        raise DataError(f"{name}: a list of texts is needed, not {type(values).__name__}")
    if n is not None and len(values) != n:
        raise DataError(f"{name}: {len(values)} texts for {n} {of}")
    if not len(values):
        raise DataError(f"{name}: the list is empty")
    return tuple(map(str, values))


def positive(name: str, values: FloatArray, labels: Sequence[str] | None, way_out: str) -> None:
    """Refuse what a logarithmic axis cannot show."""
    wrong = values <= 0.0  # NaN is not
    if wrong.any():
        place = int(np.flatnonzero(wrong.ravel())[0])
        whose = f" of {labels[place % len(labels)]!r}" if labels is not None else f" at {place}"
        raise DataError(f"{name}: the value{whose} is {values.ravel()[place]:g}; {way_out}")


def choice(name: str, value: str, possible: Sequence[str]) -> None:
    """Refuse a word that is none of the possible ones."""
    if value not in possible:
        raise DataError(f"{name}={value!r} is not known; there are {', '.join(map(repr, possible))}")
