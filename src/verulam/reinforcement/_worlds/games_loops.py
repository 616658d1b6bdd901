"""Noughts and crosses: who has won, and games of a learner with itself."""

import numpy as np

from verulam.numerics import njit

#: Weight of each cell in the number of a board.
POWERS = 3 ** np.arange(9)
#: Rows, columns and diagonals.
LINES = np.array(
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
)


@njit()
def outcome(board, lines):
    """Return 1 or 2 for the winner, 0 for a game that goes on, 3 for a draw."""
    for line in range(8):
        first = board[lines[line, 0]]
        if first > 0 and first == board[lines[line, 1]] and first == board[lines[line, 2]]:
            return np.int64(first)
    for cell in range(9):
        if board[cell] == 0:
            return np.int64(0)
    return np.int64(3)


@njit()
def play_against_itself(values, worths, lots, n_games, rate, decay, epsilon, powers, trail):
    """Learn the worth of boards by games in which both sides are the same learner.

    `values` holds what a board is worth to the one who has just moved; `worths` what it is worth
    by the rules, NaN where the game goes on; `trail` has room for the boards of one game.
    """
    lot = np.int64(0)
    board = np.zeros(9, np.int64)
    for _ in range(n_games):
        board[:] = 0
        code, mover, length, since = np.int64(0), np.int64(1), np.int64(0), np.int64(0)
        while True:
            explores = lots[lot] < epsilon
            best, choice, n_best = -np.inf, np.int64(-1), 0.0
            for cell in range(9):
                if board[cell] == 0:
                    value = 0.0 if explores else values[code + mover * powers[cell]]
                    if value > best:
                        best, choice, n_best = value, np.int64(cell), 1.0
                    elif value == best:
                        n_best += 1.0
                        lot += 1
                        if lots[lot] * n_best < 1.0:
                            choice = np.int64(cell)
            lot += 1
            board[choice] = mover
            code += mover * powers[choice]
            trail[length] = code
            length += 1
            # What this board is worth tells what the one before, the other side's, was worth.
            known = worths[code] == worths[code]
            values[code] = worths[code] if known else values[code]
            worth = values[code]
            if explores:
                # A move at random says nothing of the boards before it.
                since = length - 1
            elif length > 1:
                error = -worth - values[trail[length - 2]]
                sign, fade = 1.0, 1.0
                for back in range(length - 2, since - 1, -1):
                    values[trail[back]] += rate * sign * fade * error
                    sign, fade = -sign, fade * decay
            if known:
                break
            mover = 3 - mover
    return lot
