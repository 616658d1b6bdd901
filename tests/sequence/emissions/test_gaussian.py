"""Gaussian emissions: densities against SciPy, weighted moments, floors."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from verulam.base import DataError, DataWarning
from verulam.sequence import GaussianEmission, HiddenMarkovModel
from verulam.sequence._emissions.emission_loops import to_relative
from verulam.sequence._emissions.gaussian import raise_eigenvalues

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(30, 2)) @ [[2.0, 0.5], [0.0, 1.0]] + 1e3
WEIGHTS = RANDOM.random((30, 3))
MATRICES = ("full", "tied")


@pytest.mark.parametrize("family", ["diagonal", "full", "tied", "spherical"])
def test_update_gives_the_weighted_moments(family):
    emission = GaussianEmission(family)
    blank = emission.blank(None, ROWS, 3)
    new = emission.update(blank, emission.statistics(blank, ROWS, WEIGHTS))
    totals = WEIGHTS.sum(axis=0)
    means = WEIGHTS.T @ ROWS / totals[:, None]
    assert_allclose(new.means, means)
    scatter = np.array(
        [
            ((ROWS - mean) * w[:, None]).T @ (ROWS - mean)
            for mean, w in zip(means, WEIGHTS.T, strict=True)
        ]
    )
    full = scatter / totals[:, None, None]
    expected = {
        "full": full,
        "diagonal": np.einsum("kii->ki", full),
        "spherical": np.einsum("kii->k", full) / 2,
        "tied": scatter.sum(axis=0) / totals.sum(),
    }[family]
    assert_allclose(new.covariances, expected, rtol=1e-8)
    matrices = {
        "full": full,
        "diagonal": [np.diag(row) for row in np.einsum("kii->ki", full)],
        "spherical": [value * np.eye(2) for value in np.einsum("kii->k", full) / 2],
        "tied": [expected] * 3,
    }[family]
    densities = np.column_stack(
        [
            multivariate_normal(mean, matrix).logpdf(ROWS)
            for mean, matrix in zip(means, matrices, strict=True)
        ]
    )
    assert_allclose(emission.log_likelihoods(new, ROWS), densities)


@pytest.mark.parametrize("family", ["diagonal", "full", "tied", "spherical"])
def test_floor(family):
    emission = GaussianEmission(family, variance_floor=0.1)
    blank = emission.blank(None, ROWS, 1)
    one_row = np.zeros((30, 1))
    one_row[0] = 1.0
    sums = emission.statistics(blank, ROWS, one_row)
    with pytest.warns(DataWarning, match="singular") if family in MATRICES else nullcontext():
        new = emission.update(blank, sums)
    floor = 0.1 * ROWS.var(axis=0)
    expected = {
        "diagonal": [floor],
        "full": [np.diag(floor)],
        "tied": np.diag(floor),
        "spherical": [floor.mean()],
    }[family]
    assert_allclose(new.covariances, expected, atol=1e-12)


def test_eigenvalues_are_raised_to_the_floor():
    with pytest.warns(DataWarning, match="singular"):
        raised = raise_eigenvalues(np.ones((2, 2)), np.ones(2), 0.5)
    assert_allclose(np.linalg.eigvalsh(raised), [0.5, 2.0])


def test_priors_weigh_as_many_steps():
    emission = GaussianEmission(mean_prior=5.0, covariance_prior=7.0)
    blank = emission.blank(None, ROWS, 1)
    new = emission.update(blank, emission.statistics(blank, ROWS[:4], np.ones((4, 1))))
    overall, spread = ROWS.mean(axis=0), ROWS.var(axis=0)
    mean = (5 * overall + ROWS[:4].sum(axis=0)) / 9
    squares = ((ROWS[:4] - mean) ** 2).sum(axis=0) + 5 * (mean - overall) ** 2 + 7 * spread
    assert_allclose(new.means[0], mean)
    assert_allclose(new.covariances[0], squares / 11)


def test_samples_have_the_moments():
    emission = GaussianEmission("full")
    blank = emission.blank(None, ROWS, 1)
    new = emission.update(blank, emission.statistics(blank, ROWS, np.ones((30, 1))))
    drawn = emission.sample(new, np.zeros(20_000, dtype=int), np.random.default_rng(0))
    assert_allclose(drawn.mean(axis=0), new.means[0], atol=0.06)
    assert_allclose(np.cov(drawn.T), new.covariances[0], atol=0.15)


def test_relative_numbers_are_exponentials():
    values = -np.concatenate([[0.0, 1e-12, 0.3, 1.0, 700.0], RANDOM.exponential(60.0, size=500)])
    table = np.column_stack([np.zeros_like(values), values])
    table[0] = -np.inf
    expected, peaks = np.exp(table), np.empty(len(table))
    to_relative(table, peaks)
    assert_allclose(table, expected, rtol=4e-16)
    assert not peaks.any()


@pytest.mark.parametrize(
    ("family", "covariances", "message"),
    [
        ("diagonal", [[-1.0], [1.0]], "above zero"),
        ("full", [[[1.0, 2.0], [0.0, 1.0]]] * 2, "symmetric"),
        ("tied", [[1.0, 2.0], [2.0, 1.0]], "eigenvalues above zero"),
        ("diagonal", [[np.nan], [1.0]], "missing or infinite"),
    ],
)
def test_covariances_are_checked(family, covariances, message):
    means = np.zeros((2, 2 if family in MATRICES else 1))
    emission = GaussianEmission(family, means=means, covariances=covariances)
    with pytest.raises(DataError, match=message):
        HiddenMarkovModel.from_parameters([0.5, 0.5], np.eye(2), emission, means.shape[1])


@pytest.mark.parametrize("name", ["variance_floor", "mean_prior", "covariance_prior"])
def test_amounts_below_zero_are_refused(name):
    with pytest.raises(DataError, match=f"{name} of GaussianEmission must be"):
        GaussianEmission(**{name: -1.0})
