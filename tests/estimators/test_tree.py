"""Probability trees: what they predict follows from their nodes, and the same rows give the same tree."""

import itertools
import pickle
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import beta

import countwise as cw
from countwise.errors import DataError, MemoryLimitError, ModelFileError
from countwise.model_file import read_model_file
from countwise.smooth import SMOOTHERS, dense_proba
from countwise.tree.splits import SUBSET, number_values
from oracle import c45
from oracle.altered_files import load_altered
from oracle.grown import NEW, X, Y, assert_same, frame, way_of

SHARP = {
    "tree": partial(cw.ProbabilityTreeClassifier, thresholds="sharp"),
    "gini": partial(cw.ProbabilityTreeClassifier, thresholds="sharp", criterion="gini", max_depth=4),
    "binary": partial(cw.ProbabilityTreeClassifier, thresholds="sharp", category_splits="binary"),
}
MODELS = SHARP | {"soft": cw.ProbabilityTreeClassifier}
each_model = pytest.mark.parametrize("name", list(MODELS))
each_sharp = pytest.mark.parametrize("name", list(SHARP))  # a row has one node; of others, see test_soft.py


@pytest.fixture(autouse=True)
def batches_stay_as_they_come(monkeypatch):
    """A scan joins small batches of codes: not here, where batches are the point."""
    monkeypatch.setattr("countwise.data.coded.CODED_BYTES", 1)


@each_model
def test_rows_go_where_their_values_say(name):
    model = MODELS[name]().fit(X, Y)
    for table in (X, NEW):
        assert model.apply(table).tolist() == [way_of(model, row)[-1] for row in table.to_dict("records")]
    assert len(set(model.apply(NEW)) & set(np.flatnonzero(~model.splits_.is_leaf))) > 0  # some stay on the way


@each_sharp
@pytest.mark.parametrize("smoothing", SMOOTHERS)
def test_probabilities_are_those_of_the_nodes(name, smoothing):
    model = MODELS[name](smoothing=smoothing).fit(X, Y)
    table = dense_proba(
        model.tree_, SMOOTHERS[smoothing]().smooth(model.tree_, np.random.SeedSequence(0).generate_state(1)[0])
    )
    np.testing.assert_allclose(model.predict_proba(NEW), table[model.apply(NEW)], rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(NEW), np.log(table[model.apply(NEW)]), rtol=1e-12)
    assert (table > 0).all()


def test_large_tables_are_written_out_as_they_are_met(monkeypatch):
    expected = SHARP["tree"]().fit(X, Y).predict_proba(NEW)
    monkeypatch.setattr("countwise.infer.trees.TABLE_VALUES", 0)
    assert np.array_equal(SHARP["tree"]().fit(X, Y).predict_proba(NEW), expected)


def test_counts_are_of_the_rows_that_come_by():
    model = cw.ProbabilityTreeClassifier().fit(X, Y)
    counts = np.zeros((model.tree_.n_nodes, 3))
    for row, label in zip(X.to_dict("records"), Y, strict=True):
        for node in way_of(model, row):
            counts[node, list(model.classes_).index(label)] += 1
    tree = model.tree_
    dense = np.zeros_like(counts)
    dense[tree.cell_node, tree.cell_value] = tree.cell_count
    assert np.array_equal(dense, counts)
    assert model.n_leaves_ == np.count_nonzero(np.bincount(tree.parent[1:], minlength=tree.n_nodes) == 0)
    assert model.n_parameters_ == np.count_nonzero(counts[model.splits_.is_leaf])
    assert model.depth_ == max(len(way_of(model, row)) for row in X.to_dict("records")) - 1


