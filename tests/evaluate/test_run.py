"""Cross-validation: what is fitted on what, resuming, failures, settings."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from countwise.errors import DataError
from countwise.evaluate import Results, cross_validate, rmse, stratified_folds
from countwise.progress import SilentProgress

IRIS = load_iris(return_X_y=True)


class Prior(ClassifierMixin, BaseEstimator):
    """Class frequencies; remembers what it was fitted on; can be told to fail."""

    calls: list = []  # noqa: RUF012

    def __init__(self, alpha=0.0, fail_at=None):
        self.alpha = alpha
        self.fail_at = fail_at

    def fit(self, X, y):
        Prior.calls.append(X)
        if self.fail_at is not None and len(Prior.calls) >= self.fail_at:
            raise RuntimeError("out of luck")
        self.classes_, counts = np.unique(y, return_counts=True)
        self.prior_ = (counts + self.alpha) / (counts + self.alpha).sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.prior_, (len(X), 1))


class Interrupted(Prior):
    def fit(self, X, y):
        super().fit(X, y)
        if len(Prior.calls) == 4:
            raise KeyboardInterrupt
        return self


@pytest.fixture(autouse=True)
def _forget():
    Prior.calls.clear()


def scores_of(results):
    return [{k: v for k, v in row.items() if not k.endswith(("seconds", "bytes"))} for row in results.rows]


def test_rows_and_sizes():
    results = cross_validate({"p": Prior(), "nb": GaussianNB()}, {"iris": IRIS}, n_repeats=2, n_splits=3)
    assert isinstance(results, Results)
    keys = [(r["dataset"], r["repeat"], r["fold"], r["model"]) for r in results.rows]
    assert keys == [("iris", r, f, m) for r in range(2) for f in range(3) for m in ("p", "nb")]
    assert {(r["n_train"], r["n_test"]) for r in results.rows} == {(100, 50)}
    assert all(r["fit_seconds"] > 0 and r["predict_seconds"] > 0 and r["error"] is None for r in results.rows)


def test_every_row_is_tested_once_per_repeat_and_models_share_the_folds():
    X = np.arange(20.0)[:, None]
    cross_validate({"a": Prior(), "b": Prior()}, {"d": (X, np.arange(20) % 2)}, n_repeats=1, n_splits=4)
    trained = [set(x[:, 0]) for x in Prior.calls]
    assert trained[0::2] == trained[1::2]
    for value in X[:, 0]:
        assert sum(value not in rows for rows in trained[0::2]) == 1


def test_scores_are_those_of_a_loop_written_out():
    X, y = IRIS
    results = cross_validate({"nb": GaussianNB()}, {"iris": (X, y)}, n_repeats=2, random_state=7)
    expected, all_y, all_p = [], [], []
    for repeat in range(2):
        folds = stratified_folds(y, 2, seed=(7, repeat))
        for fold in range(2):
            train, test = folds != fold, folds == fold
            proba = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
            expected.append(rmse(y[test], proba, [0, 1, 2]))
            all_y.append(y[test])
            all_p.append(proba)
    assert [r["rmse"] for r in results.rows] == pytest.approx(expected)
    pooled = rmse(np.concatenate(all_y), np.concatenate(all_p), [0, 1, 2])
    assert results.summary()[0]["rmse"] == pytest.approx(pooled)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_frames_give_the_same_scores_as_matrices(make):
    X, y = IRIS
    frame = make({f"x{i}": X[:, i] for i in range(4)})
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    # Scikit-learn reads no Arrow tables; this model sees what the protocol hands over
    model = make_pipeline(_ToArray(), GaussianNB())
    got = cross_validate({"nb": model}, {"iris": (frame, labels)}, n_repeats=1)
    expected = cross_validate({"nb": GaussianNB()}, {"iris": IRIS}, n_repeats=1)
    assert [r["log_loss"] for r in got.rows] == pytest.approx([r["log_loss"] for r in expected.rows])


class _ToArray(BaseEstimator):
    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.column_stack([np.asarray(X[f"x{i}"]) for i in range(4)])


def test_a_class_with_one_member_is_scored_with_probability_zero():
    y = np.array(["a"] * 5 + ["b"] * 4 + ["rare"])
    results = cross_validate({"p": Prior()}, {"d": (np.zeros((10, 1)), y)}, n_repeats=1)
    assert [r["error"] for r in results.rows] == [None, None]
    assert sorted(r["log_loss"] > 36.04 / 5 for r in results.rows) == [False, True]
    # C is that of the data set in both folds: 3, so rmse^2 * 3 is the Brier score
    assert all(r["rmse"] ** 2 * 3 == pytest.approx(r["brier"]) for r in results.rows)


def test_objects_with_a_name_and_lists_of_them():
    class Data:
        def __init__(self, name):
            self.name, (self.X, self.y) = name, IRIS

    assert cross_validate({"p": Prior()}, Data("one"), n_repeats=1).rows[0]["dataset"] == "one"
    results = cross_validate({"p": Prior()}, [Data("one"), Data("two")], n_repeats=1)
    assert [line["dataset"] for line in results.summary()] == ["one", "two", "(mean)"]
    with pytest.raises(DataError, match="different names"):
        cross_validate({"p": Prior()}, [Data("one"), Data("one")])


def test_a_failing_model_is_recorded_and_the_rest_goes_on():
    results = cross_validate({"bad": Prior(fail_at=1), "p": Prior()}, {"iris": IRIS}, n_repeats=1)
    assert [r["error"] for r in results.rows] == ["RuntimeError: out of luck", None] * 2
    assert results.rows[0]["rmse"] is None
    assert [line["n_failed"] for line in results.summary()] == [2, 0]


def test_own_scores_and_a_selection():
    def spread(y, proba, classes, sample_weight):
        return float(proba.max() - proba.min())

    results = cross_validate({"p": Prior()}, {"iris": IRIS}, n_repeats=1, scores={"spread": spread})
    assert results.scores == ("spread",)
    assert results.rows[0]["spread"] == pytest.approx(0.0, abs=0.05)
    assert cross_validate({"p": Prior()}, {"i": IRIS}, n_repeats=1, scores=["ece"]).scores == ("ece",)
    with pytest.raises(DataError, match=r"score 'auc' is not known; there are zero_one_loss"):
        cross_validate({"p": Prior()}, {"iris": IRIS}, scores=["auc"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"d": (np.zeros((3, 1)), ["a", "b"])}, "'d': 3 rows but 2 labels"),
        ({"d": (np.zeros((2, 1)), ["a", None])}, "'d': labels: 1 of 2 are missing"),
    ],
)
def test_bad_data_are_refused_at_the_door(data, message):
    with pytest.raises(DataError, match=message):
        cross_validate({"p": Prior()}, data)


def test_nothing_to_do_is_an_error():
    with pytest.raises(DataError, match="at least one model"):
        cross_validate({}, {"iris": IRIS})


def test_progress_counts_the_cells():
    class Counter(SilentProgress):
        events: list = []  # noqa: RUF012

        def start(self, label, total):
            self.events.append((label, total))

        def advance(self, n=1, work=None):
            self.events.append(n)

        def stop(self):
            self.events.append("stop")

    counter = Counter()
    cross_validate({"p": Prior(), "q": Prior()}, {"iris": IRIS}, n_repeats=1, progress=counter)
    assert counter.events == [("bench", 4), 1, 1, 1, 1, "stop"]


def run(store, models=None, **kwargs):
    settings = {"n_repeats": 3, "random_state": 1} | kwargs
    return cross_validate(models or {"p": Prior(), "q": Prior(alpha=1.0)}, {"iris": IRIS}, store=store, **settings)


def test_a_second_run_fits_nothing_and_gives_the_same(tmp_path):
    first = run(tmp_path / "r.jsonl")
    assert len(Prior.calls) == 12
    second = run(tmp_path / "r.jsonl")
    assert len(Prior.calls) == 12
    assert second.rows == first.rows


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    store = tmp_path / "r.jsonl"
    expected = scores_of(run(None))
    Prior.calls.clear()
    with pytest.raises(KeyboardInterrupt):
        run(store, {"p": Prior(), "q": Interrupted(alpha=1.0)})
    lines = [json.loads(line) for line in store.read_text().splitlines()]
    assert sum("repeat" in line for line in lines) == 3
    text = store.read_text().replace("Interrupted", "Prior")  # the same model without its fault
    store.write_text(text)
    Prior.calls.clear()
    assert scores_of(run(store)) == expected
    assert len(Prior.calls) == 12 - 3


@pytest.mark.parametrize("n_bytes", [1, 20, 200])
def test_a_torn_last_line_is_dropped_and_made_again(tmp_path, n_bytes):
    store = tmp_path / "r.jsonl"
    expected = scores_of(run(store))
    store.write_bytes(store.read_bytes()[:-n_bytes])
    Prior.calls.clear()
    assert scores_of(run(store)) == expected
    assert len(Prior.calls) == 1
    Prior.calls.clear()
    assert scores_of(run(store)) == expected  # what was appended after the tear is whole
    assert not Prior.calls


def test_every_cut_of_the_file_can_be_resumed(tmp_path):
    store = tmp_path / "r.jsonl"
    expected = scores_of(run(store, {"p": Prior()}, n_repeats=1))
    whole = store.read_bytes()
    for cut in range(0, len(whole), 37):
        store.write_bytes(whole[:cut])
        assert scores_of(run(store, {"p": Prior()}, n_repeats=1)) == expected


def test_more_repeats_and_models_reuse_what_is_there(tmp_path):
    run(tmp_path / "r.jsonl", {"p": Prior()}, n_repeats=2)
    Prior.calls.clear()
    results = run(tmp_path / "r.jsonl", n_repeats=3)
    assert len(Prior.calls) == 12 - 4
    assert scores_of(results) == scores_of(run(None, n_repeats=3))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"models": {"p": Prior(alpha=2.0)}}, "alpha=2.0"),
        ({"n_splits": 5}, "n_splits: 2 there, 5 now"),
        ({"random_state": 2}, "random_state: 1 there, 2 now"),
        ({"scores": ["rmse"]}, "scores"),
    ],
)
def test_other_settings_are_refused_before_any_work(tmp_path, change, named):
    store = tmp_path / "r.jsonl"
    run(store, {"p": Prior()})
    before = store.read_bytes()
    Prior.calls.clear()
    with pytest.raises(DataError, match=named) as error:
        run(store, **({"models": {"p": Prior()}} | change))
    assert "another store" in error.value.__notes__[0]
    assert not Prior.calls
    assert store.read_bytes() == before


@pytest.mark.parametrize(
    "data",
    [
        (IRIS[0][:100], IRIS[1][:100]),
        (IRIS[0][:, :3], IRIS[1]),
        (IRIS[0], IRIS[1][::-1]),
        (IRIS[0], IRIS[1] + 1),
        (IRIS[0].astype(np.float32), IRIS[1]),
    ],
    ids=["rows", "columns", "order", "classes", "types"],
)
def test_other_data_under_the_same_name_are_refused(tmp_path, data):
    run(tmp_path / "r.jsonl", {"p": Prior()})
    with pytest.raises(DataError, match="holds results of model 'p' on 'iris' with other settings"):
        cross_validate({"p": Prior()}, {"iris": data}, n_repeats=3, random_state=1, store=tmp_path / "r.jsonl")


def test_parameters_inside_pipelines_count(tmp_path):
    def models(depth):
        return {"m": make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=depth, random_state=0))}

    run(tmp_path / "r.jsonl", models(1))
    assert len(run(tmp_path / "r.jsonl", models(1)).rows) == 6
    with pytest.raises(DataError, match="max_depth=2"):
        run(tmp_path / "r.jsonl", models(2))


def test_failed_cells_stay_unless_they_are_to_be_tried_again(tmp_path):
    store = tmp_path / "r.jsonl"
    broken = run(store, {"p": Prior(fail_at=3)})
    assert len(broken.failures) == 4
    store.write_text(store.read_text().replace("fail_at=3", "fail_at=None"))
    Prior.calls.clear()
    assert len(run(store, {"p": Prior()}).failures) == 4
    assert not Prior.calls
    assert not run(store, {"p": Prior()}, retry_failed=True).failures
    assert len(Prior.calls) == 4
    assert not run(store, {"p": Prior()}, retry_failed=True).failures  # the new rows replace the failures
    assert len(Prior.calls) == 4


def test_a_file_that_is_no_store_is_not_touched(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text('{"dataset": 1}\n')
    with pytest.raises(DataError, match=r"notes\.txt, line 1"):
        run(path)
    assert path.read_text() == '{"dataset": 1}\n'
