"""One-class machines: libsvm, the bounds of nu, balls, and that both are one for Gaussians."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import OneClassSVM

from verulam.base import DataError
from verulam.kernel import Gaussian, OneClassMachine, SupportVectorDescription

X = np.random.default_rng(0).normal(size=(200, 2))


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.8])
def test_one_class_agrees_with_libsvm(nu):
    ours = OneClassMachine(nu=nu, tol=1e-7).fit(X)
    peer = OneClassSVM(nu=nu, tol=1e-9).fit(X)
    # libsvm's coefficients sum to nu N, ours to one.
    assert_allclose(200 * nu * ours.decision_function(X), peer.decision_function(X), atol=1e-3)
    assert (ours.predict(X) < 0).mean() <= nu <= len(ours.support_) / 200
    assert ours.dual_coef_.sum() == pytest.approx(1.0)


def test_ball_and_plane_are_one_for_gaussians():
    kernel, cost = Gaussian(1.5), 0.05
    ball = SupportVectorDescription(kernel=kernel, C=cost, tol=1e-6).fit(X)
    plane = OneClassMachine(kernel=kernel, nu=1 / (200 * cost), tol=1e-6).fit(X)
    assert_allclose(ball.decision_function(X), 2 * plane.decision_function(X), atol=1e-4)
    assert_allclose(ball.dual_coef_.sum(), 1.0)


def test_smallest_ball_of_a_square():
    corners = [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0], [1.0, 1.5]]
    ball = SupportVectorDescription(kernel="linear", C=1.0, tol=1e-8).fit(corners)
    assert ball.radius_ == pytest.approx(np.sqrt(2))
    assert_allclose(ball.dual_coef_ @ ball.support_vectors_, [1.0, 1.0], atol=1e-6)
    assert_allclose(ball.score_samples([[1.0, 1.0], [4.0, 1.0]]), [0.0, -9.0], atol=1e-5)
    assert (ball.predict(corners) == 1).all()


def test_cost_one_leaves_nothing_outside():
    ball = SupportVectorDescription(kernel="linear", C=1.0, tol=1e-8).fit(X)
    assert (ball.predict(X) == 1).all()
    assert len(ball.support_) <= 3
    tighter = SupportVectorDescription(kernel="linear", C=0.02, tol=1e-8).fit(X)
    assert tighter.radius_ < ball.radius_
    assert 0 < (tighter.predict(X) == -1).sum() <= 50


def test_refusals():
    with pytest.raises(DataError, match=r"C must be at least 0.005.*n_samples=200"):
        SupportVectorDescription(C=0.004).fit(X)
    with pytest.raises(ValueError, match="'nu' parameter"):
        OneClassMachine(nu=0.0).fit(X)
    gram = Gaussian(1.0)(X)
    ball = SupportVectorDescription(kernel="precomputed").fit(gram)
    with pytest.raises(DataError, match="lengths of new inputs"):
        ball.predict(gram)


@pytest.mark.filterwarnings("ignore:the precomputed Gram matrix is indefinite")
def test_indefinite_matrices_come_to_an_end():
    """All lengths are negative here: the tolerance is a share of their size."""
    gram = X[:20] @ X[:20].T - 20.0 * np.eye(20)
    machine = SupportVectorDescription(kernel="precomputed", C=0.2).fit(gram)
    assert machine.solution_.converged
