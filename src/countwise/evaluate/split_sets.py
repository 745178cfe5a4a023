"""Data sets that settings were chosen on, and those that are left as evidence."""

from collections.abc import Iterable
from typing import Final

DEVELOPMENT: Final = (
    *("lymphography", "glass", "sonar", "audiology", "statlog-heart", "ionosphere", "house-votes-84", "monks-2"),
    *("balance-scale", "credit-approval", "breast-cancer-w", "pima", "vehicle", "tic-tac-toe", "cmc", "yeast", "car"),
    *("segment", "kr-vs-kp", "splice", "abalone", "spambase", "waveform-5000", "nettalk-phoneme", "satellite"),
    *("letter", "magic", "bank-marketing", "adult", "connect-4"),
)
"""The 30 sets on which settings of this library were chosen: results on them are never evidence."""

SPLIT_NAMES: Final = ("development", "confirmation")


def split_sets(names: Iterable[str]) -> dict[str, list[str]]:
    """These sets by their part: those of :data:`DEVELOPMENT`, and all others, which are the confirmation.

    >>> split_sets(["adult", "iris", "wine"])
    {'development': ['adult'], 'confirmation': ['iris', 'wine']}
    """
    there = list(names)
    chosen_on = set(DEVELOPMENT)
    return {
        "development": [name for name in there if name in chosen_on],
        "confirmation": [name for name in there if name not in chosen_on],
    }
