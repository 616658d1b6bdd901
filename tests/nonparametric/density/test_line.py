"""Cumulative shares and quantiles on a line, against SciPy's normal distribution."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import norm

import verulam.nonparametric._density.line as module
from verulam.nonparametric._density.line import cumulative_shares, line_quantiles
from verulam.nonparametric._windows.functions import WINDOWS


def test_one_gaussian_window_is_a_normal_distribution(monkeypatch):
    arguments = (np.array([2.0]), np.array([0.5]), np.ones(1), WINDOWS["gaussian"])
    values = np.linspace(0.0, 4.0, 9)
    assert_allclose(cumulative_shares(values, *arguments), norm(2.0, 0.5).cdf(values))
    monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 2)
    assert_allclose(cumulative_shares(values, *arguments), norm(2.0, 0.5).cdf(values))


def test_quantiles_invert():
    shares = np.array([[0.001, 0.2], [0.5, 0.999]])
    assert_allclose(line_quantiles(norm.cdf, shares, -40.0, 40.0), norm.ppf(shares), atol=1e-10)
