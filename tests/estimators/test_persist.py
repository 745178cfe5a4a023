"""Models to files and back: the same bits, no code, and old files keep loading."""

import json
import pickle
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import countwise as cw
from countwise.data.discretise import DISCRETISERS
from countwise.errors import ModelFileError
from countwise.model_file import read_model_file
from countwise.smooth import SMOOTHERS
from oracle.altered_files import load_altered, put

GOLDEN = Path(__file__).parent.parent / "golden"
N = 150
RNG = np.random.default_rng(1)
WORD = RNG.choice(["u", "v", "w"], N)
SIZE = np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N).round(2))
Y = np.where((WORD == "u") ^ (np.nan_to_num(SIZE) > 0.3) ^ (RNG.random(N) < 0.1), "yes", "no")
X = pd.DataFrame(
    {
        "word": np.where(RNG.random(N) < 0.1, None, WORD),
        "size": SIZE,
        "digit": pd.Categorical(RNG.integers(0, 4, N)),
        "half": pd.Categorical(RNG.integers(0, 3, N) / 2),
        "flag": RNG.random(N) < 0.5,
        "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 500, N), "D"),
        "day": pd.Categorical(pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 3, N), "D")),
        "bin": pd.cut(RNG.normal(size=N), 3),
        "nothing": None,
    }
)
NEW = X.head(20).assign(word=["new", None] * 10, size=np.linspace(-3, 3, 20))

MODELS = [
    cw.NBClassifier(),
    cw.TANClassifier(),
    cw.KDBClassifier(k=2),
    cw.KDBClassifier(k=1, order=["size", "word", 4]),
    cw.SKDBClassifier(k=2, loss="log"),
    cw.TunedKDBClassifier(k=2),
    cw.BNClassifier(),
    cw.BNClassifier(structure={"word": [], "size": ["word"], 2: ["size", "word"]}),
    *(cw.KDBClassifier(k=1, smoothing=name) for name in SMOOTHERS),
    cw.KDBClassifier(k=1, smoothing=cw.MEstimate(m=0.1)),
    cw.KDBClassifier(k=1, smoothing=cw.MEstimate(m="holdout"), random_state=3),
    cw.KDBClassifier(k=np.int64(1), smoothing=cw.MBranch(m=2)),
    cw.KDBClassifier(k=1, smoothing=cw.HDP("gibbs", n_iter=40, burn_in=10), random_state=5),
    *(cw.NBClassifier(discretiser=name) for name in DISCRETISERS),
    cw.NBClassifier(discretiser=cw.EqualFrequency(n_bins=4), max_memory="1GB", n_jobs=2),
    cw.NBClassifier(categorical_features=np.array(["digit", "size"])),
    cw.NBClassifier(categorical_features=[True] * 9),
]


def there_and_back(model, tmp_path):
    path = tmp_path / "model.cw"
    model.save(path)
    return cw.load(path)


def plain(params):
    """NumPy's numbers and arrays come back as Python's."""
    values = {k: v.tolist() if isinstance(v, (np.ndarray, np.generic)) else v for k, v in params.items()}
    return repr(values)


def same(a, b, X):
    assert type(a) is type(b)
    assert plain(a.get_params()) == plain(b.get_params())
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))  # to the last bit
    np.testing.assert_array_equal(a.log_likelihood(X), b.log_likelihood(X))
    np.testing.assert_array_equal(a.explain(X).contributions, b.explain(X).contributions)
    np.testing.assert_array_equal(a.class_counts_, b.class_counts_)
    assert a.structure_ == b.structure_
    assert a.codec_.same_as(b.codec_)
    for name in ("n_attributes_", "k_", "n_features_in_", "n_passes_", "n_parameters_", "rank_error_"):
        assert getattr(a, name, None) == getattr(b, name, None)
    assert list(getattr(a, "feature_names_in_", [])) == list(getattr(b, "feature_names_in_", []))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: " ".join(repr(model).split()))
def test_round_trip(model, tmp_path):
    loaded = there_and_back(model.fit(X, Y), tmp_path)
    same(model, loaded, X)
    same(model, loaded, NEW)
    model.partial_fit(X, Y)
    same(model, loaded.partial_fit(X, Y), NEW)  # a loaded model learns on
    same(loaded, there_and_back(loaded, tmp_path), NEW)


