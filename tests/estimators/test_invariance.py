"""The same rows give the same model: in any order, in any batches, on any threads, weighted or repeated."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import countwise as cw

MODELS = {
    "NB": cw.NBClassifier,
    "TAN": cw.TANClassifier,
    "KDB": lambda **p: cw.KDBClassifier(k=3, **p),
    "SKDB": lambda **p: cw.SKDBClassifier(k=3, **p),
    "Tuned": lambda **p: cw.TunedKDBClassifier(k=3, **p),
}
PASSES = {"NB": 1, "TAN": 2, "KDB": 2, "SKDB": 3, "Tuned": 2}
each_model = pytest.mark.parametrize("name", list(MODELS))


@pytest.fixture(autouse=True)
def batches_stay_as_they_come(monkeypatch):
    """A scan joins small batches of codes before it counts them: not here, where batches are the point."""
    monkeypatch.setattr("countwise.data.coded.CODED_BYTES", 1)


def frame(n_rows=300, seed=0):
    """Six categorical columns, some with missing values, that depend on the class and on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    columns = {}
    previous = y
    for i, values in enumerate([3, 4, 2, 12, 3, 6]):
        noise = rng.random(n_rows) < 0.5
        previous = np.where(noise, rng.integers(values, size=n_rows), (previous + i) % values)
        columns[f"c{i}"] = np.char.add("v", previous.astype(str)).astype(object)
    columns["c1"][rng.random(n_rows) < 0.1] = None
    columns["c4"][rng.random(n_rows) < 0.05] = None
    return pd.DataFrame(columns), np.array(["no", "maybe", "yes"], dtype=object)[y]


def with_target(X, y, **more):
    return X.assign(target=y, **more)


def assert_same_counts(a, b):
    assert a.structure_ == b.structure_
    assert a.codec_.same_as(b.codec_)
    assert np.array_equal(a.class_counts_, b.class_counts_)
    for s, t in zip(a.trees_, b.trees_, strict=True):
        assert s.family == t.family
        for x, z in zip([*s.kernel_arrays, s.counts.cell_count], [*t.kernel_arrays, t.counts.cell_count], strict=True):
            assert np.array_equal(x, z)


def assert_same(a, b, X):
    assert_same_counts(a, b)
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))
    if hasattr(a, "loss_surface_"):
        assert np.array_equal(a.loss_surface_, b.loss_surface_)


@each_model
@pytest.mark.parametrize("size", [1, 7, 100, 299, 1000])
def test_batches(name, size):
    X, y = frame(120 if size == 1 else 300)
    table = with_target(X, y)
    parts = [table.iloc[start : start + size] for start in range(0, len(table), size)]
    whole = MODELS[name]().fit(X, y)
    streamed = MODELS[name]().fit(cw.StreamSource(parts, target="target"))
    assert_same(streamed, whole, X)
    assert np.array_equal(
        streamed.predict_proba(cw.StreamSource([p[X.columns] for p in parts])), whole.predict_proba(X)
    )


@each_model
@pytest.mark.parametrize("smoothing", ["mle", "m", "m-branch"])
def test_threads(name, smoothing):
    X, y = frame()
    one, two = (MODELS[name](smoothing=smoothing, n_jobs=n).fit(X, y) for n in (1, 2))
    assert_same(two, one, X)
    assert np.array_equal(one.explain(X).contributions, two.explain(X).contributions)


@each_model
def test_integer_weights_are_repetitions(name):
    X, y = frame()
    times = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = MODELS[name]().fit(X, y, sample_weight=times)
    repeated = MODELS[name]().fit(X.loc[np.repeat(X.index, times)], np.repeat(y, times))
    assert_same_counts(weighted, repeated)
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    table = with_target(X, y, w=times)
    parts = [table.iloc[start : start + 70] for start in range(0, 300, 70)]
    streamed = MODELS[name]().fit(cw.StreamSource(parts, target="target", weight="w"))
    assert_same(streamed, weighted, X)


@each_model
def test_equal_weights_are_no_weights(name):
    X, y = frame()
    assert_same(MODELS[name]().fit(X, y, sample_weight=np.ones(len(X))), MODELS[name]().fit(X, y), X)


@each_model
def test_row_order(name):
    X, y = frame()
    order = np.random.default_rng(2).permutation(len(X))
    assert_same(MODELS[name]().fit(X.iloc[order], y[order]), MODELS[name]().fit(X, y), X)


