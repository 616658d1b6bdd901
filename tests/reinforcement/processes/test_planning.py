"""Planning: the printed numbers, Bellman's equations, and four ways to the same values."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.reinforcement import (
    GridWorld,
    HorizonPlan,
    MarkovDecisionProcess,
    Plan,
    bellman_action_values,
    bellman_backup,
    bellman_residual,
    evaluate_policy,
    finite_horizon,
    greedy_policy,
    linear_program,
    policy_iteration,
    try_policy,
    value_iteration,
)

RUSSELL = """
...G
.#.P
S...
"""


def random_process(seed=0, n_states=12, n_actions=3, discount=0.9):
    random = np.random.default_rng(seed)
    moves = random.dirichlet(np.full(n_states, 0.3), size=(n_actions, n_states))
    return MarkovDecisionProcess.from_arrays(
        moves, random.normal(size=(n_states, n_actions)), discount
    )


@pytest.fixture(scope="module")
def process():
    return random_process()


@pytest.fixture(scope="module")
def best(process):
    return value_iteration(process, tol=1e-12)


def test_values_fall_by_the_discount_with_every_step_to_the_goal():
    """The ladder behind figure 18.4: 100, 90, 81, 72.9, 65.61, 59.05."""
    world = GridWorld("S.....G", goal_reward=100.0, discount=0.9)
    values = value_iteration(world.process).values[:6][::-1]
    np.testing.assert_allclose(values, [100, 90, 81, 72.9, 65.61, 59.049])


@pytest.mark.parametrize("sweeps", ["synchronous", "in place"])
def test_russell_and_norvig(sweeps):
    world = GridWorld(
        RUSSELL, goal_reward=1.0, pit_reward=-1.0, step_reward=-0.04, slip=0.2, discount=1.0
    )
    values = world.grid(value_iteration(world.process, sweeps=sweeps).values)
    # The published table, to three digits.
    published = [[0.812, 0.868, 0.918], [0.762, np.nan, 0.660], [0.705, 0.655, 0.611]]
    np.testing.assert_allclose(values[:, :3], published, atol=5e-4)
    assert values[2, 3] == pytest.approx(0.388, abs=5e-4)


def test_four_ways_to_the_best_values(process, best):
    for plan in (
        value_iteration(process, sweeps="in place", tol=1e-12),
        policy_iteration(process, tol=1e-12),
        policy_iteration(process, evaluation="exact"),
    ):
        np.testing.assert_allclose(plan.values, best.values, atol=1e-8)
        np.testing.assert_array_equal(plan.policy, best.policy)
        assert isinstance(plan, Plan)
        assert plan.converged
    np.testing.assert_allclose(linear_program(process), best.values, atol=1e-6)


def test_ways_agree_without_discount():
    world = GridWorld(RUSSELL, step_reward=-0.04, slip=0.2, discount=1.0)
    values = value_iteration(world.process, tol=1e-12).values
    for plan in (
        policy_iteration(world.process, tol=1e-12),
        policy_iteration(world.process, evaluation="exact"),
    ):
        np.testing.assert_allclose(plan.values, values, atol=1e-8)
    np.testing.assert_allclose(linear_program(world.process), values, atol=1e-6)


def test_sweeps_are_the_formula_in_numpy(process):
    moves = process.transitions.toarray().reshape(12, 3, 12)
    values = np.zeros(12)
    for sweep in range(1, 4):
        values = (process.rewards + 0.9 * moves @ values).max(axis=1)
        with pytest.warns(ConvergenceWarning, match=f"stopped after {sweep} iterations"):
            plan = value_iteration(process, max_iter=sweep)
        np.testing.assert_allclose(plan.values, values, atol=1e-12)
    in_place = np.zeros(12)
    for state in range(12):
        in_place[state] = (process.rewards[state] + 0.9 * moves[state] @ in_place).max()
    with pytest.warns(ConvergenceWarning):
        plan = value_iteration(process, sweeps="in place", max_iter=1)
    np.testing.assert_allclose(plan.values, in_place, atol=1e-12)


def test_bellmans_operator_contracts_by_the_discount(process):
    random = np.random.default_rng(1)
    for _ in range(20):
        first, second = random.normal(size=(2, 12))
        images = bellman_backup(process, first) - bellman_backup(process, second)
        assert np.abs(images).max() <= 0.9 * np.abs(first - second).max() + 1e-12


def test_best_values_solve_bellmans_equation(process, best):
    assert bellman_residual(process, best.values) < 1e-10
    assert bellman_residual(process, best.values + 1.0) == pytest.approx(0.1)
    np.testing.assert_allclose(best.action_values.max(axis=1), best.values, atol=1e-10)
    moves = process.transitions.toarray().reshape(12, 3, 12)
    table = process.rewards + 0.9 * moves @ best.values
    np.testing.assert_allclose(bellman_action_values(process, best.values), table)


def test_the_policy_settles_before_the_values(process):
    plan = value_iteration(process, tol=1e-10)
    assert 0 < plan.policy_settled_at < plan.n_iter
    with pytest.warns(ConvergenceWarning):
        early = value_iteration(process, max_iter=plan.policy_settled_at)
    np.testing.assert_array_equal(early.policy, plan.policy)
    assert (np.diff(plan.residuals) < 0).all()


def test_exact_policy_iteration_needs_few_improvements_and_each_is_better(process, best):
    plan = policy_iteration(process, evaluation="exact")
    assert plan.n_iter < value_iteration(process).n_iter / 5
    policy = process.available.argmax(axis=1)
    values = evaluate_policy(process, policy)
    for _ in range(plan.n_iter):
        policy = greedy_policy(process, values)
        better = evaluate_policy(process, policy)
        assert (better >= values - 1e-10).all()
        values = better
    np.testing.assert_allclose(values, best.values, atol=1e-8)


def test_policy_iteration_from_a_policy(process, best):
    for evaluation in ("exact", "modified"):
        plan = policy_iteration(process, evaluation=evaluation, initial=best.policy, tol=1e-10)
        assert plan.policy_settled_at == 0
        np.testing.assert_allclose(plan.values, best.values, atol=1e-8)


@pytest.mark.parametrize("method", ["solve", "iterate"])
def test_values_of_a_policy_solve_its_equations(process, method):
    shares = np.random.default_rng(2).dirichlet(np.ones(3), size=12)
    values = evaluate_policy(process, shares, method=method)
    moves = process.transitions.toarray().reshape(12, 3, 12)
    chain, rewards = np.einsum("sa,sat->st", shares, moves), (shares * process.rewards).sum(axis=1)
    np.testing.assert_allclose(
        values, np.linalg.solve(np.eye(12) - 0.9 * chain, rewards), atol=1e-7
    )


def test_values_of_a_policy_are_mean_returns():
    world = GridWorld("S..\n..G", goal_reward=10.0, slip=0.4, discount=0.8)
    shares = np.full((6, 4), 0.25)
    run = try_policy(shares, world.process, episodes=4000, random_state=0)
    value = evaluate_policy(world.process, shares)[0]
    error = run.discounted_returns.std() / np.sqrt(4000)
    assert abs(run.discounted_returns.mean() - value) < 4 * error


def test_a_policy_that_never_ends_has_no_value_without_discount():
    world = GridWorld("S.G", step_reward=-1.0, discount=1.0)
    with pytest.raises(DataError, match="policy never ends from state"):
        evaluate_policy(world.process, [3, 3, 3])


def test_ties_first_random_and_shared():
    process = MarkovDecisionProcess.from_arrays(np.ones((3, 1, 1)), [[1.0, 1.0, 0.0]], 0.5)
    assert greedy_policy(process, [0.0]).tolist() == [0]
    assert greedy_policy(process, [0.0], ties="share").tolist() == [[0.5, 0.5, 0.0]]
    drawn = {
        int(greedy_policy(process, [0.0], ties="random", random_state=s)[0]) for s in range(20)
    }
    assert drawn == {0, 1}
    assert greedy_policy(process, [[0.0, 0.0, 3.0]]).tolist() == [2]


def test_finite_horizons_are_repeated_backups(process):
    plan = finite_horizon(process, 3)
    assert isinstance(plan, HorizonPlan)
    values = np.zeros(12)
    for step in range(3):
        table = bellman_action_values(process, values)
        np.testing.assert_array_equal(plan.policies[step], table.argmax(axis=1))
        values = table.max(axis=1)
        np.testing.assert_allclose(plan.values[step + 1], values)
    myopic = finite_horizon(process.with_discount(0.0), 5)
    np.testing.assert_allclose(myopic.values[5], process.rewards.max(axis=1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: value_iteration(p, sweeps="random"), "sweeps is 'random'; expected one of"),
        (lambda p: value_iteration(p, tol=-1.0), "tol is -1.0"),
        (lambda p: value_iteration(p, initial=[0.0]), "values has shape"),
        (lambda p: value_iteration("p"), "process is of type str"),
        (lambda p: policy_iteration(p, evaluation="none"), "evaluation is 'none'"),
        (lambda p: evaluate_policy(p, [0]), "policy has shape"),
        (lambda p: evaluate_policy(p, [9] * 12), "whole numbers from 0 to 2"),
        (lambda p: evaluate_policy(p, np.ones((12, 3))), "state 0 do not sum to 1"),
        (lambda p: finite_horizon(p, -1), "horizon is -1"),
        (lambda p: greedy_policy(p, np.zeros((2, 2))), "values has shape"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(process, call, message):
    with pytest.raises(DataError, match=message):
        call(process)


def test_action_values_are_rewards_and_the_discounted_values_of_what_follows(process):
    values = np.arange(12.0) - 4.0
    moves = process.transitions.toarray().reshape(12, 3, 12)
    expected = [
        [
            process.rewards[state, action] + 0.9 * (moves[state, action] * values).sum()
            for action in range(3)
        ]
        for state in range(12)
    ]
    np.testing.assert_allclose(bellman_action_values(process, values), expected)
