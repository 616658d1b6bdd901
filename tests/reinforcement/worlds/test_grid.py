"""Grids from text: moves, walls, slips, noise, several goals, and maps that make no sense."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement import (
    EpsilonGreedy,
    GridWorld,
    QLearning,
    cliff_world,
    four_rooms,
    policy_iteration,
    train,
    value_iteration,
)

#: Exercises 1 to 5: a grid with a start and a goal; sizes are ours.
GRID = """
....G
.....
.....
S....
"""


def distances(world):
    """Return moves to the nearest goal of each state, by breadth-first search over the cells."""
    rows, columns = world.shape
    steps = np.full(world.shape, np.inf)
    frontier = [tuple(place) for place in np.argwhere(world.cells == "G")]
    for place in frontier:
        steps[place] = 0
    while frontier:
        row, column = frontier.pop(0)
        for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            place = row + down, column + right
            inside = 0 <= place[0] < rows and 0 <= place[1] < columns
            if inside and world.cells[place] in "S." and steps[place] == np.inf:
                steps[place] = steps[row, column] + 1
                frontier.append(place)
    return np.array([steps[place] for place in world.process.states])


@pytest.mark.parametrize("text", [GRID, "S.#.G\n.##..\n.....", "G...S...G"])
def test_values_are_the_discount_to_the_distance(text):
    """Exercise 1: V* = 100 x 0.9 ^ (d - 1), also with walls and with several goals."""
    world = GridWorld(text, goal_reward=100.0, discount=0.9)
    plan = policy_iteration(world.process)
    steps = distances(world)
    away = steps > 0
    np.testing.assert_allclose(plan.values[away], 100 * 0.9 ** (steps[away] - 1))
    assert (plan.values[~away] == 0).all()


def test_q_learning_of_exercise_two():
    world = GridWorld(GRID, goal_reward=100.0, discount=0.9)
    agent = QLearning(learning_rate=1.0, exploration=EpsilonGreedy(0.5), random_state=0)
    train(agent, world.process, episodes=3000, random_state=0)
    np.testing.assert_allclose(agent.values(), value_iteration(world.process).action_values)


def test_a_pit_bends_the_way_of_exercise_three():
    text = "....\n....\nS..G"
    plain = GridWorld(text, goal_reward=100.0, slip=0.5)
    with_pit = GridWorld("....\n..P.\nS..G", goal_reward=100.0, pit_reward=-100.0, slip=0.5)
    first = value_iteration(plain.process)
    second = value_iteration(with_pit.process)
    assert (
        second.values[with_pit.process.state_code((2, 0))]
        < first.values[plain.process.state_code((2, 0))]
    )
    below = with_pit.process.state_code((2, 2))
    assert with_pit.process.actions[second.policy[below]] == "south"
    assert plain.process.actions[first.policy[plain.process.state_code((2, 2))]] == "east"


def test_a_price_of_steps_and_a_discount_go_the_same_way():
    """Exercise 4: the shortest way is best by both."""
    by_price = GridWorld(GRID, goal_reward=0.0, step_reward=-1.0, discount=1.0)
    values = value_iteration(by_price.process).values
    np.testing.assert_allclose(values, -distances(by_price))
    discounted = value_iteration(GridWorld(GRID, goal_reward=100.0).process).values
    away = distances(by_price) > 0
    order = np.argsort(values[away], kind="stable")
    assert (np.diff(discounted[away][order]) >= -1e-9).all()


def test_slips_go_to_both_sides_and_rewards_are_noisy():
    """Exercise 5: half of the moves as intended, a quarter to each side; variance 40."""
    world = GridWorld(GRID, goal_reward=100.0, slip=0.5, noise=np.sqrt(40.0))
    process = world.process
    middle, north = process.state_code((2, 2)), process.actions.index("north")
    row = process.transitions[[middle * 4 + north]].toarray()[0]
    shares = {process.states[code]: row[code] for code in np.flatnonzero(row)}
    assert shares == {(1, 2): 0.5, (2, 1): 0.25, (2, 3): 0.25}
    run = train(QLearning(random_state=0), process, episodes=2000, random_state=0)
    assert run.returns.mean() == pytest.approx(100.0, abs=0.6)
    assert run.returns.var() == pytest.approx(40.0, rel=0.15)


def test_walls_and_edges_leave_one_where_one_is():
    process = GridWorld("S#G\n...").process
    for name, target in (("north", 0), ("east", 0), ("west", 0)):
        row = process.transitions[[process.actions.index(name)]].toarray()[0]
        assert row[target] == 1.0


def test_the_cliff_leads_back_to_the_start():
    process = cliff_world().process
    start, east = process.state_code((3, 0)), process.actions.index("east")
    assert process.rewards[start, east] == -100.0
    assert process.transitions[[start * 4 + east]].toarray()[0, start] == 1.0
    assert process.n_states == 38


def test_maps_as_text():
    world = GridWorld("S.#\n..G", goal_reward=100.0)
    assert world.show(policy=[2, 2, 1, 1, 0]) == "↓ ↓ #\n→ → G"
    assert world.show() == "S . #\n. . G"
    assert np.isnan(world.grid([1, 2, 3, 4, 5])).tolist() == [[False, False, True], [False] * 3]
    assert GridWorld(["S .", "  G"]).process.n_states == 6
    assert four_rooms((1, 1)).cells[1, 1] == "G"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GridWorld(""), "text is empty"),
        (lambda: GridWorld(3), "text is of type int"),
        (lambda: GridWorld("S.."), "text has no goal; mark one with G"),
        (lambda: GridWorld("S#G"), "no goal can be reached from the start in row 0, column 0"),
        (lambda: GridWorld("S.X.G"), "line 0 .* has 'X'"),
        (lambda: GridWorld("S.G", slip=2.0), "slip is 2.0"),
        (lambda: GridWorld("S.G", noise=-1.0), "noise is -1.0"),
        (lambda: GridWorld("S.G", discount=1.1), "discount is 1.1"),
        (lambda: GridWorld("GG"), "no cell to start in"),
        (lambda: GridWorld("S.G").grid([1.0]), "values has shape"),
        (lambda: four_rooms((0, 5)), "goal is \\(0, 5\\)"),
    ],
)  # fmt: skip
def test_maps_that_make_no_sense_are_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_maps_are_rectangles_and_say_where_they_start():
    with pytest.raises(DataError, match=r"line 1 .* has 3 cells and the longest has 4"):
        GridWorld("S...\n..G")
    with pytest.raises(DataError, match=r"has 'X'; expected S \(start\), G \(goal\)"):
        GridWorld("SX.G")
    assert repr(GridWorld("...\n..G")) == "GridWorld(2 x 3, 6 cells, starts in any free cell)"
    assert repr(GridWorld("S..\n..G")) == "GridWorld(2 x 3, 6 cells)"
    with pytest.raises(DataError, match=r"each state and action; .* values.max\(axis=1\)"):
        GridWorld("S.G").grid(np.zeros((3, 4)))
