"""Tic-tac-toe played out move by move, and the rules of king and rook against king, square by square."""

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


def tic_tac_toe_endings() -> dict[str, str]:
    """Every final board of a game that x begins -> who has won: "x", "o" or "" (draw)."""
    endings: dict[str, str] = {}
    seen: set[str] = set()

    def winner(board):
        for line in LINES:
            marks = {board[int(square)] for square in line}
            if len(marks) == 1 and marks != {"b"}:
                return marks.pop()
        return ""

    def play(board, player):
        if board in seen:
            return
        seen.add(board)
        won = winner(board)
        if won or "b" not in board:
            endings[board] = won
            return
        for square in range(9):
            if board[square] == "b":
                play(board[:square] + player + board[square + 1 :], "o" if player == "x" else "x")

    play("b" * 9, "x")
    return endings


# A square is (file, rank), each 0..7.
def neighbours(square):
    steps = [(df, dr) for df in (-1, 0, 1) for dr in (-1, 0, 1) if (df, dr) != (0, 0)]
    moved = [(square[0] + df, square[1] + dr) for df, dr in steps]
    return [s for s in moved if 0 <= s[0] < 8 and 0 <= s[1] < 8]


def rook_reach(rook, blockers):
    """Squares the rook attacks, walking until a piece (attacked too) or the edge."""
    reached = []
    for df, dr in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        file, rank = rook[0] + df, rook[1] + dr
        while 0 <= file < 8 and 0 <= rank < 8:
            reached.append((file, rank))
            if (file, rank) in blockers:
                break
            file, rank = file + df, rank + dr
    return reached


def black_moves(king, rook, black):
    """The black king's legal moves; capturing the rook is one if the white king doesn't guard it."""
    moves = []
    for square in neighbours(black):
        guarded = square in neighbours(king) or square == king
        if square == rook:
            if not guarded:
                moves.append(square)
        elif not guarded and square not in rook_reach(rook, {king}):
            moves.append(square)
    return moves


def white_moves(king, rook, black):
    """The positions (king, rook, black king) after each legal white move."""
    kings = [(s, rook, black) for s in neighbours(king) if s != rook and s not in neighbours(black)]
    rooks = [(king, s, black) for s in rook_reach(rook, {king, black}) if s not in (king, black)]
    return kings + rooks


def in_check(king, rook, black):
    return black in rook_reach(rook, {king, black})
