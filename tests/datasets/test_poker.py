import numpy as np
import pytest

import oracle.poker
from countwise.datasets import HAND_NAMES, hand_class, make_poker
from countwise.errors import DataError

EXACT = {
    **{"nothing": 1_302_540, "one pair": 1_098_240, "two pairs": 123_552, "three of a kind": 54_912},
    **{"straight": 10_200, "flush": 5_108, "full house": 3_744, "four of a kind": 624},
    **{"straight flush": 36, "royal flush": 4},
}
N_HANDS = 2_598_960


@pytest.fixture(scope="module")
def all_hands():
    return make_poker()


def cards(dataset):
    suits = np.stack([dataset.X[f"S{i}"].cast("string").to_numpy().astype(int) for i in range(1, 6)], axis=1)
    ranks = np.stack([dataset.X[f"C{i}"].to_numpy() for i in range(1, 6)], axis=1)
    return suits, ranks


def test_all_hands_have_the_exact_counts(all_hands):
    assert {HAND_NAMES[int(k)]: n for k, n in all_hands.class_counts().items()} == EXACT


def test_all_hands_are_different_sets_of_cards(all_hands):
    suits, ranks = (
        np.stack([part.to_numpy() for part in parts], axis=1)
        for parts in (
            [all_hands.X[f"S{i}"].combine_chunks().indices for i in range(1, 6)],
            [all_hands.X[f"C{i}"] for i in range(1, 6)],
        )
    )
    deck = suits.astype(np.int64) * 13 + ranks - 1
    assert np.all(np.diff(deck, axis=1) > 0)
    assert len(np.unique(deck @ 52 ** np.arange(5))) == N_HANDS
    assert (deck.min(), deck.max()) == (0, 51)


def test_classes_are_those_of_the_book():
    """Random hands, and hands of few ranks or one suit in which the rare classes are common."""
    rng = np.random.default_rng(0)
    decks = [
        [(suit, rank) for suit in range(1, 5) for rank in range(1, 14)],
        [(suit, rank) for suit in range(1, 5) for rank in (1, 7, 13)],
        [(2, rank) for rank in (1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13)],
        [(suit, rank) for suit in (1, 3) for rank in (1, 2, 3, 4, 5, 10, 11, 12, 13)],
    ]
    hands = [[deck[i] for i in rng.permutation(len(deck))[:5]] for deck in decks for _ in range(1500)]
    suits, ranks = np.moveaxis(np.array(hands), 2, 0)
    expected = [oracle.poker.hand_class(hand) for hand in hands]
    assert set(expected) == set(range(10))
    assert hand_class(suits, ranks).tolist() == expected


def test_a_sample_is_uniform():
    dataset = make_poker(400_000, random_state=0)
    suits, ranks = cards(dataset)
    deck = (suits - 1) * 13 + ranks - 1
    assert all(len(set(hand)) == 5 for hand in deck[:2000].tolist())
    for place in range(5):
        counts = np.bincount(deck[:, place], minlength=52)
        expected = 400_000 / 52
        chi2 = np.sum((counts - expected) ** 2) / expected
        assert chi2 < 110  # 51 degrees of freedom: mean 51, standard deviation 10
    for k, name in enumerate(HAND_NAMES):
        proba = EXACT[name] / N_HANDS
        error = 5 * np.sqrt(400_000 * proba) + 1
        assert np.sum(dataset.y == str(k)) == pytest.approx(400_000 * proba, abs=error)


@pytest.mark.parametrize("n_rows", [1, 2, 17, 1000])
def test_any_size_and_deterministic(n_rows):
    first, second, third = (make_poker(n_rows, random_state=seed).to_arrow() for seed in (5, 5, 6))
    assert first.num_rows == n_rows
    assert first.equals(second)
    assert not first.equals(third)


def test_classes_are_uci_s(real_data):
    file = real_data["poker-hand-train"]
    assert file.attributes == make_poker(1, random_state=0).attributes
    assert np.array_equal(hand_class(*cards(file)).astype(str), file.y)


def test_wrong_shapes_and_cards_are_refused():
    with pytest.raises(DataError, match=r"\(n_rows, 5\)"):
        hand_class(np.ones((3, 4)), np.ones((3, 4)))
    with pytest.raises(DataError, match="suits: values from 0 to 3, want 1 to 4"):
        hand_class(np.array([[0, 1, 2, 3, 0]]), np.array([[1, 2, 3, 4, 5]]))
    with pytest.raises(DataError, match="ranks: values from 10 to 14"):
        hand_class(np.ones((1, 5), dtype=int), np.array([[10, 11, 12, 13, 14]]))
    with pytest.raises(DataError, match="n_rows=-1"):
        make_poker(-1)
