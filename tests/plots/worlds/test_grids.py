"""Maps of grid worlds: numbers, arrows and signs are those of the world."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.plots import episode_animation, value_map
from verulam.reinforcement import GridWorld, value_iteration


@pytest.fixture
def world():
    return GridWorld("S.G\n.#P", goal_reward=100.0, pit_reward=-100.0)


def test_cells_have_their_values(world):
    plan = value_iteration(world.process)
    axes = value_map(world, plan.values, policy=plan.policy)
    texts = {
        (round(text.get_position()[0]), round(text.get_position()[1] - 0.3)): text.get_text()
        for text in axes.texts
        if text.get_text().replace("-", "").replace(".", "").isdigit()
    }
    assert texts == {(0, 0): "90", (1, 0): "100", (0, 1): "81"}
    words = [text.get_text() for text in axes.texts]
    assert {"goal", "pit", "start"} <= set(words)
    walls = [patch for patch in axes.patches if patch.get_facecolor()[:3] == (0.35, 0.35, 0.35)]
    assert [patch.get_xy() for patch in walls] == [(0.5, 0.5)]


def arrows_of(axes):
    """Return head minus tail of each arrow, by the cell that it stands in."""
    arrows = {}
    for note in axes.texts:
        if getattr(note, "arrow_patch", None) is not None:
            head, tail = np.array(note.xy), np.array(note.get_position())
            cell = tuple(np.round((head + tail) / 2 + [0, 0.12]).astype(int))
            arrows.setdefault(cell, []).append(tuple(np.sign(np.round(head - tail, 3)).astype(int)))
    return arrows


def test_arrows_point_where_the_policy_goes(world):
    plan = value_iteration(world.process)
    assert arrows_of(value_map(world, policy=plan.policy)) == {
        (0, 0): [(1, 0)], (1, 0): [(1, 0)], (0, 1): [(0, -1)],
    }  # fmt: skip
    shares = np.full((5, 4), 0.25)
    assert all(
        len(pointers) == 4 for pointers in arrows_of(value_map(world, policy=shares)).values()
    )


def test_values_of_both_signs_have_two_hues(world):
    image = value_map(world, [-1.0, 2.0, 0.0, 1.0, 0.0]).images[0]
    assert image.norm.vmin == -image.norm.vmax


def test_an_episode_moves_over_the_map(world):
    animation = episode_animation(world, [3, 0, 1, 2], values=np.zeros(5))
    axes = animation._fig.axes[0]
    animation._func(2)
    assert axes.lines[1].get_xydata().tolist() == [[1.0, 0.0]]
    assert axes.lines[0].get_xydata().tolist() == [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    assert axes.get_title() == "step 2"
    assert animation.to_jshtml()


def test_wrong_arguments_are_named(world):
    for call, message in (
        (lambda: value_map("map"), "world is of type str"),
        (lambda: value_map(world, [1.0]), "values has shape"),
        (lambda: value_map(world, policy=[1]), "policy has shape"),
        (lambda: episode_animation(world, []), "states must be a list"),
        (lambda: episode_animation(world, [9]), "states must lie from 0 to 4"),
    ):
        with pytest.raises(DataError, match=message):
            call()


def test_value_map_refuses_actions_that_do_not_exist():
    with pytest.raises(DataError, match="policy must hold whole numbers from 0 to 3"):
        value_map(GridWorld("S.G"), policy=[9, 9, 9])
