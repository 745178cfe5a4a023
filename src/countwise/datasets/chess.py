"""King and rook against king: the endgame solved backwards from the mates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from countwise.datasets.dataset import Dataset, categories, table

DepthArray = npt.NDArray[np.uint8]  # moves to the mate, shape (64, 64, 64): white king, white rook, black king
Mask = npt.NDArray[np.bool_]

OUTCOMES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "draw"),
)
NOT_WON = 200  # above every depth; not 255, so that one more move does not wrap around
NOT_ALLOWED = 255
NOWHERE = 64  # the padding of a list of squares: one past the board

FILES, RANKS = tuple("abcdefgh"), tuple("12345678")
SQUARES = np.arange(64)  # file + 8 * rank
FILE, RANK = SQUARES % 8, SQUARES // 8


def load_kr_vs_k() -> Dataset:
    """King and rook against king, black to move: in how many moves does white win?

    All 28,056 legal positions up to symmetry. The white king stands in the triangle a1-d1-d4; where it stands
    on the diagonal a1-h8, the black king is on it or below it, and where both are on it, so is the rook. The
    class is the number of moves that white needs with best play by both sides (``zero``: black is mated,
    ..., ``sixteen``), or ``draw`` (stalemate, or the rook is lost).

    The table isn't stored but computed by retrograde analysis: start with the mates, then repeat

    - white to move: one more than the least depth that a move can reach,
    - black to move: the greatest depth that a move can reach,

    until nothing changes. Rows are in UCI's order: by class, then by square.

    Source: Bain and van Hoff, *Chess (King-Rook vs. King)*, UCI Machine Learning Repository, 1994; the method
    is Ströhlein's (1970) and Thompson's (Retrograde analysis of certain endgames, ICCA Journal 9(3), 1986).

    Examples
    --------
    >>> dataset = load_kr_vs_k()
    >>> dataset
    kr-vs-k: 28,056 rows, 6 attributes, 18 classes
    >>> dataset.class_counts()["sixteen"]
    390

    """
    depth = solve()
    white_king, rook, black_king = np.nonzero(_apart() & _canonical())
    outcome = np.minimum(depth[white_king, rook, black_king], OUTCOMES.index("draw"))
    draw_first = (outcome + 1) % len(OUTCOMES)  # UCI lists the draws before zero
    keys = [part[squares] for squares in (black_king, rook, white_king) for part in (RANK, FILE)]
    order = np.lexsort([*keys, draw_first])
    columns = {}
    for piece, squares in (("White_king", white_king), ("White_rook", rook), ("Black_king", black_king)):
        columns[f"{piece}_col"] = categories(FILE[squares[order]], FILES)
        columns[f"{piece}_row"] = categories(RANK[squares[order]], RANKS)
    return Dataset(
        name="kr-vs-k",
        X=table(columns),
        y=np.array(OUTCOMES)[outcome[order]],
        description="King and rook against king, black to move: moves until white mates, by retrograde "
        "analysis. As UCI's Chess (King-Rook vs. King), Bain and van Hoff, 1994.",
    )


def solve() -> DepthArray:
    """The depth of every position with black to move; ``NOT_WON`` or more where white can't win.

    Axes are white king, rook, black king. Positions that are not legal hold ``NOT_ALLOWED``.
    """
    apart, checked = _apart(), _rook_attacks()
    captured = (SQUARES[:, None] == SQUARES) & ~_near()[:, :, None]  # the black king took a lone rook
    quiet = apart & ~checked  # white may be on the move: black isn't in check
    king_steps, rook_moves = _king_steps(), _rook_moves()

    safe = np.concatenate([quiet | captured, np.zeros((64, 64, 1), dtype=bool)], axis=2)
    stuck = ~safe[:, :, king_steps].any(axis=3)
    depth = np.where(apart, NOT_WON, NOT_ALLOWED).astype(np.uint8)
    depth[apart & stuck & checked] = 0
    while True:
        to_move = np.minimum(_best(depth, king_steps, rook_moves) + np.uint8(1), NOT_WON)
        # What black must not choose (not safe) counts as depth 0, so it never is the greatest.
        after = np.zeros((64, 64, 65), dtype=np.uint8)
        after[:, :, :64][quiet] = to_move[quiet]
        after[:, :, :64][captured] = NOT_WON
        reply = np.maximum.reduce([after[:, :, squares] for squares in king_steps.T])
        new = np.where(apart & ~stuck, reply, depth)
        if np.array_equal(new, depth):
            return depth
        depth = new


def _best(depth: DepthArray, king_steps: npt.NDArray[np.intp], rook_moves: npt.NDArray[np.intp]) -> DepthArray:
    """The least depth that one white move can reach; ``NOT_WON`` where there is none.

    The black king never stands in the rook's way: it would be in check with white to move.
    """
    padded = np.full((65, 65, 64), NOT_WON, dtype=np.uint8)
    padded[:64, :64] = np.minimum(depth, NOT_WON)
    best = np.minimum.reduce([padded[squares, :64] for squares in king_steps.T])
    kings = SQUARES[:, None]
    for squares in np.moveaxis(rook_moves, 2, 0):
        np.minimum(best, padded[kings, squares], out=best)
    return best


def _near() -> Mask:
    """Squares a king's step apart, or the same; shape (64, 64)."""
    return np.maximum(abs(FILE[:, None] - FILE), abs(RANK[:, None] - RANK)) <= 1


