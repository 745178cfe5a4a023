"""What holds of every ensemble of the papers: the same rows give the same model, however they come."""

import numpy as np
import pandas as pd
import pytest

import countwise as cw

MODELS = {
    "ESKDB": lambda **p: cw.ESKDBClassifier(4, 3, **p),
    "KDF": lambda **p: cw.KDFClassifier(3, **p),
    "NB": lambda **p: cw.AnDEClassifier(0, **p),
    "AODE": lambda **p: cw.AnDEClassifier(1, **p),
    "A2DE": lambda **p: cw.AnDEClassifier(2, **p),
    "Pool": lambda **p: cw.PoolClassifier(3, 3, 3, **p),
}
PASSES = {"ESKDB": 3, "KDF": 2, "NB": 1, "AODE": 1, "A2DE": 2, "Pool": 2}
each_model = pytest.mark.parametrize("name", list(MODELS))


@pytest.fixture(autouse=True)
def batches_stay_as_they_come(monkeypatch):
    """A scan joins small batches of codes before it counts them: not here, where batches are the point."""
    monkeypatch.setattr("countwise.data.coded.CODED_BYTES", 1)


def frame(n_rows=250, seed=0):
    """Numbers of few distinct values, so that a scan's cut points are exact, and words, both with gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    size = np.round(rng.normal(size=n_rows) + y, 1)
    columns = {
        "size": np.where(rng.random(n_rows) < 0.1, np.nan, size),
        "age": np.round(rng.normal(size=n_rows) - y + 0.5 * size, 1),
        "noise": np.round(rng.normal(size=n_rows), 1),
        "word": np.where(rng.random(n_rows) < 0.5, y, rng.integers(4, size=n_rows)).astype(str).astype(object),
        "other": rng.choice(["u", "v", None], n_rows),
    }
    return pd.DataFrame(columns), np.array(["no", "maybe", "yes"], dtype=object)[y]


NEW = frame(30, 1)[0].assign(word=["new", "1"] * 15)


def stream(X, y, size, **more):
    table = X.assign(target=y, **more)
    return lambda: (table[i : i + size] for i in range(0, len(table), size))


def assert_same(a, b, X=NEW):
    assert a.codec_.same_as(b.codec_)
    assert np.array_equal(a.class_counts_, b.class_counts_)
    for one, two in zip(a.members_, b.members_, strict=True):
        assert one.same_shape(two)
        for s, t in zip(one.trees, two.trees, strict=True):
            assert np.array_equal(s.counts.cell_count, t.counts.cell_count)
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))


@each_model
@pytest.mark.parametrize("size", [7, 100, 1000])
def test_batches_and_their_passes(name, size):
    X, y = frame()
    read = []
    batches = stream(X, y, size)

    def counted():
        read.append(1)
        return batches()

    source = cw.StreamSource(counted, target="target")
    read.clear()
    streamed, whole = MODELS[name]().fit(source), MODELS[name]().fit(X, y)
    assert_same(streamed, whole)
    assert streamed.n_passes_ == whole.n_passes_ == PASSES[name]
    assert len(read) == 1 + PASSES[name]  # the schema pass, and no more than one member takes


@each_model
def test_threads(name):
    X, y = frame()
    assert_same(MODELS[name](n_jobs=2).fit(X, y), MODELS[name]().fit(X, y))
    source = cw.StreamSource(stream(X, y, 60), target="target")
    assert_same(MODELS[name](n_jobs=3).fit(source), MODELS[name]().fit(X, y))


@each_model
def test_row_order(name):
    X, y = frame()
    order = np.random.default_rng(1).permutation(len(X))
    assert_same(MODELS[name]().fit(X.iloc[order], y[order]), MODELS[name]().fit(X, y))


@each_model
def test_integer_weights_are_repetitions(name):
    X, y = frame()
    times = np.random.default_rng(2).integers(0, 4, len(X))
    weighted = MODELS[name]().fit(X, y, sample_weight=times)
    rows = np.repeat(np.arange(len(X)), times)
    assert_same(weighted, MODELS[name]().fit(X.iloc[rows], y[rows]))
    source = cw.StreamSource(stream(X, y, 80, w=times), target="target", weight="w")
    assert_same(MODELS[name]().fit(source), weighted)


@each_model
def test_partial_fit_and_merge_add_up(name):
    X, y = frame()
    model, parts = MODELS[name]().fit(X, y), MODELS[name]().fit(X, y)
    parts.partial_fit(X[:90], y[:90]).partial_fit(X[90:], y[90:])
    for one, two in zip(model.members_, parts.members_, strict=True):
        for s, t in zip(one.trees, two.trees, strict=True):
            assert np.array_equal(2 * s.counts.cell_count, t.counts.cell_count)
    assert_same(model.merge(MODELS[name]().fit(X, y)), parts)
    assert model.class_counts_.sum() == 2 * len(X)


@pytest.mark.parametrize(
    ("name", "smoothing"),
    [(name, how) for name in MODELS for how in ("hdp", "m", "mle", "hls") if name != "Pool" or how == "hdp"],
)
def test_files(name, smoothing, tmp_path):
    X, y = frame()
    model = MODELS[name](smoothing=smoothing).fit(X, y)
    model.save(tmp_path / "model.cw")
    loaded = cw.load(tmp_path / "model.cw")
    assert_same(model, loaded)
    assert repr(loaded) == repr(model)
    assert_same(model.partial_fit(X[:50], y[:50]), loaded.partial_fit(X[:50], y[:50]))


@each_model
def test_explanations_and_intervals(name):
    X, y = frame()
    model = MODELS[name]().fit(X, y)
    proba = model.predict_proba(NEW)
    limits = model.predict_proba_interval(NEW)
    assert np.all(limits[..., 0] <= proba)
    assert np.all(proba <= limits[..., 1])
    told = model.explain(NEW)
    scores = told.intercept + told.contributions.sum(axis=1)
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(scores / scores.sum(axis=1, keepdims=True), proba, atol=1e-9)


@each_model
def test_one_column_and_one_value(name):
    y = np.array([0, 1] * 10)
    for column in (np.zeros(20), np.arange(20.0), np.full(20, np.nan)):
        proba = MODELS[name]().fit(column[:, None], y).predict_proba([[0.0], [np.nan], [99.0]])
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_members_take_more_passes_where_memory_is_short():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(40, size=(200, 5)).astype(str).astype(object), columns=list("abcde"))
    y = rng.integers(2, size=200)
    whole = cw.ESKDBClassifier(4, 2).fit(X, y)
    source = cw.StreamSource(stream(X, y, 50), target="target")
    with pytest.warns(ResourceWarning, match="counts of 4 members need more passes"):
        split = cw.ESKDBClassifier(4, 2, max_memory="300KB").fit(source)
    assert split.n_passes_ > whole.n_passes_
    assert_same(split, whole, X)


def test_members_that_are_too_large_together_are_refused():
    X, y = frame()
    n_bytes = sum(tree.nbytes for member in cw.ESKDBClassifier(30, 3).fit(X, y).members_ for tree in member.trees)
    with pytest.raises(cw.MemoryLimitError, match=r"the counts of 30 members take .* use fewer members"):
        cw.ESKDBClassifier(30, 3, max_memory=n_bytes - 1).fit(X, y)
    assert len(cw.ESKDBClassifier(30, 3, max_memory=n_bytes).fit(X, y).members_) == 30


@pytest.mark.parametrize("name", list(MODELS))
def test_large_weights_are_counts_and_larger_ones_are_refused(name):
    X, y = frame()
    assert np.isfinite(MODELS[name]().fit(X, y, sample_weight=np.full(len(y), 5e11 / len(y))).predict_proba(X)).all()
    with pytest.raises(cw.DataError, match=r"the weights add up to 1e\+14, more than 1e\+12.*divide"):
        MODELS[name]().fit(X, y, sample_weight=np.full(len(y), 1e14 / len(y)))


def test_a_loaded_forest_of_networks_shares_its_trees(tmp_path):
    """A tree that members share is sampled once, with one seed: before and after."""
    X, y = frame()
    sampler = cw.HDP("gibbs", n_iter=20, burn_in=5)
    model = cw.KDFClassifier(1, smoothing=sampler).fit(X, y)
    model.save(tmp_path / "kdf.cw")
    loaded = cw.load(tmp_path / "kdf.cw")
    counts = [len({id(tree) for member in m.members_ for tree in member.trees}) for m in (model, loaded)]
    assert counts[0] == counts[1] < sum(len(member.trees) for member in model.members_)
    assert_same(loaded.partial_fit(X, y), model.partial_fit(X, y), X)
