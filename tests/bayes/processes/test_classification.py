"""Gaussian process classification against scikit-learn and against differences."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier as TheirClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from verulam.base import DataError
from verulam.bayes import GaussianProcessClassifier
from verulam.bayes._processes.classification import laplace_gradient, latent_mode
from verulam.kernel import Gaussian, Linear, log_hyperparameters, with_log_hyperparameters

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 2))
Y = np.where((X**2).sum(axis=1) + RNG.normal(scale=0.4, size=50) > 1.4, "out", "in")
SIGNS = np.where(Y == "out", 1.0, -1.0)
NEW = RNG.normal(scale=2.0, size=(12, 2))


def test_mode_solves_its_equation():
    """At the mode f = K grad log p(y | f)."""
    gram = (2.0 * Gaussian(0.8))(X)
    mode = latent_mode(gram, SIGNS)
    slope = SIGNS / (1 + np.exp(SIGNS * mode.values))
    np.testing.assert_allclose(mode.values, gram @ slope, atol=1e-6)
    again = latent_mode(gram, SIGNS, start=mode.dual_weights)
    assert again.log_evidence == pytest.approx(mode.log_evidence)


def test_gradient_of_the_evidence():
    kernel = 2.0 * Gaussian((0.8, 1.5)) + 0.2 * Linear()
    value, gradient, _ = laplace_gradient(kernel, X, SIGNS)
    logs = log_hyperparameters(kernel)
    for i, move in enumerate(1e-5 * np.eye(len(logs))):
        ends = [
            laplace_gradient(with_log_hyperparameters(kernel, logs + sign * move), X, SIGNS)[0]
            for sign in (-1, 1)
        ]
        assert gradient[i] == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-4, abs=1e-5)
    assert np.isfinite(value)


def test_same_evidence_and_probabilities_as_scikit_learn():
    kernel = ConstantKernel(2.0, "fixed") * RBF(0.8, "fixed")
    theirs = TheirClassifier(kernel, optimizer=None).fit(X, Y)
    ours = GaussianProcessClassifier(2.0 * Gaussian(0.8), optimise=False).fit(X, Y)
    assert ours.log_evidence_ == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-6)
    np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=2e-3)


def test_same_optimum_as_scikit_learn():
    theirs = TheirClassifier(ConstantKernel(1.0) * RBF(1.0)).fit(X, Y)
    ours = GaussianProcessClassifier(1.0 * Gaussian(1.0)).fit(X, Y)
    assert ours.log_evidence_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-3)
    assert ours.score(X, Y) > 0.85


@pytest.mark.parametrize("integral", ["closed", "quadrature", "sampling"])
def test_probabilities_are_averages(integral):
    process = GaussianProcessClassifier(2.0 * Gaussian(0.8), optimise=False, integral=integral)
    shares = process.fit(X, Y).predict_proba(NEW)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    plug_in = 1 / (1 + np.exp(-process.decision_function(NEW)))
    assert (np.abs(shares[:, 1] - 0.5) <= np.abs(plug_in - 0.5) + 0.03).all()
    # Far from all rows nothing is known.
    far = process.predict_proba([[50.0, 50.0]])[0, 1]
    assert far == pytest.approx(0.5, abs=0.03)


def test_three_classes():
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    process = GaussianProcessClassifier(2.0 * Gaussian(0.8), optimise=False).fit(X, labels)
    assert len(process.processes_) == 3
    np.testing.assert_allclose(process.predict_proba(NEW).sum(axis=1), 1.0)
    assert process.score(X, labels) > 0.9


def test_wrong_input_is_refused():
    with pytest.raises(DataError, match="max_rows is 10"):
        GaussianProcessClassifier(max_rows=10).fit(X, Y)
    with pytest.raises(DataError, match="got 1 class"):
        GaussianProcessClassifier().fit(X, np.zeros(50))
