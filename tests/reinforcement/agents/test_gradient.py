"""Values as functions: tables as a special case, hand updates, gradients, divergence, codings."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.numerics import inverse
from verulam.reinforcement import (
    Cells,
    CodedEnvironment,
    EpsilonGreedy,
    GradientQLearning,
    GradientSarsa,
    GradientTD,
    GridWorld,
    Identity,
    JointLinear,
    LinearValues,
    NetworkValues,
    OneHot,
    QLearning,
    RadialBasis,
    Sarsa,
    Softmax,
    Spaces,
    TDPrediction,
    Tiles,
    Transition,
    evaluate_policy,
    train,
    try_policy,
    value_iteration,
)

WORLD = GridWorld("S.G\n..P", goal_reward=10.0, pit_reward=-10.0, slip=0.3, discount=0.8)


class Valley:
    """A point between -1 and 1 that is pushed left or right; the goal is the right end."""

    n_actions = 2

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)

    @property
    def action_space(self):
        return type("Discrete", (), {"n": 2})()

    @property
    def observation_space(self):
        return type("Box", (), {"shape": (1,)})()

    def reset(self, *, seed=None):
        self.random = self.random if seed is None else np.random.default_rng(seed)
        self.place = self.random.uniform(-1, 0.5)
        return np.array([self.place]), {}

    def step(self, action):
        self.place = max(-1.0, self.place + (0.2 if action else -0.2))
        return np.array([self.place]), -1.0, bool(self.place >= 1.0), False, {}


@pytest.mark.parametrize("decay", [0.0, 0.6])
@pytest.mark.parametrize(
    "rule", [None, Softmax(2.0), EpsilonGreedy(inverse(1.0), clock="episodes")]
)
@pytest.mark.parametrize(
    ("table", "function"), [(Sarsa, GradientSarsa), (QLearning, GradientQLearning)]
)
def test_one_hot_features_are_the_table(table, function, rule, decay):
    options = {
        "learning_rate": 0.2, "trace_decay": decay, "exploration": rule, "random_state": 4,
        "rate_clock": "steps",
    }  # fmt: skip
    first = table(**options, traces="accumulating")
    second = function(LinearValues(OneHot(6)), **options)
    runs = [train(agent, WORLD.process, episodes=60, random_state=1) for agent in (first, second)]
    np.testing.assert_array_equal(runs[0].returns, runs[1].returns)
    np.testing.assert_allclose(first.table_, second.values(), atol=1e-8)
    np.testing.assert_array_equal(first.policy(), second.policy())


def test_temporal_differences_with_one_hot_features_are_the_table():
    shares = np.tile(np.eye(4)[1], (6, 1))
    first = TDPrediction(
        behaviour=shares, learning_rate=0.2, trace_decay=0.5, traces="accumulating"
    )
    second = GradientTD(
        LinearValues(OneHot(6)), behaviour=lambda state: 1, learning_rate=0.2, trace_decay=0.5
    )
    for agent in (first, second):
        train(agent, WORLD.process, episodes=60, random_state=1)
    np.testing.assert_allclose(first.values(), second.values().ravel(), atol=1e-8)
    exact = evaluate_policy(WORLD.process, [1] * 6)
    assert np.abs(second.values().ravel() - exact).max() < 3.0


def test_updates_of_exercise_seven_by_hand():
    """Q = w1 s + w2 a + w3; the third eligibility grows by 1, which the book leaves out."""
    values = JointLinear(lambda s, a: [s, a, 1.0], 3)
    agent = GradientSarsa(
        values, discount=0.9, learning_rate=0.1, trace_decay=0.5, exploration=EpsilonGreedy(0.0)
    ).start(Spaces(None, 2, state_size=1))
    values.parameters = np.array([0.2, 0.4, 0.1])
    # Greedy next action is 1 as w2 > 0.
    error = agent.learn(Transition(2.0, 0, 1.0, 3.0))
    expected = 1.0 + 0.9 * (0.2 * 3 + 0.4 + 0.1) - (0.2 * 2 + 0.1)
    assert error == pytest.approx(expected)
    first = np.array([0.2, 0.4, 0.1]) + 0.1 * expected * np.array([2.0, 0.0, 1.0])
    np.testing.assert_allclose(values.parameters, first)
    action = agent.act(3.0)
    assert action == 1
    error = agent.learn(Transition(3.0, 1, 0.0, 4.0, True))
    assert error == pytest.approx(-(first @ [3.0, 1.0, 1.0]))
    trace = 0.45 * np.array([2.0, 0.0, 1.0]) + np.array([3.0, 1.0, 1.0])
    np.testing.assert_allclose(values.parameters, first + 0.1 * error * trace)
    assert not agent.eligibility_.any()


@pytest.mark.parametrize(
    "approximator",
    [
        LinearValues(RadialBasis.over([0.0, 0.0], [1.0, 1.0], 3)),
        LinearValues(Tiles([0.0, 0.0], [1.0, 1.0], 3, n_tilings=4)),
        NetworkValues(Identity(2), n_units=5, random_state=0),
        JointLinear(lambda s, a: [s[0] * a, s[1], 1.0], 3),
    ],
)
def test_gradients_are_differences(approximator):
    approximator.start(3)
    random = np.random.default_rng(0)
    approximator.parameters = random.normal(size=len(approximator.parameters))
    state, base = np.array([0.3, 0.8]), approximator.parameters.copy()
    for output in range(3):
        slope = approximator.gradient(state, output)
        for place in range(len(base)):
            moved = []
            for shift in (1e-6, -1e-6):
                approximator.parameters = base.copy()
                approximator.parameters[place] += shift
                moved.append(approximator.values(state)[output])
            approximator.parameters = base.copy()
            assert (moved[0] - moved[1]) / 2e-6 == pytest.approx(slope[place], abs=1e-6)


@pytest.mark.parametrize(
    ("approximator", "rate"),
    [
        (lambda: LinearValues(RadialBasis.over([-1.0], [1.0], 9)), 0.3),
        (lambda: LinearValues(Tiles([-1.0], [1.0], 6, n_tilings=4)), 0.1),
        (
            lambda: NetworkValues(RadialBasis.over([-1.0], [1.0], 9), n_units=12, random_state=0),
            0.05,
        ),
    ],
    ids=["radial", "tiles", "network"],
)
@pytest.mark.parametrize("kind", [GradientSarsa, GradientQLearning])
def test_continuous_states_are_learned_by_every_approximator(kind, approximator, rate):
    agent = kind(approximator(), discount=0.95, learning_rate=rate, trace_decay=0.5, random_state=0)
    train(agent, Valley(), episodes=150, max_steps=200)
    tried = try_policy(agent, Valley(1), episodes=30, max_steps=60)
    assert tried.lengths.max() <= 12
    policy = agent.policy()
    assert policy(np.array([0.0])) == 1
    assert agent.values()(np.array([0.0])).shape == (2,)


def test_finer_cells_make_smaller_errors():
    """Values of a smooth world by tables over cells."""
    truth = np.array(
        [-(1 - 0.95 ** np.ceil((1 - x) / 0.2)) / 0.05 for x in np.linspace(-0.95, 0.7, 30)]
    )
    errors = []
    for n_bins in (3, 60):
        cells = Cells([-1.0], [1.0], n_bins)
        agent = TDPrediction(
            behaviour=np.ones(n_bins),
            discount=0.95,
            learning_rate=inverse(1.0, 0.6),
            random_state=0,
        )
        world = CodedEnvironment(Valley(), cells)
        train(agent, world, episodes=1500)
        values = [agent.values()[cells.code([x])] for x in np.linspace(-0.95, 0.7, 30)]
        errors.append(np.abs(np.array(values) - truth).mean())
    assert errors[1] < 0.5 * errors[0]


def test_codings():
    cells = Cells([0.0, 0.0], [1.0, 1.0], [2, 3])
    codes = [cells.code([x, y]) for x in (0.1, 0.9) for y in (0.1, 0.5, 0.9)]
    assert codes == list(range(6))
    assert cells.code([-5.0, 9.0]) == 2
    tiles = Tiles([0.0], [1.0], 5, n_tilings=3)
    assert (np.array([tiles([x]).sum() for x in np.linspace(0, 1, 50)]) == 3).all()
    near, far = (tiles([0.41]) @ tiles([x]) for x in (0.44, 0.9))
    assert near >= 2
    assert far == 0
    bumps = RadialBasis([[0.0], [1.0]], 0.5, normalise=False)
    np.testing.assert_allclose(bumps([0.0]), [1.0, np.exp(-2.0)])
    np.testing.assert_allclose(RadialBasis([[0.0], [1.0]], 0.5)([9.0]).sum(), 1.0)
    assert Identity(2)([4, 5]).tolist() == [1.0, 4.0, 5.0]


def test_learning_that_diverges_says_so():
    agent = GradientQLearning(
        JointLinear(lambda s, a: [s, 1.0], 2), discount=0.99, learning_rate=5.0, random_state=0
    )
    with pytest.raises(DataError, match=r"learning diverged at step \d+.*Lower learning_rate"):
        train(agent, GridWorld("S......G").process, episodes=100)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train(GradientSarsa("net"), WORLD.process, episodes=1), "approximator is of type"),
        (lambda: LinearValues("coding"), "coding must be a function"),
        (lambda: RadialBasis([[0.0]], 0.0), "width is 0.0"),
        (lambda: RadialBasis.over([0.0], [0.0], 3), "high must be above low"),
        (lambda: Cells([0.0], [1.0], 0), "n_bins is 0"),
        (lambda: CodedEnvironment(object(), Cells([0.0], [1.0], 2)), "a finite number of actions"),
        (lambda: train(GradientSarsa(LinearValues(OneHot(6)),
                       exploration=EpsilonGreedy(0.1, clock="visits")), WORLD.process, episodes=1),
         "exploration must be EpsilonGreedy or Softmax by steps or episodes"),
        (lambda: JointLinear(lambda s, a: [s], 2).gradient(1.0, 0), "features has shape"),
        (lambda: JointLinear("f", 2), "features must be a function"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_values_of_a_network_reach_those_of_planning():
    best = value_iteration(WORLD.process)
    agent = GradientQLearning(
        NetworkValues(OneHot(6), n_units=16, random_state=0), learning_rate=0.05,
        exploration=EpsilonGreedy(0.5), random_state=0,
    )  # fmt: skip
    train(agent, WORLD.process, episodes=1500, random_state=1)
    active = ~WORLD.process.terminal
    assert np.abs(agent.values().max(axis=1) - best.values)[active].max() < 1.5


def test_centres_of_bumps_are_a_grid_over_the_box():
    bumps = RadialBasis.over([0.0, 10.0], [1.0, 30.0], 3, overlap=2.0)
    expected = [[x, y] for x in (0.0, 0.5, 1.0) for y in (10.0, 20.0, 30.0)]
    np.testing.assert_allclose(bumps.centres, expected)
    np.testing.assert_allclose(bumps.width, [0.5, 10.0])


def test_schedules_go_by_steps_or_by_episodes():
    agent = GradientQLearning(LinearValues(OneHot(2)), discount=0.9)
    agent.start(Spaces(2, 2, discount=0.9))
    for over in (False, False, True):
        agent.learn(Transition(0, 0, 1.0, 1, over))
    assert agent._tick("steps") == 4
    assert agent._tick("episodes") == 2


def test_actions_of_a_coded_world_are_counted_by_itself_or_by_its_space():
    class Spaced:
        action_space = type("Discrete", (), {"n": 3})()

    cells = Cells([-1.0], [1.0], 4)
    assert CodedEnvironment(Spaced(), cells).n_actions == 3
    assert CodedEnvironment(Valley(), cells).n_actions == 2
    with pytest.raises(DataError, match="expected a finite number of actions"):
        CodedEnvironment(object(), cells)
