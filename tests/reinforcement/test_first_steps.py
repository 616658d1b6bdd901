"""What a first user types: worlds that are not what was meant, and plain refusals."""

import re

import pytest

from verulam.base import DataError
from verulam.reinforcement import (
    Bandit,
    Cells,
    GridWorld,
    MarkovDecisionProcess,
    ModelLearner,
    OneHot,
    SchedulingWorld,
    evaluate_policy,
    minimax_player,
    returns_to_go,
    value_iteration,
)


def stay(state, action):
    """Return to the same state."""
    return [(1.0, state, 1.0)]


def from_function(step=stay, start=("home",), actions=("go",)):
    """Return a process with most arguments filled in."""
    return MarkovDecisionProcess.from_function(step, start, actions, 0.9)


def from_outcomes(outcomes):
    """Return a process of two states and one action."""
    return MarkovDecisionProcess.from_outcomes(outcomes, 2, 1, 0.9)


WORLD = GridWorld("S.G")
JOBS = SchedulingWorld([2, 1, 3], before=[(0, 1)])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        # A word is a sequence of letters, and none of them is the state or action meant.
        (lambda: from_function(start="home"), "start is 'home'; expected a list, such as ['home']"),
        (lambda: from_function(start=0), "start is 0; expected a list, such as [0]"),
        (lambda: from_function(actions="go"), "actions is 'go'; expected a list"),
        (lambda: from_function(lambda s, a: None), "step returned None for state 'home'"),
        (lambda: from_function(lambda s, a: (1.0, s, 1.0)), "expected a list of tuples"),
        (lambda: from_function(lambda s, a: [(1.0, s)]), "expected a list of tuples"),
        (lambda: from_function(lambda s, a: [(1.0, [1], 0.0)]), "states that can be keys"),
        (lambda: from_outcomes([(0, 0)]), "outcomes: expected tuples of state, action"),
        (lambda: from_outcomes([(0, 0, 5, 1.0, 1.0)]), "outcomes: next states must hold"),
        (lambda: from_outcomes([(0, 1, 1, 1.0, 1.0)]), "outcomes: actions must hold"),
        # Orders that leave jobs out or repeat one have no length.
        (lambda: JOBS.makespan((0, 1)), "expected each job from 0 to 2 once"),
        (lambda: JOBS.is_feasible((0, 0, 1)), "expected each job from 0 to 2 once"),
        (lambda: JOBS.schedule((1, 0, 2)), "puts a job in before one that it needs"),
        (lambda: minimax_player().moves([0] * 9, 5), "mover is 5; expected 1 or 2"),
        (lambda: OneHot(3)(-1), "state is -1; expected a number from 0 to 2"),
        (lambda: OneHot(3)(7), "state is 7; expected a number from 0 to 2"),
        (lambda: Cells([0], [1], [4]).code([1, 2]), "state has shape (2,); expected 1"),
        (lambda: Cells([0], [1], [4]).code([float("nan")]), "missing or infinite"),
        (lambda: Bandit([1, 2], deviations=[1, 2, 3]), "deviations has shape (3,); expected 2"),
        (lambda: ModelLearner().policy(), "start the agent first"),
        (lambda: WORLD.show(policy=[9, 9, 9]), "policy must hold whole numbers from 0 to 3"),
        (lambda: value_iteration(WORLD), "which it has as its attribute process"),
        (lambda: evaluate_policy(WORLD.process, [0]), "an action for each of the 3 states"),
        (lambda: returns_to_go([[1.0]]), "expected one axis, of length any"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(call, words):
    with pytest.raises(DataError, match=re.escape(words)):
        call()


def test_a_feasible_order_still_has_a_length():
    assert JOBS.makespan((0, 1, 2)) == pytest.approx(6.0)
    assert JOBS.schedule((2, 0, 1)) == {2: 0.0, 0: 3.0, 1: 5.0}
