"""Unsigned Stirling numbers of the first kind, with integers of any size."""

from math import log


def stirling_row(n):
    """[S(n, 0), S(n, 1), .. S(n, n)], by S(n + 1, t) = n S(n, t) + S(n, t - 1)."""
    row = [1]
    for i in range(n):
        row = [(row[t - 1] if t else 0) + (i * row[t] if t < len(row) else 0) for t in range(len(row) + 1)]
    return row


def exact_log(value):
    """log of a positive integer of any size."""
    shift = max(value.bit_length() - 100, 0)
    return log(value >> shift) + shift * log(2)


def log_shares(n, most, bits=400):
    """[log(S(n, t) / (n - 1)!) for t = 1 .. most]: elementary symmetric sums of 1 .. 1/(n - 1), in fixed point."""
    sums = [1 << bits] + [0] * (most - 1)
    for i in range(1, n):
        for t in range(most - 1, 0, -1):
            sums[t] += sums[t - 1] // i
    return [exact_log(value) - bits * log(2) for value in sums]
