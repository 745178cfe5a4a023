from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from countwise.datasets import make_led, make_waveform
from countwise.datasets.synthetic import SEGMENTS
from countwise.errors import DataError


def matrix(dataset, dtype):
    """The attributes as numbers, shape (n_rows, n_attributes)."""
    columns = (column.cast(pa.string()) if dtype is int else column for column in dataset.X.columns)
    return np.stack([column.cast(pa.from_numpy_dtype(dtype)).to_numpy() for column in columns], axis=1)


def test_led_without_noise_shows_the_digits():
    dataset = make_led(2000, noise=0.0, random_state=3)
    shown = {(label, "".join(map(str, row))) for label, row in zip(dataset.y, matrix(dataset, int), strict=True)}
    digits = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
    assert shown == {(str(digit), lit) for digit, lit in enumerate(digits.split())}


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_led_segments_are_wrong_at_the_noise_rate(noise):
    dataset = make_led(100_000, noise=noise, random_state=0)
    wrong = matrix(dataset, int) != SEGMENTS[dataset.y.astype(int)]
    # Five standard deviations of a mean of 100,000.
    assert np.allclose(wrong.mean(axis=0), noise, atol=5 * np.sqrt(noise * (1 - noise) / 100_000))
    both = (wrong[:, 0] & wrong[:, 6]).mean()
    assert both == pytest.approx(noise**2, abs=5 * noise / np.sqrt(100_000))


def test_led_best_accuracy_is_breiman_s():
    """With 10 % noise the Bayes rate is 26 % (Breiman et al.): the best joint summed over 128 displays."""
    best = 0.0
    for display in product((0, 1), repeat=7):
        wrong = np.sum(np.array(display) != SEGMENTS, axis=1)
        best += np.max(0.1 * 0.1**wrong * 0.9 ** (7 - wrong))
    assert best == pytest.approx(0.74, abs=0.005)


def test_led_irrelevant_attributes_are_fair_coins():
    dataset = make_led(50_000, n_irrelevant=17, random_state=1)
    assert len(dataset.attributes) == 24
    coins = matrix(dataset, int)[:, 7:]
    assert np.allclose(coins.mean(axis=0), 0.5, atol=5 * 0.5 / np.sqrt(50_000))
    ones = np.array([coins[dataset.y == digit].mean() for digit in np.unique(dataset.y)])
    assert np.allclose(ones, 0.5, atol=0.02)


def test_led_is_like_uci_s_sample(real_data):
    file = real_data["led"]
    values = matrix(file, int)
    for digit in range(10):
        assert np.array_equal(values[file.y == str(digit)].mean(axis=0) > 0.5, SEGMENTS[digit] == 1)


def wave(top):
    return np.array([max(6 - abs(i - top), 0) for i in range(1, 22)])


def test_waveform_means_and_variances():
    dataset = make_waveform(60_000, random_state=0)
    values = matrix(dataset, float)
    for label, (a, b) in {"0": (7, 15), "1": (7, 11), "2": (11, 15)}.items():
        rows = values[dataset.y == label]
        # u is uniform: mean 1/2, variance 1/12.
        variance = 1 + (wave(a) - wave(b)) ** 2 / 12
        error = 5 * np.sqrt(variance / len(rows))
        assert np.all(abs(rows.mean(axis=0) - (wave(a) + wave(b)) / 2) < error)
        assert np.allclose(rows.var(axis=0), variance, rtol=0.06)
    assert np.allclose([np.mean(dataset.y == label) for label in "012"], 1 / 3, atol=0.01)


def test_waveform_noise_attributes_say_nothing():
    dataset = make_waveform(30_000, noise_attributes=True, random_state=0)
    assert len(dataset.attributes) == 40
    noise = matrix(dataset, float)[:, 21:]
    assert np.allclose(noise.std(axis=0), 1, atol=0.03)
    for label in "012":
        assert np.allclose(noise[dataset.y == label].mean(axis=0), 0, atol=0.05)


def test_waveform_labels_are_uci_s(real_data):
    file, ours = real_data["waveform-5000"], make_waveform(20_000, noise_attributes=True, random_state=0)
    for label in "012":
        means = [matrix(dataset, float)[dataset.y == label].mean(axis=0) for dataset in (file, ours)]
        assert np.allclose(*means, atol=0.2)


@pytest.mark.parametrize("make", [make_led, make_waveform])
def test_seeds_decide(make):
    first, second, third = (make(50, random_state=seed).to_arrow() for seed in (0, 0, 1))
    assert first.equals(second)
    assert not first.equals(third)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_led(0), "n_rows=0"),
        (lambda: make_waveform(2.5), "n_rows=2.5"),
        (lambda: make_led(5, noise=1.5), "noise=1.5"),
        (lambda: make_led(5, n_irrelevant=-1), "n_irrelevant=-1"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
