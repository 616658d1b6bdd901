"""Subtasks: models of options, plans that may miss the best, and learning that is quicker."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement import (
    GridWorld,
    Option,
    OptionModel,
    QLearning,
    four_rooms,
    learn_with_options,
    option_model,
    plan_with_options,
    subtask,
    train,
    try_policy,
    value_iteration,
)

#: Rooms by corners (rows and columns, first and last) and doors.
ROOMS = {
    "upper left": ((0, 4), (0, 4)),
    "upper right": ((0, 5), (6, 10)),
    "lower left": ((6, 10), (0, 4)),
    "lower right": ((7, 10), (6, 10)),
}
DOORS = {"north": (2, 5), "east": (6, 8), "south": (9, 5), "west": (5, 1)}
LEADS = {
    "upper left": ("north", "west"), "upper right": ("north", "east"),
    "lower left": ("west", "south"), "lower right": ("east", "south"),
}  # fmt: skip


def door_options(process):
    """Return for each room the two ways out, which do not know where the goal is."""
    options = {}
    for room, (rows, columns) in ROOMS.items():
        for door in LEADS[room]:
            inside = np.array(
                [
                    (rows[0] <= r <= rows[1] and columns[0] <= c <= columns[1])
                    or ((r, c) in DOORS.values() and (r, c) != DOORS[door] and near(r, c, room))
                    for r, c in process.states
                ]
            )
            options[f"{room} to {door}"] = subtask(process, inside, process.state_code(DOORS[door]))
    return options


def near(row, column, room):
    return (row, column) in [DOORS[door] for door in LEADS[room]]


@pytest.fixture(scope="module")
def process():
    return four_rooms((8, 9), slip=0.1).process


@pytest.fixture(scope="module")
def options(process):
    return door_options(process)


def test_an_option_as_a_whole_is_its_steps(process, options):
    option = options["upper left to north"]
    assert isinstance(option, Option)
    model = option_model(process, option)
    assert isinstance(model, OptionModel)
    moves, rewards = process.under(np.where(option.inside, option.policy, 0))
    inside = option.inside
    values = np.random.default_rng(0).normal(size=process.n_states)
    worth = model.rewards + model.arrivals @ values
    # One step, then the same option from inside, or the value of where it ended.
    onward = np.where(inside, worth, values)
    np.testing.assert_allclose(
        worth[inside], (rewards + process.discount * moves @ onward)[inside], atol=1e-10
    )
    assert (model.arrivals[inside].toarray()[:, inside] == 0).all()


def test_subtasks_lead_to_their_door(process, options):
    option = options["lower left to south"]
    start = process.state_code((10, 0))
    model = option_model(process, option)
    arrivals = model.arrivals[[start]].toarray()[0]
    assert process.states[int(arrivals.argmax())] == DOORS["south"]
    assert arrivals.max() > 0.5


def test_options_beside_actions_are_best_and_alone_at_most_that(process, options):
    best = value_iteration(process)
    both = plan_with_options(process, options, primitive=True)
    np.testing.assert_allclose(both.values, best.values, atol=1e-6)
    assert both.n_iter < best.n_iter
    alone = plan_with_options(process, options)
    assert (alone.values <= best.values + 1e-8).all()
    # No option ends at the goal in the middle of a room: alone they miss it.
    assert alone.values.max() < best.values.max()


def test_subtasks_are_shared_between_problems(options):
    other = four_rooms((1, 8), slip=0.1).process
    best = value_iteration(other)
    both = plan_with_options(other, options, primitive=True)
    np.testing.assert_allclose(both.values, best.values, atol=1e-6)


def test_learning_with_subtasks_is_quicker(process, options):
    values, run = learn_with_options(process, options, episodes=25, random_state=0)
    plain = train(
        QLearning(learning_rate=0.25, random_state=0), process, episodes=25, random_state=0
    )
    assert run.lengths[10:].mean() < 0.4 * plain.lengths[10:].mean()
    assert values.shape == (104, 8 + 4)
    assert np.isneginf(values[process.state_code((0, 0)), 4])


def test_learned_values_discount_every_step_of_an_option():
    process = GridWorld("S...G", goal_reward=1.0, discount=0.9).process
    options = {"half way": subtask(process, [True, True, False, False, False], 2)}
    values, _ = learn_with_options(
        process, options, episodes=300, learning_rate=1.0, epsilon=0.5, random_state=0
    )
    # Two steps to the middle, which is worth 0.9; one step from the next cell.
    np.testing.assert_allclose(values[:2, 0], [0.9**3, 0.9**2])
    np.testing.assert_allclose(values[:, 1:].max(axis=1)[:4], 0.9 ** np.arange(3, -1, -1))


def test_hierarchy_may_be_suboptimal_but_good():
    world = GridWorld("S....G", goal_reward=1.0)
    inside = np.array([True] * 5 + [False])
    options = {"walk": subtask(world.process, inside, 5)}
    plan = plan_with_options(world.process, options)
    np.testing.assert_allclose(plan.values, value_iteration(world.process).values)
    run = try_policy(options["walk"].policy, world.process, episodes=1)
    assert run.lengths.tolist() == [5]


def test_wrong_arguments_are_named(process):
    for call, message in (
        (lambda: subtask(process, [True], 3), "inside has shape"),
        (lambda: subtask(process, np.ones(104, bool), 3), "exit_state is 3"),
        (
            lambda: subtask(GridWorld("S.#.G\n.....").process, [True] * 2 + [False] * 7, 2),
            "cannot come to the exit",
        ),
        (lambda: plan_with_options(process, {}), "options must be a dictionary"),
        (lambda: option_model(process, "walk"), "option is of type str"),
    ):
        with pytest.raises(DataError, match=message):
            call()
