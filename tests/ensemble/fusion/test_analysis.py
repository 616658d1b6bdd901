"""Bias, variance and covariance; weights; posteriors of models; effective members."""

import numpy as np
import pytest
from scipy.optimize import minimize

from verulam.base import DataError
from verulam.ensemble import (
    CommitteeErrors,
    MemberOutputs,
    VarianceAnalysis,
    committee_errors,
    covariance_weights,
    effective_members,
    model_posterior,
    sample_models,
    variance_analysis,
)

RANDOM = np.random.default_rng(3)
TARGETS = RANDOM.normal(size=200)
SHARED = RANDOM.normal(size=200)
OUTPUTS = np.stack(
    [TARGETS + bias + 0.5 * SHARED + RANDOM.normal(scale=scale, size=200)
     for bias, scale in ((0.2, 0.5), (-0.1, 1.0), (0.0, 1.5))]
)  # fmt: skip


def test_the_parts_of_the_variance_add_up_exactly():
    parts = variance_analysis(OUTPUTS, TARGETS, names=["a", "b", "c"])
    assert isinstance(parts, VarianceAnalysis)
    error = OUTPUTS.mean(axis=0) - TARGETS
    covariances = np.cov(OUTPUTS - TARGETS, bias=True)
    pairs = sum(covariances[i, j] for j in range(3) for i in range(j))
    assert parts.variance == pytest.approx((np.trace(covariances) + 2 * pairs) / 9, rel=1e-12)
    assert parts.variance_part == pytest.approx(np.trace(covariances) / 9, rel=1e-12)
    assert parts.covariance_part == pytest.approx(2 * pairs / 9, rel=1e-12)
    assert parts.variance == pytest.approx(error.var(), rel=1e-12)
    assert parts.mean_squared_error == pytest.approx(np.mean(error**2), rel=1e-12)
    assert parts.bias == pytest.approx((OUTPUTS - TARGETS).mean())
    assert parts.to_frame().loc["b", "variance"] == pytest.approx(covariances[1, 1])
    assert parts.to_frame().loc["a", "covariance"] == pytest.approx(covariances[0, 1:].mean())


def test_independent_members_divide_the_variance_and_opposite_ones_cancel_it():
    noise = np.random.default_rng(0).normal(size=(10, 20_000))
    parts = variance_analysis(noise, np.zeros(20_000))
    assert parts.variance == pytest.approx(0.1, rel=0.05)
    opposite = variance_analysis(np.stack([noise[0], -noise[0]]), np.zeros(20_000))
    assert opposite.variance == pytest.approx(0)
    assert opposite.covariance_part < 0


def test_classes_are_compared_as_indicators():
    values = np.array([[[0.9, 0.1], [0.4, 0.6]]])
    said = MemberOutputs(values, ("m",), np.array(["n", "y"]))
    parts = variance_analysis(said, ["n", "n"])
    assert parts.mean_squared_error == pytest.approx(np.mean([0.01, 0.01, 0.36, 0.36]))
    with pytest.raises(DataError, match="labels other than"):
        variance_analysis(said, ["n", "maybe"])
    with pytest.raises(DataError, match="targets have 3 numbers"):
        variance_analysis(OUTPUTS, [1.0, 2.0, 3.0])


def test_a_committee_beats_the_average_and_the_weighted_one_beats_both():
    report = committee_errors(OUTPUTS, TARGETS)
    assert isinstance(report, CommitteeErrors)
    errors = OUTPUTS - TARGETS
    assert report.average == pytest.approx((errors**2).mean())
    assert report.committee == pytest.approx((errors.mean(axis=0) ** 2).mean())
    assert report.weighted == pytest.approx(((report.weights @ errors) ** 2).mean())
    assert report.weighted < report.committee < report.average
    assert report.weights.sum() == pytest.approx(1)
    assert np.allclose(report.single, (errors**2).mean(axis=1))


def test_uncorrelated_errors_make_a_committee_many_times_better():
    orthogonal = np.array([[1.0, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    report = committee_errors(orthogonal, np.zeros(4))
    assert report.committee == pytest.approx(report.average / 3)


def test_covariance_weights_are_the_inverse_and_minimise():
    products = np.cov(OUTPUTS - TARGETS, bias=True)
    direct = np.linalg.solve(products, np.ones(3))
    assert np.allclose(covariance_weights(products), direct / direct.sum())
    search = minimize(
        lambda w: np.r_[w, 1 - w.sum()] @ products @ np.r_[w, 1 - w.sum()], [0.3, 0.3], tol=1e-12
    )
    assert np.allclose(covariance_weights(products)[:2], search.x, atol=1e-4)


def test_unanimous_members_share_their_weight():
    assert np.allclose(covariance_weights(np.ones((4, 4))), 0.25)
    assert np.allclose(covariance_weights(np.zeros((2, 2))), 0.5)
    pair = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert np.allclose(covariance_weights(pair), [0.25, 0.25, 0.5])
    with pytest.raises(DataError, match="square matrix"):
        covariance_weights([1.0, 2.0])


def test_posteriors_of_models():
    assert np.allclose(model_posterior([-5.0, -5.0]), 0.5)
    odds = model_posterior(np.log([0.2, 0.6]), prior=[3.0, 1.0])
    assert np.allclose(odds, 0.5)
    simple = model_posterior([-10.0, -10.0], complexity=[2, 8])
    assert simple[0] / simple[1] == pytest.approx(np.exp(6))
    assert model_posterior([0.0, 0.0], prior=[1.0, 0.0]).tolist() == [1.0, 0.0]
    for bad, message in ((([],), "one number or more"), (([0.0, np.nan],), "finite numbers")):
        with pytest.raises(DataError, match=message):
            model_posterior(*bad)
    with pytest.raises(DataError, match="prior must be 2"):
        model_posterior([0.0, 0.0], prior=[1.0])


def test_sampled_models_are_those_of_the_posterior():
    shares = sample_models([0.1, 0.9], 20_000, random_state=0)
    assert shares.sum() == 1
    assert shares[1] == pytest.approx(0.9, abs=0.01)
    for posterior, count, message in (([0.5, 0.6], 3, "sum to 1"), ([1.0], 0, "count=0")):
        with pytest.raises(DataError, match=message):
            sample_models(posterior, count)


def test_effective_members_of_equal_correlation():
    for n_members, rho in ((5, 0.0), (5, 0.3), (4, 1.0)):
        matrix = np.full((n_members, n_members), rho)
        np.fill_diagonal(matrix, 1.0)
        assert effective_members(matrix) == pytest.approx(n_members / (1 + (n_members - 1) * rho))
    assert effective_members([[1.0, -1.0], [-1.0, 1.0]]) == np.inf
    with pytest.raises(DataError, match="square"):
        effective_members([1.0])
