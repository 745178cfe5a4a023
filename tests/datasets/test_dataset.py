import dataclasses
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from countwise.datasets import Dataset, load_balance_scale, load_tic_tac_toe
from countwise.datasets.dataset import categories
from countwise.errors import DataError


def small(**changes):
    facts = {"name": "small", "X": pa.table({"a": [1, 2, 3]}), "y": np.array(["n", "y", "n"])}
    return Dataset(**{**facts, **changes})


def test_unpacking_gives_attributes_and_labels():
    dataset = small()
    X, y = dataset
    assert X is dataset.X
    assert y is dataset.y


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        small().name = "other"


def test_repr_counts_with_plurals():
    assert repr(load_tic_tac_toe()) == "tic-tac-toe: 958 rows, 9 attributes, 2 classes"
    one = Dataset("tiny", pa.table({"a": [1]}), np.array(["y"]))
    assert repr(one) == "tiny: 1 row, 1 attribute, 1 class"


def test_to_arrow_puts_the_target_last():
    table = small(target="label").to_arrow()
    assert table.column_names == ["a", "label"]
    assert table["label"].to_pylist() == ["n", "y", "n"]
    assert table.schema.field("label").type == pa.string()


def test_to_pandas_keeps_categories_and_numbers():
    X, y = load_tic_tac_toe().to_pandas()
    assert X.shape == (958, 9)
    assert {str(dtype) for dtype in X.dtypes} == {"category"}
    assert y.name == "class"
    assert y.value_counts()["positive"] == 626
    numbers, _ = load_balance_scale().to_pandas()
    assert {dtype.kind for dtype in numbers.dtypes} == {"i"}


def test_to_pandas_without_pandas_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install pandas.*to_arrow"):
        small().to_pandas()


def test_polars_reads_the_table():
    frame = pl.from_arrow(load_tic_tac_toe().X)
    assert frame.shape == (958, 9)
    assert frame["top-left-square"][0] == "x"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.array(["n", "y"])}, "X has 3 rows, y has 2"),
        ({"y": np.array([0, 1, 0])}, "array of str, got int64"),
        ({"y": np.array([["n", "y", "n"]])}, "1-D"),
        ({"target": "a"}, "named as the target, 'a'"),
    ],
)
def test_facts_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(DataError, match=message):
        small(**changes)


@pytest.mark.parametrize(("n_values", "index_type"), [(128, pa.int8()), (129, pa.int16()), (40_000, pa.int32())])
def test_categories_use_the_narrowest_index(n_values, index_type):
    values = [str(v) for v in range(n_values)]
    column = categories(np.array([0, n_values - 1]), values)
    assert column.type == pa.dictionary(index_type, pa.string())
    assert column.to_pylist() == ["0", str(n_values - 1)]
