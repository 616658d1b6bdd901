"""Processes: the three ways to build one, what they say of themselves, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp

from verulam.base import DataError
from verulam.reinforcement import GridWorld, MarkovDecisionProcess, evaluate_policy, value_iteration

MOVES = np.array([[[0.9, 0.1, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]],
                  [[0.0, 1.0, 0.0], [0.2, 0.0, 0.8], [0.0, 0.0, 1.0]]])  # fmt: skip
REWARDS = np.array([[0.0, 1.0], [2.0, -1.0], [0.0, 0.0]])


def test_rows_are_by_state_and_action():
    process = MarkovDecisionProcess.from_arrays(MOVES, REWARDS, 0.9, states="abc", actions="xy")
    for state in range(3):
        for action in range(2):
            row = process.transitions[[2 * state + action]].toarray()[0]
            np.testing.assert_array_equal(row, MOVES[action, state])
    np.testing.assert_allclose(process.rewards, REWARDS)
    assert process.terminal.tolist() == [False, False, True]
    assert process.available.all()
    assert process.state_code("b") == 1


def test_sparse_and_dense_tables_and_the_three_shapes_of_rewards_agree():
    dense = MarkovDecisionProcess.from_arrays(MOVES, REWARDS, 0.9)
    sparse = MarkovDecisionProcess.from_arrays([sp.csr_array(m) for m in MOVES], REWARDS, 0.9)
    np.testing.assert_array_equal(dense.transitions.toarray(), sparse.transitions.toarray())
    by_state = MarkovDecisionProcess.from_arrays(MOVES, REWARDS[:, 0], 0.9)
    np.testing.assert_allclose(by_state.rewards, REWARDS[:, [0, 0]])
    by_outcome = np.arange(18.0).reshape(2, 3, 3)
    full = MarkovDecisionProcess.from_arrays(MOVES, by_outcome, 0.9)
    np.testing.assert_allclose(full.rewards, np.einsum("aij,aij->ia", MOVES, by_outcome))


def test_a_row_of_zeros_is_an_action_that_the_state_does_not_offer():
    moves = MOVES.copy()
    moves[1, 0] = 0.0
    process = MarkovDecisionProcess.from_arrays(moves, REWARDS, 0.9)
    assert not process.available[0, 1]
    assert value_iteration(process).policy[0] == 0
    with pytest.raises(DataError, match="takes action 1 in state 0, which does not offer it"):
        evaluate_policy(process, [1, 0, 0])


def test_a_function_is_followed_to_all_states_that_it_reaches():
    def step(state, action):
        return [(0.5, min(state + action, 4), 1.0), (0.5, state, 0.0)]

    process = MarkovDecisionProcess.from_function(
        step, [0], lambda state: [] if state == 4 else [1, 2], 0.5
    )
    assert process.states == (0, 1, 2, 3, 4)
    assert process.actions == (1, 2)
    assert process.terminal.tolist() == [False] * 4 + [True]
    np.testing.assert_allclose(process.rewards[:4], 0.5)
    assert process.start.tolist() == [1.0, 0, 0, 0, 0]


def test_outcomes_of_one_kind_are_joined():
    rows = [(0, 0, 1, 0.25, 4.0), (0, 0, 1, 0.25, 0.0), (0, 0, 0, 0.5, 0.0), (1, 0, 1, 1.0, 0.0)]
    process = MarkovDecisionProcess.from_outcomes(rows, 2, 1, 0.9)
    assert process.transitions.nnz == 3
    assert process.rewards[0, 0] == 1.0


@pytest.mark.parametrize(
    ("moves", "rewards", "discount", "message"),
    [
        (MOVES * 0.9, REWARDS, 0.9, "state 0 with action 0 sum to 0.9, not 1"),
        (MOVES, REWARDS, 1.5, "discount is 1.5; expected a number at least 0 and at most 1"),
        (MOVES, REWARDS[:2], 0.9, "rewards has shape \\(2, 2\\)"),
        (MOVES, np.full((3, 2), np.nan), 0.9, "rewards has a value that is missing"),
        (MOVES[0], REWARDS, 0.9, "transitions has shape \\(3, 3\\)"),
        ([], REWARDS, 0.9, "transitions is empty"),
        ("moves", REWARDS, 0.9, "transitions: expected an array"),
        (MOVES, "much", 0.9, "rewards holds something else than numbers"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused(moves, rewards, discount, message):
    with pytest.raises(DataError, match=message):
        MarkovDecisionProcess.from_arrays(moves, rewards, discount)


def test_negative_probabilities_name_state_and_action():
    moves = MOVES.copy()
    moves[1, 1] = [1.2, -0.2, 0.0]
    with pytest.raises(DataError, match=r"state 1 with action 1 has the probability -0\.2"):
        MarkovDecisionProcess.from_arrays(moves, REWARDS, 0.9)


def test_a_discount_of_one_needs_an_end_that_can_be_reached():
    circle = MarkovDecisionProcess.from_arrays([[[0, 1.0], [1.0, 0]]], [[1.0], [1.0]], 1.0)
    with pytest.raises(DataError, match="discount is 1, but no state is absorbing"):
        value_iteration(circle)
    lost = MarkovDecisionProcess.from_arrays(
        [[[1.0, 0, 0], [0, 0, 1.0], [0, 0, 1.0]]], [[-1.0], [-1.0], [0.0]], 1.0, states="abc"
    )
    with pytest.raises(DataError, match="state 'a' cannot reach a terminal state"):
        value_iteration(lost)


def test_noise_makes_rewards_normal_around_their_mean():
    world = GridWorld("SG", goal_reward=100.0, noise=np.sqrt(40.0))
    assert world.process.rewards[0, 1] == 100.0
    assert world.process.noise.max() == pytest.approx(np.sqrt(40.0))


def test_sparse_tables_may_come_as_an_array_of_objects():
    tables = np.empty(2, dtype=object)
    tables[:] = [sp.csr_array(table) for table in MOVES]
    process = MarkovDecisionProcess.from_arrays(tables, REWARDS, 0.9)
    dense = MarkovDecisionProcess.from_arrays(MOVES, REWARDS, 0.9)
    np.testing.assert_array_equal(process.transitions.toarray(), dense.transitions.toarray())
