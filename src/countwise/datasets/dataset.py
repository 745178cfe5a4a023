"""A named table with its class labels: what every loader and generator returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from countwise.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

LabelArray = npt.NDArray[np.str_]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Attributes ``X`` and class labels ``y`` of one classification problem.

    Unpacking gives the two things that ``fit`` wants, ``X, y = dataset``; everything else is an attribute.

    Parameters
    ----------
    name : str
        Short name, as in the literature.
    X : pyarrow.Table
        One column per attribute: categories as dictionary-encoded strings, numbers as integers or floats,
        missing values as nulls.
    y : ndarray of str, shape (n_rows,)
        Class labels.
    target : str
        The name of what ``y`` holds; no column of ``X`` has it.
    description : str
        What the data are, and their source.

    Examples
    --------
    >>> from countwise.datasets import load_balance_scale
    >>> dataset = load_balance_scale()
    >>> dataset
    balance-scale: 625 rows, 4 attributes, 3 classes
    >>> X, y = dataset
    >>> X.shape, y.shape
    ((625, 4), (625,))

    """

    name: str
    X: pa.Table
    y: LabelArray
    target: str = "class"
    description: str = ""

    def __post_init__(self) -> None:
        if self.y.ndim != 1 or self.y.dtype.kind != "U":
            raise DataError(f"data set {self.name!r}: y must be a 1-D array of str, got {self.y.dtype}")
        if self.X.num_columns and self.X.num_rows != len(self.y):
            raise DataError(f"data set {self.name!r}: X has {self.X.num_rows:,} rows, y has {len(self.y):,}")
        if self.target in self.X.column_names:
            raise DataError(f"data set {self.name!r}: X has a column named as the target, {self.target!r}")

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.y)

    @property
    def attributes(self) -> list[str]:
        """The attributes' names, in the order of the columns."""
        return list(self.X.column_names)

    def class_counts(self) -> dict[str, int]:
        """How many rows each class has, by label.

        >>> from countwise.datasets import load_balance_scale
        >>> load_balance_scale().class_counts()
        {'B': 49, 'L': 288, 'R': 288}
        """
        labels, counts = np.unique(self.y, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    def to_arrow(self) -> pa.Table:
        """One table: the attributes, then the target as the last column.

        >>> from countwise.datasets import load_balance_scale
        >>> load_balance_scale().to_arrow().column_names[-2:]
        ['Right-Distance', 'class']
        """
        import pyarrow as pa

        return self.X.append_column(pa.field(self.target, pa.string()), pa.array(self.y, pa.string()))

    def to_pandas(self) -> tuple[Any, Any]:
        """``X`` as a ``pandas.DataFrame`` (categories stay categories) and ``y`` as a ``pandas.Series``."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "Dataset.to_pandas needs pandas: install it (pip install pandas) or use Dataset.to_arrow"
            ) from error
        return self.X.to_pandas(), pd.Series(self.y, name=self.target)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        counts = (
            (self.n_rows, "row", "rows"),
            (self.X.num_columns, "attribute", "attributes"),
            (len(np.unique(self.y)), "class", "classes"),
        )
        return f"{self.name}: " + ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in counts)


def categories(codes: npt.NDArray[Any], values: Sequence[str]) -> pa.DictionaryArray:
    """A dictionary-encoded column: row ``r`` holds ``values[codes[r]]``.

    >>> categories(np.array([1, 0, 1]), ["no", "yes"]).to_pylist()
    ['yes', 'no', 'yes']
    """
    import pyarrow as pa

    index_type = next(t for t in (np.int8, np.int16, np.int32) if len(values) - 1 <= np.iinfo(t).max)
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(index_type)), pa.array(values, pa.string()))


def table(columns: Mapping[str, Any]) -> pa.Table:
    """A table of named columns (Arrow or NumPy arrays)."""
    import pyarrow as pa

    return pa.table(dict(columns))