def _apart() -> Mask:
    """Three different squares, and the kings not beside each other."""
    king, rook, other = np.ix_(SQUARES, SQUARES, SQUARES)
    return ~_near()[:, None, :] & (king != rook) & (rook != other)


def _canonical() -> Mask:
    """One position of every eight that rotations and reflections make equal."""
    king, rook, other = np.ix_(SQUARES, SQUARES, SQUARES)
    triangle = (FILE[king] <= 3) & (RANK[king] <= FILE[king])
    side = np.sign(FILE - RANK)  # 1 below the diagonal, 0 on it
    return triangle & ((side[king] > 0) | (side[other] > 0) | ((side[other] == 0) & (side[rook] >= 0)))


def _king_steps() -> npt.NDArray[np.intp]:
    """The squares a king's step away, padded with ``NOWHERE``; shape (64, 8)."""
    steps = np.full((64, 8), NOWHERE, dtype=np.intp)
    near = _near() & (SQUARES[:, None] != SQUARES)
    for square in SQUARES:
        reached = np.flatnonzero(near[square])
        steps[square, : len(reached)] = reached
    return steps


def _rook_moves() -> npt.NDArray[np.intp]:
    """The squares a rook reaches on a board with the white king, padded; shape (64 kings, 64 rooks, 14)."""
    moves = np.full((64, 64, 14), NOWHERE, dtype=np.intp)
    attacks = _rook_attacks()
    for king, rook in np.ndindex(64, 64):
        reached = np.flatnonzero(attacks[king, rook])
        moves[king, rook, : len(reached)] = reached
    return moves


def _rook_attacks() -> Mask:
    """Does a rook attack a square, with the white king the only piece between? Axes: king, rook, square.

    The black king casts no shadow: it can't flee along the line on which it is checked.
    """
    king, rook, square = np.ix_(SQUARES, SQUARES, SQUARES)
    attacked = np.zeros((64, 64, 64), dtype=bool)
    for along, across in ((FILE, RANK), (RANK, FILE)):
        line = (across[rook] == across[square]) & (rook != square)
        low, high = np.minimum(along[rook], along[square]), np.maximum(along[rook], along[square])
        hidden = (across[king] == across[rook]) & (low <= along[king]) & (along[king] <= high)
        attacked |= line & ~hidden
    return attacked
