"""Laplace's method: exact for Gaussians, near for others, and the erratum of its integral."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from verulam.base import DataError, DataWarning
from verulam.bayes import LaplaceApproximation, laplace


def test_exact_for_a_gaussian():
    covariance = np.array([[2.0, 0.7], [0.7, 0.5]])
    reference = stats.multivariate_normal([1.0, -3.0], covariance)
    result = laplace(lambda x: 3.0 + reference.logpdf(x), [0.0, 0.0])
    assert isinstance(result, LaplaceApproximation)
    np.testing.assert_allclose(result.mode, [1.0, -3.0], atol=1e-5)
    np.testing.assert_allclose(result.covariance, covariance, rtol=1e-4)
    assert result.log_normaliser == pytest.approx(3.0, abs=1e-4)
    assert result.log_density([0.5, -2.0]) == pytest.approx(reference.logpdf([0.5, -2.0]), abs=1e-3)
    np.testing.assert_allclose(
        result.sample(20_000, random_state=0).mean(axis=0), [1.0, -3.0], atol=0.05
    )


@pytest.mark.parametrize("a", [0.25, 1.0, 9.0])
def test_integral_of_one_number(a):
    """Erratum 6: the integral of exp(-a x^2 / 2) is the root of 2 pi / a."""
    result = laplace(lambda x: -0.5 * a * x[0] ** 2, 0.7)
    assert np.exp(result.log_normaliser) == pytest.approx(np.sqrt(2 * np.pi / a), rel=1e-5)
    assert result.covariance[0, 0] == pytest.approx(1 / a, rel=1e-5)


def test_near_for_a_gamma_density():
    result = laplace(lambda t: 30 * np.log(t[0]) - 2 * t[0] if t[0] > 0 else -np.inf, [3.0])
    exact = np.log(quad(lambda t: t**30 * np.exp(-2 * t), 0, 80)[0])
    assert result.mode[0] == pytest.approx(15.0, abs=1e-3)
    assert result.log_normaliser == pytest.approx(exact, abs=0.005)


def test_a_hessian_can_be_given():
    given_curvature = laplace(lambda x: -np.cosh(x[0]), [0.5], hessian=lambda x: [[-np.cosh(x[0])]])
    by_differences = laplace(lambda x: -np.cosh(x[0]), [0.5])
    assert given_curvature.covariance[0, 0] == pytest.approx(1.0, abs=1e-6)
    assert by_differences.covariance[0, 0] == pytest.approx(1.0, abs=1e-4)


def test_what_has_no_mode_is_refused():
    with pytest.raises(DataError, match="no mode near"):
        laplace(lambda x: 0.0, [0.0])
    with pytest.raises(DataError, match="start must have a positive density"):
        laplace(lambda x: -np.inf, [0.0])
    with pytest.raises(DataError, match="start must be finite numbers"):
        laplace(lambda x: -x @ x, [np.nan])
    with pytest.raises(DataError, match="log_density must return one number"):
        laplace(lambda x: np.nan, [0.0])
    with pytest.raises(DataError, match=r"goes on rising from \[3. 1.\] without end"):
        laplace(lambda x: x[0] - x[1] ** 2, [3.0, 1.0])


@pytest.mark.parametrize(
    "log_density",
    [
        lambda x: -(x[0] ** 4),
        lambda x: -(x[:-1] @ x[:-1]) - x[-1] ** 4,
        lambda x: -abs(x[0]),
    ],
)
@pytest.mark.parametrize("start", [[0.0], [1.0], [-3.0, 2.0]])
def test_a_top_without_curvature_is_refused(log_density, start):
    """A flat top or an edge has the curvature of whatever steps it is measured with."""
    with pytest.raises(DataError, match="curvature"):
        laplace(log_density, start)


def test_a_hessian_far_from_the_curvature_is_refused():
    with pytest.raises(DataError, match="is that of hessian times"):
        laplace(lambda x: -(x[0] ** 4), [1.0], hessian=lambda x: [[-12 * x[0] ** 2]])


def test_a_top_where_the_support_ends_is_refused():
    with pytest.raises(DataError, match="where the support ends"):
        laplace(lambda x: -x[0] if x[0] >= 0 else -np.inf, [1.0])


def test_a_poor_approximation_is_said_to_be_poor():
    with pytest.warns(DataWarning, match="the approximation is poor"):
        laplace(lambda x: -(x[0] ** 6) - 1e-3 * x[0] ** 2, [1.0])
