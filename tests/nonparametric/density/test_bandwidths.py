"""Bandwidths: rules, plug-in for several modes, leave-one-out likelihood by its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import gaussian_kde

from verulam.nonparametric import BandwidthCurve, KernelDensity, plug_in_bandwidth, select_bandwidth
from verulam.nonparametric._density.bandwidths import scott_factor, silverman_factor, window_ratio
from verulam.nonparametric._windows.functions import WINDOWS

RNG = np.random.default_rng(0)


def test_rules_of_thumb_are_scipys():
    kernel = gaussian_kde(RNG.normal(size=(3, 50)))
    assert scott_factor(50, 3) == pytest.approx(kernel.scotts_factor())
    assert silverman_factor(50, 3) == pytest.approx(kernel.silverman_factor())


def test_canonical_widths_of_windows():
    """Marron and Nolan's ratios for one dimension: 1.7188 Epanechnikov over 0.7764 Gaussian."""
    assert window_ratio(WINDOWS["epanechnikov"], 1) == pytest.approx(1.7188 / 0.7764, rel=1e-3)
    assert window_ratio(WINDOWS["biweight"], 1) == pytest.approx(2.0362 / 0.7764, rel=1e-3)
    assert window_ratio(WINDOWS["gaussian"], 4) == 1.0


def test_plug_in_is_the_best_for_a_gaussian_and_smaller_for_two():
    values = RNG.normal(size=20_000)
    assert plug_in_bandwidth(values) == pytest.approx(1.06 * 20_000**-0.2, rel=0.1)
    samples = np.random.default_rng(1).normal(size=(5, 20_000))
    mean = np.mean([plug_in_bandwidth(sample) for sample in samples])
    assert mean == pytest.approx((4 / 3) ** 0.2 * 20_000**-0.2, rel=0.05)
    assert plug_in_bandwidth(3.0 * values + 7.0) == pytest.approx(3 * plug_in_bandwidth(values))
    two = np.concatenate([values - 20.0, values + 20.0])
    assert plug_in_bandwidth(two) == pytest.approx(1.06 * 20_000**-0.2, rel=0.15)


def test_plug_in_of_a_few_values_falls_back_to_the_rule():
    assert plug_in_bandwidth([0.0, 1.0]) > 0
    with pytest.raises(ValueError, match="all are the same"):
        plug_in_bandwidth([1.0, 1.0])


def test_likelihood_is_the_sum_over_rows_left_out():
    X = RNG.normal(size=(25, 2))
    curve = select_bandwidth(X, [0.5, 0.3])
    for place, bandwidth in enumerate([0.3, 0.5]):
        left_out = [
            KernelDensity(bandwidth=bandwidth).fit(np.delete(X, row, axis=0)).score(X[[row]])
            for row in range(25)
        ]
        assert curve.log_likelihoods[place] == pytest.approx(sum(left_out))
    assert_allclose(curve.bandwidths, [0.3, 0.5])


def test_likelihood_finds_a_sensible_width():
    X = RNG.normal(size=(1000, 1))
    best = select_bandwidth(X).best
    assert 0.5 < best / (1.06 * 1000**-0.2) < 1.6
    curve = select_bandwidth(RNG.random((500, 1)), [1e-7, 0.3], kernel="epanechnikov")
    assert curve.log_likelihoods[0] == -np.inf
    assert curve.best == 0.3
    assert select_bandwidth([[0.0], [9.0]], [0.1, 1.0], kernel="tophat").best == 1.0


def test_bad_widths_are_refused():
    with pytest.raises(ValueError, match="must be positive"):
        select_bandwidth(np.zeros((3, 1)), [0.0, 1.0])
    with pytest.raises(ValueError, match="more than one row"):
        select_bandwidth(np.zeros((1, 1)), [1.0])


def test_the_best_of_a_curve():
    bandwidths = np.array([0.1, 1.0, 9.0])
    assert BandwidthCurve(bandwidths, np.array([-np.inf, -2.0, -3.0])).best == 1.0
    # Where no bandwidth makes the rows possible, the widest is the safest.
    assert BandwidthCurve(bandwidths, np.full(3, -np.inf)).best == 9.0
