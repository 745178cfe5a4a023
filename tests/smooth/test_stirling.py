"""Stirling numbers: exact in the table, and within the stated errors outside it."""

import threading

import numpy as np
import pytest

from countwise import _kernels
from countwise.errors import DataError
from countwise.smooth.stirling import log_stirling
from oracle.stirling import exact_log, log_shares, stirling_row

BAND, ROWS = 250, 4096  # the table: t <= BAND, n <= ROWS


def ratios(n, t, size, over_tables, far):
    out = np.empty(size)
    _kernels.stirling_ratios(n, t, over_tables, far, out)
    return out


def exact_logs(n):
    """log S(n, t), t = 1 .. n."""
    return np.array([exact_log(value) for value in stirling_row(n)[1:]])


@pytest.mark.parametrize("n", [1, 2, 3, 10, 21, 100, 250])
def test_small_numbers_are_exact(n):
    assert log_stirling(n, np.arange(1, n + 1)) == pytest.approx(exact_logs(n), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n", [251, 600])
def test_every_number_of_a_row(n):
    errors = np.abs(log_stirling(n, np.arange(1, n + 1)) - exact_logs(n))
    assert errors[:BAND].max() < 1e-11
    assert errors[BAND:].max() < 5e-8


@pytest.mark.parametrize("n", [1024, 4096])
def test_the_table_does_not_drift(n):
    expected = np.array(log_shares(n, 40))
    assert ratios(n, 1, 39, True, False) == pytest.approx(np.exp(np.diff(expected)), rel=1e-11)


@pytest.mark.parametrize("n", [251, 600])
def test_ratios_beyond_the_band(n):
    logs, more = exact_logs(n), exact_logs(n + 1)
    for t in range(BAND, n, 7):
        size = min(20, n - t)
        assert ratios(n, t, size, True, True) == pytest.approx(np.exp(np.diff(logs[t - 1 : t + size])), rel=3e-8)
        assert ratios(n, t, 1, False, True) == pytest.approx(np.exp(more[t - 1] - logs[t - 1]), rel=3e-8)


@pytest.mark.parametrize("n", [4097, 60_000])
def test_large_counts(n):
    logs, more = np.array(log_shares(n, 40)), np.array(log_shares(n + 5, 40))
    errors = np.abs(log_stirling(n, np.arange(1, 41)) - log_stirling(n, 1) - logs)
    assert errors.max() < 1.4e-4
    assert errors[9:].max() < 3.2e-5
    assert errors[29:].max() < 1.5e-6
    for t in (1, 2, 5, 10, 18):
        errors = np.abs(ratios(n, t, 20, True, True) / np.exp(np.diff(logs[t - 1 : t + 20])) - 1)
        assert errors.max() < (1.5e-4 if t < 10 else 1.2e-5)
        growth = np.exp(more[t - 1] - logs[t - 1]) * np.prod(n + np.arange(5.0))
        assert np.prod(ratios(n, t, 5, False, True)) == pytest.approx(growth, rel=1e-7)


def test_ratios_agree_with_the_recurrence_where_nothing_is_exact():
    # S(n + 1, t) / S(n, t) = n + S(n, t - 1) / S(n, t) joins the two kinds of ratios.
    for n, t in [(5_000_000, 30), (5_000_000, 9_000), (100_000, 99_000), (2_000_000_000, 50)]:
        below = ratios(n, t - 1, 1, True, True)[0]
        assert ratios(n, t, 1, False, True)[0] == pytest.approx(n + 1 / below, rel=1e-6)


def test_interpolated_ratios_equal_single_ones():
    for n, t in [(4100, 1), (4100, 30), (4100, 3000), (1_000_000, 260)]:
        single = np.array([ratios(n, t + i, 1, True, True)[0] for i in range(20)])
        assert ratios(n, t, 20, True, True) == pytest.approx(single, rel=1e-4 if t == 1 else 1e-6)
        single = np.array([ratios(n + i, t, 1, False, True)[0] for i in range(20)])
        assert ratios(n, t, 20, False, True) == pytest.approx(single, rel=1e-7)


def test_the_two_forms_meet():
    n, t = ROWS - 20, np.arange(1, BAND - 20)
    for size in (1, 20):
        near = np.array([ratios(n, i, size, True, False)[-1] for i in t])
        far = np.array([ratios(n, i, size, True, True)[-1] for i in t])
        errors = np.abs(far / near - 1)
        assert errors.max() < 1.4e-4
        assert errors[50:].max() < 1e-7


def test_both_ends():
    n = 1_000_000
    assert log_stirling(n, n) == pytest.approx(0.0, abs=1e-6)
    assert log_stirling(n, n - 1) == pytest.approx(np.log(n * (n - 1) / 2), abs=1e-6)
    harmonic = np.log(n - 1) + np.euler_gamma + 1 / (2 * (n - 1))
    assert ratios(n, 1, 1, True, True)[0] == pytest.approx(harmonic, rel=1e-4)


def test_shapes_and_errors():
    assert log_stirling([[3], [4]], [1, 2]).shape == (2, 2)
    assert log_stirling([], []).shape == (0,)
    for n, t in [(3, 4), (3, 0), (0, 0)]:
        with pytest.raises(DataError, match="1 <= t <= n"):
            log_stirling(n, t)


def test_threads_share_the_table():
    sizes = [3, 30, 300, 1000, 2000, 4000] * 3
    found = [None] * len(sizes)

    def work(i):
        found[i] = log_stirling(sizes[i], np.arange(1, min(sizes[i], 200) + 1))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(sizes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for size, result in zip(sizes, found, strict=True):
        assert np.array_equal(result, log_stirling(size, np.arange(1, min(size, 200) + 1)))
