"""Small problems that are complete: every cell of the attribute space, labelled by a rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from countwise.datasets.dataset import Dataset, categories, table
from countwise.errors import DataError

SQUARE_NAMES = tuple(
    f"{row}-{col}-square" for row in ("top", "middle", "bottom") for col in ("left", "middle", "right")
)
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
MONK_ARITIES = (3, 3, 2, 3, 4, 2)


def load_tic_tac_toe() -> Dataset:
    """All 958 boards at which a game of tic-tac-toe can end when x moves first.

    Nine attributes, one per square: ``x``, ``o`` or ``b`` (blank). The class is ``positive`` if x has three
    in a row (626 boards), else ``negative`` (316 wins for o, 16 draws). Boards come in UCI's order.

    Source: Aha, *Tic-Tac-Toe Endgame*, UCI Machine Learning Repository, 1991.

    Examples
    --------
    >>> load_tic_tac_toe().class_counts()
    {'negative': 332, 'positive': 626}

    """
    marks = ("x", "o", "b")
    boards = _grid([3] * 9)
    n_x, n_o = (np.sum(boards == code, axis=1) for code in (0, 1))
    x_won, o_won = (np.any([np.all(boards[:, line] == code, axis=1) for line in LINES], axis=0) for code in (0, 1))
    # Two lines of one player always cross (three plus three marks are more than five), so one move made both.
    endings = (
        x_won & ~o_won & (n_x == n_o + 1),
        o_won & ~x_won & (n_x == n_o),
        ~x_won & ~o_won & (n_x == 5) & (n_o == 4),
    )
    boards = np.concatenate([boards[ending] for ending in endings])
    n_positive = int(endings[0].sum())
    return Dataset(
        name="tic-tac-toe",
        X=table({name: categories(boards[:, i], marks) for i, name in enumerate(SQUARE_NAMES)}),
        y=np.where(np.arange(len(boards)) < n_positive, "positive", "negative"),
        description="All boards at the end of a game that x began; positive: x has won. "
        "As UCI's Tic-Tac-Toe Endgame, Aha, 1991.",
    )


def load_balance_scale() -> Dataset:
    """A scale tips to the left (L), to the right (R) or is balanced (B): 625 rows.

    Weight and distance of either side are 1, ..., 5; the greater product of weight and distance wins
    (288 L, 49 B, 288 R).

    Source: Siegler, Three aspects of cognitive development, *Cognitive Psychology* 8, 1976; *Balance Scale*,
    UCI Machine Learning Repository, 1994.

    Examples
    --------
    >>> load_balance_scale().class_counts()
    {'B': 49, 'L': 288, 'R': 288}

    """
    values = (_grid([5] * 4) + 1).astype(np.int32)
    names = ("Left-Weight", "Left-Distance", "Right-Weight", "Right-Distance")
    torque = values[:, 0] * values[:, 1] - values[:, 2] * values[:, 3]
    return Dataset(
        name="balance-scale",
        X=table({name: values[:, i] for i, name in enumerate(names)}),
        y=np.array(["R", "B", "L"])[np.sign(torque) + 1],
        description="Which side of a scale has the greater product of weight and distance. "
        "As UCI's Balance Scale, Siegler, 1976.",
    )


def load_monks(
    problem: int = 1, *, noise: float = 0.0, random_state: int | np.random.Generator | None = None
) -> Dataset:
    """The three MONK's problems on all 432 robots.

    Six categorical attributes ``a1``, ..., ``a6`` with 3, 3, 2, 3, 4 and 2 values. Class 1 is

    1. ``a1 = a2`` or ``a5 = 1`` (216 of 432);
    2. exactly two of the six attributes have their first value (142);
    3. ``a5 = 3 and a4 = 1``, or ``a5 != 4 and a2 != 3`` (228).

    Parameters
    ----------
    problem : {1, 2, 3}
        Which of the three rules.
    noise : float, default=0
        The share of the rows, chosen at random, whose label is turned over; Thrun et al. train problem 3 with
        0.05.
    random_state : int, Generator or None
        Chooses those rows.

    Source: Thrun et al., *The MONK's Problems: A Performance Comparison of Different Learning Algorithms*,
    CMU-CS-91-197, 1991; UCI Machine Learning Repository, 1992.

    Examples
    --------
    >>> [load_monks(problem).class_counts()["1"] for problem in (1, 2, 3)]
    [216, 142, 228]

    """
    if problem not in (1, 2, 3):
        raise DataError(f"problem={problem!r}: there are MONK's problems 1, 2 and 3")
    if not 0 <= noise <= 1:
        raise DataError(f"noise={noise!r}: must be a share between 0 and 1")
    robots = _grid(MONK_ARITIES) + 1
    label = _monk_rule(robots, problem)
    flipped = np.random.default_rng(random_state).permutation(len(label))[: round(noise * len(label))]
    label[flipped] = ~label[flipped]
    return Dataset(
        name=f"monks-{problem}",
        X=table(
            {
                f"a{i + 1}": categories(robots[:, i] - 1, [str(v + 1) for v in range(arity)])
                for i, arity in enumerate(MONK_ARITIES)
            }
        ),
        y=np.where(label, "1", "0"),
        description=f"MONK's problem {problem} on all 432 robots, {len(flipped)} labels turned over. "
        "As UCI's MONK's Problems, Thrun et al., 1991.",
    )


def _monk_rule(robots: npt.NDArray[Any], problem: int) -> npt.NDArray[np.bool_]:
    a1, a2, _, a4, a5, _ = robots.T
    if problem == 1:
        return (a1 == a2) | (a5 == 1)
    if problem == 2:
        return np.sum(robots == 1, axis=1) == 2
    return ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3))


def _grid(arities: tuple[int, ...] | list[int]) -> npt.NDArray[np.int8]:
    """Every combination of codes, one per row, the last column fastest."""
    return np.stack(np.unravel_index(np.arange(np.prod(arities)), arities), axis=1).astype(np.int8)
