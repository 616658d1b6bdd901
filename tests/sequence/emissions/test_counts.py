"""Emissions of counts against SciPy's distributions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multinomial, poisson

from verulam.base import DataError
from verulam.sequence import HiddenMarkovModel, MultinomialEmission, PoissonEmission
from verulam.sequence._emissions.counts import Rates, Shares

COUNTS = np.array([[0.0, 3.0], [2.0, 1.0], [4.0, 0.0]])


def test_poisson():
    rates = np.array([[1.0, 2.0], [3.0, 0.5]])
    logarithms = PoissonEmission().log_likelihoods(Rates(rates), COUNTS)
    assert_allclose(
        logarithms, np.stack([poisson(row).logpmf(COUNTS).sum(axis=1) for row in rates], 1)
    )
    sums = PoissonEmission().statistics(Rates(rates), COUNTS, np.ones((3, 2)))
    assert_allclose(PoissonEmission().update(Rates(rates), sums).rates, [[2, 4 / 3]] * 2)


def test_multinomial():
    shares = np.array([[0.2, 0.8], [0.5, 0.5]])
    logarithms = MultinomialEmission().log_likelihoods(Shares(shares), COUNTS)
    expected = [[multinomial(row.sum(), p).logpmf(row) for p in shares] for row in COUNTS]
    assert_allclose(logarithms, expected)
    impossible = Shares(np.array([[0.0, 1.0]]))
    assert_allclose(
        MultinomialEmission().log_likelihoods(impossible, COUNTS)[:, 0], [0.0, -np.inf, -np.inf]
    )


@pytest.mark.parametrize("emission", [PoissonEmission(), MultinomialEmission()])
@pytest.mark.parametrize("X", [[[1.0, -1.0]], [[0.5, 1.0]]])
def test_counts_are_whole_and_not_negative(emission, X):
    with pytest.raises(DataError, match="takes counts"):
        HiddenMarkovModel(1, emission).fit([np.array(X)])


@pytest.mark.parametrize("emission", [PoissonEmission(), MultinomialEmission()])
def test_columns_without_any_count_are_refused(emission):
    with pytest.raises(DataError, match="Column 1 of X has no value that is present"):
        HiddenMarkovModel(1, emission).fit(np.array([[1.0, np.nan], [2.0, np.nan]]))


def test_rates_and_priors_below_zero_are_refused():
    with pytest.raises(DataError, match="rates of PoissonEmission must be at least zero"):
        PoissonEmission(rates=[[-1.0]])
    with pytest.raises(DataError, match="prior of MultinomialEmission"):
        MultinomialEmission(prior=-1.0)
