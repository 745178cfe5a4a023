import numpy as np
import pytest

from countwise.datasets import load_kr_vs_k
from countwise.datasets.chess import NOT_ALLOWED, NOT_WON, OUTCOMES, solve
from oracle.board_games import black_moves, in_check, white_moves

UCI_COUNTS = {
    **{"draw": 2796, "zero": 27, "one": 78, "two": 246, "three": 81, "four": 198, "five": 471, "six": 592},
    **{"seven": 683, "eight": 1433, "nine": 1712, "ten": 1985, "eleven": 2854, "twelve": 3597},
    **{"thirteen": 4194, "fourteen": 4553, "fifteen": 2166, "sixteen": 390},
}


@pytest.fixture(scope="module")
def depth():
    return solve()


@pytest.fixture(scope="module")
def dataset():
    return load_kr_vs_k()


def square(number):
    return int(number % 8), int(number // 8)


def number(square):
    return square[0] + 8 * square[1]


def test_class_counts_are_uci_s(dataset):
    assert dataset.class_counts() == UCI_COUNTS
    assert dataset.n_rows == 28_056


def test_positions_differ_and_lie_in_the_reduced_part(dataset):
    columns = [dataset.X[name].to_pylist() for name in dataset.attributes]
    assert len(set(zip(*columns, strict=True))) == 28_056
    kings = {f"{file}{rank}" for file, rank in zip(columns[0], columns[1], strict=True)}
    assert kings == {"a1", "b1", "c1", "d1", "b2", "c2", "d2", "c3", "d3", "d4"}


def test_every_row_is_uci_s(dataset, real_data):
    file = real_data["kr-vs-k"]
    assert dataset.attributes == file.attributes
    assert all(dataset.X[name].to_pylist() == file.X[name].to_pylist() for name in file.attributes)
    assert np.array_equal(dataset.y, file.y)


def test_depths_follow_from_the_moves(depth):
    """Each sampled depth is what plain move lists and the depths after two plies give."""
    rng = np.random.default_rng(0)
    legal = np.argwhere(depth != NOT_ALLOWED)
    won = np.argwhere(depth < 4)  # the rare ends of the game, or the sample would hardly have them
    sample = np.concatenate([rng.choice(legal, 600, replace=False), rng.choice(won, 300, replace=False)])
    for position in sample:
        king, rook, black = map(square, position)
        replies = []
        for moved in black_moves(king, rook, black):
            after = [depth[tuple(map(number, p))] for p in white_moves(king, rook, moved) if moved != rook]
            replies.append(min(int(min(after, default=NOT_WON)) + 1, NOT_WON))
        end = 0 if in_check(king, rook, black) else NOT_WON
        expected = max(replies, default=end)
        assert min(depth[tuple(position)], NOT_WON) == expected, (king, rook, black)


def test_symmetric_positions_have_one_depth(depth):
    board = depth.reshape((8, 8) * 3)  # rank and file of each piece
    assert np.array_equal(board, board[:, ::-1, :, ::-1, :, ::-1])
    assert np.array_equal(board, board[::-1, :, ::-1, :, ::-1, :])
    assert np.array_equal(board, board.transpose(1, 0, 3, 2, 5, 4))


def test_a_known_mate_and_a_known_stalemate(depth):
    # White king b6, black king a8: the rook on h8 mates, and on b7 (guarded) it takes the last flight away.
    assert depth[number((1, 5)), number((7, 7)), number((0, 7))] == 0
    assert depth[number((1, 5)), number((1, 6)), number((0, 7))] == NOT_WON
    assert OUTCOMES[16] == "sixteen"
    assert depth[depth < NOT_WON].max() == 16
