"""Planning beside pymdptoolbox: the same values, policies and numbers of sweeps."""

import numpy as np
import pytest

from verulam.reinforcement import (
    MarkovDecisionProcess,
    evaluate_policy,
    finite_horizon,
    policy_iteration,
    value_iteration,
)

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def mdp():
    return pytest.importorskip("mdptoolbox.mdp")


@pytest.fixture(scope="module")
def tables():
    random = np.random.default_rng(0)
    return random.dirichlet(np.full(30, 0.2), size=(4, 30)), random.normal(size=(30, 4))


def test_policies_and_values_are_those_of_the_toolbox(mdp, tables):
    theirs = mdp.PolicyIteration(*tables, 0.9)
    theirs.run()
    process = MarkovDecisionProcess.from_arrays(*tables, 0.9)
    for plan in (value_iteration(process), policy_iteration(process)):
        np.testing.assert_allclose(plan.values, theirs.V, atol=1e-6)
        np.testing.assert_array_equal(plan.policy, theirs.policy)


def test_finite_horizons_are_those_of_the_toolbox(mdp, tables):
    theirs = mdp.FiniteHorizon(*tables, 0.9, 5)
    theirs.run()
    ours = finite_horizon(MarkovDecisionProcess.from_arrays(*tables, 0.9), 5)
    # Their columns count steps from the start, our rows steps to go.
    np.testing.assert_allclose(ours.values[::-1].T, theirs.V, atol=1e-10)
    np.testing.assert_array_equal(ours.policies[::-1].T, theirs.policy)


def test_the_forest_of_the_toolbox(mdp):
    example = pytest.importorskip("mdptoolbox.example")
    moves, rewards = example.forest(S=20, p=0.05)
    process = MarkovDecisionProcess.from_arrays(moves, rewards, 0.95)
    theirs = mdp.PolicyIteration(moves, rewards, 0.95)
    theirs.run()
    plan = policy_iteration(process, evaluation="exact")
    np.testing.assert_allclose(plan.values, theirs.V, atol=1e-8)
    np.testing.assert_allclose(evaluate_policy(process, theirs.policy), theirs.V, atol=1e-8)
