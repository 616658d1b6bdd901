"""Search of hyperplanes: impurity never rises, jumps are never worse than tuning."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from verulam.tree._nodes.oblique import (
    along,
    along_inputs,
    best_input,
    best_of_starts,
    jump,
    tune_coefficients,
)
from verulam.tree._nodes.problem import CRITERIA, NodeOptions, NodeProblem, split_impurity_of


def slanted(seed=0, n_rows=150, noise=0.3):
    random = np.random.default_rng(seed)
    inputs = random.normal(size=(n_rows, 3))
    codes = (inputs @ [1.0, -1.0, 0.5] + noise * random.normal(size=n_rows) > 0.2).astype(np.int64)
    options = NodeOptions(CRITERIA["gini"], 1, "exchange", 3, 3, 3, 5)
    return NodeProblem(inputs, codes, np.ones(n_rows), 2, options, random)


def test_the_impurity_told_is_that_of_the_split():
    problem = slanted()
    for plane in (
        best_input(problem)[1],
        tune_coefficients(problem, best_input(problem)[1]),
        best_of_starts(problem, best_input(problem)[1]),
    ):
        branches = (plane.scores(np.zeros(150), problem.inputs) > 0).astype(int)
        assert_allclose(split_impurity_of(problem, branches, 2), plane.impurity, atol=1e-12)


def test_tuning_never_raises_the_impurity():
    for seed in range(5):
        problem = slanted(seed)
        start, history = best_input(problem)[1], []
        tuned = tune_coefficients(problem, start, history=history)
        path = np.array([start.impurity, *history, tuned.impurity])
        assert len(history) > 2
        assert (np.diff(path) <= 1e-12).all()
        assert tuned.impurity < 0.7 * start.impurity


def test_jumps_are_never_worse_than_tuning_from_the_same_start():
    better = 0
    for seed in range(6):
        problem = slanted(seed, n_rows=80)
        start = best_input(problem)[1]
        tuned, jumped = tune_coefficients(problem, start), jump(problem, start)
        best = best_of_starts(problem, start)
        assert jumped.impurity <= tuned.impurity + 1e-12
        assert best.impurity <= tuned.impurity + 1e-12
        better += best.impurity < tuned.impurity - 1e-9
    assert better > 0


def test_a_separable_slant_is_found():
    problem = slanted(noise=0.0)
    assert best_of_starts(problem, best_input(problem)[1]).impurity == 0.0


def test_the_best_input_is_the_one_of_least_impurity():
    problem = slanted()
    column, plane = best_input(problem)
    impurities = [plane.impurity for plane in along_inputs(problem)]
    assert plane.impurity == min(impurities)
    assert column == int(np.argmin(impurities))


def test_a_base_turns_the_search_into_that_of_a_sphere():
    problem = slanted()
    inside = ((problem.inputs - [0.3, 0.1, -0.2]) ** 2).sum(axis=1) < 2.0
    ball = replace(problem, codes=inside.astype(np.int64))
    base = -(ball.inputs**2).sum(axis=1)
    start = along(ball, np.zeros(3), base)
    tuned = tune_coefficients(ball, start, base)
    assert start.impurity > 0.02
    assert tuned.impurity < 0.5 * start.impurity
