"""Labels in every form: the same classes and numbers as by sorting them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import countwise as cw
from countwise.estimators.labels import check_target, distinct_labels

WORDS = ["lost", "paid", "", "überfällig", "Zahlt", "lost ", "日本"]
FORMS = {
    "objects": lambda words: np.array(words, object),
    "text": np.array,
    "list": list,
    "pandas": pd.Series,
    "pandas objects": lambda words: pd.Series(words, dtype=object),
    "pandas categories": lambda words: pd.Series(words, dtype="category"),
    "Arrow": pa.array,
    "Arrow in chunks": lambda words: pa.chunked_array([words[:30], words[30:]]),
}
DRAWN = np.random.default_rng(0).choice(WORDS, 100).tolist()


@pytest.mark.parametrize("form", FORMS)
def test_texts_in_every_form(form):
    y = check_target(None, FORMS[form](DRAWN))
    labels, number = distinct_labels(y)
    assert labels.tolist() == sorted(set(DRAWN))
    assert labels[number].tolist() == DRAWN
    model = cw.NBClassifier().fit(np.arange(100.0)[:, None], FORMS[form](DRAWN))
    assert model.classes_.tolist() == sorted(set(DRAWN))
    assert model.classes_.dtype == np.unique(y).dtype


@pytest.mark.parametrize("y", [np.array([3, 1, 2, 1]), np.array([True, False, True]), np.array([2.0, 1.0])])
def test_other_labels_are_sorted_as_they_are(y):
    labels, number = distinct_labels(check_target(None, y))
    expected = np.unique(y, return_inverse=True)
    assert labels.tolist() == expected[0].tolist()
    assert labels.dtype == expected[0].dtype
    assert number.tolist() == expected[1].tolist()


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("form", ["objects", "pandas objects"])
def test_gaps_are_counted(form, gap):
    words = [*DRAWN[:98], gap, gap]
    with pytest.raises(cw.DataError, match=r"missing in 2 row\(s\)"):
        cw.NBClassifier().fit(np.arange(100.0)[:, None], FORMS[form](words))


def test_mixed_labels_are_refused():
    with pytest.raises(cw.DataError, match="mixes int and str"):
        cw.NBClassifier().fit(np.arange(4.0)[:, None], np.array(["a", 1, "b", 2], object))


def test_labels_that_only_rows_of_weight_zero_have():
    X, y = np.arange(6.0)[:, None], np.array(["a", "b", "a", "b", "strange", "c"], object)
    model = cw.NBClassifier().fit(X, y, sample_weight=[1, 1, 1, 1, 0, 0])
    assert model.classes_.tolist() == ["a", "b"]
    model.partial_fit(X, y, sample_weight=[1, 1, 1, 1, 0, 0])
    with pytest.raises(cw.DataError, match=r"\['strange'\] that are not among the classes \['a', 'b'\]"):
        model.partial_fit(X, y, sample_weight=[1, 1, 1, 1, 1, 0])


def test_text_that_no_file_could_hold():
    y = np.array(["a", "\ud800", "a", "\ud800"], object)  # half of a surrogate pair
    assert distinct_labels(check_target(None, y))[0].tolist() == ["a", "\ud800"]
