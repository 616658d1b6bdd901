"""Gaussian process regression against its formulas, scikit-learn and refits."""

import pickle

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor as TheirRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_info, threadpool_limits

from verulam.base import DataError
from verulam.bayes import (
    BayesianLinearRegression,
    GaussianProcessRegressor,
    LeaveOneOut,
    sample_prior,
)
from verulam.bayes._processes.exact import few_threads
from verulam.kernel import Gaussian, Linear, Polynomial, mercer_check, polynomial_features

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 6, size=(30, 2))
Y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + RNG.normal(scale=0.1, size=30)
NEW = RNG.uniform(-1, 7, size=(8, 2))


def fixed(kernel, noise=0.04, **options):
    return GaussianProcessRegressor(
        kernel, noise_variance=noise, optimise=False, normalize_y=False, **options
    )


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(2), Gaussian(0.5), 2.0 * Gaussian((1.0, 3.0)) + 0.1 * Linear()],
    ids=["linear", "polynomial", "gaussian", "sum"],
)
def test_mean_and_variance_by_the_text(kernel):
    """Mean k' C^-1 r, variance K(x, x) + 1/beta - k' C^-1 k."""
    process = fixed(kernel).fit(X, Y)
    inverse = np.linalg.inv(kernel(X) + 0.04 * np.eye(30))
    k = kernel(NEW, X)
    mean, std = process.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, k @ inverse @ Y, atol=1e-8)
    np.testing.assert_allclose(process.predict(NEW), mean, atol=1e-10)
    variance = np.diag(kernel(NEW)) + 0.04 - np.einsum("ij,jk,ik->i", k, inverse, k)
    np.testing.assert_allclose(std**2, variance, rtol=1e-4)
    np.testing.assert_allclose(process.dual_coef_, inverse @ Y, atol=1e-7)
    # Smoother weights of the targets, and the joint Gaussian of N + 1 targets.
    weights = process.equivalent_kernel(NEW)
    np.testing.assert_allclose(weights @ Y, mean, atol=1e-8)
    whole = kernel(np.vstack([X, NEW[:1]])) + 0.04 * np.eye(31)
    conditional = whole[30, 30] - whole[30, :30] @ np.linalg.solve(whole[:30, :30], whole[:30, 30])
    assert std[0] ** 2 == pytest.approx(conditional)


def test_linear_kernel_is_bayesian_linear_regression():
    alpha, beta = 0.5, 20.0
    process = fixed((1 / alpha) * Linear(), 1 / beta).fit(X, Y)
    line = BayesianLinearRegression(
        prior_precision=alpha, noise_precision=beta, fit_intercept=False
    ).fit(X, Y)
    np.testing.assert_allclose(
        process.predict(NEW, return_std=True), line.predict(NEW, return_std=True), rtol=1e-8
    )
    assert process.log_evidence_ == pytest.approx(line.log_evidence_)


def test_polynomial_kernel_is_regression_on_its_features():
    process = fixed(Polynomial(2), 0.05).fit(X, Y)
    line = BayesianLinearRegression(
        prior_precision=1.0, noise_precision=20.0, fit_intercept=False, basis=polynomial_features
    ).fit(X, Y)
    np.testing.assert_allclose(process.predict(NEW), line.predict(NEW), atol=1e-6)


def test_width_of_the_text_is_the_root_of_half_its_square():
    """Figures 16.10 and 16.11 have exp(-d^2 / s^2) with s^2 = .5; ours is exp(-d^2 / 2 s^2)."""
    s2 = 0.5
    ours = Gaussian(np.sqrt(s2 / 2))([[0.0]], [[0.7]])
    assert ours[0, 0] == pytest.approx(np.exp(-(0.7**2) / s2))
    theirs = RBF(length_scale=np.sqrt(s2 / 2))(np.array([[0.0]]), np.array([[0.7]]))
    assert ours[0, 0] == pytest.approx(theirs[0, 0])


def test_same_optimum_as_scikit_learn():
    ours = GaussianProcessRegressor(1.0 * Gaussian((1.0, 1.0)), normalize_y=False).fit(X, Y)
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.0]) + WhiteKernel(0.1)
    theirs = TheirRegressor(kernel, alpha=0.0).fit(X, Y)
    assert ours.log_evidence_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-4)
    mean, std = theirs.predict(NEW, return_std=True)
    ours_mean, ours_std = ours.predict(NEW, return_std=True)
    np.testing.assert_allclose(ours_mean, mean, atol=1e-2)
    # Theirs count four parameters as known, and no mean.
    assert ours.noise_degrees_ == 25.0
    np.testing.assert_allclose(ours_std, std * np.sqrt(30 / 25 * 25 / 23), rtol=1e-2)


