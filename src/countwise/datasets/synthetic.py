"""Breiman's two generators: a broken LED display and noisy waveforms."""

from __future__ import annotations

from typing import Final

import numpy as np

from countwise.datasets.dataset import Dataset, categories, table
from countwise.errors import DataError

# Lit segments of the digits 0 to 9: top, upper left, upper right, middle, lower left, lower right, bottom.
SEGMENTS: Final = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ],
    dtype=np.int8,
)

# Triangles of height 6 with their tops at 7, 15 and 11; a class mixes two of them.
WAVES: Final = np.maximum(6.0 - abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0.0)
WAVE_PAIRS: Final = np.array([[0, 1], [0, 2], [1, 2]])


def make_led(
    n_rows: int,
    *,
    noise: float = 0.1,
    n_irrelevant: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Read a digit from a display with seven segments, each of them wrong with probability ``noise``.

    The digits are equally likely. With ``noise=0.1`` the best possible accuracy is 0.74.

    Parameters
    ----------
    n_rows : int
        Rows to draw.
    noise : float, default=0.1
        The probability that a segment is turned over, independently of the others.
    n_irrelevant : int, default=0
        Fair coins to append as attributes; UCI's second version, *LED + 17*, has 17.
    random_state : int, Generator or None
        Seed of the draws.

    Source: Breiman, Friedman, Olshen and Stone, *Classification and Regression Trees*, 1984, section 2.6.1;
    *LED Display Domain*, UCI Machine Learning Repository, 1988.

    Examples
    --------
    >>> make_led(1000, n_irrelevant=17, random_state=0)
    led: 1,000 rows, 24 attributes, 10 classes
    >>> make_led(1, noise=0.0, random_state=0).to_arrow().to_pylist()
    [{'segment-1': '1', 'segment-2': '1', ..., 'segment-7': '1', 'class': '8'}]

    """
    check_n_rows(n_rows)
    if not 0 <= noise <= 1:
        raise DataError(f"noise={noise!r}: must be a probability")
    if n_irrelevant < 0:
        raise DataError(f"n_irrelevant={n_irrelevant!r}: must not be negative")
    rng = np.random.default_rng(random_state)
    digits = rng.integers(10, size=n_rows)
    columns = {}
    for i in range(7):
        wrong = rng.random(n_rows) < noise
        columns[f"segment-{i + 1}"] = categories(SEGMENTS[digits, i] ^ wrong, ("0", "1"))
    for i in range(n_irrelevant):
        columns[f"irrelevant-{i + 1}"] = categories(rng.integers(2, size=n_rows), ("0", "1"))
    return Dataset(
        name="led",
        X=table(columns),
        y=digits.astype("U1"),
        description=f"A digit on a seven-segment display, each segment wrong with probability {noise:g}, and "
        f"{n_irrelevant} coins. Breiman et al., Classification and Regression Trees, 1984.",
    )


def make_waveform(
    n_rows: int,
    *,
    noise_attributes: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    r"""Tell three noisy waveforms apart: 21 numbers, or 40 of which 19 are noise alone.

    With the triangles :math:`h_1, h_2, h_3` of height 6 whose tops are at 7, 15 and 11, a row of class 0, 1
    or 2 is :math:`x_i = u\,h_a(i) + (1 - u)\,h_b(i) + \varepsilon_i` for :math:`i = 1, \ldots, 21`, where
    (a, b) is (1, 2), (1, 3) or (2, 3), u is uniform on [0, 1] and every :math:`\varepsilon_i` is standard
    normal. The classes are equally likely; the best possible accuracy is about 0.86.

    Parameters
    ----------
    n_rows : int
        Rows to draw.
    noise_attributes : bool, default=False
        Append 19 standard normal attributes that say nothing about the class.
    random_state : int, Generator or None
        Seed of the draws.

    Source: Breiman, Friedman, Olshen and Stone, *Classification and Regression Trees*, 1984, section 2.6.2;
    *Waveform Database Generator*, UCI Machine Learning Repository, 1988.

    Examples
    --------
    >>> make_waveform(5000, noise_attributes=True, random_state=0)
    waveform: 5,000 rows, 40 attributes, 3 classes

    """
    check_n_rows(n_rows)
    rng = np.random.default_rng(random_state)
    label = rng.integers(3, size=n_rows)
    share = rng.random(n_rows)
    first, second = WAVE_PAIRS[label].T
    columns = {}
    for i in range(40 if noise_attributes else 21):
        values = rng.standard_normal(n_rows)
        if i < 21:
            values += share * WAVES[first, i] + (1 - share) * WAVES[second, i]
        columns[f"x{i + 1}"] = values
    return Dataset(
        name="waveform",
        X=table(columns),
        y=label.astype("U1"),
        description="Three classes of two mixed triangular waves with normal noise. "
        "Breiman et al., Classification and Regression Trees, 1984.",
    )


def check_n_rows(n_rows: int) -> None:
    """Refuse a number of rows that is not a positive integer."""
    if not isinstance(n_rows, int | np.integer) or n_rows < 1:
        raise DataError(f"n_rows={n_rows!r}: must be a positive integer")
