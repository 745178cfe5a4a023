"""The base of ensembles: counts that add up, files, pickles, and scikit-learn's contract."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import countwise as cw
from countwise.errors import DataError, ModelFileError
from countwise.estimators import persist
from countwise.model_file import read_model_file
from oracle.altered_files import load_altered, put
from oracle.bags import Bag, JointBag

N = 300
RNG = np.random.default_rng(2)
Y = RNG.choice(["no", "yes"], N)
SIZE = RNG.normal(size=N) + (Y == "yes")
X = pd.DataFrame(
    {
        "size": np.where(RNG.random(N) < 0.1, np.nan, SIZE),
        "word": RNG.choice(["u", "v", None], N),
        "nothing": np.full(N, np.nan),
        "other": RNG.normal(size=N),
    }
)
NEW = X.head(40).assign(word=["new", "u"] * 20)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    for kind in (Bag, JointBag):
        monkeypatch.setitem(persist.MODELS, kind.__name__, kind)


def same(a, b, X=NEW):
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    np.testing.assert_array_equal(a.explain(X).contributions, b.explain(X).contributions)
    np.testing.assert_array_equal(a.predict_proba_interval(X), b.predict_proba_interval(X))
    np.testing.assert_array_equal(a.class_counts_, b.class_counts_)
    assert a.codec_.same_as(b.codec_)
    assert (a.n_parameters_, a.n_passes_, a.rank_error_) == (b.n_parameters_, b.n_passes_, b.rank_error_)
    for one, two in zip(a.members_, b.members_, strict=True):
        assert one.codec.same_as(two.codec)
        assert one.structure == two.structure
        assert (one.group, one.weight) == (two.group, two.weight)


@parametrize_with_checks([Bag(), JointBag(), Bag(groups=(0, 0))])
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_parameters_come_from_all_levels():
    class Deeper(Bag):
        def __init__(self, extra=1, **shared):
            super().__init__(**shared)
            self.extra = extra

    names = set(Deeper().get_params())
    assert {"extra", "bins", "groups", "smoothing", "n_jobs"} <= names
    assert "tune" not in names
    assert {"tune", "tune_rows", "smoothing", "k"} <= set(cw.SKDBClassifier().get_params())
    assert clone(Deeper(extra=2, bins=(4,))).get_params()["bins"] == (4,)


def test_two_halves_are_one_whole():
    whole = Bag((2, 3, 4)).fit(X, Y)
    parts = Bag((2, 3, 4)).fit(X, Y)
    twice = Bag((2, 3, 4)).fit(X, Y, sample_weight=np.full(N, 2.0))
    parts.partial_fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
    same(parts, twice)
    assert (parts.predict_proba(NEW) != whole.predict_proba(NEW)).any()
    same(whole.merge(pickle.loads(pickle.dumps(whole))), twice)
    first = Bag((2, 3)).partial_fit(X[:100], Y[:100], classes=["no", "yes"]).partial_fit(X[100:], Y[100:])
    assert first.class_counts_.sum() == N


def test_files_in_batches_are_the_table(tmp_path):
    table = X.assign(label=Y)
    table["nothing"] = table["nothing"].astype(float)
    table.to_parquet(tmp_path / "t.parquet", row_group_size=70)
    bag = Bag((2, 3, 4)).fit(X, Y)
    scanned = Bag((2, 3, 4)).fit(cw.scan(tmp_path / "t.parquet", target="label"))
    same(bag, scanned)
    X.to_parquet(tmp_path / "x.parquet", row_group_size=70)
    np.testing.assert_array_equal(bag.predict_proba(X), bag.predict_proba(cw.scan(tmp_path / "x.parquet")))


def test_only_like_models_merge():
    bag = Bag((2, 3)).fit(X, Y)
    with pytest.raises(DataError, match="read tables differently"):
        bag.merge(Bag((2, 4)).fit(X, Y))
    with pytest.raises(DataError, match="different members"):
        bag.merge(Bag((2, 3), (0, 0)).fit(X, Y))


def test_smoothing_by_held_out_rows_is_refused():
    with pytest.raises(DataError, match="holds no rows out"):
        Bag(smoothing=cw.MEstimate(m="holdout")).fit(X, Y)


def test_members_have_cuts_of_their_own():
    bag = Bag((2, 3)).fit(X, Y)
    cuts = [member.codec.columns[0].cuts for member in bag.members_]
    assert [len(own) for own in cuts] == [1, 2]
    np.testing.assert_array_equal(bag.codec_.columns[0].cuts, np.unique(np.concatenate(cuts)))
    assert bag.n_passes_ == sum((2, 2))


MODELS = [
    Bag((2, 3, 4), (0, 1, 0), (1.0, 2.5, 0.5)),
    Bag(smoothing="m"),
    Bag(smoothing="hierarchical-dirichlet"),
    JointBag((2, 2, 3), smoothing=cw.HDP(method="gibbs", n_iter=50, burn_in=10), random_state=4),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: " ".join(repr(model).split()))
def test_there_and_back(model, tmp_path):
    model = clone(model).fit(X, Y)
    model.save(tmp_path / "bag.cw")
    loaded = cw.load(tmp_path / "bag.cw")
    same(model, loaded)
    same(model, pickle.loads(pickle.dumps(model)))
    same(model.partial_fit(X, Y), loaded.partial_fit(X, Y))


def test_tuned_members_keep_their_tuning(tmp_path):
    network = cw.KDBClassifier(k=1).fit(X, Y)
    bag = Bag((2, 3)).fit(X, Y)
    for member in bag.members_:
        object.__setattr__(member, "tuning", network.tuning_)
    bag._derived = type(bag._derived)()
    bag.save(tmp_path / "bag.cw")
    loaded = cw.load(tmp_path / "bag.cw")
    assert loaded.members_[1].tuning.temperature == network.tuning_.temperature
    same(bag, loaded)


# Files of strangers


@pytest.fixture
def altered(tmp_path):
    """Load a sound ensemble's file after ``change(header, arrays)``."""
    slow = cw.HDP(method="crt", n_iter=20, burn_in=5)  # so that probabilities are in the file too
    Bag((2, 3), (0, 1), smoothing=slow).fit(X, Y).save(tmp_path / "sound.cw")
    sound = read_model_file(tmp_path / "sound.cw")
    return lambda change: load_altered(sound, change, tmp_path / "bad.cw")


