"""Poker hands: a class that no single card, and hardly a pair of cards, says anything about."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from countwise.datasets.dataset import Dataset, categories, table
from countwise.datasets.synthetic import check_n_rows
from countwise.errors import DataError

HAND_NAMES: Final = (
    *("nothing", "one pair", "two pairs", "three of a kind", "straight"),
    *("flush", "full house", "four of a kind", "straight flush", "royal flush"),
)

# Of the ten pairs of cards, so many have equal ranks -> the class (five is impossible).
CLASS_BY_EQUAL_PAIRS: Final = np.array([0, 1, 2, 3, 6, 0, 7], dtype=np.int8)


def hand_class(suits: npt.NDArray[Any], ranks: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """The class of every hand, 0 (nothing) to 9 (royal flush), as in :data:`HAND_NAMES`.

    The number of pairs of cards with equal ranks tells the hands with equal ranks apart: 1 one pair, 2 two
    pairs, 3 three of a kind, 4 full house, 6 four of a kind. Without equal ranks, five ranks in a row are a
    straight (the ace, rank 1, may come first or last) and five equal suits a flush.

    Parameters
    ----------
    suits, ranks : integer arrays, shape (n_rows, 5)
        Suits 1 to 4 and ranks 1 (ace) to 13 (king) of five different cards.

    Returns
    -------
    ndarray of int8, shape (n_rows,)

    Examples
    --------
    >>> ranks = np.array([[1, 10, 11, 12, 13], [1, 2, 3, 4, 5], [7, 7, 7, 2, 2]])
    >>> suits = np.array([[4, 4, 4, 4, 4], [1, 1, 2, 3, 4], [1, 2, 3, 1, 2]])
    >>> [HAND_NAMES[k] for k in hand_class(suits, ranks)]
    ['royal flush', 'straight', 'full house']

    """
    suits, ranks = np.asarray(suits), np.asarray(ranks)
    if suits.shape != ranks.shape or ranks.ndim != 2 or ranks.shape[1] != 5:
        raise DataError(f"suits {suits.shape} and ranks {ranks.shape}: both must have the shape (n_rows, 5)")
    for name, values, highest in (("suits", suits, 4), ("ranks", ranks, 13)):
        if values.size and not 1 <= values.min() <= values.max() <= highest:
            raise DataError(f"{name}: values from {values.min()} to {values.max()}, want 1 to {highest}")
    suit = np.ascontiguousarray(suits.T, dtype=np.int8)
    rank = np.ascontiguousarray(ranks.T, dtype=np.int8)
    equal_pairs = np.zeros(rank.shape[1], dtype=np.int8)
    for i, j in combinations(range(5), 2):
        equal_pairs += rank[i] == rank[j]
    flush = np.logical_and.reduce(suit[1:] == suit[0])
    lowest, total = rank.min(axis=0), rank.sum(axis=0, dtype=np.int8)
    distinct = equal_pairs == 0
    ace_high = distinct & (lowest == 1) & (total == 1 + 10 + 11 + 12 + 13)  # no other five ranks add up to it
    straight = ace_high | (distinct & (rank.max(axis=0) - lowest == 4))
    result = CLASS_BY_EQUAL_PAIRS[equal_pairs]
    result[straight] = 4
    result[flush] = 5
    result[straight & flush] = 8
    result[ace_high & flush] = 9
    return result


def make_poker(n_rows: int | None = None, *, random_state: int | np.random.Generator | None = None) -> Dataset:
    """Five cards of a deck and the hand that they make.

    Attributes in UCI's order ``S1, C1, ..., S5, C5``: the suits as categories ``1`` to ``4``, the ranks as
    integers 1 (ace) to 13 (king). The class is ``0`` (nothing) to ``9`` (royal flush), see
    :data:`HAND_NAMES`.

    Parameters
    ----------
    n_rows : int or None
        Rows to draw: ordered hands, uniformly and independently (UCI has 1,025,010 rows). None
        gives each of the 2,598,960 unordered hands once, its cards in the order of the deck.
    random_state : int, Generator or None
        Seed of the draws.

    Source: Cattral and Oppacher, *Poker Hand*, UCI Machine Learning Repository, 2002.

    Examples
    --------
    >>> make_poker(10_000, random_state=0)
    poker: 10,000 rows, 10 attributes, 7 classes

    """
    if n_rows is None:
        cards = _all_hands()
    else:
        check_n_rows(n_rows)
        cards = _draw_hands(int(n_rows), np.random.default_rng(random_state))
    suits, ranks = cards // 13 + 1, (cards % 13 + 1).astype(np.int32)
    columns: dict[str, Any] = {}
    for i in range(5):
        columns[f"S{i + 1}"] = categories(suits[:, i] - 1, ("1", "2", "3", "4"))
        columns[f"C{i + 1}"] = np.ascontiguousarray(ranks[:, i])
    return Dataset(
        name="poker",
        X=table(columns),
        y=np.array([str(k) for k in range(10)])[hand_class(suits, ranks)],
        description="Five cards and their poker hand, 0 (nothing) to 9 (royal flush). "
        "As UCI's Poker Hand, Cattral and Oppacher, 2002.",
    )


def _draw_hands(n_rows: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Ordered hands of five different cards 0..51: drawn with replacement, kept if no card repeats."""
    kept: list[npt.NDArray[np.uint8]] = []
    missing = n_rows
    while missing > 0:
        # 0.82 of the hands are kept, so the second turn of the loop, if any, is a short one.
        cards = rng.integers(52, size=(missing * 5 // 4 + 16, 5), dtype=np.uint8)
        held = np.bitwise_or.reduce(np.left_shift(np.uint64(1), cards, dtype=np.uint64), axis=1)
        kept.append(cards[np.bitwise_count(held) == 5][:missing])
        missing -= len(kept[-1])
    return np.concatenate(kept)


def _all_hands() -> npt.NDArray[np.uint8]:
    """Every set of five cards once, in increasing order: grown card by card."""
    hands = np.arange(52, dtype=np.uint8)[:, None]
    for _ in range(4):
        n_higher = 51 - hands[:, -1].astype(np.int64)
        first = np.repeat(hands[:, -1].astype(np.int64) + 1, n_higher)
        rank_in_group = np.arange(n_higher.sum()) - np.repeat(np.cumsum(n_higher) - n_higher, n_higher)
        hands = np.column_stack([np.repeat(hands, n_higher, axis=0), (first + rank_in_group).astype(np.uint8)])
    return hands
