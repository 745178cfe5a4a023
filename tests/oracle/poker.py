"""The class of one poker hand, by the book."""

from collections import Counter


def hand_class(cards):
    """``cards``: five (suit, rank) pairs, rank 1 is the ace; 0 (nothing) to 9 (royal flush)."""
    suits = {suit for suit, _ in cards}
    ranks = sorted(rank for _, rank in cards)
    royal = ranks == [1, 10, 11, 12, 13]
    straight = royal or ranks == list(range(ranks[0], ranks[0] + 5))
    groups = sorted(Counter(ranks).values(), reverse=True)
    if len(suits) == 1:
        return 9 if royal else 8 if straight else 5
    if straight:
        return 4
    return {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1, (1, 1, 1, 1, 1): 0}[tuple(groups)]