def test_normalised_targets_have_the_evidence_of_the_targets_themselves():
    ours = GaussianProcessRegressor(optimise=False, noise_variance=0.02).fit(X, 100 + 5 * Y)
    scaled = ours.scale_**2 * ours.kernel_
    same = fixed(scaled, 0.02).fit(X, 100 + 5 * Y - ours.mean_)
    assert ours.log_evidence_ == pytest.approx(same.log_evidence_)
    np.testing.assert_allclose(ours.predict(NEW), same.predict(NEW) + ours.mean_)
    assert ours.noise_variance_ == pytest.approx(0.02)


def test_evidence_falls_away_from_its_maximum():
    best = GaussianProcessRegressor().fit(X, Y)
    for factor in (0.8, 1.25):
        other = GaussianProcessRegressor(
            best.kernel_, noise_variance=factor * best.noise_variance_, optimise=False
        ).fit(X, Y)
        assert other.log_evidence_ < best.log_evidence_
        wider = Gaussian(factor * best.kernel_.kernel.width) * best.kernel_.factor
        other = GaussianProcessRegressor(
            wider, noise_variance=best.noise_variance_, optimise=False
        ).fit(X, Y)
        assert other.log_evidence_ < best.log_evidence_


def test_wider_kernels_are_smoother():
    """Exercise 5: second differences of the mean shrink as the width grows."""
    grid = np.linspace(0, 6, 200)[:, None]
    rough = [
        np.abs(np.diff(fixed(Gaussian(width)).fit(X[:, :1], Y).predict(grid), 2)).max()
        for width in (0.1, 0.5, 3.0)
    ]
    assert rough[0] > rough[1] > rough[2]


def test_leave_one_out_equals_refits():
    process = GaussianProcessRegressor().fit(X, Y)
    result = process.leave_one_out()
    assert isinstance(result, LeaveOneOut)
    for row in (0, 7, 29):
        rest = np.delete(np.arange(30), row)
        other = process.refit_rows(rest)
        predictions = other.predict_distribution(X[row : row + 1])
        assert result.mean[row] == pytest.approx(predictions.mean[0], rel=1e-8)
        assert result.log_density[row] == pytest.approx(predictions.log_density(Y[row])[0])
        assert result.variance[row] == pytest.approx(predictions.variance[0], rel=1e-8)
        assert result.log_density[row] == pytest.approx(
            predictions.log_density(Y[row : row + 1])[0], rel=1e-8
        )
    with pytest.raises(DataError, match="positions of one training row or more"):
        process.refit_rows([])


def test_functions_of_the_prior_have_the_kernel_as_covariance():
    rows = np.array([[0.0], [0.5], [3.0]])
    draws = sample_prior(2.0 * Gaussian(1.0), rows, n=20_000, random_state=0)
    np.testing.assert_allclose(np.cov(draws.T), (2.0 * Gaussian(1.0))(rows), atol=0.06)
    # With weights of precision alpha, functions phi'w have the covariance phi phi' / alpha.
    linear = sample_prior((1 / 4.0) * Linear(), rows + 1.0, n=20_000, random_state=0)
    np.testing.assert_allclose(np.cov(linear.T), (rows + 1) @ (rows + 1).T / 4.0, rtol=0.05)
    with pytest.raises(DataError, match="X must be a table"):
        sample_prior("gaussian", [1.0, 2.0])


def test_functions_of_the_posterior():
    process = GaussianProcessRegressor().fit(X, Y)
    draws = process.sample_functions(NEW, 8000, random_state=0)
    mean, std = process.predict(NEW, return_std=True)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.04)
    np.testing.assert_allclose(
        draws.var(axis=0) + process.noise_variance_, std**2, rtol=0.1, atol=1e-3
    )


def waves(n_sets):
    """Return for waves of 12 rows with noise what intervals cover, and mean log-densities."""
    rng = np.random.default_rng(0)
    inside, heights = [], []
    for _ in range(n_sets):
        rows = rng.uniform(0, 6, size=(32, 1))
        targets = np.sin(rows[:, 0]) + rng.normal(scale=0.3, size=32)
        process = GaussianProcessRegressor().fit(rows[:12], targets[:12])
        inside.append(process.predict_interval(rows[12:], 0.95).coverage(targets[12:]))
        heights.append(process.predict_distribution(rows[12:]).log_density(targets[12:]).mean())
    return np.mean(inside), np.mean(heights)


