"""``tune="loo"``: honest, repeatable, and better where smoothing alone is not enough."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import countwise as cw
from countwise.data.parts import WithoutRows, deal, part_of, row_keys
from countwise.errors import DataError
from countwise.estimators import learn as learning
from countwise.evaluate import log_loss


def noisy_copies(n_rows, seed=0):
    """Twelve noisy copies of one signal and a few strangers: naive Bayes counts the evidence many times."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    signal = y + rng.normal(0, 1.2, n_rows)
    copies = signal[:, None] + rng.normal(0, 0.3, (n_rows, 12))
    return np.column_stack([copies, rng.normal(size=(n_rows, 3))]), y


def as_table(X, y):
    return pa.table({f"x{i}": X[:, i] for i in range(X.shape[1])} | {"y": y})


@pytest.mark.parametrize("make", [cw.NBClassifier, cw.TANClassifier, lambda **k: cw.KDBClassifier(k=3, **k)])
def test_better_probabilities_on_new_rows(make):
    X, y = noisy_copies(1200)
    X_new, y_new = noisy_copies(2000, seed=1)
    plain, tuned = make(tune=None).fit(X, y), make().fit(X, y)
    assert plain.tuning_ is None
    assert tuned.tuning_.temperature < 0.95
    loss = [log_loss(y_new, model.predict_proba(X_new), model.classes_) for model in (plain, tuned)]
    assert loss[1] < 0.95 * loss[0]


def test_structure_and_cuts_of_a_part_do_not_see_its_labels(monkeypatch):
    X, y = noisy_copies(600)
    seen = []
    original = learning.learn

    def spy(model, source, labels, plan, hold=False, like=None):
        learned = original(model, source, labels, plan, hold=hold, like=like)
        if like is not None:
            seen.append((learned.structure, [column.cuts.tolist() for column in learned.codec.columns]))
        return learned

    monkeypatch.setattr(learning, "learn", spy)
    model = cw.KDBClassifier(k=2, tune="loo", discretiser=cw.EqualFrequency(5)).fit(X, y)
    first = list(seen)
    assert len(first) == 2
    batch = next(iter(learning_source(model, X, y)[0].batches()))
    part = part_of(row_keys(batch, model.codec_), 2, 0) == 0
    assert 250 < part.sum() < 350
    shuffled = y.copy()
    shuffled[part] = np.random.default_rng(0).permutation(shuffled[part])
    assert (shuffled != y).sum() > 50
    seen.clear()
    cw.KDBClassifier(k=2, tune="loo", discretiser=cw.EqualFrequency(5)).fit(X, shuffled)
    assert seen[0] == first[0]  # learned without the part
    assert seen[1] != first[1]  # the others learn from it


def assert_same_tuning(a, b, rel=1e-9):
    assert a.tuning_.temperature == pytest.approx(b.tuning_.temperature, rel=rel)
    assert a.tuning_.level_factor == pytest.approx(b.tuning_.level_factor, rel=rel)
    assert a.tuning_.bias == pytest.approx(b.tuning_.bias, rel=rel, abs=rel)


def test_threads_weights_order_and_scans_agree(tmp_path, monkeypatch):
    X, y = noisy_copies(900)
    X = np.round(X, 1)
    table = as_table(X, y)
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=100)
    frame = table.drop(["y"])
    model = cw.KDBClassifier(k=1, tune="loo").fit(frame, y)
    assert_same_tuning(model, cw.KDBClassifier(k=1, tune="loo", n_jobs=3).fit(frame, y))
    scanned = cw.KDBClassifier(k=1, tune="loo").fit(cw.scan(path, target="y"))
    assert_same_tuning(model, scanned)
    assert scanned.predict_proba(frame) == pytest.approx(model.predict_proba(frame))
    monkeypatch.setattr("countwise.data.coded.CODED_BYTES", 1000)
    assert_same_tuning(model, cw.KDBClassifier(k=1, tune="loo").fit(cw.scan(path, target="y")))
    order = np.random.default_rng(0).permutation(900)
    assert_same_tuning(model, cw.KDBClassifier(k=1, tune="loo").fit(frame.take(order), y[order]), rel=1e-4)
    weights = np.random.default_rng(1).integers(0, 4, 900)
    again = np.repeat(np.arange(900), weights)
    weighted = cw.KDBClassifier(k=1, tune="loo").fit(frame, y, sample_weight=weights)
    assert_same_tuning(weighted, cw.KDBClassifier(k=1, tune="loo").fit(frame.take(again), y[again]), rel=1e-4)


