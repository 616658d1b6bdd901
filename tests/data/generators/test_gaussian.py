"""Gaussian classes: density, posterior, Bayes error and samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal, norm

from verulam.data import BayesError, GaussianClasses, gaussian_classes
from verulam.data._generators.gaussian import envelope_mass, quadrature_nodes

COVARIANCES = [[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.3], [-0.3, 0.5]], [[0.5, 0.0], [0.0, 3.0]]]


@pytest.fixture
def truth():
    return GaussianClasses.of([[0, 0], [2, 1], [-1, 2]], COVARIANCES, [0.5, 0.3, 0.2])


def test_density_and_posterior_match_scipy(truth):
    points = np.random.default_rng(0).normal(size=(20, 2))
    joint = np.stack(
        [
            prior * multivariate_normal(mean, covariance).pdf(points)
            for prior, mean, covariance in zip(
                truth.priors, truth.means, truth.covariances, strict=True
            )
        ],
        axis=1,
    )
    assert_allclose(truth.density(points), joint.sum(axis=1))
    assert_allclose(truth.posterior(points), joint / joint.sum(axis=1, keepdims=True))
    assert_array_equal(truth.predict(points), joint.argmax(axis=1))


@pytest.mark.parametrize("distance", [0.5, 2.0, 5.0])
def test_equal_normals_have_the_error_of_the_text(distance):
    # Bartkowiak 2: half the distance beyond the middle; 0.158655 at a distance of 2.
    error = GaussianClasses.of([0.0, distance], 1.0).bayes_error()
    assert_allclose(error.value, norm.sf(distance / 2), rtol=1e-12)
    assert error.method == "exact"


def test_unequal_variances_match_integration():
    truth = GaussianClasses.of([0.0, 0.5, 3.0], [1.0, 9.0, 0.2], [0.2, 0.5, 0.3])
    grid = np.linspace(-60, 60, 2_000_001)
    envelope = np.exp(truth.log_joint(grid[:, None])).max(axis=1)
    assert_allclose(truth.bayes_error().value, 1 - np.trapezoid(envelope, grid), atol=1e-9)


def test_plane_with_spherical_classes_is_one_dimensional():
    truth = GaussianClasses.of([[0, 0], [3, 4]], 4.0)
    error = truth.bayes_error()
    assert_allclose(error.value, norm.sf(5 / 2 / 2), atol=1e-9)
    assert error.method == "quadrature"


def test_plane_matches_a_grid(truth):
    axis = np.linspace(-12, 12, 1201)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    cell = (axis[1] - axis[0]) ** 2
    expected = 1 - np.exp(truth.log_joint(grid)).max(axis=1).sum() * cell
    assert_allclose(truth.bayes_error().value, expected, atol=1e-5)


def test_more_dimensions_by_monte_carlo():
    truth = GaussianClasses.of([[0] * 4, [1] * 4], 1.0)
    error = truth.bayes_error(n_samples=50_000)
    assert error.method == "Monte Carlo"
    assert error.standard_error > 0
    assert abs(error.value - norm.sf(1.0)) < 5 * error.standard_error


def test_no_rule_beats_the_bayes_rule(truth):
    data = truth.sample(20_000, random_state=1)
    labels = np.array([int(label[1:]) - 1 for label in data.target_values])
    error = (truth.predict(data.inputs) != labels).mean()
    spread = np.sqrt(error * (1 - error) / len(labels))
    assert abs(error - truth.bayes_error().value) < 4 * spread


def test_sample_has_the_moments(truth):
    data = truth.sample(30_000, random_state=0)
    first = data.inputs[data.target_values == "C1"].to_numpy()
    assert_allclose(first.mean(axis=0), truth.means[0], atol=0.05)
    assert_allclose(np.cov(first.T), truth.covariances[0], atol=0.08)
    shares = data.target_values.value_counts(normalize=True).sort_index()
    assert_allclose(shares, truth.priors, atol=0.01)


def test_a_class_without_a_prior_never_wins():
    truth = GaussianClasses.of([0.0, 2.0, 1.0], 1.0, [0.5, 0.5, 0.0])
    assert_allclose(truth.bayes_error().value, norm.sf(1.0), rtol=1e-12)
    assert_allclose(truth.posterior([[1.0]]), [[0.5, 0.5, 0.0]])


def test_same_seed_same_sample():
    one, two = (gaussian_classes(n=10, random_state=3) for _ in range(2))
    assert one.content_hash == two.content_hash
    assert one.content_hash != gaussian_classes(n=10, random_state=4).content_hash


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0]],), r"means has shape \(1, 2\); expected a row for each class"),
        (([0, 1], -1.0), "positive definite"),
        (([[0, 0], [1, 1]], np.ones((3, 2, 2))), r"covariances has shape \(3, 2, 2\); expected"),
        (([0, 1], 1.0, [0.5, 0.6]), r"priors=\[0.5, 0.6\]; expected 2 probabilities"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        GaussianClasses.of(*arguments)


@pytest.mark.parametrize("seed", range(5))
def test_matches_integration(seed):
    random = np.random.default_rng(seed)
    heights = random.uniform(0.1, 1, size=(3, 4))
    means = random.normal(scale=2, size=(3, 4))
    deviations = random.uniform(0.3, 2, size=4)
    grid = np.linspace(-40, 40, 400_001)[:, None]
    expected = [
        np.trapezoid((height * norm.pdf(grid, mean, deviations)).max(axis=1), grid[:, 0])
        for height, mean in zip(heights, means, strict=True)
    ]
    assert_allclose(envelope_mass(heights, means, deviations), expected, atol=1e-7)


def test_one_inside_of_the_other():
    # The wide one is the larger on both sides of the narrow one.
    mass = envelope_mass(np.array([[1.0, 1.0]]), np.array([[0.0, 0.0]]), np.array([1.0, 3.0]))
    cut = np.sqrt(2 * np.log(3) / (1 - 1 / 9))
    expected = 1 - 2 * norm.sf(cut) + 2 * norm.sf(cut / 3)
    assert_allclose(mass, expected, rtol=1e-12)


def test_densities_that_never_cross():
    mass = envelope_mass(np.array([[0.1, 1.0]]), np.array([[0.0, 0.0]]), np.array([1.0, 1.0]))
    assert_allclose(mass, 1.0)


def test_nodes_integrate_polynomials_and_normals():
    nodes, weights = quadrature_nodes(np.array([0.0, 3.0]), np.array([1.0, 0.5]))
    assert_allclose(weights @ norm.pdf(nodes, 3.0, 0.5), 1.0, rtol=1e-12)


def test_the_record_of_the_bayes_error():
    error = GaussianClasses.of([0.0, 2.0]).bayes_error()
    assert error == BayesError(pytest.approx(norm.sf(1.0)), 0.0, "exact")
