"""What single rivals do in their own way."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_info

from countwise.evaluate.rivals import RIVALS
from countwise.evaluate.rivals.classifier import TableClassifier
from countwise.evaluate.rivals.forests import weka_features
from countwise.evaluate.rivals.tables import OneHotTable


class Watcher(ClassifierMixin, BaseEstimator):
    """Notes how many threads there are."""

    def __init__(self, workers=None):
        self.workers = workers

    def fit(self, X, y):
        self.seen_ = {library["num_threads"] for library in threadpool_info()}
        return self

    def predict_proba(self, X):
        self.seen_ |= {library["num_threads"] for library in threadpool_info()}
        return np.full((len(X), 3), 1 / 3)


@pytest.mark.parametrize(("jobs", "threads"), [(None, 1), (1, 1), (2, 2)])
def test_threads_are_limited_in_libraries_and_by_parameter(jobs, threads, train):
    X, y = train
    model = TableClassifier(Watcher(), OneHotTable(), n_jobs=jobs, threads_as="workers").fit(X, y)
    model.predict_proba(X)
    assert model.estimator_.seen_ == {threads}
    assert model.estimator_.workers == threads
    assert model.estimator.workers is None


@pytest.mark.parametrize(
    ("attributes", "columns", "drawn"), [(1, 1, 1), (4, 4, 3), (5, 5, 3), (42, 126, 18), (60, 60, 6), (3, 2, 1)]
)
def test_share_of_columns_that_a_split_may_use(attributes, columns, drawn):
    assert weka_features(attributes, columns) == drawn


@pytest.mark.parametrize("name", ["rf", "rf-coded"])
def test_forests_draw_that_share(name, quick, train):
    forest = quick(name).fit(*train).estimator_
    assert forest.max_features == weka_features(7, forest.n_features_in_)
    assert forest.n_features_in_ > 7
    assert RIVALS[name](0, None).estimator.n_estimators == 100


def test_histogram_boosting_takes_long_dictionaries_as_numbers(quick):
    values = [f"v{i:03}" for i in range(300)] * 2
    X = pa.table({"long": values, "short": ["a", "b", "c"] * 200})
    y = np.array([value > "v150" for value in values])
    model = quick("hgb").fit(X, y)
    assert model.estimator_.is_categorical_.tolist() == [False, True]
    assert (model.predict(X) == y).mean() > 0.95


def test_histogram_boosting_of_many_rows_and_a_class_of_one():
    X = np.random.default_rng(0).normal(size=(10_001, 1))
    y = (X[:, 0] > 0).astype(int)
    model = RIVALS["hgb"](0, 1).set_params(estimator__max_iter=2)
    assert model.fit(X, y).estimator_.do_early_stopping_
    y[0] = 2
    assert not model.fit(X, y).estimator_.do_early_stopping_
    assert model.classes_.tolist() == [0, 1, 2]


def test_naive_bayes_has_a_value_for_all_that_training_had_not(train, strange):
    model = RIVALS["categorical-nb"](0, None).fit(*train)
    arity = model.reader_.codec_.arity
    assert model.estimator_.n_categories_.tolist() == [size + 1 for size in arity]
    assert (model.reader_.transform(strange[0]) == arity).any()


def test_catboost_writes_no_files(quick, train, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick("catboost").fit(*train).predict_proba(train[0])
    assert list(tmp_path.iterdir()) == []


def test_catboost_is_told_of_categories_and_keeps_its_other_errors(quick, train):
    model = quick("catboost").fit(*train)
    assert model.estimator_.get_cat_feature_indices() == [0, 1, 4, 6]
    with pytest.raises(Exception, match="depth"):
        model.set_params(estimator__depth=99).fit(*train)


def test_boosting_machines_know_categories(quick, train):
    X = train[0].append_column("two numbers", pa.array(np.arange(len(train[1])) % 2.0))
    model = quick("ebm").fit(X, train[1])
    kinds = model.estimator_.feature_types_in_
    assert [kind == "nominal" for kind in kinds] == model.reader_.is_category
    boosted = quick("xgboost").fit(*train)
    types = boosted.estimator_.get_booster().feature_types
    assert [kind == "c" for kind in types] == boosted.reader_.is_category