def replace_array(name, function):
    def change(header, arrays):
        arrays[name] = function(arrays[name])

    return change


BAD = {
    "no members": put("members", value=[]),
    "members of a network": lambda header, arrays: header.pop("members"),
    "weight": put("members", 0, "weight", value=-1.0),
    "not a number": put("members", 0, "weight", value=float("nan")),
    "group": put("members", 0, "group", value="a"),
    "parents before": put("members", 1, "structure", "parents", value=[[3], [3], [3], [3]]),
    "order": put("members", 1, "structure", "order", value=[0, 9]),
    "trees": put("members", 1, "hierarchical", value=[True]),
    "column position": put("members", 0, "columns", value=[[-1, {}]]),
    "foreign cuts": replace_array("member0.cuts0", lambda cuts: cuts + 0.1),
    "cuts descend": replace_array("member1.cuts0", lambda cuts: cuts[::-1].copy()),
    "missing array": lambda header, arrays: arrays.pop("member1.tree0.branch"),
    "branch": replace_array("member1.tree1.branch", lambda branch: branch + 9),
    "value": replace_array("member0.tree0.cell_value", lambda value: value + 9),
    "prior": replace_array("member0.log_prior", lambda prior: prior[:1]),
    "probabilities of one member": lambda header, arrays: header["members"][0].pop("hierarchical"),
}


def test_an_unaltered_copy_loads(altered):
    assert altered(lambda header, arrays: None).predict_proba(NEW).shape == (40, 2)


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_files_that_are_not_sound(altered, change):
    with pytest.raises(ModelFileError, match="not a usable model"):
        altered(change)
