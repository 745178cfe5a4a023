"""Class counts whose rows weigh more or less than 1: smoothed as rows, said in weights."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import countwise as cw
from countwise.data.one_row import ClassRows, pooled_row_weight
from countwise.evaluate import log_loss
from countwise.smooth import MLE, dense_proba
from countwise.smooth.weighed import smooth_classes
from countwise.tree.splits import number_values

SMOOTHERS = [
    cw.HGS(),
    cw.HLS(),
    cw.HDP(),
    cw.MBranch(),
    cw.MEstimate(),
    cw.Laplace(),
    MLE(),
    cw.HierarchicalDirichlet(),
]
each_smoother = pytest.mark.parametrize("smoother", SMOOTHERS, ids=lambda s: type(s).__name__)


def grown(seed=0, n_rows=300):
    """A tree whose fourth class has no row, by numbers and categories that tell a little."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 4, (n_rows, 3)), rng.normal(size=n_rows).round(1)])
    y = np.minimum(rng.integers(0, 3, n_rows), X[:, 0].astype(int))
    model = cw.ProbabilityTreeClassifier(categorical_features=[0, 1, 2])
    return model.partial_fit(X, y, classes=[0, 1, 2, 3]).tree_


@each_smoother
def test_every_node_has_the_distribution_of_the_rows_times_what_they_weigh(smoother):
    rows, weight = grown(), np.array([0.5, 3.0, 7.25, 1.0])  # a class that the tree has not seen weighs 1
    weighed = replace(rows, cell_count=rows.cell_count * weight[rows.cell_value])
    expected = dense_proba(rows, smoother.smooth(rows)) * weight
    found = smooth_classes(weighed, smoother, 0, np.where(weight == 1.0, 9.0, weight))
    np.testing.assert_allclose(dense_proba(weighed, found), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_array_equal(found.precision, smoother.smooth(rows).precision)


def test_what_a_row_weighs():
    whole = ClassRows(2)
    whole.add(np.array([0, 1, 1]), np.array([5.0, 2.0, 2.0]))
    assert whole.row_weight is None  # numbers of rows
    assert whole.total.tolist() == [5.0, 4.0]
    rows = ClassRows(3)
    rows.add(np.array([0, 1]), np.array([2.0, 2.5]))
    rows.add(np.array([0, 1, 1]), np.array([4.0, 2.5, 2.5]))
    assert rows.row_weight == pytest.approx([20 / 6, 2.5, 1.0])  # a class without rows: 1
    assert rows.total / rows.row_weight == pytest.approx([36 / 20, 3.0, 0.0])  # Kish's effective numbers
    both = pooled_row_weight(rows.row_weight, rows.total, None, np.array([4.0, 0.0, 2.0]))
    assert both == pytest.approx([(20 + 4) / 10, 2.5, 1.0])
    assert pooled_row_weight(None, rows.total, None, rows.total) is None


def rare_class(n_rows, seed):
    """Categories that say nothing about a class that one row in ten has, and weights that balance the classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n_rows, 6)).astype(str).astype(object)
    y = (rng.random(n_rows) < 0.1).astype(int)
    return X, y, np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))


@pytest.mark.parametrize("smoothing", ["hgs", "hls", "hdp"])
def test_a_tree_does_not_believe_balanced_noise(smoothing):
    """Each row of the rare class weighs 5: taken for five rows, they spoke for each other."""
    X, y, weights = rare_class(3000, 0)
    X_new, y_new, new_weights = rare_class(3000, 1)
    model = cw.ProbabilityTreeClassifier(smoothing=smoothing).fit(X, y, sample_weight=weights)
    proba = model.predict_proba(X_new)
    loss = log_loss(y_new, proba, model.classes_, sample_weight=new_weights)
    assert loss < 0.83  # ln 2 is .69; it was 1.05, 1.82 and 1.29
    assert np.average(proba[:, 1], weights=new_weights) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "make", [cw.ProbabilityTreeClassifier, lambda: cw.ProbabilityForestClassifier(3, bootstrap=False)]
)
def test_rows_in_lots_files_and_other_units(make, tmp_path):
    X, y, weights = rare_class(400, 0)
    model = make().fit(X, y, sample_weight=weights)
    model.save(tmp_path / "tree.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "tree.cw").predict_proba(X), model.predict_proba(X))
    first, second = make().fit(X, y, sample_weight=weights), make().fit(X, y, sample_weight=weights)
    first.partial_fit(X, y, sample_weight=3.3 * weights)
    second.merge(make().fit(X, y, sample_weight=weights).partial_fit(X, y, sample_weight=1.3 * weights))
    one_row = weights[[np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]]]
    assert first.row_weight_ == pytest.approx(one_row * (1 + 3.3**2) / 4.3)
    assert second.row_weight_ == pytest.approx(one_row * (2 + 1.3**2) / 3.3)
    assert first.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(400))
    assert make().fit(X, y, sample_weight=np.ones(400)).row_weight_ is None


def test_weights_of_files_are_those_of_the_table(tmp_path):
    X, y, weights = rare_class(400, 0)
    table = pa.table({f"x{i}": list(X[:, i]) for i in range(6)} | {"y": y, "w": weights})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=64)
    source = cw.scan(tmp_path / "rows.parquet", target="y", weight="w", batch_rows=50)
    read = cw.ProbabilityTreeClassifier().fit(source)
    held = cw.ProbabilityTreeClassifier().fit(table.drop(["y", "w"]), y, sample_weight=weights)
    assert read.row_weight_ == pytest.approx(held.row_weight_, rel=1e-12)
    rows = table.drop(["y", "w"])
    np.testing.assert_allclose(read.predict_proba(rows), held.predict_proba(rows), rtol=1e-9)
    assert number_values(read.codec_) == number_values(held.codec_)


@each_smoother
def test_contexts_of_a_class_are_smoothed_as_rows(smoother):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (300, 2)), rng.integers(0, 3, 300)
    weight = np.array([0.5, 3.0, 7.25])
    codec = {"categorical_features": [0, 1], "smoothing": smoother, "tune": None, "discretiser": "every-value"}
    rows = cw.BNClassifier({0: [], 1: [0]}, **codec).fit(X, y)
    weighed = cw.BNClassifier({0: [], 1: [0]}, **codec).fit(X, y, sample_weight=weight[y])
    assert weighed.row_weight_ == pytest.approx(weight)
    for one, other in zip(rows._parameters.trees, weighed._parameters.trees, strict=True):
        np.testing.assert_allclose(one.cell_proba, other.cell_proba, rtol=1e-9)
        np.testing.assert_allclose(one.absent, other.absent, rtol=1e-9)
    prior = np.exp(weighed._parameters.log_prior)
    assert prior == pytest.approx(np.bincount(y) * weight / (np.bincount(y) @ weight), abs=0.02)


ENSEMBLES = [
    lambda: cw.ESKDBClassifier(n_estimators=2, k=1),
    cw.AnDEClassifier,
    lambda: cw.KDFClassifier(k=1),
    lambda: cw.KDBClassifier(k=2, tune=None),
    lambda: cw.KDBClassifier(k=2, smoothing="hgs"),
    lambda: cw.NBClassifier(smoothing=cw.MEstimate(m="holdout")),
]


@pytest.mark.parametrize("make", ENSEMBLES)
def test_networks_without_tuning_do_not_believe_balanced_noise(make, tmp_path):
    X, y, weights = rare_class(1500, 0)
    X_new, y_new, new_weights = rare_class(3000, 1)
    model = make().fit(X, y, sample_weight=weights)
    loss = log_loss(y_new, model.predict_proba(X_new), model.classes_, sample_weight=new_weights)
    assert loss < 0.83
    model.save(tmp_path / "model.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "model.cw").predict_proba(X_new), model.predict_proba(X_new))
    model.partial_fit(X_new, y_new, sample_weight=2.0 * new_weights)
    assert model.row_weight_[1] / model.row_weight_[0] == pytest.approx(9, rel=0.3)


def test_bags_do_not_depend_on_the_unit_of_weights():
    """Weights are chances there, and bags hold whole numbers of draws."""
    X, y, weights = rare_class(400, 0)
    forest = cw.ProbabilityForestClassifier(3)
    one, other = (clone(forest).fit(X, y, sample_weight=scale * weights) for scale in (0.5, 4.0))
    assert one.row_weight_ == pytest.approx(np.unique(weights))
    assert other.row_weight_ == pytest.approx(np.unique(weights))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-9)


def test_bags_without_a_class_give_distributions():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat(np.arange(20), 3)
    weights = rng.uniform(0.3, 3.0, 20)[y]
    forest = cw.ProbabilityForestClassifier(5).fit(X, y, sample_weight=weights)
    assert any(tree.counts.cell_ptr[1] < 20 for tree in forest.trees_)
    np.testing.assert_allclose(forest.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
    halved = cw.ProbabilityTreeClassifier(validation=True).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(halved.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
