"""Random Bayesian network classifiers: data of any size whose true class probabilities are known."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from countwise.datasets.dataset import Dataset, categories, table
from countwise.datasets.synthetic import check_n_rows
from countwise.dtypes import FloatArray, code_dtype
from countwise.errors import DataError, MemoryLimitError

MAX_TABLE_CELLS: Final = 10**8  # 800 MB of float64, all tables together
SMALLEST_PROBA: Final = 1e-12  # no cell is zero, so that every row has a posterior


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network in which the class is a parent of every attribute.

    ``P(y, x) = P(y) * prod_i P(x_i | y, x_parents[i])``. Parents come before their children.

    Parameters
    ----------
    class_prior : ndarray of float, shape (n_classes,)
        ``P(y)``.
    parents : tuple of tuples of int
        The attributes, besides the class, on which each attribute depends.
    tables : tuple of ndarrays
        ``tables[i]`` has the shape ``(n_classes, arity of parent 1, ..., arity of attribute i)``; its
        last axis adds up to one.

    Examples
    --------
    >>> network = random_network(n_attributes=3, arity=2, n_parents=1, random_state=0)
    >>> network.arities, network.parents
    ((2, 2, 2), ((), (0,), (1,)))
    >>> codes, label = network.sample_codes(5, random_state=0)
    >>> codes.shape, label.shape, network.class_proba(codes).shape
    ((5, 3), (5,), (5, 2))

    """

    class_prior: FloatArray
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[FloatArray, ...]

    @property
    def n_classes(self) -> int:
        """How many classes there are; their labels are ``"0"``, ``"1"``, ..."""
        return len(self.class_prior)

    @property
    def arities(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(cpt.shape[-1] for cpt in self.tables)

    def sample_codes(
        self, n_rows: int, *, random_state: int | np.random.Generator | None = None
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Draw rows as codes: attributes, shape (n_rows, n_attributes), column-major; classes, (n_rows,)."""
        check_n_rows(n_rows)
        rng = np.random.default_rng(random_state)
        label = _draw(self.class_prior[None, :], np.zeros(n_rows, dtype=np.int64), rng)
        codes = np.empty((n_rows, len(self.tables)), dtype=code_dtype(max(self.arities)), order="F")
        for i, cpt in enumerate(self.tables):
            context = _cell([label, *(codes[:, p] for p in self.parents[i])], cpt.shape[:-1])
            codes[:, i] = _draw(cpt.reshape(-1, cpt.shape[-1]), context, rng)
        return codes, label

    def sample(self, n_rows: int, *, random_state: int | np.random.Generator | None = None) -> Dataset:
        """Draw rows as a data set: attributes ``x0``, ``x1``, ... and class hold their codes as strings."""
        codes, label = self.sample_codes(n_rows, random_state=random_state)
        names = [str(code) for code in range(max(*self.arities, self.n_classes))]
        columns = {f"x{i}": categories(codes[:, i], names[:arity]) for i, arity in enumerate(self.arities)}
        return Dataset(
            name="network",
            X=table(columns),
            y=np.array(names)[label],
            description="Rows of a Bayesian network in which the class is a parent of every attribute.",
        )

    def log_joint(self, X: Any) -> FloatArray:
        """``log P(y, x)`` of every row with every class, shape (n_rows, n_classes).

        ``X`` is an array of codes, shape (n_rows, n_attributes), or a table as :meth:`sample` gives.
        """
        codes = self._codes(X)
        total = np.tile(np.log(self.class_prior)[:, None], len(codes))
        for i, cpt in enumerate(self.tables):
            cell = _cell([codes[:, p] for p in (*self.parents[i], i)], cpt.shape[1:])
            for c, log_table in enumerate(np.log(cpt).reshape(self.n_classes, -1)):
                total[c] += log_table[cell]
        return total.T

    def class_proba(self, X: Any) -> FloatArray:
        """The true posterior ``P(y | x)``, shape (n_rows, n_classes); ``X`` as for :meth:`log_joint`."""
        joint = self.log_joint(X)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def _codes(self, X: Any) -> npt.NDArray[Any]:
        """Check codes, or read them from a table's strings."""
        if hasattr(X, "column_names"):
            columns = [_column_codes(X, f"x{i}") for i in range(len(self.tables))]
            X = np.stack(columns, axis=1)
        codes = np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != len(self.tables) or codes.dtype.kind not in "iu":
            raise DataError(
                f"codes: want integers of shape (n_rows, {len(self.tables)}), got {codes.dtype} {codes.shape}"
            )
        outside = np.flatnonzero(((codes < 0) | (codes >= np.array(self.arities))).any(axis=0))
        if len(outside):
            raise DataError(f"attribute x{outside[0]}: a code is not in 0..{self.arities[outside[0]] - 1}")
        return codes


def random_network(
    *,
    n_attributes: int = 30,
    arity: int | tuple[int, int] = (2, 10),
    n_classes: int = 2,
    n_parents: int = 3,
    concentration: float = 1.0,
    class_effect: float = 1.5,
    random_state: int | np.random.Generator | None = None,
) -> Network:
    r"""Draw the structure and the tables of a :class:`Network`.

    Attribute *i* has the class and ``min(i, n_parents)`` random earlier attributes as parents. For every
    combination *u* of its parents' values, :math:`P(x_i \mid y, u) = (1 - w)\,b_u + w\,d_{y,u}`, with *b* and
    *d* drawn from a symmetric Dirichlet: *b* is what the classes share, *d* what tells them apart. With *w* =
    ``class_effect`` / sqrt(``n_attributes``), at most 1, all attributes together say about as much, however
    many there are. ``P(y)`` is drawn from a Dirichlet with parameters 10.

    Parameters
    ----------
    n_attributes : int, default=30
        Number of attributes.
    arity : int or (int, int), default=(2, 10)
        Values per attribute, or the least and the greatest number of them.
    n_classes : int, default=2
        Number of classes.
    n_parents : int, default=3
        Most parents of an attribute, besides the class.
    concentration : float, default=1
        Parameter of the Dirichlet: small makes attributes nearly determined by their parents, large makes
        them nearly uniform.
    class_effect : float, default=1.5
        How well the attributes tell the class; 0 not at all. The default gives two classes a best possible
        accuracy around 0.85.
    random_state : int, Generator or None
        Seed of the draws.

    Examples
    --------
    >>> network = random_network(n_attributes=5, arity=(2, 4), n_classes=3, n_parents=2, random_state=1)
    >>> [cpt.shape for cpt in network.tables][-1]
    (3, 3, 4, 2)

    """
    low, high = arity if isinstance(arity, tuple) else (arity, arity)
    _check_shape(n_attributes, low, high, n_classes, n_parents)
    if concentration <= 0 or class_effect < 0:
        raise DataError(f"concentration={concentration!r}, class_effect={class_effect!r}: must be positive")
    rng = np.random.default_rng(random_state)
    arities = rng.integers(low, high + 1, size=n_attributes)
    parents = tuple(
        tuple(sorted(rng.choice(i, size=min(i, n_parents), replace=False).tolist())) for i in range(n_attributes)
    )
    shapes = [(*arities[list(above)].tolist(), int(arities[i])) for i, above in enumerate(parents)]
    n_cells = n_classes * sum(prod(shape) for shape in shapes)
    if n_cells > MAX_TABLE_CELLS:
        raise MemoryLimitError(
            f"the network's tables would have {n_cells:,} cells, limit {MAX_TABLE_CELLS:,}; "
            "lower n_parents, arity or n_classes"
        )
    class_prior = rng.dirichlet(np.full(n_classes, 10.0))
    weight = min(1.0, class_effect / sqrt(n_attributes))
    tables = []
    for *context, own in shapes:
        alpha = np.full(own, concentration)
        shared, special = rng.dirichlet(alpha, context), rng.dirichlet(alpha, [n_classes, *context])
        cpt = np.maximum((1 - weight) * shared + weight * special, SMALLEST_PROBA)
        tables.append(cpt / cpt.sum(axis=-1, keepdims=True))
    return Network(class_prior, parents, tuple(tables))


def sample_network(
    n_rows: int, *, random_state: int | np.random.Generator | None = None, **options: Any
) -> tuple[Dataset, Network]:
    """Rows of a random Bayesian network classifier, and the network itself.

    The network depends on the seed and the options alone, so more rows come from the same network; a test set
    is ``network.sample(n_rows, random_state=another_seed)``.

    Parameters
    ----------
    n_rows : int
        Rows to draw.
    random_state : int, Generator or None
        Seed of the network and of the rows.
    **options
        As for :func:`random_network`: ``n_attributes=30``, ``arity=(2, 10)``, ``n_classes=2``,
        ``n_parents=3``, ``concentration=1.0``, ``class_effect=1.5``.

    Returns
    -------
    dataset : Dataset
        Attributes ``x0``, ``x1``, ... and the class; a value is its code as a string.
    network : Network
        The truth: ``network.class_proba(dataset.X)``.

    Examples
    --------
    >>> dataset, network = sample_network(1000, n_attributes=8, random_state=0)
    >>> dataset
    network: 1,000 rows, 8 attributes, 2 classes
    >>> network.class_proba(dataset.X).shape
    (1000, 2)

    """
    check_n_rows(n_rows)
    rng = np.random.default_rng(random_state)
    network = random_network(random_state=rng, **options)
    return network.sample(n_rows, random_state=rng), network


def _draw(proba: FloatArray, row: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
    """One code per entry of ``row``, from the distribution ``proba[row]``, by its inverse cumulative sum."""
    u = rng.random(len(row))
    code = np.zeros(len(row), dtype=code_dtype(proba.shape[1]))
    for step in np.ascontiguousarray(np.cumsum(proba, axis=1)[:, :-1].T):
        code += u >= step[row]
    return code


def _cell(codes: list[npt.NDArray[Any]], shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """The flat index of every row's codes in a table of this shape (at least one axis)."""
    cell = codes[0].astype(np.int64)
    for code, arity in zip(codes[1:], shape[1:], strict=True):
        cell *= arity
        cell += code
    return cell


def _column_codes(X: Any, name: str) -> npt.NDArray[Any]:
    """Codes of a column of strings, whatever the order of its dictionary is."""
    if name not in X.column_names:
        raise DataError(f"the table has no column {name!r}: it doesn't come from this network")
    column = X[name].dictionary_encode().combine_chunks()  # one dictionary for all chunks
    values = column.dictionary.to_pylist()
    if column.null_count or not all(str(value).isdecimal() for value in values):
        raise DataError(f"column {name!r}: want codes as strings, without missing values")
    codes = np.array([int(value) for value in values], dtype=np.int64)
    return codes.astype(code_dtype(int(codes.max(initial=0))))[np.asarray(column.indices)]


def _check_shape(n_attributes: int, low: int, high: int, n_classes: int, n_parents: int) -> None:
    if n_attributes < 1 or n_classes < 2 or n_parents < 0:
        raise DataError(
            f"n_attributes={n_attributes!r}, n_classes={n_classes!r}, n_parents={n_parents!r}: "
            "must be at least 1, 2 and 0"
        )
    if not 2 <= low <= high:
        raise DataError(f"arity=({low!r}, {high!r}): want 2 <= least <= greatest")
