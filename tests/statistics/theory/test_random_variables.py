"""Random variables: moments of named distributions, linearity, Bayes' rule."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError
from verulam.statistics import DiscreteVariable, JointTable

TABLE = JointTable(
    pd.DataFrame([[0.1, 0.2, 0.05], [0.3, 0.05, 0.3]], index=[0.0, 1.0], columns=[-1.0, 0.0, 2.0])
)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_bernoulli_and_binomial_moments(rate):
    coin = DiscreteVariable([0, 1], [1 - rate, rate])
    assert_allclose([coin.mean, coin.variance], [rate, rate * (1 - rate)])
    counts = np.arange(13)
    binomial = DiscreteVariable(counts, stats.binom.pmf(counts, 12, rate))
    assert_allclose([binomial.mean, binomial.variance], [12 * rate, 12 * rate * (1 - rate)])
    assert binomial.distribution(4) == pytest.approx(stats.binom.cdf(4, 12, rate))
    assert binomial.mass(4) == pytest.approx(stats.binom.pmf(4, 12, rate))


def test_linearity():
    variable = DiscreteVariable([1, 2, 5], [0.2, 0.5, 0.3])
    moved = DiscreteVariable(3 * np.array([1, 2, 5]) - 4, [0.2, 0.5, 0.3])
    assert moved.mean == pytest.approx(3 * variable.mean - 4)
    assert moved.variance == pytest.approx(9 * variable.variance)
    assert variable.variance == pytest.approx(variable.moment(2) - variable.mean**2)
    assert moved.standard_deviation == pytest.approx(3 * variable.standard_deviation)


def test_variance_of_a_sum():
    first, second = TABLE.variable("first"), TABLE.variable("second")
    mean = TABLE.expectation(lambda x, y: x + y)
    assert mean == pytest.approx(first.mean + second.mean)
    variance = TABLE.expectation(lambda x, y: (x + y - mean) ** 2)
    assert variance == pytest.approx(first.variance + second.variance + 2 * TABLE.covariance)
    product = TABLE.expectation(lambda x, y: x * y)
    assert TABLE.covariance == pytest.approx(product - first.mean * second.mean)


def test_correlation_is_that_of_rows_in_the_shares_of_the_table():
    """NumPy's number for 100 rows, and the covariance in units of both deviations."""
    counts = (100 * TABLE.table.to_numpy()).round().astype(int).ravel()
    pairs = [(x, y) for x in TABLE.table.index for y in TABLE.table.columns]
    first, second = np.repeat(pairs, counts, axis=0).T
    assert TABLE.correlation == pytest.approx(np.corrcoef(first, second)[0, 1])
    deviations = [TABLE.variable(name).standard_deviation for name in ("first", "second")]
    assert TABLE.correlation == pytest.approx(TABLE.covariance / np.prod(deviations))
    line = JointTable(pd.DataFrame(np.diag([0.2, 0.5, 0.3]), index=[0, 1, 3], columns=[1, -1, -5]))
    assert line.correlation == pytest.approx(-1.0)


def test_margins_and_conditionals():
    assert_allclose(TABLE.marginal("first"), [0.35, 0.65])
    assert_allclose(TABLE.marginal("second"), [0.4, 0.25, 0.35])
    assert_allclose(TABLE.conditional("second", 1.0), np.array([0.3, 0.05, 0.3]) / 0.65)
    assert not TABLE.independent()
    product = np.outer([0.3, 0.7], [0.2, 0.8])
    independent = JointTable(pd.DataFrame(product, index=[0, 1], columns=[0, 1]))
    assert independent.independent()
    assert JointTable(pd.DataFrame(np.full((2, 2), 0.25), [0, 1], [0, 1])).independent(tol=0.0)
    assert independent.covariance == pytest.approx(0.0)


def test_bayes_rule():
    likelihood = pd.DataFrame([[0.9, 0.1], [0.3, 0.7]], index=["ill", "well"], columns=["+", "-"])
    prior = pd.Series({"ill": 0.02, "well": 0.98})
    posterior = JointTable.from_likelihood(likelihood, prior).conditional("first", "+")
    assert posterior["ill"] == pytest.approx(0.9 * 0.02 / (0.9 * 0.02 + 0.3 * 0.98))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: DiscreteVariable([1, 2], [0.5]), "equal length"),
        (lambda: DiscreteVariable([1, 2], [0.7, 0.7]), "sum to one"),
        (lambda: JointTable(pd.DataFrame([[0.5, 0.6]])), "sum to one"),
        (lambda: JointTable(pd.DataFrame([[1.0, 0.0]])).conditional("first", 1), "zero"),
    ],
)
def test_bad_tables_are_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_unknown_variable():
    with pytest.raises(ValueError, match="'first' or 'second'"):
        TABLE.marginal("third")
