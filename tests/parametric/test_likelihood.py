"""Maximum likelihood by search: closed forms, SciPy's fits, and what has no maximum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.parametric import GaussianDensity, MaximumLikelihood, maximise_likelihood

POSITIVE = (1e-9, None)


def gaussian(x, mean, deviation):
    return stats.norm.logpdf(x, mean, deviation)


def bernoulli(x, share):
    return x * np.log(share) + (1 - x) * np.log(1 - share)


@pytest.fixture
def sample():
    return np.random.default_rng(0).normal(3.0, 2.0, 80)


def test_gaussian_has_the_closed_form(sample):
    estimate = maximise_likelihood(
        gaussian, sample, [0.0, 1.0], bounds=[(None, None), POSITIVE], names=["mean", "deviation"]
    )
    deviation = sample.std()  # divided by N
    assert_allclose(estimate.parameters, [sample.mean(), deviation], rtol=1e-6)
    assert estimate.log_likelihood == pytest.approx(
        GaussianDensity().fit(sample[:, None]).score(sample[:, None])
    )
    expected = [deviation / np.sqrt(80), deviation / np.sqrt(160)]
    assert_allclose(estimate.standard_errors, expected, rtol=1e-3)
    assert estimate.converged
    assert estimate.aic == pytest.approx(4 - 2 * estimate.log_likelihood)
    assert estimate.to_frame().index.tolist() == ["mean", "deviation"]


def test_bernoulli_is_the_share_of_ones():
    ones = np.array([1, 1, 0, 1, 0, 0, 1, 1])
    estimate = maximise_likelihood(bernoulli, ones, [0.5], bounds=[(1e-12, 1 - 1e-12)])
    assert_allclose(estimate.parameters, [5 / 8], rtol=1e-6)
    assert_allclose(estimate.standard_errors, [np.sqrt(5 / 8 * 3 / 8 / 8)], rtol=1e-3)


@pytest.mark.parametrize(
    ("family", "start"), [(stats.gamma, [1.0, 1.0]), (stats.weibull_min, [1.0, 1.0])]
)
def test_two_parameters_agree_with_scipy(family, start):
    values = family.rvs(2.5, scale=1.7, size=60, random_state=1)
    estimate = maximise_likelihood(
        lambda x, shape, scale: family.logpdf(x, shape, scale=scale),
        values,
        start,
        bounds=[POSITIVE, POSITIVE],
    )
    shape, _, scale = family.fit(values, floc=0)
    assert estimate.log_likelihood >= family.logpdf(values, shape, scale=scale).sum() - 1e-6
    assert_allclose(estimate.parameters, [shape, scale], rtol=1e-3)


def test_no_neighbour_is_more_likely(sample):
    estimate = maximise_likelihood(gaussian, sample, [1.0, 1.0], bounds=[(None, None), POSITIVE])
    for move in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert gaussian(sample, *(estimate.parameters + move)).sum() < estimate.log_likelihood


def test_rows_of_several_columns():
    rows = np.random.default_rng(2).normal([1.0, -2.0], size=(50, 2))
    estimate = maximise_likelihood(
        lambda x, first, second: -((x - [first, second]) ** 2).sum(axis=1) / 2, rows, [0.0, 0.0]
    )
    assert_allclose(estimate.parameters, rows.mean(axis=0), atol=1e-5)


def test_a_maximum_at_a_bound_has_no_standard_error():
    estimate = maximise_likelihood(bernoulli, np.ones(5), [0.5], bounds=[(0.1, 0.9)])
    assert_allclose(estimate.parameters, [0.9])
    assert np.isnan(estimate.standard_errors[0])


def test_a_direction_without_a_maximum_has_no_standard_error(sample):
    estimate = maximise_likelihood(
        lambda x, one, other: gaussian(x, one + other, 1.0), sample, [0, 0]
    )
    assert np.isnan(estimate.standard_errors).all()
    assert estimate.parameters.sum() == pytest.approx(sample.mean(), abs=1e-5)


def test_what_has_no_maximum_says_so():
    with pytest.warns(ConvergenceWarning, match="has not converged"):
        maximise_likelihood(lambda x, a: a + 0 * x, [1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [0.0, 1.0]), "X is empty"),
        (([1.0, np.nan], [0.0, 1.0]), "missing or infinite"),
        (([1.0, 2.0], [0.0, -1.0]), "the sample is impossible there"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(DataError, match=message):
        maximise_likelihood(gaussian, *arguments)


def test_bad_form(sample):
    with pytest.raises(DataError, match="bounds has 1 entries for 2 parameters"):
        maximise_likelihood(gaussian, sample, [0, 1], bounds=[POSITIVE])
    with pytest.raises(DataError, match=r"one value for each of the 80 rows"):
        maximise_likelihood(lambda x, mean: x.sum(), sample, [0])


@pytest.mark.parametrize("middle", [0.0, 1e-9, 1e-3])
def test_standard_errors_of_parameters_near_zero(sample, middle):
    """The step of the differences follows the curvature, not the size of the estimate."""
    centred = sample - sample.mean() + middle
    estimate = maximise_likelihood(
        gaussian, centred, [0.3, 1.0], bounds=[(None, None), POSITIVE], names=["mean", "deviation"]
    )
    errors = centred.std() / np.sqrt([len(centred), 2 * len(centred)])
    assert_allclose(estimate.standard_errors, errors, rtol=1e-3)


def test_a_record_counts_its_parameters_in_aic():
    record = MaximumLikelihood(
        ("mean", "scale"), np.array([1.0, 2.0]), np.array([0.1, 0.2]), -10.0, 30, True
    )
    assert record.aic == 24.0
    assert record.to_frame().loc["scale"].tolist() == [2.0, 0.2]
