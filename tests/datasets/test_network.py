import numpy as np
import pyarrow as pa
import pytest

import oracle.network
from countwise.datasets import Network, random_network, sample_network
from countwise.errors import DataError, MemoryLimitError


def test_class_proba_and_log_joint_are_the_slow_product():
    network = random_network(n_attributes=6, arity=(2, 4), n_classes=3, n_parents=2, random_state=0)
    codes, _ = network.sample_codes(40, random_state=1)
    joint = np.array([[oracle.network.joint(network, row, c) for c in range(3)] for row in codes.tolist()])
    assert np.allclose(network.log_joint(codes), np.log(joint), rtol=1e-12)
    assert np.allclose(network.class_proba(codes), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)


def test_joint_adds_up_to_one():
    network = random_network(n_attributes=4, arity=3, n_classes=2, n_parents=3, random_state=2)
    everything = np.stack(np.unravel_index(np.arange(3**4), (3,) * 4), axis=1)
    assert np.exp(network.log_joint(everything)).sum() == pytest.approx(1.0, rel=1e-12)


def test_structure_obeys_the_options():
    network = random_network(n_attributes=20, arity=(3, 5), n_classes=4, n_parents=2, random_state=0)
    assert set(network.arities) == {3, 4, 5}
    for i, (parents, cpt) in enumerate(zip(network.parents, network.tables, strict=True)):
        assert len(set(parents)) == len(parents) == min(i, 2)
        assert all(0 <= p < i for p in parents)
        assert cpt.shape == (4, *(network.arities[p] for p in parents), network.arities[i])
        assert np.allclose(cpt.sum(axis=-1), 1)
        assert cpt.min() > 0


def test_frequencies_follow_the_tables():
    network = random_network(n_attributes=5, arity=(2, 4), n_classes=2, n_parents=2, random_state=4)
    codes, label = network.sample_codes(200_000, random_state=0)
    assert np.mean(label == 0) == pytest.approx(network.class_prior[0], abs=0.006)
    n_tested = 0
    for i, cpt in enumerate(network.tables):
        for context in np.ndindex(cpt.shape[:-1]):
            rows = label == context[0]
            for parent, value in zip(network.parents[i], context[1:], strict=True):
                rows &= codes[:, parent] == value
            if (n := rows.sum()) < 500:
                continue
            found = np.bincount(codes[rows, i], minlength=cpt.shape[-1]) / n
            error = 5 * np.sqrt(cpt[context] * (1 - cpt[context]) / n) + 2 / n
            assert np.all(abs(found - cpt[context]) < error)
            n_tested += 1
    assert n_tested > 30


def test_true_posterior_is_calibrated_and_moderately_sharp():
    dataset, network = sample_network(40_000, random_state=0)
    proba = network.class_proba(dataset.X)
    labels = dataset.y.astype(int)
    assert 0.75 < np.mean(proba.argmax(axis=1) == labels) < 0.92
    bins = np.digitize(proba[:, 1], np.linspace(0, 1, 11)[1:-1])
    for b in range(10):
        rows = bins == b
        assert proba[rows, 1].mean() == pytest.approx(np.mean(labels[rows] == 1), abs=2.5 / np.sqrt(rows.sum()))


def test_without_class_effect_the_posterior_is_the_prior():
    dataset, network = sample_network(100, n_attributes=5, class_effect=0.0, n_classes=3, random_state=0)
    assert np.allclose(network.class_proba(dataset.X), network.class_prior)


def test_concentration_sharpens():
    peaks = [
        np.mean([cpt.max(axis=-1).mean() for cpt in random_network(concentration=c, random_state=0).tables])
        for c in (0.1, 1.0, 10.0)
    ]
    assert peaks[0] > peaks[1] + 0.1 > peaks[2] + 0.2


def test_seed_decides_and_more_rows_keep_the_network():
    first, network = sample_network(300, n_attributes=6, random_state=7)
    again, _ = sample_network(300, n_attributes=6, random_state=7)
    more, same = sample_network(900, n_attributes=6, random_state=7)
    other, _ = sample_network(300, n_attributes=6, random_state=8)
    assert first.to_arrow().equals(again.to_arrow())
    assert not first.to_arrow().equals(other.to_arrow())
    assert network.parents == same.parents
    assert all(np.array_equal(a, b) for a, b in zip(network.tables, same.tables, strict=True))
    assert more.n_rows == 900


