"""Weights of kernels: the optimum by a general solver, slopes, alignments by definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from verulam.kernel import Gaussian, Linear, centre_gram
from verulam.kernel._multiple.gram_svm import gram_machines
from verulam.kernel._multiple.kernel_weights import (
    alignment_weights,
    alignments,
    combine,
    learn_weights,
    maximal_alignment_weights,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(70, 6))
SIGNS = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=70) > 0, 1.0, -1.0)[None]
KERNELS = [
    Gaussian(1.0).on_columns([0, 1]),
    Gaussian(1.0).on_columns([2, 3]),
    Linear().on_columns([4, 5]),
    Gaussian(3.0),
]
GRAMS = np.array([kernel(X) for kernel in KERNELS])


def objective(weights, cost=1.0, penalty=0.0):
    machines = gram_machines(combine(weights, GRAMS), SIGNS, cost, 1e-7)
    return machines.objective + penalty * weights.sum()


def learned(penalty=None, cost=1.0):
    return learn_weights(GRAMS, SIGNS, cost, penalty=penalty, max_iter=300, tol=1e-5)


def test_slope_of_the_objective_by_finite_differences():
    weights, step = np.array([0.4, 0.3, 0.2, 0.1]), 1e-4
    machines = gram_machines(combine(weights, GRAMS), SIGNS, 1.0, 1e-8)
    squares = machines.squared_norms(machines.gram_products(GRAMS))
    for place in range(4):
        moves = [weights + sign * step * np.eye(4)[place] for sign in (1, -1)]
        slope = (objective(moves[0]) - objective(moves[1])) / (2 * step)
        assert_allclose(slope, -0.5 * squares[place], rtol=1e-3)


@pytest.mark.parametrize("cost", [0.3, 5.0])
def test_convex_weights_are_the_optimum_on_the_simplex(cost):
    weighted = learned(cost=cost)
    assert_allclose(weighted.weights.sum(), 1.0)
    rivals = [*np.eye(4), np.full(4, 0.25), *np.random.default_rng(1).dirichlet(np.ones(4), 30)]
    assert weighted.objectives[-1] <= min(objective(rival, cost) for rival in rivals) * (1 + 1e-5)
    solution = minimize(
        lambda weights: objective(np.abs(weights) / np.abs(weights).sum(), cost),
        np.full(4, 0.25),
        method="Nelder-Mead",
        options={"fatol": 1e-6, "xatol": 1e-5},
    )
    assert weighted.objectives[-1] == pytest.approx(solution.fun, rel=1e-3)


def test_conic_weights_are_the_optimum_over_all_sums():
    weighted = learned(penalty=2.0)
    best = objective(weighted.weights, penalty=2.0)
    for seed in range(30):
        other = weighted.weights * np.exp(0.3 * np.random.default_rng(seed).normal(size=4))
        assert objective(other, penalty=2.0) >= best * (1 - 1e-4)
    assert learned(penalty=20.0).weights.sum() < weighted.weights.sum()


def test_objective_never_rises_and_the_gap_closes():
    for weighted in (learned(), learned(penalty=1.0)):
        assert (np.diff(weighted.objectives) <= 1e-6 * weighted.objectives[0]).all()
        assert weighted.gap <= 1e-5


def test_alignment_by_definition():
    ideal = centre_gram(SIGNS.T @ SIGNS)
    expected = [
        (centre_gram(gram) * ideal).sum()
        / np.sqrt((centre_gram(gram) ** 2).sum() * (ideal**2).sum())
        for gram in GRAMS
    ]
    assert_allclose(alignments(GRAMS, SIGNS), expected)
    positive_parts = np.maximum(expected, 0)
    assert_allclose(
        alignment_weights(GRAMS, SIGNS), positive_parts / positive_parts.sum(), atol=2e-4
    )


def test_the_ideal_kernel_has_alignment_one_and_all_the_weight():
    grams = np.array([SIGNS.T @ SIGNS, GRAMS[1]])
    assert_allclose(alignments(grams, SIGNS)[0], 1.0)
    assert_allclose(maximal_alignment_weights(grams, SIGNS), [1.0, 0.0], atol=1e-6)


def test_maximal_alignment_is_not_beaten():
    best = maximal_alignment_weights(GRAMS, SIGNS)
    reached = alignments(combine(best, GRAMS)[None], SIGNS)[0]
    for weights in np.random.default_rng(2).dirichlet(np.ones(4), 50):
        assert alignments(combine(weights, GRAMS)[None], SIGNS)[0] <= reached + 1e-9


def test_without_alignment_the_weights_are_equal():
    against = np.array([-SIGNS.T @ SIGNS, -SIGNS.T @ SIGNS])
    assert_allclose(alignment_weights(against, SIGNS), [0.5, 0.5])
