"""Self-play: the learner against best play, and the search that it is measured by."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement import TicTacToePlayer, minimax_player, self_play
from verulam.reinforcement._worlds.games import _minimax
from verulam.reinforcement._worlds.games_loops import LINES, POWERS, outcome


@pytest.fixture(scope="module")
def learner():
    return self_play(random_state=0)


def test_outcomes():
    assert outcome(np.array([1, 1, 1, 2, 2, 0, 0, 0, 0]), LINES) == 1
    assert outcome(np.array([1, 2, 1, 1, 2, 0, 0, 2, 0]), LINES) == 2
    assert outcome(np.array([1, 2, 1, 1, 2, 2, 2, 1, 1]), LINES) == 3
    assert outcome(np.zeros(9, dtype=np.int64), LINES) == 0


def test_best_play_is_a_draw():
    assert _minimax((0,) * 9, 1) == 0.0
    player = minimax_player()
    assert isinstance(player, TicTacToePlayer)
    assert player.losses(first=True) == player.losses(first=False) == 0
    # Two in a row are completed, and a threat is met.
    assert player.moves([1, 1, 0, 2, 2, 0, 0, 0, 0], 1) == [2]
    assert player.moves([1, 1, 0, 0, 2, 0, 0, 0, 0], 2) == [2]


def test_the_learner_loses_to_nobody(learner):
    """Against every line that an opponent can take, best play among them."""
    assert learner.losses(first=True) == 0
    assert learner.losses(first=False) == 0
    assert learner.n_games == 50_000


def test_a_learner_of_few_games_loses():
    assert self_play(200, random_state=0).losses(first=False) > 50


def test_values_near_the_end_are_those_of_search(learner):
    """Boards that games of the learner come through late are worth what best play makes them."""
    best = minimax_player()
    board = np.array([1, 2, 1, 1, 2, 0, 2, 0, 0])
    code = board @ POWERS
    for cell in np.flatnonzero(board == 0):
        after = code + 1 * POWERS[cell]
        if best.values[after] == 1.0 or abs(learner.values[after]) > 0:
            assert learner.values[after] == pytest.approx(best.values[after], abs=0.35)


@pytest.mark.parametrize("decay", [0.0, 0.6])
def test_any_trace_learns_to_complete_a_row(decay):
    player = self_play(20_000, trace_decay=decay, random_state=1)
    assert player.moves([1, 1, 0, 2, 2, 0, 0, 0, 0], 1) == [2]


def test_wrong_arguments_are_named(learner):
    for call, message in (
        (lambda: self_play(0), "n_games is 0"),
        (lambda: self_play(5, epsilon=2.0), "epsilon is 2.0"),
        (lambda: learner.moves([0] * 8, 1), "board must hold nine cells"),
        (lambda: learner.moves([1, 1, 1, 2, 2, 0, 0, 0, 0], 2), "the game is over"),
    ):
        with pytest.raises(DataError, match=message):
            call()