def test_table_and_codes_give_the_same_posterior():
    network = random_network(n_attributes=5, arity=12, random_state=0)  # "10" sorts before "2"
    codes, label = network.sample_codes(500, random_state=3)
    dataset = network.sample(500, random_state=3)
    assert np.array_equal(dataset.y.astype(int), label)
    assert np.array_equal(network.class_proba(dataset.X), network.class_proba(codes))
    # Other dictionaries, several chunks and another order of columns say the same.
    plain = pa.table({name: dataset.X[name].cast(pa.string()) for name in reversed(dataset.attributes)})
    pieces = pa.concat_tables([plain.slice(0, 99), plain.slice(99)])
    halves = [
        pa.table({name: half[name].combine_chunks().dictionary_encode() for name in half.column_names})
        for half in (plain.slice(0, 99), plain.slice(99))
    ]
    encoded = pa.concat_tables(halves)
    dictionaries = [chunk.dictionary.to_pylist() for chunk in encoded["x0"].chunks]
    assert dictionaries[0] != dictionaries[1]
    for table in (pieces, encoded, dataset.X.slice(0, 500)):
        assert np.array_equal(network.class_proba(table), network.class_proba(codes))


def test_columns_are_dictionaries_of_codes():
    dataset, network = sample_network(2000, n_attributes=3, arity=4, random_state=0)
    assert dataset.X["x0"].type == pa.dictionary(pa.int8(), pa.string())
    assert dataset.X["x1"].chunk(0).dictionary.to_pylist() == ["0", "1", "2", "3"]
    assert network.arities == (4, 4, 4)


def test_large_arity_does_not_wrap():
    network = random_network(n_attributes=2, arity=300, n_parents=1, random_state=0)
    codes, _ = network.sample_codes(20_000, random_state=0)
    assert codes.max() > 255
    found = np.bincount(codes[:, 0], minlength=300) / 20_000
    assert np.allclose(found, np.tensordot(network.class_prior, network.tables[0], 1), atol=0.006)


def test_bad_codes_are_named():
    network = random_network(n_attributes=3, arity=2, random_state=0)
    with pytest.raises(DataError, match=r"shape \(n_rows, 3\)"):
        network.class_proba(np.zeros((4, 2), dtype=int))
    with pytest.raises(DataError, match="integers"):
        network.class_proba(np.zeros((4, 3)))
    with pytest.raises(DataError, match=r"attribute x1: a code is not in 0\.\.1"):
        network.class_proba(np.array([[0, 2, 0]]))
    with pytest.raises(DataError, match="no column 'x0'"):
        network.class_proba(pa.table({"a": ["0"]}))
    with pytest.raises(DataError, match="column 'x2': want codes"):
        network.class_proba(
            pa.table(
                {"x0": ["0"], "x1": ["0"], "x2": [None]},
                pa.schema([(f"x{i}", pa.string()) for i in range(3)]),
            )
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arity": 1}, "arity"),
        ({"arity": (5, 3)}, "arity"),
        ({"n_attributes": 0}, "n_attributes=0"),
        ({"n_classes": 1}, "n_classes=1"),
        ({"n_parents": -1}, "n_parents=-1"),
        ({"concentration": 0.0}, "concentration=0.0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(DataError, match=message):
        random_network(**options)


def test_a_network_too_large_is_refused_before_it_is_drawn():
    with pytest.raises(MemoryLimitError, match="lower n_parents"):
        random_network(n_attributes=20, arity=10, n_parents=9, random_state=0)


def test_network_without_attributes_parents_is_naive_bayes():
    network = Network(np.array([0.5, 0.5]), ((), ()), (np.array([[0.9, 0.1], [0.2, 0.8]]),) * 2)
    assert network.class_proba(np.array([[0, 0]]))[0, 0] == pytest.approx(0.81 / (0.81 + 0.04))