def test_the_tree_is_the_oracles():
    """From the values themselves: thresholds divide the rows as the oracle's do."""
    model = cw.ProbabilityTreeClassifier().fit(X, Y)
    columns, n_values = [], []
    for name in X:
        values = X[name]
        known = sorted(set(values.dropna()))
        columns.append([known.index(v) if v == v and v is not None else len(known) for v in values])
        n_values.append(len(known) if values.dtype == float else 0)
    y = [["maybe", "no", "yes"].index(label) for label in Y]
    expected = c45.grow(columns, n_values, y, np.ones(len(y)))
    assert model.splits_.parent.tolist() == [node[0] for node in expected]
    assert model.splits_.branch.tolist() == [node[1] for node in expected]
    assert model.splits_.column.tolist() == [node[2] for node in expected]
    for i, (_, _, column, low, high, _, _) in enumerate(expected):
        if low >= 0:
            known = sorted(set(X.iloc[:, column].dropna()))
            cut = model.codec_.columns[column].cuts[model.splits_.threshold[i]]
            assert known[low] < cut < known[high + 1]
            steps = np.diff(known[low : high + 2]).max()  # in the middle, as far as there are cuts
            assert abs(cut - (known[low] + known[high + 1]) / 2) <= steps


@each_model
def test_only_cuts_in_use_are_kept(name):
    model = MODELS[name]().fit(X, Y)
    splits = model.splits_
    for i, column in enumerate(model.codec_.columns):
        if n := number_values(model.codec_)[i]:
            likely = splits.sides[splits.side_column == i].tolist()
            assert {*splits.threshold[splits.column == i].tolist(), *likely} == set(range(n - 1))
            assert len(column.cuts) == n - 1


@each_sharp
def test_explanations_add_up_along_the_way(name):
    model = MODELS[name]().fit(X, Y)
    why = model.explain(NEW)
    scores = np.exp(why.scores())
    np.testing.assert_allclose(scores / scores.sum(axis=1, keepdims=True), model.predict_proba(NEW), rtol=1e-12)
    log_p = np.log(dense_proba(model.tree_, model._parameters[0]))
    for r, row in enumerate(NEW.to_dict("records")):
        expected = np.zeros((4, 3))
        way = way_of(model, row)
        for above, below in itertools.pairwise(way):
            expected[model.splits_.column[above]] += log_p[below] - log_p[above]
        expected -= expected.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(why.contributions[r], expected, atol=1e-12)


def test_intervals_are_those_of_beta_distributions():
    model = SHARP["tree"]().fit(X, Y)
    limits, p = model.predict_proba_interval(NEW, 0.8), model.predict_proba(NEW)
    precision = model._parameters[0].precision[model.apply(NEW)][:, None]
    low, high = (beta.ppf(q, p * precision, (1 - p) * precision) for q in (0.1, 0.9))
    np.testing.assert_allclose(limits[..., 0], np.minimum(low, p), rtol=1e-9)
    np.testing.assert_allclose(limits[..., 1], np.maximum(high, p), rtol=1e-9)


@each_model
@pytest.mark.parametrize("size", [7, 100, 1000])
def test_batches(name, size):
    table = X.assign(target=Y)
    parts = [table.iloc[start : start + size] for start in range(0, len(table), size)]
    streamed = MODELS[name]().fit(cw.StreamSource(parts, target="target"))
    assert_same(streamed, MODELS[name]().fit(X, Y))
    assert streamed.n_passes_ == 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_memory", [12_000, 20_000, 50_000])
@pytest.mark.parametrize(
    "params",
    [{}, {"criterion": "gini"}, {"criterion": "entropy", "max_depth": 3}, {"category_splits": "binary"}],
    ids=repr,
)
def test_rows_that_do_not_fit_are_read_again(params, max_memory, weighted):
    """Few nodes at a time by counts, then few by their rows: the tree is that of all rows in memory."""
    big, labels = frame(2000, 3)
    weights = np.random.default_rng(0).integers(1, 4, 2000) if weighted else np.ones(2000)
    table = big.round(1).assign(target=labels, **({"weight": weights} if weighted else {}))
    parts = [table.iloc[start : start + 300] for start in range(0, len(table), 300)]
    model = cw.ProbabilityTreeClassifier(max_memory=max_memory, **params)
    with pytest.warns(ResourceWarning, match="several passes"):
        model.fit(cw.StreamSource(parts, target="target", weight="weight" if weighted else None))
    assert_same(model, cw.ProbabilityTreeClassifier(**params).fit(big.round(1), labels, sample_weight=weights))
    assert model.n_passes_ > (2 if max_memory == 50_000 else 4)


