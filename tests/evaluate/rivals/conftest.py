"""A small mixed table, and rivals that are quick."""

import numpy as np
import pyarrow as pa
import pytest

from countwise.evaluate.rivals import RIVALS
from countwise.evaluate.rivals.names import RIVAL_NAMES

QUICK = {
    "rf": {"estimator__n_estimators": 10},
    "rf-coded": {"estimator__n_estimators": 10},
    "extra-trees": {"estimator__n_estimators": 10},
    "hgb": {"estimator__max_iter": 10},
    "xgboost": {"estimator__n_estimators": 10},
    "xgboost-tuned": {"estimator__rounds": (5, 10), "estimator__depths": (1, 3), "estimator__n_splits": 3},
    "lightgbm": {"estimator__n_estimators": 10},
    "catboost": {"estimator__iterations": 30},
    "ebm": {"estimator__outer_bags": 2, "estimator__max_rounds": 100, "estimator__interactions": 0},
}


def mixed_table(n_rows, seed=0, strange=False):
    """Texts, numbers, flags and gaps; the strange rows hold values and gaps that the others do not.

    The names are those that XGBoost and LightGBM refuse.
    """
    rng = np.random.default_rng(seed)
    colours = rng.choice(["red", "green", "blue"], n_rows)
    size = rng.normal(size=n_rows)
    y = (colours == "red").astype(int) + (size > 0.3)
    sides = rng.choice(["l", "m", "r"], n_rows)
    if strange:
        colours[::3], sides[::5] = "pink", "x"

    def gaps(share):
        return rng.random(n_rows) < share

    columns = {
        "colour [RGB]": pa.array(colours, mask=gaps(0.1)).dictionary_encode(),
        'the "side"': pa.array(sides, mask=gaps(0.2 * strange)),
        "size<mm>": pa.array(size, mask=gaps(0.1)),
        "count": pa.array(rng.integers(0, 9, n_rows).astype(np.int32), mask=gaps(0.2 * strange)),
        "flag": pa.array(rng.random(n_rows) < 0.5),
        "empty": pa.array([None] * n_rows, pa.float64()),
        "constant": pa.array(["c"] * n_rows).dictionary_encode(),
    }
    return pa.table(columns), y


@pytest.fixture
def train():
    return mixed_table(150)


@pytest.fixture
def strange():
    return mixed_table(40, seed=1, strange=True)


@pytest.fixture
def quick():
    """``quick(name, seed, jobs)``: the rival with few rounds; the test is skipped where its package is absent."""

    def make(name, seed=0, jobs=None):
        package = RIVAL_NAMES[name][1]
        if package is not None:
            pytest.importorskip(package, reason=f"rival {name!r} needs {package}")
        return RIVALS[name](seed, jobs).set_params(**QUICK.get(name, {}))

    return make
