"""The first pass: kinds, categories and cut points, the same for one batch and for many."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import countwise as cw
from countwise.data.discretise import MDLP
from countwise.data.files import StreamSource
from countwise.data.schema import column_kinds, learn_schema
from countwise.data.source import table_columns
from countwise.errors import ColumnTypeError, DataError

TABLE = pa.table(
    {
        "word": ["b", "a", None, "a"],
        "size": [1.5, 2.5, 3.5, None],
        "digit": pa.array([3, 1, 3, 1]).dictionary_encode(),
        "flag": [True, False, True, None],
        "label": ["yes", "no", "yes", "no"],
    }
)
NAMES = ["word", "size", "digit", "flag"]


def kinds(categorical):
    names, columns, _ = table_columns(TABLE.select(NAMES))
    return "".join(kind[0] for kind in column_kinds(names, columns, categorical))


@pytest.mark.parametrize(
    ("categorical", "expected"),
    [
        ("from_dtype", "cncc"),
        (None, "cncc"),
        (["size"], "ccnc"),
        ([1, 2], "cccc"),
        (np.array([1]), "ccnc"),
        ([False, True, True, False], "cccc"),
        (np.array([False, False, True, False]), "cncc"),
        (["size", 2], "cccc"),
        (pd.Index(["size"]), "ccnc"),
        ([], "cnnc"),
    ],
)
def test_categorical_features(categorical, expected):
    assert kinds(categorical) == expected


@pytest.mark.parametrize(
    ("categorical", "message"),
    [
        (["nope"], "'nope', which is not a column"),
        ("word", "categorical_features='word'"),
        ([4], "holds 4"),
        ([-1], "holds -1"),
        ([0.5], "holds 0.5"),
        ([True], "1 booleans for 4 columns"),
        (3, "categorical_features=3"),
    ],
)
def test_wrong_categorical_features(categorical, message):
    with pytest.raises(DataError, match=message):
        kinds(categorical)


def schema(*batches, categorical="from_dtype"):
    return learn_schema(StreamSource(list(batches), target="label"), MDLP(), categorical)


def test_batches_make_the_schema_of_the_whole():
    whole = schema(TABLE)
    parts = schema(*(TABLE.slice(i, 1) for i in range(4)))
    backwards = schema(*(TABLE.slice(i, 1) for i in (3, 2, 1, 0)))
    assert whole.codec.same_as(parts.codec)
    assert whole.codec.same_as(backwards.codec)
    assert parts.n_rows == 4
    assert list(parts.codec.classes) == ["no", "yes"]
    assert [c.labels for c in whole.codec.columns if c.kind == "category"] == [
        ["a", "b", "(missing)"],
        ["1", "3"],
        ["False", "True", "(missing)"],
    ]


def test_unused_categories_and_classes_do_not_count():
    label = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0, 2]), pa.array(["yes", "never", "no"]))
    word = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0, 2]), pa.array(["x", "never", "y"]))
    found = schema(pa.table({"word": word, "label": label}))
    assert list(found.codec.classes) == ["no", "yes"]
    assert found.codec.columns[0].labels == ["x", "y"]


@pytest.mark.parametrize("first", [pa.nulls(2), pa.array([None, None], pa.float64()), pa.array([None, None], "string")])
@pytest.mark.parametrize(("later", "kind"), [([1.5, 2.5], "number"), (["a", "b"], "category")])
def test_a_column_that_starts_empty_is_of_the_kind_of_its_first_values(first, later, kind):
    label = ["yes", "no"]
    found = schema(pa.table({"c": first, "label": label}), pa.table({"c": later, "label": label}))
    assert found.codec.columns[0].kind == kind
    assert found.codec.columns[0].has_missing


def test_whole_numbers_and_fractions_make_one_dictionary():
    batches = [pa.table({"c": values, "label": ["yes", "no"]}) for values in ([1, 2], [2.0, 2.5])]
    found = schema(*batches, categorical=["c"])
    assert found.codec.columns[0].categories.to_pylist() == [1.0, 2.0, 2.5]


def test_types_that_change_between_batches_are_named():
    text, number = (pa.table({"c": values, "label": ["yes", "no"]}) for values in (["a", "b"], [1, 2]))
    with pytest.raises(ColumnTypeError, match="'c' changes its type between batches: string, then int64"):
        schema(text, number)
    with pytest.raises(ColumnTypeError, match="'c' should hold numbers and holds text"):
        schema(number, text)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (["yes", None, None, "no"], "target 'label' is missing .* in 2 row"),
        ([1.5, 2.5, 1.0, 2.0], "target 'label' holds continuous values"),
    ],
)
def test_bad_targets_are_named(label, message):
    with pytest.raises(DataError, match=message):
        schema(pa.table({"c": [1, 2, 3, 4], "label": label}))


def test_no_rows():
    with pytest.raises(DataError, match="no rows"):
        schema(TABLE.slice(0, 0))


def test_infinity_is_named():
    with pytest.raises(DataError, match="'c' contains infinity"):
        schema(pa.table({"c": [1.0, np.inf], "label": ["yes", "no"]}))


def test_missing_is_a_value_of_its_own():
    rng = np.random.default_rng(0)
    gap = rng.random(400) < 0.4
    X = pd.DataFrame({"word": np.where(gap, None, "a"), "size": np.where(gap, np.nan, rng.normal(size=400))})
    y = np.where(gap, "gone", "here")
    for name in X:
        model = cw.NBClassifier().fit(X[[name]], y)
        assert (model.predict(X[[name]]) == y).all()


@pytest.mark.parametrize("weight", [None, "weight"])
def test_sketched_cuts_do_not_depend_on_batches(weight):
    rng = np.random.default_rng(5)
    n_rows = 150_000  # more than one block of a sketch, and more distinct values than it holds
    label = rng.integers(3, size=n_rows)
    table = pa.table({"x": rng.normal(size=n_rows) + label, "weight": rng.integers(1, 3, n_rows), "label": label})

    def cuts(size):
        batches = [table.slice(start, size) for start in range(0, n_rows, size)]
        schema = learn_schema(StreamSource(batches, target="label", weight=weight), MDLP())
        assert schema.rank_error > 0
        return schema.codec.columns[0].cuts.tolist()

    assert cuts(n_rows) == cuts(70_001) == cuts(9_999)