def test_a_scan_that_does_not_fit_is_refused():
    source = cw.StreamSource([X.assign(target=Y)], target="target")
    with (
        pytest.warns(ResourceWarning, match="several passes"),
        pytest.raises(MemoryLimitError, match="counts of one node take"),
    ):
        cw.ProbabilityTreeClassifier(max_memory=1000).fit(source)
    with pytest.raises(MemoryLimitError, match="holds samples of 11 rows"):
        cw.ProbabilityForestClassifier(max_memory=1000).fit(source)


@each_model
def test_weights_order_and_threads(name):
    rng = np.random.default_rng(1)
    times, order = rng.integers(0, 4, len(X)), rng.permutation(len(X))
    whole = MODELS[name]().fit(X, Y)
    assert_same(MODELS[name]().fit(X, Y, sample_weight=np.ones(len(X))), whole)
    assert_same(MODELS[name]().fit(X.iloc[order], Y[order]), whole)
    assert_same(MODELS[name](n_jobs=2).fit(X, Y), whole)
    repeated = MODELS[name]().fit(X.loc[np.repeat(X.index, times)], np.repeat(Y, times))
    assert_same(MODELS[name]().fit(X, Y, sample_weight=times), repeated)


@each_model
def test_rows_may_come_later(name):
    """Counts of later rows are added along the way; those that do not come to a leaf are left out."""
    model = MODELS[name]().partial_fit(X[:200], Y[:200], classes=["maybe", "no", "yes"])
    before = pickle.loads(pickle.dumps(model))
    later, labels = X[200:].copy(), Y[200:]
    later.loc[later.index[:5], "word"] = "never seen"
    model.partial_fit(later, labels, sample_weight=np.arange(100) % 3)
    reached = before.apply(later)
    assert np.array_equal(model.apply(NEW), before.apply(NEW))
    expected = np.zeros((model.tree_.n_nodes, 3))
    expected[before.tree_.cell_node, before.tree_.cell_value] = before.tree_.cell_count
    for row, label, node, weight in zip(later.to_dict("records"), labels, reached, np.arange(100) % 3, strict=True):
        if before.splits_.is_leaf[node]:
            for step in way_of(before, row):
                expected[step, list(model.classes_).index(label)] += weight
    found = np.zeros_like(expected)
    found[model.tree_.cell_node, model.tree_.cell_value] = model.tree_.cell_count
    assert np.array_equal(found, expected)
    assert not np.array_equal(model.predict_proba(NEW), before.predict_proba(NEW))


def test_merge_adds_counts():
    first = cw.ProbabilityTreeClassifier().fit(X, Y)
    other = pickle.loads(pickle.dumps(first)).partial_fit(X[:100], Y[:100])
    both = pickle.loads(pickle.dumps(first)).merge(other)
    expected = pickle.loads(pickle.dumps(other)).partial_fit(X, Y)
    assert_same(both, expected)
    with pytest.raises(DataError, match="read tables differently"):
        first.merge(cw.ProbabilityTreeClassifier(max_depth=2).fit(X, Y))


@each_model
@pytest.mark.parametrize("smoothing", ["mle", "hdp", "hierarchical-dirichlet", "hls"])
def test_files_and_pickles(name, smoothing, tmp_path):
    model = MODELS[name](smoothing=smoothing, n_jobs=1).fit(X, Y)
    model.save(tmp_path / "tree.cw")
    for other in (cw.load(tmp_path / "tree.cw"), pickle.loads(pickle.dumps(model))):
        assert_same(model, other)
        assert repr(other.get_params()) == repr(model.get_params())
        assert np.array_equal(model.predict_proba_interval(NEW), other.predict_proba_interval(NEW))
        assert_same(other.partial_fit(X, Y), pickle.loads(pickle.dumps(model)).partial_fit(X, Y))


FAULTS = [
    ("parent", 1, 5),
    ("parent", 0, 0),
    ("column", 0, 9),
    ("column", 0, -1),
    ("column", -1, 0),
    ("branch", 1, 7),
    ("branch", 1, -1),
    ("branch", 2, 0),
    ("threshold", 0, 10**6),
    ("threshold", -1, 0),
    ("cell_ptr", 1, 10**6),
    ("cell_ptr", 2, 3),
    ("cell_value", 0, 3),
    ("cell_value", 1, 0),
    ("cell_count", 0, -1.0),
    ("cell_count", -1, 1e9),
    ("cell_proba", 0, np.nan),
    ("precision", 0, -1.0),
]


