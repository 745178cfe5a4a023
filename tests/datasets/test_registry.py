import numpy as np
import pyarrow as pa
import pytest
import sklearn.datasets

from countwise.datasets import DATASETS, UnknownDatasetError, load, load_sklearn

SKLEARN = ("iris", "wine", "breast_cancer", "digits")


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_every_registered_set_loads_under_its_name(name):
    dataset = load(name)
    assert dataset.name == name
    assert dataset.n_rows > 100
    assert dataset.target == "class"
    assert dataset.description
    for column in dataset.X.schema:
        numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        assert numeric or column.type.value_type == pa.string()


@pytest.mark.parametrize("name", SKLEARN)
def test_sklearn_s_values_and_labels_are_kept(name):
    bunch = getattr(sklearn.datasets, f"load_{name}")()
    X, y = load_sklearn(name)
    assert np.array_equal(np.stack([column.to_numpy() for column in X.columns], axis=1), bunch.data)
    assert y.tolist() == [str(bunch.target_names[k]) for k in bunch.target]


def test_only_pixels_are_integers():
    assert {str(t) for t in load_sklearn("digits").X.schema.types} == {"int32"}
    assert {str(t) for t in load_sklearn("wine").X.schema.types} == {"double"}


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(UnknownDatasetError, match=r"'tictactoe'.*did you mean 'tic-tac-toe'\? Known: balance-scale, "):
        load("tictactoe")
    with pytest.raises(UnknownDatasetError, match="Known: breast_cancer, digits, iris, wine"):
        load_sklearn("boston")


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        DATASETS["mine"] = lambda: None