@each_model
def test_parquet_files(name, tmp_path):
    X, y = frame()
    table = pa.Table.from_pandas(with_target(X, y), preserve_index=False)
    for i, start in enumerate(range(0, 300, 128)):
        part = table.slice(start, 128)
        part = part.set_column(0, "c0", part["c0"].dictionary_encode())  # each file with a dictionary of its own
        pq.write_table(part, tmp_path / f"part{i}.parquet", row_group_size=50)
    whole = MODELS[name]().fit(X, y)
    scanned = MODELS[name]().fit(cw.scan(tmp_path / "*.parquet", target="target", batch_rows=60))
    assert_same(scanned, whole, X)
    rows = cw.scan(tmp_path / "*.parquet", columns=list(X.columns), batch_rows=17)
    assert np.array_equal(scanned.predict_proba(rows), whole.predict_proba(X))
    assert np.array_equal(scanned.predict(rows), whole.predict(X))
    assert scanned.n_passes_ == whole.n_passes_


@each_model
@pytest.mark.parametrize("kind", ["polars", "arrow", "category", "object array"])
def test_kinds_of_frames(name, kind):
    X, y = frame()
    other = {
        "polars": lambda: pl.from_pandas(X),
        "arrow": lambda: pa.Table.from_pandas(X, preserve_index=False),
        "category": lambda: X.astype("category"),
        "object array": X.to_numpy,
    }[kind]()
    whole, model = MODELS[name]().fit(X, y), MODELS[name]().fit(other, y)
    assert np.array_equal(model.predict_proba(other), whole.predict_proba(X))


@each_model
def test_passes(name):
    X, y = frame()
    assert MODELS[name](tune=None).fit(X, y).n_passes_ == PASSES[name]
    # Tuning deals the rows, then for each of two parts: a first look, the structure without it, counts of all rows.
    structure = {"NB": 0, "TAN": 1, "KDB": 1, "SKDB": 3, "Tuned": 1}[name]
    assert MODELS[name]().fit(X, y).n_passes_ == PASSES[name] + 1 + 2 * (1 + structure + 1)


# Pieces


@each_model
def test_partial_fit_adds_to_the_counts_of_the_first_structure(name):
    X, y = frame(500)
    first, rest = slice(0, 300), slice(300, 500)
    model = MODELS[name]().partial_fit(X[first], y[first])
    structure = model.structure_
    for start in range(300, 500, 60):
        model.partial_fit(X[start : start + 60], y[start : start + 60])
    assert model.structure_ == structure
    # The same as counting that structure on all rows, which hold no value that is new.
    whole = cw.BNClassifier(structure, tune=None).fit(X, y)
    assert whole.codec_.same_as(model.codec_)
    assert_same_counts(model, whole)
    assert np.array_equal(model.predict_proba(X[rest]), whole.predict_proba(X[rest]))


def test_partial_fit_after_prediction_is_not_stale():
    X, y = frame()
    model = cw.NBClassifier().partial_fit(X[:150], y[:150])
    before = model.predict_proba(X)
    model.partial_fit(X[150:], y[150:])
    assert not np.allclose(model.predict_proba(X), before)


def test_partial_fit_weights():
    X, y = frame()
    weights = np.random.default_rng(3).integers(0, 3, 300)
    model = cw.TANClassifier().partial_fit(X, y).partial_fit(X, y, sample_weight=weights)
    again = cw.BNClassifier(model.structure_).fit(X, y, sample_weight=1 + weights)
    assert_same_counts(model, again)


def test_partial_fit_with_classes_to_come():
    X, y = frame()
    few = y != "yes"
    model = cw.TANClassifier().partial_fit(X[few], y[few], classes=["yes", "no", "maybe"])
    assert list(model.classes_) == ["maybe", "no", "yes"]
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    assert (proba > 0).all()
    model.partial_fit(X[~few], y[~few])
    assert_same_counts(model, cw.BNClassifier(model.structure_).fit(X, y))


def test_partial_fit_leaves_new_values_out_of_their_attributes_only():
    X, y = frame()
    model = cw.NBClassifier().partial_fit(X, y)
    strange = X.copy()
    strange.loc[:99, "c0"] = "new"
    model.partial_fit(strange, y)
    for tree in model.trees_:
        assert tree.counts.total[0] == (500 if tree.family.child == 0 else 600)
    assert model.class_counts_.sum() == 600


def test_partial_fit_refuses_a_new_class_and_stays_as_it_was():
    X, y = frame()
    model = cw.NBClassifier().partial_fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(cw.DataError, match=r"label\(s\) \['other'\]"):
        model.partial_fit(X[:2], np.array(["other", "no"], dtype=object))
    assert np.array_equal(model.predict_proba(X), before)


