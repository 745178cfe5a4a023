"""Trees of other libraries: the same partitions, our counts, our probabilities."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import countwise as cw
from countwise.errors import DataError
from countwise.smooth import Smoothed, Smoother
from oracle.foreign_trees import paths_of_catboost, paths_of_lightgbm, paths_of_sklearn, paths_of_xgboost

X, CODES = load_iris(return_X_y=True)
Y = np.array(["virginica", "setosa", "versicolor"])[CODES]
NOISY = np.random.default_rng(0).permutation(Y)
FEW = slice(0, None, 7)  # rows that leave leaves empty


class Plain(Smoother):
    """Relative frequencies and nothing else."""

    def smooth(self, tree, seed=0):
        return Smoothed(tree.cell_count / tree.total[tree.cell_node], np.zeros(tree.n_nodes), False, tree.total)


def xgboost(**parameters):
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=4, max_depth=3, **parameters)


def lightgbm(**parameters):
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=4, num_leaves=8, verbose=-1, **parameters)


def catboost(**parameters):
    given = {"iterations": 4, "depth": 3, "verbose": 0, "allow_writing_files": False, "random_seed": 0} | parameters
    return pytest.importorskip("catboost").CatBoostClassifier(**given)


def sklearn_members(model):
    return [model] if hasattr(model, "tree_") else list(np.ravel(model.estimators_))


LIBRARIES = {
    "tree": (
        lambda: DecisionTreeClassifier(random_state=0),
        lambda model, X: paths_of_sklearn(sklearn_members(model), X),
    ),
    "extra tree": (
        lambda: ExtraTreeClassifier(random_state=0, max_leaf_nodes=9),
        lambda model, X: paths_of_sklearn(sklearn_members(model), X),
    ),
    "forest": (
        lambda: RandomForestClassifier(5, random_state=0),
        lambda model, X: paths_of_sklearn(sklearn_members(model), X),
    ),
    "extra trees": (
        lambda: ExtraTreesClassifier(5, random_state=0),
        lambda model, X: paths_of_sklearn(sklearn_members(model), X),
    ),
    "gradient boosting": (
        lambda: GradientBoostingClassifier(n_estimators=3, random_state=0),
        lambda model, X: paths_of_sklearn(sklearn_members(model), X),
    ),
    "bag": (
        lambda: BaggingClassifier(n_estimators=4, max_features=2, random_state=0),
        lambda model, X: [
            paths_of_sklearn([tree], X[:, columns])[0]
            for tree, columns in zip(model.estimators_, model.estimators_features_, strict=True)
        ],
    ),
    "xgboost": (xgboost, paths_of_xgboost),
    "xgboost pruned": (lambda: xgboost(tree_method="exact", gamma=0.5), paths_of_xgboost),
    "xgboost dart": (lambda: xgboost(booster="dart"), paths_of_xgboost),
    "lightgbm": (lightgbm, paths_of_lightgbm),
    "lightgbm stumps": (lambda: lightgbm(min_child_samples=90), paths_of_lightgbm),
    "catboost": (catboost, paths_of_catboost),
    "catboost two classes": (lambda: catboost(depth=6), paths_of_catboost),
}
every = pytest.mark.parametrize("name", list(LIBRARIES))


def labels_for(name):
    return (CODES if name.startswith("xgboost") else Y) if "two" not in name else np.where(Y == "setosa", "yes", "no")


@every
@pytest.mark.parametrize("rows", [slice(None), FEW])
def test_nodes_are_those_of_the_library(name, rows):
    """Weights without a common sum tell sets of rows apart: compare every node, and the node above it."""
    make, paths = LIBRARIES[name]
    y = labels_for(name)
    model = make().fit(X, y)
    weight = np.random.default_rng(1).random(len(X[rows]))
    wrapped = cw.SmoothedTreeClassifier(model, prefit=True).fit(X[rows], y[rows], weight)
    expected = paths(model, X[rows])
    assert len(wrapped.trees_) == len(expected) > 0
    for tree, nodes in zip(wrapped.trees_, expected, strict=True):
        sets = {frozenset(map(int, node)) for node in nodes} - {frozenset()}
        edges = []
        for part in sets:
            above = min((other for other in sets if other > part), key=len, default=[])
            edges.append((weight[list(above)].sum(), weight[list(part)].sum()))
        ours = [
            (tree.total[above] if above >= 0 else 0.0, total)
            for above, total in zip(tree.parent, tree.total, strict=True)
        ]
        np.testing.assert_allclose(sorted(ours), sorted(edges), rtol=1e-12)


@every
def test_rows_get_the_frequencies_of_their_leaves(name):
    make, _ = LIBRARIES[name]
    y = labels_for(name)
    wrapped = cw.SmoothedTreeClassifier(make(), Plain()).fit(X, y)
    from countwise.estimators.foreign import find_leaves

    leaves = find_leaves(wrapped.estimator_, X)
    expected = np.zeros((len(X), len(wrapped.classes_)))
    for column in leaves.T:
        for leaf in np.unique(column):
            here = column == leaf
            expected[here] += [(y[here] == c).mean() for c in wrapped.classes_]
    np.testing.assert_allclose(wrapped.predict_proba(X), expected / leaves.shape[1], atol=1e-12)


@every
def test_probabilities_of_rows_in_empty_leaves(name):
    make, _ = LIBRARIES[name]
    y = labels_for(name)
    wrapped = cw.SmoothedTreeClassifier(make().fit(X, y), prefit=True).fit(X[FEW], y[FEW])
    proba = wrapped.predict_proba(X)
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("depth", [1, 3, None])
@pytest.mark.parametrize("y", [Y, NOISY])
def test_plain_frequencies_are_scikit_learns_own(depth, y):
    weight = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    for weights in (None, weight):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        wrapped = cw.SmoothedTreeClassifier(tree, Plain()).fit(X, y, weights)
        own = tree.fit(X, y, weights).predict_proba(X)
        np.testing.assert_allclose(wrapped.predict_proba(X), own, rtol=0, atol=1e-15)
    forest = RandomForestClassifier(7, bootstrap=False, max_depth=depth, random_state=0)
    wrapped = cw.SmoothedTreeClassifier(forest, Plain()).fit(X, y)
    np.testing.assert_allclose(wrapped.predict_proba(X), forest.fit(X, y).predict_proba(X), rtol=0, atol=1e-14)


def test_mle_is_scikit_learns_own_where_leaves_have_all_classes():
    tree = DecisionTreeClassifier(min_samples_leaf=30, random_state=0).fit(X, NOISY)
    assert (tree.predict_proba(X) > 0).all()
    wrapped = cw.SmoothedTreeClassifier(tree, "mle", prefit=True).fit(X, NOISY)
    np.testing.assert_allclose(wrapped.predict_proba(X), tree.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("smoothing", [*cw.smooth.SMOOTHERS, cw.HDP("gibbs", n_iter=20, burn_in=5)])
def test_every_smoother(smoothing):
    forest = RandomForestClassifier(4, random_state=0)
    wrapped = cw.SmoothedTreeClassifier(forest, smoothing, random_state=3).fit(X, Y)
    proba = wrapped.predict_proba(X)
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert wrapped.score(X, Y) > 0.9
    threaded = clone(wrapped).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(threaded.predict_proba(X), proba)


def test_all_rows_are_counted_once_in_every_tree():
    wrapped = cw.SmoothedTreeClassifier(RandomForestClassifier(5, random_state=0)).fit(X, Y)
    for tree in wrapped.trees_:
        assert tree.cell_count[tree.level_cells(0)].tolist() == [50.0, 50.0, 50.0]


def test_weights_are_repetitions():
    weight = np.random.default_rng(3).integers(0, 4, len(Y))
    one = cw.SmoothedTreeClassifier(random_state=0).fit(X, NOISY, weight)
    many = cw.SmoothedTreeClassifier(random_state=0).fit(np.repeat(X, weight, axis=0), np.repeat(NOISY, weight))
    np.testing.assert_allclose(one.predict_proba(X), many.predict_proba(X), atol=1e-12)
    for a, b in zip(one.trees_, many.trees_, strict=True):
        np.testing.assert_array_equal(a.cell_count, b.cell_count)


def test_a_class_of_weight_zero_is_no_class():
    wrapped = cw.SmoothedTreeClassifier().fit(X, Y, (Y != "virginica").astype(float))
    assert wrapped.classes_.tolist() == ["setosa", "versicolor"]
    assert wrapped.predict_proba(X).shape == (150, 2)


def test_text_labels_with_xgboost():
    wrapped = cw.SmoothedTreeClassifier(xgboost()).fit(X, Y)
    codes = cw.SmoothedTreeClassifier(xgboost()).fit(X, np.searchsorted(np.unique(Y), Y))
    assert wrapped.classes_.tolist() == sorted(set(Y))
    np.testing.assert_array_equal(wrapped.predict_proba(X), codes.predict_proba(X))
    assert wrapped.score(X, Y) > 0.9


@pytest.mark.parametrize("make", [xgboost, lightgbm])
@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")  # its successor is not in LightGBM 4.5
def test_only_rounds_up_to_the_best_count(make):
    codes = np.searchsorted(np.unique(NOISY), NOISY)
    if make is xgboost:
        model = make().set_params(n_estimators=30, early_stopping_rounds=1)
        model.fit(X[::2], codes[::2], eval_set=[(X[1::2], codes[1::2])], verbose=False)
        n_rounds = model.best_iteration + 1
    else:
        import lightgbm as lgb

        model = make().set_params(n_estimators=30)
        model.fit(
            X[::2], codes[::2], eval_set=[(X[1::2], codes[1::2])], callbacks=[lgb.early_stopping(1, verbose=False)]
        )
        n_rounds = model.best_iteration_
    assert n_rounds < 30
    wrapped = cw.SmoothedTreeClassifier(model, prefit=True).fit(X, codes)
    assert len(wrapped.trees_) == 3 * n_rounds


def test_frames_with_texts_and_gaps_where_the_library_takes_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X, columns=list("abcd")).mask(rng.random(X.shape) < 0.1)
    wrapped = cw.SmoothedTreeClassifier().fit(frame, Y)
    assert wrapped.feature_names_in_.tolist() == list("abcd")
    assert wrapped.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names should match"):
        wrapped.predict(frame[["b", "a", "c", "d"]])
    frame["e"] = np.where(X[:, 2] > 3, "long", "short")
    wrapped = cw.SmoothedTreeClassifier(catboost(cat_features=["e"])).fit(frame, Y)
    assert wrapped.score(frame, Y) > 0.9
    assert wrapped.predict_proba(frame[:3].assign(e="never seen")).shape == (3, 3)
    frame["e"] = frame["e"].astype("category")
    assert cw.SmoothedTreeClassifier(lightgbm()).fit(frame, Y).score(frame, Y) > 0.9
    assert cw.SmoothedTreeClassifier(xgboost(enable_categorical=True)).fit(frame, Y).score(frame, Y) > 0.9


def test_no_names_of_a_librarys_own():
    assert not hasattr(cw.SmoothedTreeClassifier(lightgbm()).fit(X, Y), "feature_names_in_")


def test_sparse_rows_of_bags_and_forests():
    bag = BaggingClassifier(RandomForestClassifier(3, random_state=0), n_estimators=2, max_features=3, random_state=0)
    for model in (bag, RandomForestClassifier(3, random_state=0)):
        wrapped = cw.SmoothedTreeClassifier(model).fit(csr_matrix(X), Y)
        np.testing.assert_array_equal(wrapped.predict_proba(csr_matrix(X)), wrapped.predict_proba(X))
    assert len(cw.SmoothedTreeClassifier(bag).fit(X, Y).trees_) == 6


def test_fitted_ones_are_not_fitted_again_and_survive_cloning_if_frozen():
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y)
    given = cw.SmoothedTreeClassifier(tree, prefit=True).fit(X, NOISY)
    assert given.estimator_ is tree
    frozen = cw.SmoothedTreeClassifier(FrozenEstimator(tree)).fit(X, NOISY)
    np.testing.assert_array_equal(frozen.predict_proba(X), given.predict_proba(X))
    assert cross_val_score(frozen, X, Y).min() > 0.9
    two = cw.SmoothedTreeClassifier(tree, prefit=True).fit(X[Y != "setosa"], Y[Y != "setosa"])
    assert two.classes_.tolist() == sorted(set(Y))  # those of the model: a class without rows has a column too
    assert two.predict_proba(X).shape == (150, 3)


def test_classes_of_a_fitted_model_keep_their_order():
    names = ["virginica", "setosa", "versicolor"]
    model = catboost(class_names=names).fit(X, Y)
    wrapped = cw.SmoothedTreeClassifier(model, Plain(), prefit=True).fit(X, Y)
    assert wrapped.classes_.tolist() == names
    again = cw.SmoothedTreeClassifier(FrozenEstimator(model), Plain()).fit(X, Y)
    np.testing.assert_array_equal(wrapped.predict_proba(X), again.predict_proba(X))
    assert wrapped.score(X, Y) > 0.9


def test_one_tree_for_all_classes():
    model = xgboost(multi_strategy="multi_output_tree", tree_method="hist")
    wrapped = cw.SmoothedTreeClassifier(model).fit(X, Y)
    assert len(wrapped.trees_) == 4
    assert wrapped.score(X, Y) > 0.9


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_frames_of_other_kinds(frame):
    table = frame({name: X[:, i] for i, name in enumerate("abcd")})
    wrapped = cw.SmoothedTreeClassifier(RandomForestClassifier(3, random_state=0)).fit(table, Y)
    plain = cw.SmoothedTreeClassifier(RandomForestClassifier(3, random_state=0)).fit(X, Y)
    np.testing.assert_array_equal(wrapped.predict_proba(table), plain.predict_proba(X))
    assert wrapped.feature_names_in_.tolist() == list("abcd")


def test_habits():
    search = GridSearchCV(
        cw.SmoothedTreeClassifier(DecisionTreeClassifier(random_state=0), cw.MBranch()),
        {"smoothing__m": [1.0, 4.0], "estimator__max_depth": [2, None]},
        scoring="neg_log_loss",
    ).fit(X, Y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    wrapped = cw.SmoothedTreeClassifier().fit(pd.DataFrame(X, columns=list("abcd")), Y)
    wrapped.fit(X[:, :2], Y)
    assert wrapped.n_features_in_ == 2
    assert not hasattr(wrapped, "feature_names_in_")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            LogisticRegression,
            "trees of LogisticRegression cannot be read; supported are DecisionTreeClassifier",
        ),
        (DecisionTreeRegressor, "trees of DecisionTreeRegressor cannot be read"),
        (AdaBoostClassifier, "trees of AdaBoostClassifier cannot be read"),
        (lambda: BaggingClassifier(LogisticRegression()), "trees of LogisticRegression cannot be read"),
        (lambda: "forest", "trees of str cannot be read"),
        (lambda: xgboost(booster="gblinear"), "booster='gblinear'.* has no trees; use booster='gbtree'"),
        (lambda: catboost(grow_policy="Depthwise"), "grow_policy='Depthwise'.*: only 'SymmetricTree' can be read"),
        (lambda: pytest.importorskip("lightgbm").LGBMRegressor(), "trees of LGBMRegressor cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(model, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(DataError, match=message):
            cw.SmoothedTreeClassifier(model()).fit(X, Y)


@pytest.mark.parametrize("make", [DecisionTreeClassifier, xgboost, lightgbm, catboost])
def test_prefit_without_a_fit_is_refused(make):
    wrapped = cw.SmoothedTreeClassifier(make(), prefit=True)
    with pytest.raises(
        DataError, match=r"prefit=True, but the \w+Classifier is not fitted; fit it first.*FrozenEstimator"
    ):
        wrapped.fit(X, Y)
    assert not hasattr(wrapped, "estimator_")


def test_other_refusals():
    tree = DecisionTreeClassifier().fit(X, CODES)
    with pytest.raises(DataError, match=r"y holds label\(s\) \['setosa'.*fitted DecisionTreeClassifier does not know"):
        cw.SmoothedTreeClassifier(tree, prefit=True).fit(X, Y)
    both = DecisionTreeClassifier().fit(X, np.column_stack([CODES, CODES]))
    with pytest.raises(DataError, match="the DecisionTreeClassifier was fitted to 2 targets; one is needed"):
        cw.SmoothedTreeClassifier(both, prefit=True).fit(X, CODES)
    with pytest.raises(DataError, match=r"m='holdout'.* chooses on held-out rows"):
        cw.SmoothedTreeClassifier(smoothing=cw.MEstimate("holdout")).fit(X, Y)
    with pytest.raises(DataError, match="only one class"):
        cw.SmoothedTreeClassifier().fit(X, np.zeros(150))
    with pytest.raises(DataError, match="tables in memory"):
        cw.SmoothedTreeClassifier().fit(cw.StreamSource([pd.DataFrame({"a": [1]})]), Y)
