"""Mixture emissions: densities by hand, sharing out, the codebook."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from verulam.base import DataError
from verulam.sequence import GaussianEmission, MixtureEmission
from verulam.sequence._emissions.mixture import MixtureStates

MEANS = np.array([[0.0], [1.0], [2.0], [5.0]])
ROWS = np.random.default_rng(0).normal(2.0, 2.0, size=(20, 1))


@pytest.mark.parametrize("codebook", [False, True])
def test_density_is_the_sum_over_components(codebook):
    means = MEANS[:2] if codebook else MEANS
    emission = MixtureEmission(
        2,
        codebook=codebook,
        gaussian=GaussianEmission(means=means, covariances=np.ones_like(means)),
        weights=[[0.3, 0.7], [0.9, 0.1]],
    )
    parameters = emission.with_start_values(emission.blank(None, ROWS, 2))
    places = [[0, 1], [0, 1]] if codebook else [[0, 1], [2, 3]]
    expected = np.column_stack(
        [
            sum(
                share * norm(means[place, 0], 1.0).pdf(ROWS[:, 0])
                for share, place in zip(shares, components, strict=True)
            )
            for shares, components in zip(parameters.weights, places, strict=True)
        ]
    )
    assert_allclose(np.exp(emission.log_likelihoods(parameters, ROWS)), expected)
    # Emissions depend on the state, which the printed formula leaves out.
    assert not np.allclose(expected[:, 0], expected[:, 1])
    weights = np.random.default_rng(1).random((20, 2))
    sums = emission.statistics(parameters, ROWS, weights)
    assert_allclose(sums.uses.sum(axis=1), weights.sum(axis=0))
    assert_allclose(sums.components.weight.sum(), weights.sum())


def test_single_components_are_gaussians():
    gaussian = GaussianEmission(means=MEANS[:2], covariances=np.ones((2, 1)))
    mixture = MixtureEmission(1, gaussian=gaussian, weights=[[1.0], [1.0]])
    blank = gaussian.with_start_values(gaussian.blank(None, ROWS, 2))
    parameters = mixture.with_start_values(mixture.blank(None, ROWS, 2))
    assert_allclose(
        mixture.log_likelihoods(parameters, ROWS), gaussian.log_likelihoods(blank, ROWS)
    )
    assert_allclose(mixture.expected(parameters), gaussian.expected(blank))


@pytest.mark.parametrize("prior", [0.0, 3.0])
@pytest.mark.parametrize("codebook", [False, True])
def test_update_is_made_of_soft_counts(codebook, prior):
    random = np.random.default_rng(5)
    values, gamma = random.normal(size=(30, 1)), random.dirichlet(np.ones(2), 30)
    emission = MixtureEmission(2, codebook=codebook, prior=prior)
    shares = np.array([[0.3, 0.7], [0.6, 0.4]])
    means = np.array([[-1.0], [1.0]]) if codebook else np.array([[-1.0], [1.0], [0.0], [2.0]])
    blank = emission.blank(emission.survey(values), values, 2)
    components = dataclasses.replace(
        blank.components, means=means, covariances=np.full_like(means, 0.8)
    )
    old = MixtureStates(shares, components)
    new = emission.update(old, emission.statistics(old, values, gamma))
    densities = np.exp(-((values - means.ravel()) ** 2) / 1.6)
    joint = shares * (densities[:, None] if codebook else densities.reshape(30, 2, 2))
    soft = gamma[:, :, None] * joint / joint.sum(axis=2, keepdims=True)
    counts = soft.sum(axis=0)
    expected = (counts + prior) / (counts.sum(axis=1, keepdims=True) + 2 * prior)
    assert_allclose(new.weights, expected)
    moments = np.einsum("tkl,td->kl", soft, values)
    if codebook:
        assert_allclose(new.components.means.ravel(), moments.sum(axis=0) / counts.sum(axis=0))
    else:
        assert_allclose(new.components.means.ravel(), (moments / counts).ravel())


def test_at_least_one_component():
    with pytest.raises(DataError, match="n_components of MixtureEmission must be a whole number"):
        MixtureEmission(0)
