"""Tables worked by hand, and bias and variance by counting."""

import csv
import io

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from countwise.errors import DataError
from countwise.evaluate import Results, benchmark, stratified_folds
from countwise.evaluate.compare import against, as_csv, means, means_by_size, pairwise, paper_tables, ranks
from countwise.evaluate.experiments import Average, Experiment, Line, Versus
from countwise.evaluate.protocols import TrainSizes
from oracle.faulty_models import Frequencies


def row(dataset, model, rmse, *, error=None, auc=0.5, size=None):
    return {
        "dataset": dataset,
        "model": model,
        "repeat": 0,
        "fold": 0,
        "train_size": size,
        "n_train": 10,
        "n_test": 10,
        "rmse": rmse,
        "roc_auc": auc,
        "fit_seconds": 0.1,
        "predict_seconds": 0.1,
        "error": error,
    }


VALUES = {"d": (0.1, 0.2, 0.3), "e": (0.2, 0.2, 0.1), "f": (0.1, 0.4, 0.5), "g": (0.3, 0.3, 0.3)}
ROWS = [row(d, m, v, auc=1 - v) for d, values in VALUES.items() for m, v in zip("abc", values, strict=True)]
ROWS[-1]["error"] = "ValueError: no"
RESULTS = Results(ROWS, ("rmse", "roc_auc"))  # c failed on g


def test_means_take_the_data_sets_on_which_no_model_failed():
    table = means(RESULTS)
    assert [line["model"] for line in table.lines] == ["a", "b", "c"]
    assert table.lines[0]["rmse"] == pytest.approx(0.4 / 3)
    assert "3 data sets of 4" in table.note


def test_a_data_set_on_which_a_model_is_not_done_is_left_out():
    more = [row("d", "a", 0.1) | {"fold": 1}, row("d", "b", 0.1) | {"fold": 1}]
    assert Results([*ROWS, *more], ("rmse",)).table("rmse").datasets == ["e", "f"]
    assert Results([*ROWS, *more], ("rmse",)).table("rmse", ["a", "b"]).datasets == ["d", "e", "f", "g"]


def test_results_that_are_read_have_the_order_of_the_plan(tmp_path):
    data = {name: (np.zeros((8, 1)), np.array(["a", "b"] * 4)) for name in ("z", "y")}
    planned = benchmark({"q": Frequencies(), "p": Frequencies()}, data, "2x2", store=tmp_path / "r.jsonl")
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    cells = [line for line in lines if '"repeat"' in line]
    rest = [line for line in lines if '"repeat"' not in line]
    (tmp_path / "r.jsonl").write_text("\n".join([*rest, *reversed(cells)]) + "\n")
    found = Results.read(tmp_path / "r.jsonl")
    assert found.rows == planned.rows
    assert (found.datasets, found.models) == (["z", "y"], ["q", "p"])
    (tmp_path / "r.jsonl").rename(tmp_path / "results.jsonl")
    assert Results.read(tmp_path).rows == planned.rows  # the folder of a run


def test_where_no_results_are_is_said(tmp_path):
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(DataError, match=f"{path.name}: no results there") as caught:
            Results.read(path)
        assert "bench run --out" in caught.value.__notes__[0]


def test_against_one_model():
    (table,) = against(RESULTS.only(models=["a", "b"]), "b", ["rmse"])
    (line,) = table.lines
    assert line["wins-draws-losses"] == "2-2-0"
    assert line["sign test p"] == "0.500"
    assert line["ratio"] == pytest.approx((0.5 * 1 * 0.25 * 1) ** 0.25)
    assert line["mean"] == pytest.approx(0.175)
    with pytest.raises(DataError, match="model 'z' is not in these results; there are a, b"):
        against(RESULTS.only(models=["a", "b"]), "z", ["rmse"])


def test_pairs_and_direction():
    lines = {line["model"]: line for line in pairwise(RESULTS, "rmse").lines}
    assert (lines["a"]["c"], lines["c"]["a"], lines["a"]["a"]) == ("2-0-1", "1-0-2", "")
    lines = {line["model"]: line for line in pairwise(RESULTS, "roc_auc").lines}
    assert lines["a"]["c"] == "2-0-1"  # more is better here


def test_ranks():
    table = ranks(RESULTS, "rmse")
    assert [(line["model"], line["average rank"]) for line in table.lines] == [
        ("a", pytest.approx(4.5 / 3)),
        ("b", pytest.approx(6.5 / 3)),
        ("c", pytest.approx(7 / 3)),
    ]
    with pytest.raises(DataError, match="at least 3 models"):
        ranks(RESULTS.only(models=["a", "b"]), "rmse")


