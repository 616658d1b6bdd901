"""SampleMoments: NumPy's numbers where complete, pandas' where there are gaps."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.parametric import SampleMoments
from verulam.parametric._sample_moments import pair_sums


@pytest.fixture
def gappy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 3)) + 100.0
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def test_complete_sample():
    X = np.random.default_rng(0).normal(size=(50, 3))
    moments = SampleMoments().fit(X)
    assert_allclose(moments.mean_, X.mean(axis=0))
    assert_allclose(moments.covariance_, np.cov(X.T, ddof=0))
    assert_allclose(moments.correlation_, np.corrcoef(X.T))


def test_pairwise_is_pandas(gappy):
    frame = pd.DataFrame(gappy)
    moments = SampleMoments(unbiased=True).fit(gappy)
    assert_allclose(moments.mean_, frame.mean())
    assert_allclose(moments.covariance_, frame.cov())
    assert_allclose(moments.correlation_, frame.corr())


def test_complete_rows_only(gappy):
    rows = gappy[~np.isnan(gappy).any(axis=1)]
    moments = SampleMoments(missing="complete").fit(gappy)
    assert_allclose(moments.mean_, rows.mean(axis=0))
    assert_allclose(moments.covariance_, np.cov(rows.T, ddof=0))


def test_weights(gappy):
    weights = np.arange(100) % 4
    repeated = SampleMoments().fit(np.repeat(gappy, weights, axis=0))
    weighted = SampleMoments().fit(gappy, sample_weight=weights)
    assert_allclose(weighted.covariance_, repeated.covariance_)
    assert_allclose(weighted.weight_, repeated.weight_)


def test_weights_of_complete_rows(gappy):
    weights = np.arange(100) % 4
    rows = np.repeat(gappy, weights, axis=0)
    repeated = SampleMoments(missing="complete").fit(rows)
    weighted = SampleMoments(missing="complete").fit(gappy, sample_weight=weights)
    assert_allclose(weighted.mean_, np.nanmean(rows[~np.isnan(rows).any(axis=1)], axis=0))
    assert_allclose(weighted.covariance_, repeated.covariance_)


def test_large_offset(gappy):
    near, far = SampleMoments().fit(gappy), SampleMoments().fit(gappy + 1e8)
    assert_allclose(far.covariance_, near.covariance_, rtol=1e-5)


def test_moving_the_origin_changes_nothing(gappy):
    sums = pair_sums(gappy, None)
    back = sums.moved_to(sums.origin + 3.0).moved_to(sums.origin)
    for name in ("sums", "squares", "products"):
        assert_allclose(getattr(back, name), getattr(sums, name), atol=1e-9)


def test_column_that_is_empty_at_first_keeps_its_digits():
    late = 1e9 + np.random.default_rng(0).normal(size=(50, 1))
    moments = SampleMoments().partial_fit([[np.nan]] * 5).partial_fit(late)
    assert_allclose(moments.covariance_[0, 0], late.var(), rtol=1e-5)


def test_refused_and_impossible():
    gap = [[1.0, np.nan], [np.nan, 2.0]]
    with pytest.raises(ValueError, match="contains NaN"):
        SampleMoments(missing="error").fit(gap)
    with pytest.raises(DataError, match="No row has all values present"):
        SampleMoments(missing="complete").fit(gap)
    assert np.isnan(SampleMoments().fit(gap).covariance_[0, 1])


def test_constant_column_has_no_correlation():
    moments = SampleMoments().fit([[1.0, 5.0], [2.0, 5.0]])
    assert np.isnan(moments.correlation_[0, 1])
    assert moments.covariance_[1, 1] == 0.0
