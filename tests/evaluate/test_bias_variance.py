"""Hand-worked parts of the 0-1 loss, the definition as a loop, and codes that survive packing."""

import base64
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from countwise.errors import DataError
from countwise.evaluate import bias_variance, pack_codes, unpack_codes


def test_golden_three_classes():
    # Row 0 (class 0): predicted 0 0 1 2, shares 1/2 1/4 1/4: bias (1/4 + 1/16 + 1/16) / 2, variance (1 - 3/8) / 2.
    # Row 1 (class 2): predicted 1 always: bias (1 + 1) / 2, variance 0.
    result = bias_variance([0, 2], [[0, 1], [0, 1], [1, 1], [2, 1]])
    assert result.bias == pytest.approx((3 / 16 + 1) / 2)
    assert result.variance == pytest.approx((5 / 16 + 0) / 2)
    assert result.error == pytest.approx((1 / 2 + 1) / 2)


def test_one_repeat_of_one_row():
    assert bias_variance([1], [[1]]) == bias_variance([0] * 3, np.zeros((4, 3), dtype=np.uint8))
    assert (bias_variance([1], [[1]]).error, bias_variance([1], [[0]]).bias) == (0.0, 1.0)


@st.composite
def votes(draw):
    n_repeats, n_rows, n_classes = draw(st.integers(1, 6)), draw(st.integers(1, 10)), draw(st.integers(1, 5))
    code = st.integers(0, n_classes - 1)
    return draw(hnp.arrays(np.int64, n_rows, elements=code)), draw(
        hnp.arrays(np.int64, (n_repeats, n_rows), elements=code)
    )


@given(votes())
@settings(max_examples=100, deadline=None)
def test_against_the_definition(case):
    codes, predicted = case
    bias, variance = [], []
    for i, code in enumerate(codes):
        share = np.bincount(predicted[:, i], minlength=5) / len(predicted)
        bias.append(0.5 * ((np.eye(5)[code] - share) ** 2).sum())
        variance.append(0.5 * (1 - (share**2).sum()))
    result = bias_variance(codes, predicted)
    assert result.bias == pytest.approx(np.mean(bias))
    assert result.variance == pytest.approx(np.mean(variance))


@given(votes())
@settings(max_examples=100, deadline=None)
def test_bias_and_variance_are_the_mean_loss(case):
    codes, predicted = case
    result = bias_variance(codes, predicted)
    assert result.error == pytest.approx((predicted != codes).mean())
    assert result.bias + result.variance == pytest.approx(result.error)
    assert min(result.bias, result.variance) >= 0.0


@pytest.mark.parametrize(
    ("codes", "predicted", "message"),
    [
        ([0, 1], [[0, 1, 1]], r"predicted: shape \(1, 3\), expected \(n_repeats, 2\)"),
        ([0, 1], np.zeros((0, 2), dtype=int), r"predicted: shape \(0, 2\)"),
        ([0, 1], [0, 1], "predicted: 1 dimensions, expected 2"),
        ([[0, 1]], [[0, 1]], "codes: 2 dimensions, expected 1"),
        ([0, 1], [[0, -1]], "predicted: class codes are integers from 0 on"),
        ([0.0, 1.0], [[0, 1]], "codes: class codes are integers from 0 on"),
        (["a", "b"], [[0, 1]], "codes: class codes are integers from 0 on"),
    ],
)
def test_bad_codes_are_named(codes, predicted, message):
    with pytest.raises(DataError, match=message):
        bias_variance(codes, predicted)


@given(hnp.arrays(np.int64, st.integers(0, 50), elements=st.integers(0, 10) | st.integers(0, 2**63 - 1)))
@settings(max_examples=100, deadline=None)
def test_codes_survive_packing(codes):
    back = unpack_codes(pack_codes(codes), len(codes))
    assert back.dtype == np.int64
    np.testing.assert_array_equal(back, codes)


@pytest.mark.parametrize(("greatest", "width"), [(255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**32, 8)])
def test_codes_are_as_narrow_as_can_be(greatest, width):
    content = zlib.decompress(base64.b64decode(pack_codes([0, greatest, 1])))
    assert content == np.array([0, greatest, 1], dtype=f"<u{width}").tobytes()


@pytest.mark.parametrize(
    "damage", [lambda t: t[:-6], lambda t: "!" + t, lambda t: "é" + t, lambda t: t[4:], lambda t: ""]
)
def test_damaged_codes_are_told_of(damage):
    with pytest.raises(DataError, match=r"packed codes are damaged: .*run its cell again"):
        unpack_codes(damage(pack_codes(range(100))), 100)


def test_one_changed_letter_is_found():
    text = pack_codes([1, 2, 3] * 20)
    place = len(text) // 2
    other = "A" if text[place] != "A" else "B"
    with pytest.raises(DataError, match="damaged"):
        unpack_codes(text[:place] + other + text[place + 1 :], 60)


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_a_wrong_number_of_codes_is_told_of(n):
    with pytest.raises(DataError, match=f"3 bytes are not {n} codes"):
        unpack_codes(pack_codes([1, 2, 3]), n)


@pytest.mark.parametrize("codes", [[0, -1], [0.5], ["a"], [[1]]])
def test_only_codes_can_be_packed(codes):
    with pytest.raises(DataError, match=r"^codes: "):
        pack_codes(codes)