def test_the_papers_figures_stand_beside_ours_and_absent_models_have_none():
    one = Experiment(
        "x",
        "A table",
        "all",
        measures=("rmse",),
        versus=(Versus("a vs b", "a", "b", {"rmse": "5-0-1"}), Versus("a vs z", "a", "z", {"rmse": "1-1-1"})),
        averages=(Average("B", "b", {"rmse": 0.25}), Average("Z", "z", {"rmse": 0.5})),
        lines=(Line("l", (("1", "a", "b"), ("2", "z", "b"))),),
        n_sets=6,
    )
    versus, averages, lines = paper_tables(RESULTS, one)
    assert versus.lines[0] == {"comparison": "a vs b", "RMSE": "2-2-0", "RMSE p": "0.500", "RMSE, paper": "5-0-1"}
    assert versus.lines[1] == {"comparison": "a vs z", "RMSE": None, "RMSE p": None, "RMSE, paper": "1-1-1"}
    assert "4 data sets" in versus.note
    assert "the paper's are on 6" in versus.note
    assert averages.lines[0]["RMSE"] == pytest.approx(0.275)
    assert averages.lines[1]["RMSE"] is None
    assert [line["RMSE"] for line in lines.lines] == ["2-2-0", None]
    (part, *_) = paper_tables(RESULTS, one, ["d", "e", "elsewhere"])
    assert part.lines[0]["RMSE"] == "1-1-0"


def test_training_sizes():
    rows = [
        row(d, m, v + size / 1000, size=size) for d in "de" for m, v in (("a", 0.1), ("b", 0.2)) for size in (20, 40)
    ]
    one = Experiment("x", "Sizes", "all", TrainSizes(), measures=("rmse",), versus=(Versus("a vs b", "a", "b", {}),))
    (table,) = paper_tables(Results(rows, ("rmse",)), one)
    assert [(line["training rows"], line["RMSE"]) for line in table.lines] == [(20, "2-0-0"), (40, "2-0-0")]
    assert table.lines[0]["RMSE gain"] == pytest.approx(0.1)
    by_size = means_by_size(Results(rows, ("rmse",)), "rmse")
    assert by_size.lines[0] == {"model": "a", "20": pytest.approx(0.12), "40": pytest.approx(0.14)}
    with pytest.raises(DataError, match=r"several training sizes; choose one with only\(train_size=...\)"):
        Results(rows, ("rmse",)).table("rmse")


def test_csv_can_be_read_back():
    table = means(RESULTS)
    lines = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert float(lines[1]["rmse"]) == pytest.approx(table.lines[1]["rmse"], rel=1e-5)


def test_bias_and_variance_from_a_store_are_those_of_predictions_written_out(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    models = {"tree": DecisionTreeClassifier(max_depth=3, random_state=0), "f": Frequencies()}
    benchmark(models, {"d": (X, y)}, "4x3", random_state=5, store=tmp_path / "r.jsonl")
    results = Results.read(tmp_path / "r.jsonl")
    votes = np.zeros((60, 3))
    for repeat in range(4):
        folds = stratified_folds(y, 3, seed=(5, repeat))
        for fold in range(3):
            train, test = folds != fold, folds == fold
            predicted = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[train], y[train]).predict(X[test])
            votes[np.flatnonzero(test), predicted] += 0.25
    truth = np.eye(3)[y]
    bias, variance = results.table("bias"), results.table("variance")
    assert bias.column("tree")[0] == pytest.approx(0.5 * ((truth - votes) ** 2).sum(axis=1).mean())
    assert variance.column("tree")[0] == pytest.approx(0.5 * (1 - (votes**2).sum(axis=1)).mean())
    assert bias.values + variance.values == pytest.approx(results.table("zero_one_loss").values)
    assert not benchmark(models, {"d": (X, y)}, "1x3").table("bias").datasets  # variance needs repeats


def test_reliability_bins_hold_all_predictions(tmp_path):
    X, y = np.zeros((40, 1)), np.array(["a", "a", "a", "b"] * 10)
    results = benchmark({"f": Frequencies()}, {"d": (X, y), "e": (X[:20], y[:20])}, "2x2")
    bins = results.reliability("f")
    n_rows = 2**2 / (1 / 40 + 1 / 20)  # each data set counts alike, and a row once
    assert bins.weight.sum() == pytest.approx(n_rows)
    assert bins.stated.sum() == pytest.approx(0.75 * n_rows)
    assert bins.happened.sum() == pytest.approx(0.75 * n_rows)
    assert results.reliability("f", ["d"]).weight.sum() == pytest.approx(40)
    assert results.reliability("f", ["d"]).ece() == pytest.approx(0.0, abs=1e-6)


def test_only_refuses_what_is_not_there():
    with pytest.raises(DataError, match="model 'z' is not in these results"):
        RESULTS.only(models=["z"])
    with pytest.raises(DataError, match="dataset 'z' is not in these results"):
        RESULTS.only(datasets=["z"])
    with pytest.raises(DataError, match="measure 'auc' is not in these results; there are rmse, roc_auc, fit_seconds"):
        RESULTS.table("auc")
