"""Preferences: counts against lists of pairs, the program against a quadratic one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.kernel import Gaussian, Precomputed, PreferenceKernel
from verulam.kernel._ranking.cutting_planes import Preferences, rank_by_planes
from verulam.kernel._ranking.cutting_planes_loops import count_close
from verulam.kernel._solvers.dual import DualProblem, solve_dual
from verulam.kernel._solvers.row_cache import RowCache

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.round(X @ [1.0, -2.0, 0.5] + RNG.normal(size=40))
GROUPS = RNG.integers(3, size=40)
GRAM = Gaussian(1.5)(X)


def listed(relevances, groups=None):
    same_group = True if groups is None else groups[:, None] == groups
    return np.nonzero((relevances[:, None] > relevances) & same_group)


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("margin", [0.0, 1.0])
@pytest.mark.parametrize("ties", [True, False])
def test_counts_are_those_of_the_listed_pairs(groups, margin, ties):
    scores = np.round(RNG.normal(size=40)) if ties else RNG.normal(size=40)
    better, worse = listed(Y, groups)
    close = scores[better] - scores[worse] < margin
    close_pairs = Preferences(Y, groups).close(scores, margin)
    expected = np.bincount(better[close], minlength=40) - np.bincount(worse[close], minlength=40)
    assert close_pairs.number == close.sum()
    assert_allclose(close_pairs.weights, expected)
    if margin:
        slack = np.maximum(0.0, 1.0 - (scores[better] - scores[worse])).sum()
        assert close_pairs.slack(scores) == pytest.approx(slack)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_share_in_order(groups):
    scores = np.round(2 * RNG.normal(size=40))
    better, worse = listed(Y, groups)
    expected = (scores[better] > scores[worse]).mean()
    assert Preferences(Y, groups).share_in_order(scores) == pytest.approx(expected)


def test_compiled_counts_equal_plain_python():
    scores = RNG.normal(size=40)
    order, ranks = np.argsort(scores), np.unique(Y, return_inverse=True)[1] + 1
    results = np.zeros((2, 2, 40), dtype=np.int64)
    helpers = {name: count_close.py_func.__globals__[name] for name in ("_enter", "_below")}
    assert all(hasattr(helper, "py_func") for helper in helpers.values())
    for function, (better, worse) in zip((count_close, count_close.py_func), results, strict=True):
        function(scores, order, ranks, np.array([0, 40]), 1.0, better, worse)
    assert_allclose(results[0], results[1])


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("cost", [0.05, 1.0])
def test_same_score_as_the_quadratic_program_over_all_pairs(groups, cost):
    """The dual with one coefficient for each pair and the preference kernel."""
    better, worse = listed(Y, groups)
    zeros = np.zeros(len(better))
    program = solve_dual(
        DualProblem(zeros - 1.0, zeros, zeros + cost, zeros, "none"),
        RowCache(PreferenceKernel(Gaussian(1.5)), np.hstack([X[better], X[worse]]), 50.0),
        tol=1e-6,
    )
    ranking = rank_by_planes(Preferences(Y, groups), lambda v: GRAM @ v, cost, 1e-7, 1000)
    assert ranking.objective == pytest.approx(-program.objective, rel=1e-5)
    weights = np.bincount(better, program.coefficients, 40)
    weights -= np.bincount(worse, program.coefficients, 40)
    assert_allclose(GRAM @ ranking.coefficients, GRAM @ weights, atol=5e-3)
    assert ranking.gap <= 1e-7 * ranking.objective


def test_bound_is_below_every_objective():
    preferences = Preferences(Y)
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        early = rank_by_planes(preferences, lambda v: GRAM @ v, 1.0, 1e-9, 3)
    late = rank_by_planes(preferences, lambda v: GRAM @ v, 1.0, 1e-7, 1000)
    assert early.objective - early.gap <= late.objective <= early.objective


def test_refusals():
    with pytest.raises(DataError, match="nothing to rank"):
        Preferences(np.ones(4))
    with pytest.raises(DataError, match="groups has 2"):
        Preferences(np.arange(4.0), [0, 1])


def test_given_matrix_takes_no_memory_of_its_own():
    cache = RowCache(Precomputed(), GRAM, 0.0)
    assert cache.rows is GRAM
