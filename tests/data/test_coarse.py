import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countwise import _kernels
from countwise.data.coarse import coarsening, joined_codec
from countwise.data.codec import CategoryCodec, Codec, NumberCodec
from countwise.data.coded import CodedBatch
from countwise.errors import DataError

CLASSES = np.array(["a", "b"])
VALUES = np.append(np.linspace(-2.0, 2.0, 33), np.nan)


def number(cuts, has_missing=False, n_bins=None, name="x"):
    cuts = np.array(cuts, float)
    return NumberCodec(name, cuts, len(cuts) + 1 if n_bins is None else n_bins, has_missing)


def words(values, has_missing=False):
    return CategoryCodec("w", pa.array(values, pa.string()), has_missing)


def codec(*columns):
    return Codec(columns, CLASSES)


def coded(by, values):
    return CodedBatch([column.encode(values) for column in by.columns], None, None, len(values))


def check(columns, values):
    """Coded finely and then mapped is coded directly, in values and in type."""
    fine = joined_codec([codec(column) for column in columns])
    for column in columns:
        own = codec(column)
        there = coarsening(fine, own)
        mapped, direct = there.recode(coded(fine, values)), coded(own, values)
        np.testing.assert_array_equal(mapped.codes[0], direct.codes[0])
        assert mapped.codes[0].dtype == direct.codes[0].dtype
        assert there.arity == tuple(own.arity)


cut_lists = st.lists(st.sampled_from(VALUES[:-1].tolist()), unique=True, max_size=6).map(sorted)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(cut_lists, st.booleans(), st.booleans()), min_size=1, max_size=4))
def test_numbers(columns):
    check([number([] if empty else cuts, miss, 0 if empty else None) for cuts, miss, empty in columns], VALUES)


@pytest.mark.parametrize("n_cuts", [254, 255, 256, 65_534, 65_536])
def test_widths(n_cuts):
    rng = np.random.default_rng(n_cuts)
    values = np.append(rng.normal(size=3000), np.nan)
    cuts = np.unique(rng.normal(size=n_cuts))
    check([number(cuts), number(cuts[::300], True), number(cuts[::2])], values)


@pytest.mark.parametrize("width", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("to", [np.uint8, np.uint16, np.uint32])
def test_kernel(width, to):
    rng = np.random.default_rng(0)
    code_of = rng.integers(0, 200, 120).astype(to)
    codes = rng.integers(0, 120, 1000).astype(width)
    out = np.empty(1000, to)
    _kernels.recode(codes, code_of, out)
    np.testing.assert_array_equal(out, code_of[codes])


def test_categories_keep_their_codes_and_missing_may_be_new_to_one():
    values = pa.array(["u", None, "v", "stranger"])
    check([words(["u", "v"], True), words(["u", "v"])], values)


def test_what_is_the_same_is_not_copied():
    own = codec(number([0.0, 1.0]), words(["u", "v"]))
    batch = CodedBatch([np.array([0, 1], np.uint8)] * 2, None, np.array([1.0, 2.0]), 2)
    assert coarsening(own, own).maps == (None, None)
    assert coarsening(own, own).recode(batch) is batch
    fine = joined_codec([own, codec(number([0.5]), words(["u", "v"]))])
    there = coarsening(fine, own)
    assert there.maps[1] is None
    mapped = there.recode(batch)
    assert mapped.codes[1] is batch.codes[1]
    assert mapped.weights is batch.weights


def test_threads_agree():
    fine, own = codec(*[number([0.0, 1.0])] * 5), codec(*[number([1.0])] * 5)
    batch = coded(fine, np.random.default_rng(0).normal(size=200_000))
    for one, two in zip(
        coarsening(fine, own).recode(batch, 1).codes, coarsening(fine, own).recode(batch, 2).codes, strict=True
    ):
        np.testing.assert_array_equal(one, two)


def test_what_cannot_be_joined():
    with pytest.raises(DataError, match="'w' has different categories"):
        joined_codec([codec(words(["u"])), codec(words(["u", "v"]))])
    with pytest.raises(DataError, match="'x' is not of the same kind"):
        joined_codec([codec(number([])), Codec((NumberCodec("x", np.array([]), 1, False, "time"),), CLASSES)])
    with pytest.raises(DataError, match="same columns and classes"):
        joined_codec([codec(number([])), codec(number([], name="z"))])