def test_explain_intervals_and_files_know_the_tuning(tmp_path):
    X, y = noisy_copies(500)
    model = cw.TANClassifier(tune="loo").fit(X, y)
    proba = model.predict_proba(X)
    scores = model.explain(X).scores()
    assert np.exp(scores) / np.exp(scores).sum(1, keepdims=True) == pytest.approx(proba)
    assert np.exp(model.predict_log_proba(X)) == pytest.approx(proba)
    limits = model.predict_proba_interval(X)
    assert ((limits[..., 0] <= proba) & (proba <= limits[..., 1])).all()
    model.save(tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    np.testing.assert_array_equal(again.predict_proba(X), proba)
    assert again.tuning_.temperature == model.tuning_.temperature
    more = noisy_copies(100, seed=2)
    np.testing.assert_allclose(
        again.partial_fit(*more).predict_proba(X), model.partial_fit(*more).predict_proba(X), rtol=1e-12
    )


def test_log_likelihood_is_that_of_the_network():
    X, y = noisy_copies(400)
    tuned = cw.NBClassifier(tune="loo").fit(X, y)
    joint = np.stack([tuned._compiled.log_joint(batch) for batch, _ in tuned._rows(X)])[0]
    assert tuned.log_likelihood(X) == pytest.approx(np.logaddexp.reduce(joint, axis=1))


def test_few_rows_are_left_alone_and_large_data_use_one_part():
    X, y = noisy_copies(16)
    assert cw.NBClassifier(tune="loo").fit(X, y).tuning_ is None
    X, y = noisy_copies(3000)
    model = cw.NBClassifier(tune="loo", tune_rows=100).fit(X, y)
    assert model.tuning_.temperature < 0.8


def test_parts_are_even_and_sources_without_them_complete():
    X, y = noisy_copies(600)
    model = cw.NBClassifier(discretiser=cw.EqualFrequency(9)).fit(X, y)
    source, labels = learning_source(model, X, y)
    dealt = deal(source, model.codec_, 3, 3, 0)
    parts = [part.positions for part in dealt]
    assert [part.weight for part in dealt] == [len(part) for part in parts]
    assert sorted(np.concatenate(parts).tolist()) == list(range(600))
    assert all(150 < len(part) < 250 for part in parts)
    assert len(labels) == 2
    rest = next(iter(WithoutRows(source, parts[0]).batches()))
    assert rest.n_rows == 600 - len(parts[0])
    kept = np.setdiff1d(np.arange(600), parts[0])
    np.testing.assert_array_equal(np.asarray(rest.columns[0]), X[kept, 0])
    np.testing.assert_array_equal(np.asarray(rest.target), y[kept])


def learning_source(model, X, y):
    from countwise.estimators.door import training_source

    return training_source(model, X, y, None, reset=False, classes=model.classes_)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tune": "cv"}, "tune='cv'"),
        ({"tune": "loo", "smoothing": "m"}, "needs smoothing='hdp'"),
        ({"tune": "loo", "smoothing": cw.HDP(tying="node")}, "tying 'level' or 'single'"),
        ({"tune": "loo", "tune_rows": 0}, "tune_rows"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(DataError, match=message):
        cw.NBClassifier(**wrong).fit(*noisy_copies(50))


@pytest.mark.parametrize("kind", [cw.KDBClassifier, cw.TunedKDBClassifier])
def test_fractions_of_rows_tune_in_any_order(kind):
    """Weights below 1: parts hold as many rows as they should, and none is left out for its place."""
    X, y = noisy_copies(2000)
    order = np.random.default_rng(0).permutation(2000)
    weights = np.full(2000, 1 / 8)
    model = kind(k=1, tune_rows=100).fit(X, y, sample_weight=weights)
    other = kind(k=1, tune_rows=100).fit(X[order], y[order], sample_weight=weights)
    assert_same_tuning(model, other, rel=1e-4)
