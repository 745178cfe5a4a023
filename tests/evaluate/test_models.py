"""Models by name, and those that are not there."""

import sys

import numpy as np
import pytest
from sklearn.base import clone

import countwise as cw
from countwise.errors import DataError
from countwise.estimators.names import ALWAYS_TUNED, NETWORKS, SMOOTHINGS
from countwise.evaluate import benchmark
from countwise.evaluate.experiments import absent_models, experiment
from countwise.evaluate.models import UnavailableError, make_model, make_models
from countwise.evaluate.pairs import WinDrawLoss
from countwise.evaluate.papers import DEFAULT_EXPERIMENT, EXPERIMENTS
from countwise.evaluate.run import describe
from countwise.evaluate.split_sets import DEVELOPMENT, split_sets


def test_every_name_makes_a_model_of_its_own():
    ensembles = {"eskdb", "kdf", "aode", "a2de", "tree", "forest"}  # and trees, which have no tune=
    smoothed = [network for network in NETWORKS if network not in ALWAYS_TUNED]
    names = [*NETWORKS, *(f"{network}-{smoothing}" for network in smoothed for smoothing in SMOOTHINGS)]
    names = [name for name in names if name not in {f"{ensemble}-tuned" for ensemble in [*ensembles, "c45"]}]
    made = {name: describe(make_model(name)) for name in names}
    defaults = {"skdb": "skdb5", "kdb": "kdb1", "c45": "tree"}  # the models that stand for two names
    for network in NETWORKS:
        assert made[network].startswith(NETWORKS[network][0])
    distinct = {text for name, text in made.items() if name.partition("-")[0] not in defaults}
    n_smoothed = (len(smoothed) - len(defaults)) * (1 + len(SMOOTHINGS)) - len(ensembles)
    assert len(distinct) == n_smoothed + len(ALWAYS_TUNED)


def test_parameters_seed_and_threads():
    model = make_model("kdb(k=3,smoothing=laplace,tune=none)", seed=4, jobs=2)
    assert (model.k, model.smoothing, model.tune, model.random_state, model.n_jobs) == (3, "laplace", None, 4, 2)
    forest = make_model("rf(n_estimators=7)", seed=4, jobs=2)
    params = forest.get_params()
    assert [value for key, value in params.items() if key.endswith("n_estimators")] == [7]
    assert 4 in [value for key, value in params.items() if key.endswith("random_state")]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("svm", "model 'svm' is not known"),
        ("tan-magic", "model 'tan-magic' is not known"),
        ("kdb(depth=3)", "has no parameter 'depth'"),
        ("rf(depth=3)", "has no parameter 'depth'"),
        ("kdb(3)", "'3' is not of the form name=value"),
        ("kdb(k=3", "expected a name, or a name with parameters"),
        ("rf@all", "@all is for networks"),
        ("aode@all", "@all is for networks"),
        ("eskdb-tuned", "model 'eskdb-tuned': ensembles and trees are not tuned; use eskdb-hdp"),
        ("pool-m", "model 'pool-m': pool smooths by HDP and tunes it, always; use pool"),
        ("pool-hdp", "model 'pool-hdp': pool smooths by HDP and tunes it, always; use pool"),
        ("pool(smoothing=m)", "pool needs smoothing='hdp'"),
        ("wnb-hdp", "model 'wnb-hdp' is not in countwise yet: naive Bayes with discriminative weights"),
    ],
)
def test_wrong_names_are_named(spec, message):
    with pytest.raises(DataError, match=message.replace("(", r"\(").replace(")", r"\)")):
        make_model(spec)


def test_all_absent_models_are_told_of_together(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(UnavailableError) as error:
        make_models(["tan", "wnb", "xgboost"])
    assert "'wnb' is not in countwise yet" in str(error.value)
    assert "pip install 'countwise[rivals]'" in str(error.value)


def test_structure_of_all_rows_is_that_of_a_fit_on_all_rows():
    X, y = cw.datasets.load("iris")
    model = make_model("tan-bdeu10@all")
    estimator = model.for_table(X, y)
    assert estimator.structure == cw.TANClassifier(tune=None).fit(X, y).structure_
    assert describe(estimator.smoothing) == "BDeu(iss=10.0)"
    assert clone(model).get_params()["estimator"].smoothing.iss == 10.0
    few = benchmark({"m": model}, {"iris": (X, y)}, "1x2")
    assert few.rows[0]["error"] is None


def test_every_experiment_names_models_that_exist_or_are_planned():
    for one in EXPERIMENTS.values():
        absent = absent_models(one)
        assert all("not in countwise yet" in reason for reason in absent.values())
        assert one.models
        for item in one.versus:
            for printed in item.paper.values():
                result = WinDrawLoss(*map(int, printed.split("-")))
                assert result.wins + result.draws + result.losses == one.n_sets
    assert not absent_models(DEFAULT_EXPERIMENT)
    assert experiment("paper000-table4").models[:2] == ("nb-hdp", "nb-m")
    with pytest.raises(DataError, match="experiment 'paper9' is not known; there are networks, smoothers, pool"):
        experiment("paper9")


def test_printed_means_are_probabilities():
    values = [v for one in EXPERIMENTS.values() for item in one.averages for v in item.paper.values()]
    assert len(values) > 10
    assert np.all((np.array(values) > 0.1) & (np.array(values) < 0.3))


def test_the_pool_is_compared_with_every_rival():
    one = experiment("pool")
    pairs = {(item.own, item.other) for item in one.versus}
    ours = {"pool", "tuned", "eskdb-hdp"}
    rivals = {"rf", "xgboost", "xgboost-tuned", "lightgbm", "catboost", "ebm", "hgb"}
    assert {(own, rival) for own in ours for rival in rivals} <= pairs
    assert set(one.models) == ours | rivals
    assert str(one.protocol) == "1x2"


def test_what_is_varied_in_eskdb_is_a_parameter_of_it():
    """A name that sets what is the default anyway would be fitted twice under two names."""
    default = describe(make_model("eskdb-hdp"))
    for name in ("paper004-fig10", "paper004-fig11", "paper004-fig12", "paper004-fig13", "paper004-fig14"):
        varied = [model for model in experiment(name).models if "(" in model]
        made = [describe(make_model(model)) for model in varied]
        assert len(set(made)) == len(varied) > 0
        assert default not in made
    assert len(experiment("paper004-fig14").averages) == 8


def test_development_sets_are_thirty_and_never_confirm():
    assert len(set(DEVELOPMENT)) == len(DEVELOPMENT) == 30
    parts = split_sets([*DEVELOPMENT, "iris", "wine"])
    assert parts["confirmation"] == ["iris", "wine"]
    assert set(parts["development"]) == set(DEVELOPMENT)
