import numpy as np
import pytest

from countwise.datasets import load_balance_scale, load_monks, load_tic_tac_toe
from countwise.errors import DataError
from oracle.board_games import tic_tac_toe_endings


def rows(dataset):
    """Every row as a tuple of strings, the class last."""
    table = dataset.to_arrow()
    return list(zip(*(map(str, table[name].to_pylist()) for name in table.column_names), strict=True))


def test_tic_tac_toe_is_the_game_tree_s_leaves():
    endings = tic_tac_toe_endings()
    expected = {(*board, "positive" if won == "x" else "negative") for board, won in endings.items()}
    found = rows(load_tic_tac_toe())
    assert len(found) == len(expected) == 958
    assert set(found) == expected
    assert load_tic_tac_toe().class_counts() == {"negative": 332, "positive": 626}


def test_tic_tac_toe_is_uci_s_file_row_for_row(real_data):
    assert load_tic_tac_toe().attributes == real_data["tic-tac-toe"].attributes
    assert rows(load_tic_tac_toe()) == rows(real_data["tic-tac-toe"])


def test_balance_scale_follows_the_lever():
    found = rows(load_balance_scale())
    assert len(set(found)) == 625
    for *numbers, label in found:
        left_weight, left_distance, right_weight, right_distance = map(int, numbers)
        left, right = left_weight * left_distance, right_weight * right_distance
        assert label == ("L" if left > right else "R" if right > left else "B")
    assert load_balance_scale().class_counts() == {"B": 49, "L": 288, "R": 288}


def test_balance_scale_is_uci_s_file(real_data):
    assert load_balance_scale().X.schema == real_data["balance-scale"].X.schema
    assert sorted(rows(load_balance_scale())) == sorted(rows(real_data["balance-scale"]))


def monk(problem, a1, a2, a3, a4, a5, a6):
    if problem == 1:
        return a1 == a2 or a5 == 1
    if problem == 2:
        return [a1, a2, a3, a4, a5, a6].count(1) == 2
    return (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3)


@pytest.mark.parametrize(("problem", "n_positive"), [(1, 216), (2, 142), (3, 228)])
def test_monks_cover_the_space_and_follow_the_rule(problem, n_positive):
    found = rows(load_monks(problem))
    assert len({row[:-1] for row in found}) == len(found) == 432
    assert [len({row[i] for row in found}) for i in range(6)] == [3, 3, 2, 3, 4, 2]
    assert all(label == str(int(monk(problem, *map(int, robot)))) for *robot, label in found)
    assert sum(row[-1] == "1" for row in found) == n_positive


# The files join the training set, of which problem 3's has six wrong labels, and the whole space.
@pytest.mark.parametrize(("problem", "n_training", "n_wrong"), [(1, 124, 0), (2, 169, 0), (3, 122, 6)])
def test_monks_agree_with_uci_s_files(real_data, problem, n_training, n_wrong):
    computed = {row[:-1]: row[-1] for row in rows(load_monks(problem))}
    files = rows(real_data[f"monks-{problem}"])
    assert len(files) == 432 + n_training
    assert {row[:-1] for row in files} == set(computed)
    assert sum(computed[row[:-1]] != row[-1] for row in files) == n_wrong


def test_monks_noise_turns_the_asked_share_over():
    clean = load_monks(3).y
    noisy = load_monks(3, noise=0.05, random_state=0).y
    assert np.sum(clean != noisy) == 22  # 5 % of 432 is 21.6
    assert np.array_equal(noisy, load_monks(3, noise=0.05, random_state=0).y)
    assert not np.array_equal(noisy, load_monks(3, noise=0.05, random_state=1).y)
    assert np.all(clean != load_monks(3, noise=1.0).y)


def test_monks_refuses_what_does_not_exist():
    with pytest.raises(DataError, match="problem=4"):
        load_monks(4)
    with pytest.raises(DataError, match=r"noise=5"):
        load_monks(3, noise=5)
