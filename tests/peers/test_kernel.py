"""The dual solver beside cvxopt's, on small programs of every machine."""

import numpy as np
import pytest

from verulam.kernel import Gaussian, solve_dual
from verulam.kernel._solvers.dual_problems import (
    classification_problem,
    description_problem,
    nu_classification_problem,
    one_class_problem,
)
from verulam.kernel._solvers.row_cache import RowCache

pytestmark = pytest.mark.peers
MAKERS = {
    "cost": lambda signs, w: classification_problem(signs, 5 * w),
    "no bias": lambda signs, w: classification_problem(signs, 5 * w, fit_intercept=False),
    "nu": lambda signs, w: nu_classification_problem(signs, 0.2, w),
    "one class": lambda signs, w: one_class_problem(w, 0.3),
    "ball": lambda signs, w: description_problem(np.ones(len(w)), 0.2 * w),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", range(5))
def test_same_objective_as_cvxopt(kind, seed):
    cvxopt = pytest.importorskip("cvxopt")
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    signs = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    problem = MAKERS[kind](signs, rng.uniform(0.5, 1.0, 40))
    found = solve_dual(problem, RowCache(Gaussian(1.0), X, 10.0), tol=1e-9)
    identity = np.eye(40)
    sums = {
        "none": np.zeros((0, 40)),
        "total": np.ones((1, 40)),
        "groups": np.array([signs > 0, signs < 0], dtype=float),
    }[problem.constraint]
    answer = cvxopt.solvers.qp(
        cvxopt.matrix(Gaussian(1.0)(X)),
        cvxopt.matrix(problem.linear),
        cvxopt.matrix(np.vstack([identity, -identity])),
        cvxopt.matrix(np.concatenate([problem.upper, -problem.lower])),
        cvxopt.matrix(sums),
        cvxopt.matrix(sums @ problem.init),
        options={"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10},
    )
    assert found.objective == pytest.approx(answer["primal objective"], rel=1e-5, abs=1e-8)
