"""SupportVectorRegressor: agreement with libsvm, the tube, and its limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVR, NuSVR

from verulam.kernel import SupportVectorRegressor

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, size=(150, 2))
Y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.2 * RNG.normal(size=150)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_agrees_with_libsvm(kernel):
    ours = SupportVectorRegressor(kernel=kernel, C=3.0, epsilon=0.15, tol=1e-7).fit(X, Y)
    peer = SVR(kernel=kernel, C=3.0, epsilon=0.15, tol=1e-7).fit(X, Y)
    assert_allclose(ours.predict(X), peer.predict(X), atol=1e-4)
    assert ours.solution_.converged


def test_nu_agrees_with_libsvm():
    ours = SupportVectorRegressor(form="nu", C=3.0, nu=0.3, tol=1e-7).fit(X, Y)
    peer = NuSVR(C=3.0, nu=0.3, tol=1e-7).fit(X, Y)
    assert_allclose(ours.predict(X), peer.predict(X), atol=1e-3)
    report = ours.tube_report(X, Y)
    assert report.n_wrong / len(X) <= 0.3 <= len(ours.support_) / len(X)
    same = SupportVectorRegressor(C=3.0, epsilon=ours.epsilon_, tol=1e-7).fit(X, Y)
    assert_allclose(same.predict(X), ours.predict(X), atol=1e-3)


def test_tube():
    machine = SupportVectorRegressor(C=2.0, epsilon=0.2, tol=1e-7).fit(X, Y)
    report = machine.tube_report(X, Y)
    sizes = np.zeros(len(X))
    sizes[machine.support_] = np.abs(machine.dual_coef_)
    assert (sizes[report.cases == "in tube"] == 0).all()
    assert_allclose(sizes[report.cases == "outside"], 2.0)
    assert report.counts()["on tube"] > 3
    square = machine.dual_coef_ @ machine.kernel_(machine.support_vectors_) @ machine.dual_coef_
    primal = 0.5 * square + 2.0 * report.soft_error
    assert primal == pytest.approx(-machine.solution_.objective, rel=1e-5)


def test_a_wide_tube_has_no_support():
    machine = SupportVectorRegressor(epsilon=100.0).fit(X, Y)
    assert len(machine.support_) == 0
    assert_allclose(machine.predict(X), machine.intercept_)


def test_weights_multiply_costs():
    weights = RNG.uniform(0, 2, size=150)
    ours = SupportVectorRegressor(tol=1e-7).fit(X, Y, weights)
    assert_allclose(ours.predict(X), SVR(tol=1e-7).fit(X, Y, weights).predict(X), atol=1e-4)


def test_refused_options():
    for options in ({"C": 0.0}, {"epsilon": -1.0}, {"nu": 0.0}):
        with pytest.raises(ValueError, match="parameter of SupportVectorRegressor"):
            SupportVectorRegressor(**options).fit(X, Y)
