"""Schedules: feasible at every step, and as short as trying all of them."""

from itertools import permutations

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement import (
    EpsilonGreedy,
    QLearning,
    SchedulingWorld,
    train,
    value_iteration,
)


@pytest.fixture(scope="module")
def world():
    return SchedulingWorld(
        [4.0, 2.0, 3.0, 1.0, 2.0], before=[(0, 3), (1, 4)], demands=[1, 1, 2, 1, 1], capacity=2,
        step_reward=-0.05,
    )  # fmt: skip


def test_every_state_is_a_schedule_that_keeps_to_all_constraints(world):
    for order in world.process.states:
        if order == "stop":
            continue
        begins = world.schedule(order)
        assert len(begins) == 5
        for first, second in world.before:
            assert begins[first] + world.durations[first] <= begins[second]
        for time in np.arange(0, 15, 0.25):
            running = [
                job for job, start in begins.items() if start <= time < start + world.durations[job]
            ]
            assert world.demands[running].sum() <= world.capacity


def test_the_shortest_schedule_by_trying_all(world):
    spans = [
        world.makespan(order)
        for order in permutations(range(5))
        if order.index(0) < order.index(3) and order.index(1) < order.index(4)
    ]
    assert world.shortest() == min(spans) < max(spans)
    assert world.process.n_states == len(spans) + 1


def test_the_return_is_what_the_repair_saves(world):
    process = world.process
    swap = process.actions.index(1)
    state = next(s for s in range(process.n_states) if process.available[s, swap])
    order = process.states[state]
    other = (order[0], order[2], order[1], *order[3:])
    assert process.rewards[state, swap] == pytest.approx(
        world.makespan(order) - world.makespan(other) - 0.05
    )


@pytest.mark.parametrize("learned", [False, True])
def test_repairs_come_to_the_shortest_schedule(world, learned):
    if learned:
        agent = QLearning(learning_rate=0.3, exploration=EpsilonGreedy(0.3), random_state=0)
        train(agent, world.process, steps=400_000, max_steps=50, random_state=0)
        policy = agent.policy()
    else:
        policy = value_iteration(world.process).policy
    spans = [world.repaired(policy, state) for state in range(world.process.n_states - 1)]
    assert np.mean(np.isclose(spans, world.shortest())) > (0.95 if learned else 0.999)
    assert world.order_of(0) == (0, 1, 2, 3, 4)
    assert world.is_feasible((0, 1, 2, 3, 4))
    assert not world.is_feasible((3, 0, 1, 2, 4))


def test_what_cannot_be_scheduled_is_refused():
    for call, message in (
        (lambda: SchedulingWorld([]), "durations must hold 1 to 7 numbers"),
        (lambda: SchedulingWorld([1.0, -1.0]), "durations must hold"),
        (lambda: SchedulingWorld([1, 1], before=[(0, 5)]), "before must hold pairs"),
        (lambda: SchedulingWorld([1, 1], before=[(0, 1), (1, 0)]), "goes round in a circle"),
        (lambda: SchedulingWorld([1, 1], demands=[3, 1], capacity=2), "demands must lie between"),
    ):
        with pytest.raises(DataError, match=message):
            call()
