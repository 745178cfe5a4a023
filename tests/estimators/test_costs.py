"""Decisions of least expected cost, with classifiers of any kind."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import countwise as cw
from countwise.errors import DataError
from countwise.evaluate import mean_cost

X, Y = load_iris(return_X_y=True, as_frame=True)
X = X[["sepal length (cm)", "sepal width (cm)"]]  # which leave doubts
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
COSTS = np.array([[-1.0, 5.0, 2.0], [1.0, 0.0, 9.0], [1.0, 0.5, 0.0]])


def xgboost():
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=3)


@pytest.mark.parametrize(
    "make",
    [
        cw.TANClassifier,
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        lambda: DecisionTreeClassifier(max_depth=2, random_state=0),
        cw.SmoothedTreeClassifier,
        xgboost,
    ],
)
def test_no_other_decision_is_expected_to_cost_less(make):
    labels = Y if make is xgboost else NAMES
    model = cw.CostSensitive(make(), COSTS).fit(X, labels)
    alone = make().fit(X, labels)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
    expected = model.expected_cost(X)
    np.testing.assert_allclose(expected, alone.predict_proba(X).astype(float) @ COSTS, rtol=1e-12)
    decided = np.searchsorted(model.classes_, model.predict(X))
    np.testing.assert_allclose(expected[np.arange(150), decided], expected.min(axis=1))
    assert not hasattr(model, "decision_threshold_")
    assert (model.predict(X) != alone.predict(X)).any()  # costs matter here
    assert list(model.feature_names_in_) == list(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_without_costs_it_is_the_classifier():
    model = cw.CostSensitive(cw.NBClassifier()).fit(X, NAMES)
    np.testing.assert_array_equal(model.predict(X), cw.NBClassifier().fit(X, NAMES).predict(X))


def test_the_threshold_of_two_classes_is_where_decisions_change():
    two = np.where(NAMES == "virginica", "virginica", "other")
    costs = {("virginica", "other"): 7.0, ("other", "virginica"): 1.0}
    model = cw.CostSensitive(cw.NBClassifier(), costs).fit(X, two)
    assert model.classes_.tolist() == ["other", "virginica"]
    assert model.decision_threshold_ == 1 / 8
    p = model.predict_proba(X)[:, 1]
    decided = model.predict(X)
    assert set(decided) == {"other", "virginica"}
    np.testing.assert_array_equal(decided == "virginica", p > 1 / 8)
    model.set_params(cost_matrix=None).fit(X, NAMES)
    assert not hasattr(model, "decision_threshold_")


def test_costs_of_each_row():
    model = cw.CostSensitive(cw.NBClassifier()).fit(X, NAMES)
    dear = np.tile(1.0 - np.eye(3), (150, 1, 1))
    dear[::2, :, 2] = 1000.0
    decided = model.predict(X, cost_matrix=dear)
    assert (decided[::2] != "virginica").all()
    np.testing.assert_array_equal(decided[1::2], model.predict(X)[1::2])
    assert model.expected_cost(X, dear).shape == (150, 3)
    with pytest.raises(DataError, match=r"shape \(150, 3, 3\), expected \(3, 3\) or \(9, 3, 3\)"):
        model.predict(X[:9], cost_matrix=dear)


def test_weights_and_other_parameters_reach_the_estimator():
    weight = np.where(NAMES == "setosa", 0.0, 1.0)
    model = cw.CostSensitive(cw.NBClassifier()).fit(X, NAMES, sample_weight=weight)
    assert model.classes_.tolist() == ["versicolor", "virginica"]
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    model = cw.CostSensitive(pipe).fit(X, NAMES, logisticregression__sample_weight=weight + 0.5)
    expected = clone(pipe).fit(X, NAMES, logisticregression__sample_weight=weight + 0.5).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    with pytest.raises(DataError, match=r"Pipeline\.fit takes no sample_weight"):
        cw.CostSensitive(pipe).fit(X, NAMES, sample_weight=weight)


def test_a_search_by_cost():
    search = GridSearchCV(
        cw.CostSensitive(cw.NBClassifier(smoothing=cw.MEstimate()), COSTS),
        {"estimator__smoothing__m": [0.1, 50.0]},
        scoring=make_scorer(mean_cost, greater_is_better=False, cost_matrix=COSTS),
        cv=3,
    ).fit(X, NAMES)
    paid = []
    for train, test in StratifiedKFold(3).split(X, NAMES):
        model = clone(search.best_estimator_).fit(X.iloc[train], NAMES[train])
        paid.append(mean_cost(NAMES[test], model.predict(X.iloc[test]), COSTS))
    assert search.best_score_ == pytest.approx(-np.mean(paid))
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_a_fitted_estimator_and_a_source():
    fitted = cw.NBClassifier().fit(X, NAMES)
    model = cw.CostSensitive(FrozenEstimator(fitted), COSTS).fit(X, NAMES)
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))
    source = cw.StreamSource([X.assign(y=NAMES)[::2], X.assign(y=NAMES)[1::2]], target="y")
    read = cw.CostSensitive(cw.NBClassifier(), COSTS).fit(source)
    assert read.predict(X).shape == (150,)


@pytest.mark.parametrize(
    ("estimator", "costs", "message"),
    [
        (LinearSVC(), None, "LinearSVC.* has no predict_proba; costs need probabilities"),
        (None, None, "None has no predict_proba"),
        (cw.NBClassifier(), np.eye(2), r"cost_matrix: shape \(2, 2\), expected \(3, 3\)"),
        (cw.NBClassifier(), {("setosa", "rose"): 1}, "'rose' in the key"),
    ],
)
def test_errors_leave_nothing_behind(estimator, costs, message):
    model = cw.CostSensitive(estimator, costs)
    with pytest.raises(DataError, match=message):
        model.fit(X, NAMES)
    assert not hasattr(model, "estimator_")


def test_frames_with_texts():
    frame = pd.DataFrame({"sky": ["sun", "rain", None, "sun"] * 5})
    model = cw.CostSensitive(cw.NBClassifier(), [[0, 9], [1, 0]]).fit(frame, ["go", "stay", "stay", "go"] * 5)
    assert model.predict(pd.DataFrame({"sky": ["hail", None]})).tolist() == ["go", "stay"]
