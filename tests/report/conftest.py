"""Small results made by hand: what a page has to show is known."""

import pytest

from countwise.evaluate import Results

COSTS = {"fit_seconds": 0.5, "predict_seconds": 0.01, "peak_bytes": 2_000_000, "model_bytes": 5000}
BINS = [[1.0, 2.0, 7.0], [0.2, 1.0, 6.3], [0.0, 1.0, 6.0]]


def cell(dataset, model, scores, *, fold=0, repeat=0, size=None, error=None):
    """A row of results; ``scores`` are lost if there is an error."""
    row = {"dataset": dataset, "model": model, "repeat": repeat, "fold": fold, "train_size": size}
    row |= {"n_train": size or 50, "n_test": 10, "error": error}
    if error is not None:
        return row | dict.fromkeys([*COSTS, *scores])
    return row | COSTS | scores | {"reliability": BINS}


def results_of(rows, **more):
    names = [name for name in rows[0] if name in ("rmse", "zero_one_loss", "log_loss", "roc_auc")]
    facts = {"n_attributes": 4, "n_classes": 2}
    datasets = dict.fromkeys(row["dataset"] for row in rows)
    problems = {name: {"dataset": name, "n_rows": 100 * (i + 1)} | facts for i, name in enumerate(datasets)}
    return Results(rows, tuple(names), problems, **more)


@pytest.fixture(scope="session")
def folds():
    """Cross-validation by one fold: ``folds({"nb": [0.3, 0.2], "tan": [0.2, 0.1]})`` has the RMSE of each data set."""

    def make(rmse, datasets=None, **more):
        n = len(next(iter(rmse.values())))
        names = datasets or [f"set-{i}" for i in range(n)]
        rows = [
            cell(name, model, {"rmse": values[i], "zero_one_loss": values[i] ** 2, "roc_auc": 1.0 - values[i]})
            for i, name in enumerate(names)
            for model, values in rmse.items()
        ]
        return results_of(rows, **more)

    return make


@pytest.fixture(scope="session")
def sized():
    """Two draws of 20 and 40 rows of two data sets, and 80 rows of the second; the second model is better by 0.1."""

    def make(models=("tan-bdeu1@all", "tan-dirichlet@all"), datasets=("a", "b")):
        rows = [
            cell(
                name, model, {"rmse": 0.5 - 0.1 * m - size / 1000, "zero_one_loss": 0.3 - 0.1 * m}, repeat=r, size=size
            )
            for name in datasets
            for m, model in enumerate(models)
            for r in range(2)
            for size in ([20, 40, 80] if name == datasets[-1] else [20, 40])
        ]
        return results_of(rows)

    return make


@pytest.fixture(scope="session")
def broken():
    """``rf`` fails in both folds of ``b``, by one message; ``nb`` in one fold of ``a``."""
    rows = []
    for name in ("a", "b"):
        for model in ("nb", "rf"):
            for fold in (0, 1):
                is_bad = (name, model) == ("b", "rf") or (name, model, fold) == ("a", "nb", 1)
                error = ("TimeLimit: <1 s" if model == "rf" else "ValueError: no") if is_bad else None
                rows.append(cell(name, model, {"rmse": 0.2}, fold=fold, error=error))
    return results_of(rows)
