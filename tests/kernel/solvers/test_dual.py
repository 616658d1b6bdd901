"""The dual solver: KKT conditions, gaps, the dense solver, warm starts, small caches."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.kernel import DualSolution, Gaussian, Sigmoid, solve_densely, solve_dual
from verulam.kernel._solvers import dual as module
from verulam.kernel._solvers.dual_loops import HUGE, add_rows, pair_steps, single_steps
from verulam.kernel._solvers.dual_problems import (
    classification_problem,
    description_problem,
    nu_classification_problem,
    nu_regression_problem,
    one_class_problem,
    regression_problem,
    simplex_problem,
)
from verulam.kernel._solvers.row_cache import RowCache

TOLERANCE = 1e-6
MAKERS = {
    "cost": lambda signs, y, w: classification_problem(signs, 5 * w),
    "no bias": lambda signs, y, w: classification_problem(signs, 5 * w, fit_intercept=False),
    "nu": lambda signs, y, w: nu_classification_problem(signs, 0.2, w),
    "epsilon": lambda signs, y, w: regression_problem(y, 3 * w, 0.1),
    "nu regression": lambda signs, y, w: nu_regression_problem(y, 3 * w, 0.4),
    "one class": lambda signs, y, w: one_class_problem(w, 0.3),
    "ball": lambda signs, y, w: description_problem(np.ones(len(w)), 0.2 * w),
}


def random_problem(seed, kind, size=None):
    rng = np.random.default_rng(seed)
    size = size or int(rng.integers(10, 60))
    X = rng.normal(size=(size, 3))
    signs = np.where(X[:, 0] + rng.normal(size=size) > 0, 1.0, -1.0)
    signs[:4] = [1, 1, -1, -1]
    problem = MAKERS[kind](signs, np.sin(X[:, 1]), rng.uniform(0.5, 1.0, size))
    return problem, RowCache(Gaussian(1.0), X, 10.0)


@pytest.mark.parametrize("n_problems", [40, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", MAKERS)
def test_conditions_of_optimality_on_random_problems(kind, n_problems):
    """Feasible, sums kept, no coefficient could move with profit, and no gap."""
    for seed in range(n_problems):
        problem, cache = random_problem(seed, kind)
        # Every tenth with working sets far smaller than the problem.
        size = 1024 if seed % 10 else 16
        solution = solve_dual(problem, cache, tol=TOLERANCE, working_set_size=size)
        values = solution.coefficients
        assert solution.converged
        assert (values >= problem.lower).all()
        assert (values <= problem.upper).all()
        gram = Gaussian(1.0)(cache.inputs)
        row_of = np.arange(len(values)) if problem.row_of is None else problem.row_of
        gradient = -problem.linear - (gram @ np.bincount(row_of, values, len(gram)))[row_of]
        groups = problem.groups if problem.groups is not None else np.zeros(len(values), int)
        for group, multiplier in enumerate(solution.equality_multipliers):
            members = groups == group
            if problem.constraint != "none":
                assert values[members].sum() == pytest.approx(problem.init[members].sum(), abs=1e-9)
            excess = gradient[members] - multiplier
            rising = values[members] < problem.upper[members]
            falling = values[members] > problem.lower[members]
            assert excess[rising].max(initial=-1) <= 2 * TOLERANCE
            assert excess[falling].min(initial=1) >= -2 * TOLERANCE
        assert -1e-8 <= solution.gap <= 1e-3


@pytest.mark.parametrize("kind", MAKERS)
def test_agrees_with_the_dense_solver(kind):
    problem, cache = random_problem(7, kind)
    gram = Gaussian(1.0)(cache.inputs)
    solution = solve_dual(problem, cache, tol=1e-9)
    values = solve_densely(problem, gram)
    row_of = np.arange(len(values)) if problem.row_of is None else problem.row_of
    K_beta = gram @ np.bincount(row_of, values, len(gram))
    objective = 0.5 * values @ K_beta[row_of] + problem.linear @ values
    assert solution.objective == pytest.approx(objective, rel=1e-6, abs=1e-9)
    assert_allclose(solution.K_beta, K_beta, atol=2e-4)


def test_a_small_cache_gives_the_same_answer():
    problem, cache = random_problem(3, "cost", size=400)
    small = RowCache(cache.kernel, cache.inputs, 40 * 400 * 8 / 2**20)
    assert small.capacity == 20
    solution = solve_dual(problem, cache, tol=TOLERANCE)
    again = solve_dual(problem, small, tol=TOLERANCE)
    assert again.objective == pytest.approx(solution.objective, rel=1e-9)
    assert again.n_rows > solution.n_rows


def test_warm_start_needs_less():
    problem, cache = random_problem(5, "cost", size=300)
    cold = solve_dual(problem, cache, tol=1e-5, working_set_size=32)
    warm = solve_dual(replace(problem, init=cold.coefficients), cache, tol=1e-5, K_beta=cold.K_beta)
    assert warm.n_iter == 0
    assert warm.objective == cold.objective


def test_stopping_early_is_said():
    problem, cache = random_problem(1, "cost", size=200)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 working sets"):
        solution = solve_dual(problem, cache, tol=1e-9, max_iter=1, working_set_size=4)
    assert not solution.converged


def test_indefinite_kernels_come_to_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    cache = RowCache(Sigmoid(scale=1.0, offset=-1.0), X, 10.0)
    problem = classification_problem(np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(60))
    assert solve_dual(problem, cache).converged


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("n_sums", [0, 1, 2])
def test_compiled_steps_equal_their_python_source(n_sums):
    rng = np.random.default_rng(0)
    gram = Gaussian(1.0)(rng.normal(size=(12, 2)))
    members = np.repeat([0, 1], 6) % max(1, n_sums) == np.arange(n_sums)[:, None]
    gradient = rng.normal(size=12)
    ends = []
    # The working set is some rows of a cache, in any order, and some of their columns.
    slots, columns = rng.permutation(20)[:12], np.sort(rng.choice(30, size=12, replace=False))
    rows = np.full((20, 30), np.nan)
    rows[np.ix_(slots, columns)] = gram
    loop = pair_steps if n_sums else single_steps
    for function in (loop, loop.py_func):
        values, left = np.zeros(12), gradient.copy()
        box = np.full(12, -0.5), np.full(12, 0.5)
        scratch = np.empty((12, 12)), np.zeros(12, dtype=bool), np.diag(gram).copy()
        handicaps = np.where(members, 0.0, -HUGE), np.where(members, 0.0, HUGE), np.empty(12)
        steps = function(
            *(rows, slots, columns, *scratch, *box, 1e-6, 500, values, left),
            *(handicaps if n_sums else ()),
        )
        ends.append((steps, values, left))
    assert ends[0][0] > 5
    assert_allclose(ends[0][1], ends[1][1], atol=1e-10)
    assert_allclose(ends[0][2], gradient - gram @ ends[0][1], atol=1e-9)


def test_sums_of_rows():
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(9, 1500)), rng.normal(size=7)
    for count in range(8):
        sums = np.ones(1500)
        slots = rng.choice(9, size=count, replace=False)
        add_rows(rows, slots, weights[:count], sums)
        assert_allclose(sums, 1.0 + weights[:count] @ rows[slots], atol=1e-12)


def test_simplex():
    """The nearest point of a polygon to the origin: shares are not negative and sum to one."""
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [3.0, 0.0], [2.0, 2.0]])
    problem = simplex_problem(np.zeros(4))
    solution = solve_dual(problem, corners @ corners.T, tol=1e-10)
    assert_allclose(solution.coefficients, [0.5, 0.5, 0.0, 0.0], atol=1e-9)
    assert solution.objective == pytest.approx(0.5)
    assert solution.gap == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(DataError, match="not be negative"):
        simplex_problem(np.zeros(2), np.array([-1.0, 2.0]))


def test_working_sets_shrink_to_what_may_still_move(monkeypatch):
    sizes = []
    pair_steps = module.pair_steps

    def counted(rows, slots, columns, *others):
        sizes.append(len(columns))
        return pair_steps(rows, slots, columns, *others)

    monkeypatch.setattr(module, "pair_steps", counted)
    problem, cache = random_problem(3, "cost", size=800)
    solution = solve_dual(problem, cache, tol=1e-6)
    assert sizes[-1] < 0.7 * sizes[0]
    sizes.clear()
    again = solve_dual(replace(problem, init=solution.coefficients), cache, tol=1e-7)
    assert max(sizes, default=0) < 0.7 * 800
    assert again.objective <= solution.objective + 1e-9


def test_a_gram_matrix_or_the_cache_of_its_rows():
    problem, cache = random_problem(2, "cost")
    gram = Gaussian(1.0)(cache.inputs)
    solution = solve_dual(problem, gram, tol=1e-9)
    assert isinstance(solution, DualSolution)
    assert solution.n_rows == 0
    by_rows = solve_dual(problem, cache, tol=1e-9)
    assert 0 < by_rows.n_rows <= len(gram)
    assert_allclose(solution.coefficients, by_rows.coefficients, atol=1e-8)
    assert_allclose(solution.K_beta, gram @ solution.coefficients, atol=1e-10)
    assert solution.kkt_violation <= 1e-9
