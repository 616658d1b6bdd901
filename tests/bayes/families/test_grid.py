"""Posteriors by sums over values and over grids, and the catalogue of priors."""

import numpy as np
import pytest
from scipy import stats

from verulam.base import DataError
from verulam.bayes import (
    BetaBernoulli,
    GaussianMean,
    GaussianPrecision,
    GridPosterior,
    Normal,
    StudentT,
    grid_posterior,
    prior,
)

FLIPS = np.array([1, 1, 0, 1, 1, 0, 1])
GRID = np.linspace(0.0005, 0.9995, 2000)


def log_likelihood(q):
    return 5 * np.log(q) + 2 * np.log(1 - q)


def test_grid_equals_the_conjugate_posterior():
    posterior = grid_posterior(GRID, log_likelihood, BetaBernoulli(2.0, 3.0).distribution)
    closed = BetaBernoulli(2.0, 3.0).posterior(FLIPS)
    assert isinstance(posterior, GridPosterior)
    assert posterior.probabilities.sum() == pytest.approx(1.0)
    assert np.trapezoid(posterior.density, GRID) == pytest.approx(1.0)
    assert posterior.mean == pytest.approx(closed.mean, abs=1e-4)
    assert posterior.mode == pytest.approx(closed.mode, abs=1e-3)
    assert posterior.variance == pytest.approx(closed.distribution.variance, rel=1e-3)
    assert posterior.log_evidence == pytest.approx(
        BetaBernoulli(2.0, 3.0).log_evidence(FLIPS), abs=1e-3
    )
    # The predictive by quadrature: the mean of the likelihood of a one.
    assert posterior.average(lambda q: q) == pytest.approx(closed.predictive.mean, abs=1e-4)
    assert posterior.sample(4000, random_state=0).mean() == pytest.approx(closed.mean, abs=0.02)


def test_a_flat_prior_makes_map_the_maximum_likelihood():
    posterior = grid_posterior(GRID, log_likelihood)
    assert posterior.mode == posterior.most_likely == pytest.approx(5 / 7, abs=1e-3)
    informed = grid_posterior(GRID, log_likelihood, BetaBernoulli(2.0, 9.0).distribution)
    assert informed.mode < informed.most_likely


def test_values_of_a_discrete_parameter():
    """Three hypotheses with given priors: Bayes' rule by hand."""
    values, before = np.array([0.2, 0.5, 0.8]), np.array([0.5, 0.3, 0.2])
    posterior = grid_posterior(values, log_likelihood, np.log(before), continuous=False)
    joint = before * values**5 * (1 - values) ** 2
    np.testing.assert_allclose(posterior.probabilities, joint / joint.sum())
    assert posterior.log_evidence == pytest.approx(np.log(joint.sum()))
    np.testing.assert_array_equal(posterior.volumes, 1.0)


def test_sequential_updates_equal_one_update():
    first = grid_posterior(GRID, lambda q: 3 * np.log(q), BetaBernoulli(2.0, 3.0).distribution)
    second = first.update(lambda q: 2 * np.log(q) + 2 * np.log(1 - q))
    whole = grid_posterior(GRID, log_likelihood, BetaBernoulli(2.0, 3.0).distribution)
    np.testing.assert_allclose(second.probabilities, whole.probabilities)
    assert first.log_evidence + second.log_evidence == pytest.approx(whole.log_evidence)


def test_grid_of_two_parameters():
    axis = np.linspace(-4, 4, 81)
    points = np.array([[a, b] for a in axis for b in axis])
    posterior = grid_posterior(
        points, lambda rows: stats.multivariate_normal([1.0, -0.5], np.eye(2)).logpdf(rows)
    )
    np.testing.assert_allclose(posterior.mean, [1.0, -0.5], atol=0.02)
    np.testing.assert_allclose(posterior.mode, [1.0, -0.5])


def test_a_heavy_tailed_prior_gives_way_to_data():
    """Belief near 0, data near 10: Student's t lets go, the Gaussian does not."""
    grid = np.linspace(-20, 30, 4001)
    data = np.full(4, 10.0)

    def likelihood(mean):
        return stats.norm.logpdf(data[:, None], mean).sum(axis=0)

    gaussian = grid_posterior(grid, likelihood, Normal(0.0, 1.0))
    heavy = grid_posterior(grid, likelihood, prior("mean", "heavy-tailed", df=2.0))
    assert gaussian.mean == pytest.approx(8.0, abs=0.01)
    assert heavy.mean > 9.8


def test_the_catalogue_of_priors():
    assert prior("probability", "uniform") == BetaBernoulli(1.0, 1.0)
    assert prior("probability", "jeffreys") == BetaBernoulli(0.5, 0.5)
    assert prior("probability", "informative", a=3.0, b=2.0) == BetaBernoulli(3.0, 2.0)
    assert prior("mean", "uniform", noise_variance=2.0) == GaussianMean(0.0, np.inf, 2.0)
    assert prior("mean", "jeffreys") == GaussianMean.jeffreys()
    assert prior("mean", "informative", prior_mean=2.0).mean == 2.0
    assert prior("mean", "heavy-tailed", df=1.0) == StudentT(1.0)
    assert prior("precision", "jeffreys") == GaussianPrecision(0.0, 0.0)
    assert prior("precision", "informative", shape=2.0) == GaussianPrecision(2.0, 1.0)
    with pytest.raises(DataError, match="parameter must be 'probability', 'mean', 'precision'"):
        prior("variance", "uniform")
    with pytest.raises(DataError, match="kind of prior of a precision must be"):
        prior("precision", "uniform")


def test_jeffreys_density_follows_the_information():
    """The root of Fisher's information of Bernoulli, q^-1/2 (1 - q)^-1/2."""
    ratio = prior("probability", "jeffreys").distribution.density(GRID) * np.sqrt(GRID * (1 - GRID))
    np.testing.assert_allclose(ratio, ratio[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.3], [0.0]), "two values or more"),
        (([0.3, 0.2], [0.0, 0.0]), "increasing order"),
        (([0.2, 0.3], [0.0]), "log_likelihood must have a number for each of the 2 points"),
        (([0.2, 0.3], [-np.inf, -np.inf]), "zero at every point"),
    ],
)
def test_wrong_grids_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        grid_posterior(*arguments)


def test_settings_that_a_prior_does_not_have():
    with pytest.raises(DataError, match=r"heavy-tailed prior of a mean .* df, location.*; got dof"):
        prior("mean", "heavy-tailed", dof=3.0)
    with pytest.raises(DataError, match="uniform prior of a probability takes no settings; got a"):
        prior("probability", "uniform", a=2.0)
