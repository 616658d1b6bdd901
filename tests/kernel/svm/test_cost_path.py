"""Paths of costs: the same machines as one by one, with less work."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.kernel import CostPath, Gaussian, SupportVectorClassifier, cost_path
from verulam.kernel._svm.cost_path import COSTS
from verulam.kernel._tuning import CHAINED_ROWS


@pytest.mark.parametrize("strategy", ["pairwise", "one_vs_all"])
def test_same_as_one_by_one(strategy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int) + (X[:, 1] > 0.5)
    learner = SupportVectorClassifier(strategy=strategy, tol=1e-6)
    path = cost_path(learner, X, y, [10.0, 0.1, 1.0])
    assert isinstance(path, CostPath)
    assert path.costs.tolist() == [0.1, 1.0, 10.0]
    assert path.n_iter.tolist() == [fitted.n_iter_ for fitted in path.classifiers]
    for cost, fitted in zip(path.costs, path.classifiers, strict=True):
        alone = SupportVectorClassifier(strategy=strategy, C=cost, tol=1e-6).fit(X, y)
        assert cost == fitted.C
        assert_allclose(fitted.machine_outputs(X), alone.machine_outputs(X), atol=1e-4)
    scores = path.scores(X, y)
    assert scores["accuracy"].idxmax() == path.best(X, y).C
    assert scores["support_share"].is_monotonic_decreasing


def test_the_smallest_of_equally_good_costs_is_the_best():
    """One row in five is of the second class: a low cost misses it, all higher ones see it."""
    X = np.arange(10.0)[:, None]
    y = (X[:, 0] >= 8).astype(int)
    path = cost_path(SupportVectorClassifier(kernel="linear"), X, y, [1e3, 1e-4, 1e2, 1e1])
    accuracies = path.scores(X, y)["accuracy"].tolist()
    assert accuracies == [0.8, 1.0, 1.0, 1.0]
    assert path.best(X, y).C == 10.0
    assert path.best(X, y) is path.classifiers[1]


def test_nothing_is_left_to_do_once_no_coefficient_is_at_its_bound():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] > 0).astype(int)
    path = cost_path(SupportVectorClassifier(kernel=Gaussian(0.3)), X, y, [1e4, 1e5, 1e6])
    first, *later = (classifier.machines_[0] for classifier in path.classifiers)
    assert first.solution.n_iter > 0
    for machine in later:
        assert machine.solution.n_iter == 0
        assert_allclose(machine.coefficients, first.coefficients)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_largest_costs_are_a_chain_of_their_own_in_large_problems(kernel):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(CHAINED_ROWS, 4))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=len(X)) > 0).astype(int)
    costs = np.logspace(-2, 1, 5)
    path = cost_path(SupportVectorClassifier(kernel=kernel), X, y, costs)
    assert [classifier.C for classifier in path.classifiers] == costs.tolist()
    for cost, fitted in zip(costs, path.classifiers, strict=True):
        (machine,) = fitted.machines_
        alone = SupportVectorClassifier(kernel=kernel, C=cost).fit(X, y).machines_[0]
        assert machine.solution.converged
        assert_allclose(machine.dual_objective, alone.dual_objective, rtol=1e-4)
    again = cost_path(SupportVectorClassifier(kernel=kernel), X, y, costs)
    for one, other in zip(path.classifiers, again.classifiers, strict=True):
        assert_array_equal(one.dual_coef_, other.dual_coef_)


def test_thirteen_powers_of_ten():
    assert_allclose(COSTS, 10.0 ** np.arange(-6, 7))


def test_refusals():
    with pytest.raises(DataError, match="above 0"):
        cost_path(SupportVectorClassifier(), [[0.0], [1.0]], [0, 1], [1.0, -1.0])
    with pytest.raises(DataError, match='form "cost"'):
        cost_path(SupportVectorClassifier(form="nu"), [[0.0], [1.0]], [0, 1])
