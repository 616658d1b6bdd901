"""A board game learned by playing against oneself, and beside it the best play by search."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, Seed, generator
from verulam.reinforcement._checks import check_count, check_number
from verulam.reinforcement._worlds.games_loops import LINES, POWERS, outcome, play_against_itself

Board = tuple[int, ...]

N_BOARDS = 3**9
#: Random numbers that one game can use up: a choice among ties for each of nine moves.
LOTS = 64
#: Games with one learning rate, whose random numbers are drawn together.
GAMES_AT_ONCE = 1000


@dataclass(frozen=True, eq=False)
class TicTacToePlayer:
    """A player of noughts and crosses that looks one move ahead.

    Attributes
    ----------
    values : ndarray of shape (19683,)
        What each board is worth to the one who has just moved, from -1, lost, to 1, won. A board's
        number has a digit to the base of three for each cell: 0 empty, 1 and 2 the players.
    n_games
        Games that it has learned from.
    """

    values: NDArray[np.float64]
    n_games: int

    def moves(self, board: ArrayLike, mover: int) -> list[int]:
        """Return the cells that are the best to set, all of them if several are.

        Parameters
        ----------
        board
            Nine cells, 0 for empty, 1 and 2 for the players.
        mover
            Whose turn it is.
        """
        cells = _checked(board)
        code = int(cells @ POWERS)
        free = np.flatnonzero(cells == 0)
        if not len(free) or outcome(cells, LINES):
            raise DataError("board: the game is over.")
        if mover not in (1, 2):
            raise DataError(f"mover is {mover!r}; expected 1 or 2.")
        worth = self.values[code + int(mover) * POWERS[free]]
        return free[worth >= worth.max() - 1e-12].tolist()

    def losses(self, *, first: bool) -> int:
        """Return how many games it can lose, whatever the other side and ties among its moves do.

        Parameters
        ----------
        first
            Whether it begins.
        """
        return self._losses((0,) * 9, 1, 1 if first else 2, {})

    def _losses(self, board: Board, mover: int, side: int, known: dict[Board, int]) -> int:
        if board in known:
            return known[board]
        state = int(outcome(np.array(board), LINES))
        if state:
            return int(state == 3 - side)
        free = [cell for cell in range(9) if not board[cell]]
        cells = self.moves(board, mover) if mover == side else free
        known[board] = sum(
            self._losses(_after(board, cell, mover), 3 - mover, side, known) for cell in cells
        )
        return known[board]


def minimax_player() -> TicTacToePlayer:
    """Return the player that knows what every board is worth when both sides play their best.

    Examples
    --------
    >>> from verulam.reinforcement import minimax_player
    >>> best = minimax_player()
    >>> best.losses(first=True), best.losses(first=False)
    (0, 0)
    """
    values = np.zeros(N_BOARDS)
    for board, mover in _reachable():
        values[int(np.array(board) @ POWERS)] = -_minimax(board, mover)
    return TicTacToePlayer(values, 0)


def self_play(
    n_games: int = 50_000,
    *,
    learning_rate: float = 0.5,
    trace_decay: float = 0.3,
    epsilon: float = 0.3,
    random_state: Seed = None,
) -> TicTacToePlayer:
    r"""Learn noughts and crosses by temporal differences, with a copy of oneself as opponent.

    Parameters
    ----------
    n_games
        Games to play.
    learning_rate
        :math:`\eta` of the first game; it falls to 0 with the last.
    trace_decay
        :math:`\lambda` of TD(:math:`\lambda`): how far back in a game a surprise is felt.
    epsilon
        Probability of a move at random, after which nothing is learned of the boards before.
    random_state
        Seed.

    Notes
    -----
    A board is worth to the one who moved what the next is worth to the other, with its sign turned:
    :math:`V(b) \leftarrow V(b) - \eta (V(b') + V(b))`, and so on back along the trace. Samuel's
    checkers and TD-Gammon learned in this way. See Alpaydin 18.8.

    Examples
    --------
    >>> from verulam.reinforcement import self_play
    >>> player = self_play(random_state=0)
    >>> player.losses(first=True), player.losses(first=False)
    (0, 0)
    """
    check_count("n_games", n_games)
    check_number("learning_rate", learning_rate, 0.0, 1.0, open_low=True)
    check_number("trace_decay", trace_decay, 0.0, 1.0)
    check_number("epsilon", epsilon, 0.0, 1.0)
    random = generator(random_state)
    values, worths = np.zeros(N_BOARDS), _worths()
    trail = np.zeros(9, dtype=np.int64)
    left = n_games
    while left:
        games = min(left, GAMES_AT_ONCE)
        lots = random.random(games * LOTS)
        rate = learning_rate * left / n_games
        play_against_itself(
            values, worths, lots, games, float(rate), float(trace_decay), float(epsilon),
            POWERS, trail,
        )  # fmt: skip
        left -= games
    return TicTacToePlayer(values, n_games)


@cache
def _reachable() -> tuple[tuple[Board, int], ...]:
    """Return the boards that games lead to, with the player whose turn it is."""
    boards: set[tuple[Board, int]] = {((0,) * 9, 1)}
    waiting = list(boards)
    while waiting:
        board, mover = waiting.pop()
        if outcome(np.array(board), LINES):
            continue
        for cell in range(9):
            if not board[cell]:
                following = (_after(board, cell, mover), 3 - mover)
                if following not in boards:
                    boards.add(following)
                    waiting.append(following)
    return tuple(boards)


def _worths() -> NDArray[np.float64]:
    """Return what boards are worth by the rules to the one who moved; NaN where games go on."""
    worths = np.full(N_BOARDS, np.nan)
    for board, mover in _reachable():
        state = int(outcome(np.array(board), LINES))
        if state:
            worths[int(np.array(board) @ POWERS)] = 0.0 if state == 3 else float(state != mover)
    return worths


@cache
def _minimax(board: Board, mover: int) -> float:
    """Return what a board is worth to the one whose turn it is."""
    state = int(outcome(np.array(board), LINES))
    if state:
        return 0.0 if state == 3 else -1.0
    return max(
        -_minimax(_after(board, cell, mover), 3 - mover) for cell in range(9) if not board[cell]
    )


def _after(board: Board, cell: int, mover: int) -> Board:
    return (*board[:cell], mover, *board[cell + 1 :])


def _checked(board: ArrayLike) -> NDArray[np.int64]:
    cells = np.asarray(board)
    if cells.shape != (9,) or not np.isin(cells, [0, 1, 2]).all():
        raise DataError("board must hold nine cells: 0 for empty, 1 and 2 for the players.")
    return cells.astype(np.int64)
