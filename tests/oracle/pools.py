"""Quick pools and tuned networks, what is in them, and tables for them: words that hang together, numbers with gaps."""

import numpy as np
import pandas as pd
import pytest

import countwise as cw
from countwise.infer.members import ForestMember, NetworkMember

MODELS = {
    "Pool": lambda **p: cw.PoolClassifier(**{"n_members": 3, "k": 3, **p}),
    "Tuned": lambda **p: cw.TunedKDBClassifier(**{"k": 3, **p}),
}
each_model = pytest.mark.parametrize("make", list(MODELS.values()), ids=list(MODELS))


def networks_of(model):
    """The networks of a pool, or a network itself, as pairs of structure and trees."""
    members = getattr(model, "members_", None)
    if members is None:
        return [(model.structure_, model.trees_)]
    return [(member.structure, member.trees) for member in members if isinstance(member, NetworkMember)]


def forests_of(model):
    """The forests of a pool, part by part."""
    return [member for member in getattr(model, "members_", []) if isinstance(member, ForestMember)]


def words(n_rows=400, seed=0):
    """Categories that depend on the class and on each other; some rows are equal, some values missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    columns, previous = {}, y
    for i, values in enumerate([3, 4, 2, 5, 3]):
        noise = rng.random(n_rows) < 0.6
        previous = np.where(noise, rng.integers(values, size=n_rows), (previous + y * (i % 2)) % values)
        columns[f"c{i}"] = np.char.add("v", previous.astype(str)).astype(object)
    columns["c1"][rng.random(n_rows) < 0.1] = None
    return pd.DataFrame(columns), np.array(["no", "maybe", "yes"], dtype=object)[y]


def numbers(n_rows=300, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 4)) + y[:, None] * np.array([1.0, 0.5, 0.0, 0.0])
    X[:, 2] = X[:, 3] * np.where(y == 1, 1, -1) + rng.normal(0, 0.5, n_rows)  # a sign that only a pair shows
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y
