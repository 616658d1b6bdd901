"""Agents that remember, count or fit, in files: nothing but numbers and names goes in."""

import json
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from verulam.base import DataError
from verulam.nonparametric import RunningMean
from verulam.reinforcement import (
    Cells,
    Dyna,
    FittedQ,
    GridWorld,
    ModelLearner,
    OneHot,
    ProcessEnvironment,
    QLearning,
    RandomAgent,
    Spaces,
    load_agent,
    record_transitions,
    save_agent,
    train,
)

WORLD = GridWorld("S..\n.#.\n..G", goal_reward=1.0, slip=0.2, discount=0.9)


class Drift:
    """A world whose states are vectors, with the methods of a Gymnasium environment."""

    action_space = SimpleNamespace(n=2)
    observation_space = SimpleNamespace(shape=(2,))

    def reset(self, seed=None):
        self.place, self.n_steps = np.zeros(2, dtype=np.float32), 0
        return self.place.copy(), {}

    def step(self, action):
        self.n_steps += 1
        self.place[action] += 0.25
        return self.place.copy(), float(action), self.n_steps >= 6, False, {}


@pytest.mark.parametrize(
    "agent",
    [
        Dyna(n_planning=3, n_outcomes=2, random_state=0),
        ModelLearner(epsilon=0.3, plan_every=2, prior=0.5, random_state=0),
        FittedQ(n_fits=3, refit_every=3, random_state=0),
        FittedQ(ExtraTreesRegressor(5, random_state=0), coding=OneHot(9), n_fits=2, random_state=1),
        FittedQ(KNeighborsRegressor(2), target="sarsa", n_fits=2, refit_every=4, random_state=1),
        RandomAgent(random_state=0),
    ],
    ids=lambda agent: type(agent).__name__,
)
@pytest.mark.parametrize("episodes", [1, 10])
def test_training_from_a_file_is_training_that_nobody_stopped(agent, episodes, tmp_path):
    agent = deepcopy(agent)
    world = ProcessEnvironment(WORLD.process, random_state=1)
    train(agent, world, episodes=episodes, max_steps=30)
    save_agent(agent, tmp_path / "agent.npz")
    again, same_world = load_agent(tmp_path / "agent.npz"), deepcopy(world)
    assert type(again) is type(agent)
    np.testing.assert_array_equal(again.values(), agent.values())
    runs = [
        train(learner, place, episodes=10, max_steps=30)
        for learner, place in ((agent, world), (again, same_world))
    ]
    np.testing.assert_array_equal(runs[0].lengths, runs[1].lengths)
    np.testing.assert_array_equal(runs[0].returns, runs[1].returns)
    np.testing.assert_array_equal(again.values(), agent.values())
    np.testing.assert_array_equal(again.policy(), agent.policy())
    for name in ("visits_", "_met", "_n_episodes", "changes_"):
        assert np.array_equal(getattr(agent, name, 0), getattr(again, name, 0))


@pytest.mark.parametrize(
    "regressor",
    [None, make_pipeline(StandardScaler(), LinearRegression()), RunningMean(bandwidth=0.5)],
)
def test_vectors_pipelines_and_logs_go_through_a_file(regressor, tmp_path):
    agent = FittedQ(regressor, discount=0.5, n_fits=2, refit_every=2, random_state=0)
    train(agent, Drift(), episodes=5)
    save_agent(agent, tmp_path / "agent.npz")
    again = load_agent(tmp_path / "agent.npz")
    place = np.array([0.5, 0.25])
    np.testing.assert_array_equal(again.action_values(place), agent.action_values(place))
    train(agent, Drift(), episodes=5)
    train(again, Drift(), episodes=5)
    np.testing.assert_array_equal(again.action_values(place), agent.action_values(place))