def test_intervals_are_not_too_narrow_where_few_rows_choose_the_parameters():
    """With Gaussians 88 % were covered, and densities vanished where no noise was seen."""
    inside, height = waves(40)
    assert inside >= 0.93
    assert height > -1.0


@pytest.mark.slow
def test_intervals_cover_where_few_rows_choose_the_parameters():
    inside, height = waves(1000)
    assert 0.93 <= inside <= 0.97
    assert height > -1.0


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "degrees"), [(3, 1, 3.0), (8, 1, 4.0), (12, 1, 8.0), (20, 16, 10.0)]
)
def test_chosen_parameters_take_degrees_of_freedom(n_rows, n_columns, degrees):
    rng = np.random.default_rng(3)
    rows = rng.uniform(0, 6, size=(n_rows, n_columns))
    kernel = 1.0 * Gaussian((1.0,) * n_columns)
    process = GaussianProcessRegressor(kernel).fit(rows, np.sin(rows[:, 0]))
    assert process.noise_degrees_ == degrees
    known = GaussianProcessRegressor(
        process.kernel_, noise_variance=process.noise_variance_, optimise=False
    ).fit(rows, np.sin(rows[:, 0]))
    assert np.isinf(known.noise_degrees_)
    wider = (
        process.predict_distribution(rows + 0.1).scales
        / known.predict(rows + 0.1, return_std=True)[1]
    )
    np.testing.assert_allclose(wider, max(n_rows / degrees, 1.0) ** 0.5, rtol=1e-4)


@pytest.mark.slow
def test_intervals_cover_what_they_say():
    rng = np.random.default_rng(1)
    kernel = 1.5 * Gaussian(1.0)
    inside = 0
    for _ in range(1000):
        rows = rng.uniform(0, 5, size=(12, 1))
        targets = sample_prior(kernel, rows, 1, rng)[0] + rng.normal(scale=0.2, size=12)
        process = fixed(kernel).fit(rows[:11], targets[:11])
        inside += process.predict_interval(rows[11:], 0.95).covers(targets[11:])[0]
    assert 930 <= inside <= 970


def test_several_searches_do_no_worse():
    single = GaussianProcessRegressor(1.0 * Gaussian(30.0), random_state=0).fit(X, Y)
    several = GaussianProcessRegressor(1.0 * Gaussian(30.0), n_init=4, random_state=0).fit(X, Y)
    assert several.log_evidence_ >= single.log_evidence_ - 1e-9


def test_wrong_input_is_refused():
    with pytest.raises(DataError, match=r"max_rows is 20.*spread_rows.*feature_map"):
        GaussianProcessRegressor(max_rows=20).fit(X, Y)
    with pytest.raises(ValueError, match="'noise_variance' parameter"):
        GaussianProcessRegressor(noise_variance=-1.0).fit(X, Y)
    with pytest.raises(DataError, match="kernel must compare rows of numbers"):
        GaussianProcessRegressor("precomputed").fit(X, Y)
    one = GaussianProcessRegressor().fit(X[:1], Y[:1])
    assert one.predict(X[:1])[0] == pytest.approx(Y[0])


def test_rows_alike_with_other_targets():
    rows, targets = np.repeat(X[:5], 3, axis=0), RNG.normal(size=15)
    process = GaussianProcessRegressor().fit(rows, targets)
    assert np.isfinite(process.predict(NEW, return_std=True)).all()
    bare = fixed(Gaussian(50.0), 1e-300).fit(X, Y)
    assert np.isfinite(bare.predict(NEW)).all()


def test_a_process_can_be_pickled():

    process = GaussianProcessRegressor().fit(X, Y)
    again = pickle.loads(pickle.dumps(process))
    np.testing.assert_array_equal(again.predict(NEW), process.predict(NEW))


def test_any_function_can_be_the_kernel():
    """A function of two tables; one that is no inner product is refused by its factor."""

    def cosine(left, right):
        return np.cos(left[:, :1] - right[:, :1].T) + 1.0

    process = fixed(cosine).fit(X, Y)
    k = cosine(NEW, X)
    expected = k @ np.linalg.solve(cosine(X, X) + 0.04 * np.eye(30), Y)
    np.testing.assert_allclose(process.predict(NEW), expected, atol=1e-8)
    assert mercer_check(cosine, X)
    with pytest.raises(DataError, match="kernel is no inner product"):
        fixed(lambda left, right: -left @ right.T, 1e-6).fit(X, Y)


def test_few_rows_take_one_thread_of_blas():
    """Threads that wait for one another take many times as long as the work."""

    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with few_threads(100):
            assert threads() == {1}
        with few_threads(10_000):
            assert threads() == before
        assert threads() == before