@pytest.mark.parametrize(("array", "at", "value"), FAULTS)
def test_files_are_checked(array, at, value, tmp_path):
    path = tmp_path / "tree.cw"
    cw.ProbabilityTreeClassifier(smoothing="hls").fit(X, Y).save(path)  # slow: probabilities are in the file

    def alter(header, arrays):
        arrays[f"tree0.{array}"][at] = value

    with pytest.raises(ModelFileError, match="not a usable model"):
        load_altered(read_model_file(path), alter, path)


@pytest.mark.parametrize(
    ("array", "at", "value"),
    [("sides", 0, 2**20), ("sides", 1, 0), ("sides", 0, -2), ("side_ptr", 0, 1), ("side_ptr", 1, 10**6),
     ("side_ptr", 2, 0), ("threshold", None, -1)],
)  # fmt: skip
def test_sides_of_files_are_checked(array, at, value, tmp_path):
    path, model = tmp_path / "tree.cw", cw.ProbabilityTreeClassifier(category_splits="binary").fit(X, Y)
    model.save(path)
    in_sets = int(np.flatnonzero(model.splits_.threshold == SUBSET)[0])

    def alter(header, arrays):
        arrays[f"tree0.{array}"][in_sets if at is None else at] = value

    with pytest.raises(ModelFileError, match="not a usable model"):
        load_altered(read_model_file(path), alter, path)


def test_every_kind_of_frame():
    expected = cw.ProbabilityTreeClassifier().fit(X, Y).predict_proba(NEW)
    for convert in (pl.from_pandas, lambda frame: pa.Table.from_pandas(frame, preserve_index=False)):
        model = cw.ProbabilityTreeClassifier().fit(convert(X), Y)
        assert np.array_equal(model.predict_proba(convert(NEW)), expected)


def test_a_tree_without_splits():
    rng = np.random.default_rng(0)
    model = cw.ProbabilityTreeClassifier().fit(np.zeros((20, 2)), rng.integers(0, 2, 20))
    assert (model.n_leaves_, model.depth_) == (1, 0)
    assert model.predict_proba([[5.0, np.nan]]).shape == (1, 2)
    assert np.array_equal(model.explain([[5.0, np.nan]]).contributions, np.zeros((1, 2, 2)))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"criterion": "twoing"}, "criterion='twoing' is not known"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a number > 0"),
        ({"max_depth": -1}, "max_depth must be a whole number >= 0"),
        ({"smoothing": cw.MEstimate("holdout")}, "give a number"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(DataError, match=message):
        cw.ProbabilityTreeClassifier(**params).fit(X, Y)


@pytest.mark.parametrize(
    "name", ["tree", "c45", "c45-mle", "tree-hdp", "c45-mbranch", "c45-m", "c45-gibbs", "c45-laplace"]
)
def test_names(name):
    from countwise.evaluate.models import make_model

    model = make_model(name, jobs=1)
    assert isinstance(model, cw.ProbabilityTreeClassifier)


def test_what_columns_offer_to_a_node(tmp_path):
    """Thresholds of a number, one split of a category; kept by files and new rows. Of some columns: typical ones."""
    X = pl.DataFrame({"a": list("xyzx"), "b": [1.0, 2.0, 3.0, 4.0], "c": [0.0, 0.0, 1.0, 1.0]})
    y = [0, 1, 0, 1]
    model = cw.ProbabilityTreeClassifier(smoothing="hgs").fit(X, y)
    assert model.tree_.choices == (1, 1, 3)
    model.save(tmp_path / "tree.cw")
    assert cw.load(tmp_path / "tree.cw").tree_.choices == (1, 1, 3)
    assert model.partial_fit(X, y).tree_.choices == (1, 1, 3)
    forest = cw.ProbabilityForestClassifier(1, max_features=1).fit(X, y)
    assert forest.trees_[0].counts.choices == (1,)
