"""A naive Bayes of few lines under the library's names, for runs of the command line without the library."""

import importlib.util
import pickle
import sys
import types
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.dataset
from sklearn.base import BaseEstimator, ClassifierMixin

import countwise
from countwise.errors import DataError, ModelFileError


@dataclass
class Column:
    name: str
    kind: str
    categories: pa.Array
    cuts: np.ndarray
    arity: int


@dataclass
class Source:
    table: pa.Table
    target: str
    weight: str | None


def scan(path, target, weight=None):
    kind = "csv" if ".csv" in str(path) else "parquet"
    table = pyarrow.dataset.dataset(path, format=kind).to_table()
    if target not in table.column_names:
        raise DataError(f"column {target!r} is not in {path}")
    return Source(table, target, weight)


class StandIn(ClassifierMixin, BaseEstimator):
    def __init__(
        self, k=1, smoothing="m", categorical_features=None, n_jobs=None, max_memory=None, random_state=None
    ):
        self.k = k
        self.smoothing = smoothing
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.random_state = random_state

    def fit(self, X, y=None):
        weights = np.ones(len(X) if y is not None else len(X.table))
        if y is None:
            weights = weights if X.weight is None else X.table.column(X.weight).to_numpy()
            y = X.table.column(X.target).to_numpy(zero_copy_only=False)
            X = X.table.drop_columns([c for c in (X.target, X.weight) if c is not None])
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.feature_names_in_ = np.array(X.column_names, dtype=object)
        self.n_rows_ = len(codes)
        self.class_prior_ = np.bincount(codes, weights=weights) / weights.sum()
        columns, self.tables_ = [], []
        for name in X.column_names:
            columns.append(self._column(name, X.column(name)))
            counts = np.full((columns[-1].arity + 1, len(self.classes_)), 0.5)
            np.add.at(counts, (self._codes(columns[-1], X.column(name)), codes), weights)
            self.tables_.append(counts / counts.sum(axis=0))
        self.codec_ = types.SimpleNamespace(columns=columns)
        n = len(columns)
        parents = [list(range(max(0, i - self.k), i)) for i in range(n)]
        self.structure_ = types.SimpleNamespace(order=list(range(n)), parents=parents)
        self.n_parameters_ = sum(table.size for table in self.tables_)
        return self

    def _column(self, name, values):
        is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        if is_number and name not in (self.categorical_features or []):
            cuts = np.quantile(values.drop_null().to_numpy().astype(float), [1 / 3, 2 / 3])
            return Column(name, "number", pa.array([]), cuts, 3)
        categories = pa.array(sorted(values.drop_null().unique().to_pylist()))
        return Column(name, "category", categories, np.empty(0), len(categories))

    @staticmethod
    def _codes(column, values):
        if column.kind == "number":
            numbers = np.array(values.to_pylist(), dtype=float)
            return np.where(np.isnan(numbers), column.arity, np.searchsorted(column.cuts, numbers))
        code = {value: i for i, value in enumerate(column.categories.to_pylist())}
        return np.array([code.get(value, column.arity) for value in values.to_pylist()])

    def predict_proba(self, X):
        log = np.tile(np.log(self.class_prior_), (len(X), 1))
        for column, table in zip(self.codec_.columns, self.tables_, strict=True):
            log += np.log(table[self._codes(column, X.column(column.name))])
        proba = np.exp(log - log.max(axis=1, keepdims=True))
        return proba / proba.sum(axis=1, keepdims=True)

    def save(self, path):
        with open(path, "wb") as file:
            pickle.dump((type(self).__name__, self.__dict__), file)


def load(path):
    with open(path, "rb") as file:
        try:
            name, state = pickle.load(file)
        except Exception as error:
            raise ModelFileError(f"{path}: not a countwise model") from error
    model = getattr(countwise, name)()
    model.__dict__.update(state)
    return model


def install():
    """Put the stand-ins where the library has nothing yet."""
    if hasattr(countwise, "SKDBClassifier"):
        return
    for name in ("NBClassifier", "TANClassifier", "KDBClassifier", "SKDBClassifier"):
        setattr(countwise, name, type(name, (StandIn,), {"__init__": StandIn.__init__}))
    countwise.scan, countwise.load = scan, load
    container = types.ModuleType("countwise.model_file")
    container.read_model_file = lambda path: ({"format": 1}, {})
    sys.modules[container.__name__] = container
    if importlib.util.find_spec("countwise.datasets") is None:
        countwise.datasets = types.SimpleNamespace(load=toy_set)


def toy_set(name):
    if name != "monks-1":
        raise DataError(f"data set {name!r} is not known")
    rng = np.random.default_rng(0)
    values = rng.integers(3, size=(90, 3))
    X = pa.table({f"a{i}": values[:, i].astype(str) for i in range(3)})
    return types.SimpleNamespace(name=name, X=X, y=np.where(values[:, 0] == values[:, 1], "yes", "no"))
