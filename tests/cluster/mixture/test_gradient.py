"""The error of a mixture: its gradient against differences, and descent to where EM goes."""

from dataclasses import replace

import numpy as np
import pytest

from verulam.base import DataError
from verulam.cluster import (
    COVARIANCE_TYPES,
    Components,
    GaussianMixture,
    MixtureDescent,
    MixtureGradient,
    descend_mixture,
    mixture_gradient,
)


def rows(n_rows=80, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n_rows, 2)) * [1.0, 2.0] + random.choice([0.0, 5.0], (n_rows, 1))


def off_centre(kind):
    """Return a mixture where no derivative vanishes."""
    means = np.array([[0.5, 0.0], [4.0, 6.0]])
    matrix = np.array([[1.5, 0.4], [0.4, 3.0]])
    covariances = {
        "full": np.array([matrix, 2 * matrix]),
        "tied": matrix,
        "diag": np.array([[1.0, 2.0], [3.0, 1.5]]),
        "tied_diag": np.array([1.0, 2.0]),
        "spherical": np.array([2.0, 1.0]),
        "tied_spherical": np.array(2.0),
    }[kind]
    return Components(np.array([0.3, 0.7]), means, covariances, kind)


def softmax(logits):
    shares = np.exp(logits - logits.max())
    return shares / shares.sum()


def differences(X, components, name, weights=None, step=1e-5):
    """Return the derivatives by central differences."""
    logits = np.log(components.weights)
    start = logits if name == "logits" else getattr(components, name)
    result = np.empty(start.shape)
    for place in np.ndindex(start.shape):
        values = []
        for sign in (1, -1):
            moved = start.copy()
            moved[place] += sign * step
            if name == "covariances" and components.covariance_type in ("full", "tied"):
                # Both halves move, and the gradient counts them one by one.
                mirror = (*place[:-2], place[-1], place[-2])
                moved[mirror] = moved[place]
            changed = {"weights": softmax(moved)} if name == "logits" else {name: moved}
            values.append(mixture_gradient(X, replace(components, **changed), weights).error)
        result[place] = (values[0] - values[1]) / (2 * step)
    if name == "covariances" and components.covariance_type in ("full", "tied"):
        result[..., [0, 1], [1, 0]] /= 2
    return result


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_gradient_agrees_with_differences(kind):
    X, weights = rows(), np.random.default_rng(1).random(80)
    components = off_centre(kind)
    gradient = mixture_gradient(X, components, weights)
    assert isinstance(gradient, MixtureGradient)
    for name in ("logits", "means", "covariances"):
        np.testing.assert_allclose(
            getattr(gradient, name), differences(X, components, name, weights), rtol=1e-4, atol=1e-4
        )
    assert gradient.logits.sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_error_is_minus_the_log_likelihood_and_vanishes_where_em_ends(kind):
    X = rows()
    mixture = GaussianMixture(
        2, covariance_type=kind, tol=1e-13, max_iter=5000, random_state=0
    ).fit(X)
    gradient = mixture_gradient(X, mixture.components_)
    assert gradient.error == pytest.approx(-mixture.score(X))
    for name in ("logits", "means", "covariances"):
        assert np.abs(getattr(gradient, name)).max() < 1e-3


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_direct_descent_ends_where_em_does(kind):
    X = rows(150, seed=3)
    start = off_centre(kind)
    descent = descend_mixture(X, start)
    assert isinstance(descent, MixtureDescent)
    assert descent.converged
    assert descent.n_iter > 1
    precisions = (
        np.linalg.inv(start.covariances) if kind in ("full", "tied") else 1 / start.covariances
    )
    mixture = GaussianMixture(
        2, covariance_type=kind, weights_init=start.weights, means_init=start.means,
        precisions_init=precisions, tol=1e-12, max_iter=5000,
    ).fit(X)  # fmt: skip
    assert descent.error == pytest.approx(-mixture.score(X), abs=1e-3)
    order = np.argsort(-descent.components.weights)
    np.testing.assert_allclose(descent.components.means[order], mixture.means_, atol=5e-3)
    assert descent.components.weights.sum() == pytest.approx(1.0)
    assert np.linalg.eigvalsh(descent.components.matrices()).min() > 0


def test_descent_may_be_cut_short():
    descent = descend_mixture(rows(), off_centre("full"), max_iter=1)
    assert not descent.converged


def test_columns_must_be_those_of_the_means():
    with pytest.raises(DataError, match="expected 2 columns"):
        mixture_gradient(np.ones((3, 5)), off_centre("full"))
