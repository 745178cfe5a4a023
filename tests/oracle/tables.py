"""Small coded tables: what the oracles count row by row and the library counts in batches."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from countwise.data.coded import CodedBatch, CodedData
from countwise.dtypes import code_dtype

many = settings(max_examples=40, deadline=None)


@dataclass(frozen=True, eq=False)
class Table:
    """Codes ``X`` (rows x columns), classes ``y``, weights or None; code ``arity[i]`` is *unseen*."""

    X: np.ndarray
    y: np.ndarray
    arity: list[int]
    n_classes: int
    weights: np.ndarray | None = None
    one_row: np.ndarray | None = None  # what each row loses when it is left out, if not by the rule below

    @property
    def n_rows(self):
        return len(self.y)

    @property
    def rows(self):
        """Plain Python: (codes, class, weight) of every row."""
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        return list(zip(map(tuple, self.X.tolist()), self.y.tolist(), weights.tolist(), strict=True))

    def take(self, rows):
        weights = None if self.weights is None else self.weights[rows]
        return Table(self.X[rows], self.y[rows], self.arity, self.n_classes, weights)

    @property
    def left_out(self):
        """What each row loses when it is left out: one of its copies where weights are whole, else all of it."""
        if self.one_row is not None:
            return self.one_row
        if self.weights is None or (self.weights == np.floor(self.weights)).all():
            return np.ones(self.n_rows)
        return self.weights

    def without(self, r):
        """The weights of all rows without (one copy of) row r."""
        weights = np.ones(self.n_rows) if self.weights is None else self.weights.copy()
        weights[r] -= self.left_out[r]
        return weights

    def repeated(self):
        """Integer weights written out as repetitions."""
        times = self.weights.astype(int)
        return Table(np.repeat(self.X, times, axis=0), np.repeat(self.y, times), self.arity, self.n_classes)

    def batch(self, dtype=None):
        codes = [
            np.ascontiguousarray(self.X[:, i]).astype(dtype or code_dtype(values))
            for i, values in enumerate(self.arity)
        ]
        return CodedBatch(codes, self.y.astype(code_dtype(self.n_classes)), self.weights, self.n_rows)

    def judged(self, rows=slice(None)):
        """Some rows as one batch that knows what each loses when it is left out of the whole table."""
        return replace(self.take(rows).batch(), one_row=self.left_out[rows])

    def data(self, size=None, dtype=None):
        """The table as coded data in batches of ``size`` rows, or in one."""
        return Batches(self, size or max(1, self.n_rows), dtype)


class Batches(CodedData):
    def __init__(self, table, size, dtype=None):
        names = [f"x{i}" for i in range(len(table.arity))]
        codec = SimpleNamespace(arity=table.arity, names=names, classes=range(table.n_classes))
        super().__init__(codec, table.n_rows, table.weights is not None)
        self.parts = [
            table.take(slice(start, start + size)).batch(dtype) for start in range(0, max(1, table.n_rows), size)
        ]

    def _read(self):
        return iter(self.parts)


def weight_by_row(batch):
    """{(codes, class): weight} of a batch, equal rows as one."""
    weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
    found = {}
    for *row, weight in zip(*(column.tolist() for column in batch.codes), batch.target.tolist(), weights, strict=True):
        found[tuple(row)] = found.get(tuple(row), 0.0) + float(weight)
    return found


def random_table(seed, n_rows, arity, n_classes=3, weights=None):
    """Uniform codes; ``weights`` None, "integer" or "eighths" (sums of eighths are exact)."""
    rng = np.random.default_rng(seed)
    X = np.stack([rng.integers(values, size=n_rows) for values in arity], axis=1)
    w = {None: None, "integer": rng.integers(1, 4, n_rows) * 1.0, "eighths": rng.integers(1, 20, n_rows) / 8}[weights]
    return Table(X, rng.integers(n_classes, size=n_rows), list(arity), n_classes, w)


def dependent_table(seed, n_rows, n_columns, arity=3, n_classes=2, noise=0.4):
    """Columns that copy the class or an earlier column more often than not, so that structures differ in worth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    columns = []
    for i in range(n_columns):
        origin = y if i == 0 else [y, columns[-1], columns[rng.integers(i)]][rng.integers(3)]
        random = rng.integers(arity, size=n_rows)
        columns.append(np.where(rng.random(n_rows) < noise, random, origin % arity))
    return Table(np.stack(columns, axis=1), y, [arity] * n_columns, n_classes)


@st.composite
def tables(draw, min_rows=1, max_rows=25, min_columns=1, max_columns=4, max_arity=4, max_classes=3, weights="any"):
    """Any small table; weights are eighths, integers or none."""
    n_rows = draw(st.integers(min_rows, max_rows))
    arity = draw(st.lists(st.integers(1, max_arity), min_size=min_columns, max_size=max_columns))
    n_classes = draw(st.integers(2, max_classes))
    columns = [draw(arrays(np.int64, n_rows, elements=st.integers(0, values - 1))) for values in arity]
    y = draw(arrays(np.int64, n_rows, elements=st.integers(0, n_classes - 1)))
    kind = draw(st.sampled_from(["none", "integer", "eighths"])) if weights == "any" else weights
    unit = {"none": None, "integer": 1.0, "eighths": 0.125}[kind]
    w = None if unit is None else draw(arrays(np.int64, n_rows, elements=st.integers(1, 20))) * unit
    return Table(np.stack(columns, axis=1), y, arity, n_classes, w)