@pytest.mark.parametrize("smoothing", ["hdp", "m-branch", "hls"])
@pytest.mark.parametrize("kind", [cw.KDBClassifier, cw.ESKDBClassifier, cw.ProbabilityTreeClassifier])
def test_probabilities_are_kept_only_if_they_take_long(kind, smoothing, tmp_path):
    kind(smoothing=smoothing).fit(X, Y).save(tmp_path / "model.cw")
    arrays = read_model_file(tmp_path / "model.cw")[1]
    kept = {name.rsplit(".")[-1] for name in arrays} & {"log_prior", "cell_proba", "absent", "precision", "base"}
    if smoothing != "hls":
        assert kept == set()
    else:
        assert {"cell_proba", "absent", "precision"} <= kept


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes", "née"]),
        np.array(["no", "yes", "née"], dtype=object),
        np.array([3, -1, 2**40]),
        np.array([1, 2, 3], np.int8),
        np.array([0.5, 1.0, 2.0]) * 2,
        np.array([True, False, True]),
        pd.Series(["a", "b", "c"], dtype="category"),
        pa.array(["a", "b", "c"]),
    ],
    ids=["U", "O", "i8", "i1", "f8", "bool", "category", "arrow"],
)
def test_labels_keep_their_type(labels, tmp_path):
    y = np.asarray(labels)[np.arange(N) % 3]
    model = cw.NBClassifier().fit(X, y)
    loaded = there_and_back(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.predict(X).dtype == model.predict(X).dtype


def test_models_without_names_and_from_streams(tmp_path):
    numbers = np.c_[SIZE, SIZE[::-1]]
    model = cw.KDBClassifier(k=1).fit(numbers, Y)
    loaded = there_and_back(model, tmp_path)
    assert not hasattr(loaded, "feature_names_in_")
    same(model, loaded, numbers)
    stream = cw.SKDBClassifier(k=1).fit(cw.StreamSource([X.assign(label=Y)], target="label"))
    same(stream, there_and_back(stream, tmp_path), NEW)


def test_pickles_too():
    model = cw.SKDBClassifier(k=2).fit(X, Y)
    model.predict_proba(NEW)
    same(model, pickle.loads(pickle.dumps(model)), NEW)


# What cannot be saved


class Own(cw.Smoother):
    def smooth(self, tree, seed=0):
        return cw.Laplace().smooth(tree, seed)


def test_what_cannot_be_saved_is_named_and_the_old_file_stays(tmp_path):
    path = tmp_path / "model.cw"
    cw.NBClassifier().fit(X, Y).save(path)
    old = path.read_bytes()
    own = cw.NBClassifier(smoothing=Own()).fit(X, Y)
    with pytest.raises(TypeError, match=r"smoothing=Own\(\) cannot be saved.*pickle"):
        own.save(path)
    days = np.array(["2020-01-01", "2020-01-02"], "M8[D]")[np.arange(N) % 2]
    with pytest.raises(TypeError, match=r"classes such as .*2020-01-01.* cannot be saved.*make them text"):
        cw.NBClassifier().fit(X, days).save(path)

    class Other(cw.NBClassifier):
        pass

    with pytest.raises(TypeError, match="Other has no file format"):
        Other().fit(X, Y).save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


# Files of strangers


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """By a slow smoother, so that probabilities are in it too."""
    path = tmp_path_factory.mktemp("sound") / "model.cw"
    cw.KDBClassifier(k=2, smoothing="hls").fit(X, Y).save(path)
    return read_model_file(path)


@pytest.fixture
def altered(sound, tmp_path):
    """Load a sound model's file after ``change(header, arrays)``; its checksums are right."""

    return lambda change: load_altered(sound, change, tmp_path / "bad.cw")


def test_an_unaltered_copy_loads(altered):
    assert altered(lambda header, arrays: None).predict_proba(NEW).shape == (20, 2)


def drop(key):
    return lambda header, arrays: header.pop(key)


BAD_HEADERS = {
    "class name": put("model", value="os.system"),
    "dunder": put("model", value="__import__"),
    "abstract class": put("model", value="NetworkClassifier"),
    "unhashable class": put("model", value=["NBClassifier"]),
    "unknown parameter": put("params", "shell", value="rm"),
    "parameter object": put("params", "smoothing", value={"object": "subprocess.Popen", "params": {"args": "ls"}}),
    "object with odd parameters": put("params", "smoothing", value={"object": "MEstimate", "params": {"q": 1}}),
    "object without parameters": put("params", "smoothing", value={"object": "MEstimate"}),
    "discretiser for a smoother": put("smoother", value={"object": "MDLP", "params": {}}),
    "no smoother": put("smoother", value=None),
    "params": put("params", value=[1]),
    "object labels": put("classes", "dtype", value="|V8"),
    "label type": put("classes", "dtype", value="nonsense"),
    "labels": put("classes", "values", value=["yes"]),
    "column kind": put("columns", 1, "kind", value="category"),
    "category type": put("columns", 0, "type", value="binary"),
    "null category": put("columns", 0, "categories", value=["a", None]),
    "fewer categories": put("columns", 0, "categories", value=[]),
    "bins": put("columns", 1, "n_bins", value=99),
    "fewer columns": put("columns", value=[]),
    "order beyond": put("structure", "order", value=[99]),
    "order twice": put("structure", "order", value=[0, 0]),
    "negative parent": put("structure", "parents", 0, value=[-1]),
    "parents": put("structure", "parents", value=[]),
    "flags": put("hierarchical", value=[True]),
    "learned": put("learned", "n_features_in_", value="nine"),
    "features": put("learned", "n_features_in_", value=1),
    "names": put("feature_names", value=["a"]),
    **{f"no {key}": drop(key) for key in ("model", "params", "classes", "columns", "structure", "learned", "smoother")},
}


@pytest.mark.parametrize("change", BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_crafted_headers_are_refused(altered, change):
    with pytest.raises(ModelFileError, match=r"bad\.cw is not a usable model"):
        altered(change)


TREE_PARTS = ("parent", "level_ptr", "cell_ptr", "cell_value", "cell_count", "branch")


@pytest.mark.parametrize("name", [*TREE_PARTS, "cell_proba", "absent"])
def test_crafted_trees_are_refused(altered, name):
    """The kernels trust indices, so no index of a file may be out of range."""
    key = f"tree3.{name}"

    def too_short(header, arrays):
        arrays[key] = arrays[key][:-1]

    def other_type(header, arrays):
        arrays[key] = arrays[key].astype(np.int64 if arrays[key].dtype != np.int64 else np.int32)

    def another_shape(header, arrays):
        arrays[key] = arrays[key][None]

    def absent(header, arrays):
        del arrays[key]

    changes = [too_short, other_type, another_shape, absent]
    for position in (0, 1, 3, -1):
        for value in (-2, 2**31 - 1) if name not in ("cell_count", "cell_proba", "absent") else (np.nan, np.inf):

            def outside(header, arrays, position=position, value=value):
                arrays[key][position] = value

            changes.append(outside)
    if name == "branch":  # the root's is never read
        changes = [c for c in changes if getattr(c, "__defaults__", None) is None or c.__defaults__[0] != 0]
    for change in changes:
        with pytest.raises(ModelFileError, match="not a usable model"):
            altered(change)


def test_other_crafted_arrays_are_refused(altered):
    def cuts(header, arrays):
        arrays["cuts1"] = np.array([2.0, 1.0])
        header["columns"][1]["n_bins"] = 3

    def prior(header, arrays):
        arrays["log_prior"] = np.zeros(1)

    def counts(header, arrays):
        arrays["class_counts"] = np.zeros(3)

    def a_count(where, value):
        def change(header, arrays):
            arrays[where][1] = value

        return change

    def same_branch_twice(header, arrays):
        where = "tree3.parent", "tree3.branch"
        siblings = np.flatnonzero(np.diff(arrays[where[0]]) == 0)
        arrays[where[1]][siblings[-1] + 1] = arrays[where[1]][siblings[-1]]

    def more_than_above(header, arrays):
        arrays["tree3.cell_count"][-1] = arrays["tree3.cell_count"].sum()

    wrong = [
        a_count(where, value) for where in ("class_counts", "tree2.cell_count") for value in (-1.0, np.nan, np.inf)
    ]
    for change in (cuts, prior, counts, same_branch_twice, more_than_above, *wrong):
        with pytest.raises(ModelFileError, match="not a usable model"):
            altered(change)


def test_crafted_forests_of_pools_are_refused(tmp_path):
    model = cw.PoolClassifier(n_members=1, n_parts=2, k=1, n_trees=2).fit(X, Y)
    model.save(tmp_path / "pool.cw")
    pool = read_model_file(tmp_path / "pool.cw")
    forest = "member2."
    assert len(pool[0]["members"][2]["trees"]) == 2

    def array(name, value, position=-1):
        def change(header, arrays):
            arrays[forest + name][position] = value

        return change

    def fewer_weights(header, arrays):
        arrays[f"{forest}tuning.weight"] = np.ones(1)

    def no_tree(header, arrays):
        header["members"][2]["trees"] = []

    changes = [
        *(array(f"tree1.{name}", 2**31 - 1) for name in ("parent", "branch", "column", "threshold", "cell_value")),
        *(array(f"tree0.{name}", -7, 0) for name in ("parent", "column", "threshold", "cell_value", "cell_ptr")),
        array("tree1.cell_count", np.nan),
        array("tuning.weight", np.inf),
        array("tuning.temperature", -1.0),
        fewer_weights,
        no_tree,
        put("model", value="AnDEClassifier"),
        put("params", value={}),
    ]
    assert np.isfinite(load_altered(pool, changes.pop(), tmp_path / "bad.cw").predict_proba(NEW)).all()
    for change in changes:
        with pytest.raises(ModelFileError, match="not a usable model"):
            load_altered(pool, change, tmp_path / "bad.cw")


def test_weights_of_terms_are_kept_and_checked(altered):
    def tuning(weight, smoother="HDP"):
        def change(header, arrays):
            header["smoother"] = {"object": smoother, "params": {}}
            n_classes = len(arrays["class_counts"])
            arrays["tuning.level_factor"], arrays["tuning.bias"] = np.ones(3), np.zeros(n_classes)
            arrays["tuning.temperature"], arrays["tuning.weight"] = np.array([0.9]), weight

        return change

    n_columns = X.shape[1]
    weight = np.linspace(0.0, 2.0, n_columns)
    model = altered(tuning(weight))
    assert model.tuning_.weight.tolist() == weight.tolist()
    for wrong in (weight[1:], weight.astype(np.int64), np.full(n_columns, np.nan), np.full(n_columns, np.inf)):
        with pytest.raises(ModelFileError, match="not a usable model"):
            altered(tuning(wrong))
    with pytest.raises(ModelFileError, match="needs smoothing='hdp'"):
        altered(tuning(weight, "MBranch"))


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "model.cw"
    model = cw.KDBClassifier(k=1).fit(X, Y)
    model.save(path)
    data = path.read_bytes()
    unread = 0
    for position in np.linspace(0, len(data) - 1, 60).astype(int):
        changed = bytearray(data)
        changed[position] ^= 16
        path.write_bytes(changed)
        with suppress(ModelFileError):
            same(model, cw.load(path), NEW)  # a bit that fills up the last byte of a compressed array says nothing
            unread += 1
        path.write_bytes(data[:position])
        with pytest.raises(ModelFileError, match=r"model\.cw"):
            cw.load(path)
    assert unread <= 2


# Golden files


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.cw")), ids=lambda path: path.stem)
def test_files_of_older_versions_keep_loading(path):
    facts = json.loads(path.with_suffix(".json").read_text())
    model = cw.load(path)
    assert [str(label) for label in model.classes_] == facts["classes"]
    proba = model.predict_proba(pa.table(facts["rows"]))
    np.testing.assert_allclose(proba, facts["proba"], rtol=1e-9)  # smoothed again: another processor rounds differently
    assert type(model).__name__ in facts["origin"]


def test_there_are_golden_files():
    assert len(list(GOLDEN.glob("v1-*.cw"))) == 8
    assert len(list(GOLDEN.glob("v2-*.cw"))) == 10
