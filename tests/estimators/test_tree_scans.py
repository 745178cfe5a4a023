"""Pruned and validated trees, and forests, from scans whose codes do not fit into memory."""

import numpy as np
import pandas as pd
import pytest

import countwise as cw
from countwise.data.sample import batch_hash
from countwise.errors import MemoryLimitError
from countwise.evaluate.scores import log_loss
from oracle.grown import NEW, assert_same, frame

METHODS = {
    "pessimistic": {"pruning": "pessimistic"},
    "alpha": {"pruning": cw.CostComplexity(0.002)},
    "cost-complexity": {"pruning": "cost-complexity"},
    "reduced-error": {"pruning": "reduced-error"},
    "validation": {"validation": True},
}
BY_COUNTS = ("pessimistic", "alpha")
BIG, LABELS = frame(2000, 3)
BIG = BIG.round(1)
MEMORY = 20_000  # the codes of all rows take 58 KB


def stream(table, size=300, weight=None):
    parts = [table.iloc[start : start + size] for start in range(0, len(table), size)]
    return cw.StreamSource(parts, target="target", weight=weight)


def scanned(model, table, size=300, weight=None):
    with pytest.warns(ResourceWarning, match="in several passes"):
        return model.fit(stream(table, size, weight))


def tree(name, **params):
    return cw.ProbabilityTreeClassifier(**METHODS[name], **params)


def forest(**params):
    return cw.ProbabilityForestClassifier(**{"n_estimators": 6, "max_features": 2, **params})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", BY_COUNTS)
def test_pruning_by_counts_is_that_of_all_rows(name, weighted):
    weights = np.random.default_rng(0).integers(1, 4, 2000) if weighted else np.ones(2000)
    model = scanned(tree(name, max_memory=MEMORY), BIG.assign(target=LABELS, w=weights), weight="w")
    assert_same(model, tree(name).fit(BIG, LABELS, sample_weight=weights))
    assert model.n_leaves_ < cw.ProbabilityTreeClassifier().fit(BIG, LABELS, sample_weight=weights).n_leaves_
    assert model.n_passes_ > 4