def test_what_was_fitted_to_a_log_comes_back(tmp_path):
    log = record_transitions(None, WORLD.process, steps=200, random_state=0)
    agent = FittedQ(target="td", random_state=0).start(Spaces.of(WORLD.process)).learn_from(log)
    save_agent(agent, tmp_path / "agent.npz")
    again = load_agent(tmp_path / "agent.npz")
    np.testing.assert_array_equal(again.values(), agent.values())
    assert again.changes_ == agent.changes_


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return the arrays of the files of three agents."""
    files = {}
    for agent in (Dyna(random_state=0), ModelLearner(random_state=0), FittedQ(random_state=0)):
        train(agent, WORLD.process, episodes=12, random_state=0)
        path = tmp_path_factory.mktemp("agents") / "agent.npz"
        save_agent(agent, path)
        with np.load(path) as file:
            files[type(agent).__name__] = dict(file)
    return files


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        ("Dyna", "successors", 99, "successors must hold whole numbers"),
        ("Dyna", "rewards", np.nan, "rewards has a value that is missing"),
        ("Dyna", "pairs", 31, "pairs must be those that were met"),
        ("Dyna", "met", -1, "met must hold whole numbers"),
        ("ModelLearner", "counts", -1.0, "states must hold whole numbers from 0 to 7"),
        ("ModelLearner", "plan", 9, "plan must hold whole numbers from 0 to 3"),
        ("ModelLearner", "terminal", 7, "terminal must hold whole numbers from 0 to 1"),
        ("FittedQ", "memory states", 99, "states must hold whole numbers from 0 to 7"),
        ("FittedQ", "fitted actions", 4, "actions must hold whole numbers from 0 to 3"),
    ],
)
def test_numbers_that_no_agent_has_are_refused(stored, kind, name, value, message, tmp_path):
    arrays = {key: array.copy() for key, array in stored[kind].items()}
    arrays[name] = arrays[name].astype(np.float64 if value != value else np.int64)
    arrays[name].flat[0] = value
    np.savez(tmp_path / "agent.npz", **arrays)
    with pytest.raises(DataError, match=message):
        load_agent(tmp_path / "agent.npz")


@pytest.mark.parametrize(
    ("regressor", "message"),
    [
        ({"estimator": "os:system", "parameters": {}}, "names os.system, which is no estimator"),
        ({"estimator": "sklearn:clone", "parameters": {}}, "names sklearn.clone"),
        (
            {
                "estimator": "sklearn.pipeline:Pipeline",
                "parameters": {"steps": [], "memory": "/tmp/cache"},
            },
            "folder of cached results",
        ),
    ],
)
def test_a_file_names_estimators_alone(stored, regressor, message, tmp_path):
    arrays = dict(stored["FittedQ"])
    header = json.loads(str(arrays["header"]))
    header["settings"]["regressor"] = regressor
    arrays["header"] = np.array(json.dumps(header))
    np.savez(tmp_path / "agent.npz", **arrays)
    with pytest.raises(DataError, match=message):
        load_agent(tmp_path / "agent.npz")


class Mine(LinearRegression):
    """A regressor that no library has."""


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (FittedQ(Mine()), "regressor is of type Mine, which may hold code of your own"),
        (FittedQ(ExtraTreesRegressor(5)), "regressor has no random_state"),
        (FittedQ(KNeighborsRegressor(metric=max)), "regressor.metric is of type builtin"),
        (FittedQ(coding=lambda state: [state]), "coding is of type function"),
    ],
)
def test_code_of_ones_own_has_no_place_in_a_file(agent, message, tmp_path):
    with pytest.raises(DataError, match=message):
        save_agent(agent.start(Spaces.of(WORLD.process)), tmp_path / "agent.npz")
    assert not (tmp_path / "agent.npz").exists()


def test_agents_of_other_kinds_are_named(tmp_path):
    class Other(QLearning):
        pass

    with pytest.raises(DataError, match="type Other; files hold QLearning, Sarsa"):
        save_agent(Other().start(Spaces.of(WORLD.process)), tmp_path / "agent.npz")


def test_a_coding_comes_back_with_its_cuts(tmp_path):
    agent = FittedQ(coding=Cells([0.0, 0.0], [2.0, 2.0], 4), discount=0.5, random_state=0)
    train(agent, Drift(), episodes=10)
    save_agent(agent, tmp_path / "agent.npz")
    again = load_agent(tmp_path / "agent.npz")
    place = np.array([0.5, 0.25])
    np.testing.assert_array_equal(again.action_values(place), agent.action_values(place))