@each_model
def test_merge_adds_counts(name):
    X, y = frame(600)
    halves = [slice(0, 300), slice(300, 600)]
    structure = MODELS[name]().fit(X, y).structure_
    a, b = (cw.BNClassifier(structure, tune=None).fit(X[half], y[half]) for half in halves)
    assert_same(a.merge(b), cw.BNClassifier(structure, tune=None).fit(X, y), X)


def test_merge_refuses_models_that_differ():
    X, y = frame()
    model = cw.NBClassifier().fit(X, y)
    with pytest.raises(cw.DataError, match="different structures"):
        model.merge(cw.TANClassifier().fit(X, y))
    with pytest.raises(cw.DataError, match="read tables differently"):
        model.merge(cw.NBClassifier().fit(X.replace("v0", "w0"), y))
    assert_same(model, cw.NBClassifier().fit(X, y), X)


# Copies and scikit-learn


@each_model
@pytest.mark.parametrize("predicted", [False, True])
def test_pickle_and_joblib(name, predicted, tmp_path):
    X, y = frame()
    model = MODELS[name](smoothing="m-branch").fit(X, y)
    if predicted:
        model.predict(X)  # compiles the network, which stays behind
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert_same(copy, model, X)
        copy.partial_fit(X, y)  # goes on where it was


@each_model
def test_model_file(name, tmp_path):
    X, y = frame()
    model = MODELS[name]().fit(X, y)
    model.save(tmp_path / "model.cw")
    assert_same(cw.load(tmp_path / "model.cw"), model, X)


@each_model
def test_clone_is_unfitted_and_learns_the_same(name):
    X, y = frame()
    model = MODELS[name](smoothing=cw.MEstimate(2.5)).fit(X, y)
    copy = clone(model)
    assert not hasattr(copy, "classes_")
    assert copy.smoothing is not model.smoothing
    assert copy.get_params()["smoothing__m"] == 2.5
    assert_same(copy.fit(X, y), model, X)


def test_fit_again_forgets():
    X, y = frame()
    model = cw.TANClassifier().fit(X, y)
    model.fit(X[["c1", "c2"]], y == "no")
    fresh = cw.TANClassifier().fit(X[["c1", "c2"]], y == "no")
    assert_same(model, fresh, X[["c1", "c2"]])
    assert list(model.feature_names_in_) == ["c1", "c2"]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search_over_m(n_jobs):
    X, y = frame()
    strengths = [0.1, 1.0, 30.0]
    model = cw.TANClassifier(smoothing=cw.MEstimate(), n_jobs=n_jobs)
    search = GridSearchCV(model, {"smoothing__m": strengths}, scoring="neg_log_loss", cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert len(set(scores)) == 3
    assert search.best_params_ == {"smoothing__m": strengths[int(np.argmax(scores))]}
    direct = cw.TANClassifier(smoothing=cw.MEstimate(search.best_params_["smoothing__m"])).fit(X, y)
    assert np.array_equal(search.predict_proba(X), direct.predict_proba(X))


def test_metadata_routing_of_weights():
    X, y = frame()
    weights = np.random.default_rng(4).integers(0, 3, 300)
    with config_context(enable_metadata_routing=True):
        model = cw.NBClassifier().set_fit_request(sample_weight=True)
        pipe = make_pipeline(FunctionTransformer(), model).fit(X, y, sample_weight=weights)
        assert_same(pipe[-1], cw.NBClassifier().fit(X, y, sample_weight=weights), X)
        result = cross_validate(
            clone(model).set_score_request(sample_weight=True), X, y, params={"sample_weight": weights}, cv=3,
            return_estimator=True, return_indices=True,
        )  # fmt: skip
    train = result["indices"]["train"][0]
    direct = cw.NBClassifier().fit(X.iloc[train], y[train], sample_weight=weights[train])
    assert_same(result["estimator"][0], direct, X)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = frame()
    model = cw.TANClassifier().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(cw.MemoryLimitError):
        model.set_params(max_memory=100).fit(X, y)
    assert np.array_equal(model.predict_proba(X), before)


def test_passes_within_max_memory_are_announced_and_change_nothing():
    # Tables of pairs of 60 values are far larger than the trees of 100 rows.
    rng = np.random.default_rng(5)
    X = rng.integers(60, size=(100, 5)).astype(str).astype(object)
    y = rng.integers(3, size=100)
    whole = cw.KDBClassifier(k=3, tune=None).fit(X, y)
    with pytest.warns(ResourceWarning, match="3 passes over the data"):
        split = cw.KDBClassifier(k=3, tune=None, max_memory="170KB").fit(X, y)
    assert split.n_passes_ == whole.n_passes_ + 2
    assert_same(split, whole, X)