@pytest.mark.parametrize("name", METHODS)
def test_few_distinct_rows_are_dealt_as_in_memory(name):
    """A hundred kinds of rows, dealt in shares: the same tree, though the rows do not fit."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.integers(0, 8, 6000), "b": rng.integers(0, 5, 6000).astype(str)})
    labels = ((table["a"] > 3) ^ (rng.random(6000) < 0.3)).map({True: "x", False: "y"}).to_numpy(object)
    model = scanned(tree(name, max_memory=60_000), table.assign(target=labels), 700)
    whole = tree(name).fit(table, labels)
    assert whole.n_leaves_ > 1
    assert np.array_equal(model.class_counts_, whole.class_counts_)
    assert model.splits_.same_as(whole.splits_)
    assert np.array_equal(model.tree_.cell_count, whole.tree_.cell_count)
    assert np.array_equal(model.predict_proba(table), whole.predict_proba(table))


def part_by_hash(model, n_parts, part):
    """Which rows of the table are in a part, by the codes that growth saw."""
    from countwise.data.schema import learn_schema
    from countwise.estimators.learn import coded_data

    source = stream(BIG.assign(target=LABELS))
    schema = learn_schema(source, model._plan(False).discretiser, "from_dtype", 1)
    rows = coded_data(source, schema.codec, schema.target, schema.n_rows, 1).rows()
    return batch_hash(rows, 0) % np.uint64(n_parts) == part


@pytest.mark.parametrize("max_memory", [MEMORY, 40_000])  # the half takes several passes, or fits
def test_validation_grows_from_a_part_and_counts_the_other(max_memory):
    model = scanned(tree("validation", max_memory=max_memory, criterion="entropy"), BIG.assign(target=LABELS))
    held = part_by_hash(model, 2, 0)
    assert 900 < held.sum() < 1100
    grown = cw.ProbabilityTreeClassifier(criterion="entropy").fit(BIG[~held], LABELS[~held])
    assert np.array_equal(model.class_counts_, np.unique(LABELS, return_counts=True)[1])
    at_leaf = grown.splits_.is_leaf[grown.apply(BIG[held])]
    assert model.tree_.total[0] == at_leaf.sum()
    assert model.n_leaves_ == len(np.unique(grown.apply(BIG[held])[at_leaf]))


def test_reduced_error_is_that_of_the_rows_held_out():
    """As many errors on the part as the best of the trees between the grown one and its root."""
    model = scanned(tree("reduced-error", max_memory=MEMORY), BIG.assign(target=LABELS))
    held = part_by_hash(model, 3, 0)
    grown = cw.ProbabilityTreeClassifier(smoothing="mle").fit(BIG[~held], LABELS[~held])
    assert 1 < model.n_leaves_ < grown.n_leaves_
    nodes, parent = grown.apply(BIG[held]), grown.splits_.parent
    dense = np.zeros((len(parent), 3))
    dense[grown.tree_.cell_node, grown.tree_.cell_value] = grown.tree_.cell_count
    answer, code = np.argmax(dense, axis=1), np.searchsorted(grown.classes_, LABELS[held])
    errors, stopped = np.zeros(len(parent)), np.zeros(len(parent))
    for node, own in zip(nodes, code, strict=True):
        stopped[node] += answer[node] != own
        at = node
        while at >= 0:
            errors[at] += answer[at] != own
            at = parent[at]

    def leaves(node):
        """(errors, leaves) below a node, pruned."""
        children = np.flatnonzero(parent == node)
        if len(children) == 0:
            return errors[node], 1
        below = [leaves(child) for child in children]
        best = stopped[node] + sum(b[0] for b in below), sum(b[1] for b in below)
        return (errors[node], 1) if errors[node] <= best[0] else best

    assert model.n_leaves_ <= leaves(0)[1] <= model.n_leaves_ + 2  # a leaf that no row of all reaches is left out
    assert model.tree_.total[0] > 0.95 * len(BIG)


@pytest.mark.parametrize("name", [*METHODS, "forest", "forest without bags"])
def test_batches_order_and_threads(name, tmp_path):
    def model(**params):
        if name in METHODS:
            return tree(name, max_memory=MEMORY, **params)
        return forest(bootstrap=name == "forest", max_memory=30_000, **params)

    table = BIG.assign(target=LABELS)
    one = scanned(model(), table)
    assert_same(scanned(model(), table, 77), one)
    assert_same(scanned(model(n_jobs=2), table, 2000), one)
    order = np.random.default_rng(1).permutation(len(table))
    assert_same(scanned(model(), table.iloc[order], 500), one)
    assert (np.diff(one.trees_[0].counts.cell_ptr) > 0).all()
    one.save(tmp_path / "model.cw")
    assert_same(cw.load(tmp_path / "model.cw"), one)
    assert cw.load(tmp_path / "model.cw").n_passes_ == one.n_passes_ > 2
    before = one.trees_[0].counts.total[0]
    assert one.partial_fit(BIG[:500], LABELS[:500]).trees_[0].counts.total[0] > before + 400
    assert one.predict_proba(NEW).shape == (len(NEW), 3)


@pytest.mark.parametrize("name", METHODS)
def test_pruned_trees_are_as_good_as_those_in_memory(name):
    X, y = cw.datasets.make_waveform(4000, random_state=0)
    table = X.to_pandas().round(1).assign(target=y)
    train, test = table[:3000], table[3000:]
    features = list(X.column_names)
    model = scanned(tree(name, max_memory=60_000), train)
    whole = tree(name).fit(train[features], train["target"].to_numpy())
    own, other = (m.score(test[features], test["target"].to_numpy()) for m in (model, whole))
    assert own > 0.7
    assert abs(own - other) < 0.03


def test_forests_are_nearly_as_good_as_those_in_memory():
    X, y = cw.datasets.make_led(9000, n_irrelevant=5, random_state=0)
    table = X.to_pandas().assign(target=y)
    train, test, features = table[:8000], table[8000:], list(X.column_names)
    labels = train["target"].to_numpy()
    whole = cw.ProbabilityForestClassifier(20).fit(train[features], labels)
    few = cw.ProbabilityForestClassifier(20).fit(train[features][:1800], labels[:1800])
    model = scanned(cw.ProbabilityForestClassifier(20, max_memory=2 * 53 * 1800), train, 1000)  # as many in a sample
    assert model.n_passes_ == 20 / 2 + 1
    assert [own.counts.total[0] for own in model.trees_] == [8000] * 20  # two values each: every row finds a leaf
    own, all_rows, few_rows = (
        log_loss(test["target"].to_numpy(), m.predict_proba(test[features]), m.classes_) for m in (model, whole, few)
    )
    assert own < all_rows + 0.02
    assert own < few_rows - 0.02


def test_trees_of_a_forest_have_samples_of_their_own():
    model = scanned(forest(max_memory=30_000, bootstrap=False, max_features=None), BIG.assign(target=LABELS))
    tables = [own.splits for own in model.trees_]
    assert not any(a.same_as(b) for i, a in enumerate(tables) for b in tables[:i])
    assert model.n_passes_ == 4  # two trees at a time, then the counts
    assert np.array_equal(model.class_counts_, np.unique(LABELS, return_counts=True)[1])
    again = scanned(
        forest(max_memory=30_000, bootstrap=False, max_features=None, random_state=1), BIG.assign(target=LABELS)
    )
    assert not np.array_equal(again.predict_proba(NEW), model.predict_proba(NEW))


def test_repeated_rows_are_weights():
    times = np.random.default_rng(2).integers(1, 4, 2000)
    repeated = BIG.assign(target=LABELS).loc[np.repeat(BIG.index, times)]
    one = scanned(forest(max_memory=30_000), repeated)
    assert_same(scanned(forest(max_memory=30_000), BIG.assign(target=LABELS, w=times), weight="w"), one)


def test_refusals():
    source = stream(BIG.assign(target=LABELS))
    with pytest.raises(MemoryLimitError, match="use oob_score=False, or raise max_memory"):
        forest(max_memory=30_000, oob_score=True).fit(source)
    with pytest.raises(MemoryLimitError, match=r"holds samples of .* rows .* fewer than 100; use fewer columns"):
        forest(max_memory=5000).fit(source)
    with (
        pytest.warns(ResourceWarning, match="several passes"),
        pytest.raises(MemoryLimitError, match="counts of one node take"),
    ):
        tree("pessimistic", max_memory=1000).fit(source)
