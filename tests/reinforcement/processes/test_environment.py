"""Worlds step by step: draws with the right shares, replay by seed, returns."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement import (
    GridWorld,
    MarkovDecisionProcess,
    ProcessEnvironment,
    discounted_return,
    returns_to_go,
)
from verulam.reinforcement._processes.environment import Stream


def test_steps_follow_the_table():
    moves = [[[0.2, 0.3, 0.5], [0, 1, 0], [0, 0, 1]]]
    process = MarkovDecisionProcess.from_arrays(moves, [[1.0], [0.0], [0.0]], 0.9, start=[1, 0, 0])
    world = ProcessEnvironment(process, random_state=0)
    counts = np.zeros(3)
    for _ in range(4000):
        world.reset()
        state, reward, over, cut, _ = world.step(0)
        counts[state] += 1
        assert (reward, over, cut) == (1.0, state != 0, False)
    np.testing.assert_allclose(counts / 4000, [0.2, 0.3, 0.5], atol=0.03)


def test_a_seed_replays_an_episode():
    world = ProcessEnvironment(GridWorld("S..\n..G", slip=0.5, noise=1.0).process, random_state=1)

    def episode(seed):
        steps = [world.reset(seed=seed)[0]]
        while steps[-1] is not True:
            steps += world.step(1)[:3]
            if len(steps) > 200:
                break
        return steps

    assert episode(5) == episode(5)
    assert episode(5) != episode(6)


def test_first_states_have_their_shares():
    process = MarkovDecisionProcess.from_arrays(
        np.eye(3)[None], [0.0] * 3, 0.9, start=[0.5, 0, 0.5]
    )
    world = ProcessEnvironment(process, random_state=0)
    states = np.bincount([world.reset()[0] for _ in range(2000)], minlength=3) / 2000
    np.testing.assert_allclose(states, [0.5, 0, 0.5], atol=0.04)


@pytest.mark.parametrize("normal", [False, True])
def test_numbers_are_the_same_one_by_one_and_in_blocks(normal):
    single, blocks = (Stream(np.random.default_rng(3), normal) for _ in range(2))
    numbers = [single.next() for _ in range(10_000)]
    joined = []
    for size in (1, 700, 5000, 4299):
        joined += blocks.block(size)[:size].tolist()
        blocks.advance(size)
    assert joined == numbers


def test_a_stream_goes_on_from_its_state():
    stream = Stream(np.random.default_rng(3))
    stream.next()
    copy = Stream(np.random.default_rng(0))
    copy.restore(stream.state())
    assert [copy.next() for _ in range(5000)] == [stream.next() for _ in range(5000)]


def test_returns():
    assert discounted_return([1.0] * 50, 0.5) == pytest.approx(2.0)
    assert discounted_return([3.0, 9.0], 0.0) == 3.0
    assert discounted_return([-1.0] * 7) == -7.0
    rewards = np.random.default_rng(0).normal(size=20)
    expected = [discounted_return(rewards[place:], 0.7) for place in range(20)]
    np.testing.assert_allclose(returns_to_go(rewards, 0.7), expected)
    # A constant reward r is worth r / (1 - discount).
    assert discounted_return(np.full(2000, 3.0), 0.9) == pytest.approx(30.0)


def test_what_cannot_be_done_is_refused():
    world = ProcessEnvironment(GridWorld("S.G").process)
    with pytest.raises(DataError, match="reset the environment"):
        world.step(0)
    world.reset()
    with pytest.raises(DataError, match="action is 7"):
        world.step(7)
    with pytest.raises(DataError, match="discount is 2"):
        discounted_return([1.0], 2)
    with pytest.raises(DataError, match="rewards has shape"):
        returns_to_go([[1.0]])
