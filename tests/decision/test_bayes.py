"""Bayes' rule: worked numbers, the effect of priors, order of observations, numerical safety."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.decision import posterior, sequential_posteriors
from verulam.decision._bayes import check_priors


def test_posterior_of_the_customer_who_buys_a_computer():
    # Priors 9/14 and 5/14, and the products of conditional probabilities of the worked example.
    likelihoods = [2 / 9 * 4 / 9 * 6 / 9 * 6 / 9, 3 / 5 * 2 / 5 * 1 / 5 * 2 / 5]
    probabilities = posterior([9 / 14, 5 / 14], likelihoods)
    assert_allclose(probabilities[0], 0.804505, atol=5e-7)
    assert_allclose(probabilities.sum(), 1)


def test_equal_priors_leave_the_likelihoods_normalised():
    assert_allclose(posterior(None, [0.2, 0.6]), [0.25, 0.75])


def test_posterior_works_along_the_last_axis():
    rng = np.random.default_rng(0)
    likelihoods, priors = rng.random((3, 4, 5)), rng.dirichlet(np.ones(5))
    products = likelihoods * priors
    assert_allclose(posterior(priors, likelihoods), products / products.sum(axis=-1, keepdims=True))


def test_logarithms_survive_where_products_underflow():
    probabilities = posterior([0.5, 0.5], [-2000.0, -2001.0], log=True)
    assert_allclose(probabilities, [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))])


def test_sequential_updating_equals_one_update_with_the_product():
    rng = np.random.default_rng(1)
    likelihoods, priors = rng.random((6, 3)), [0.7, 0.2, 0.1]
    history = sequential_posteriors(priors, likelihoods)
    assert_allclose(history[0], priors)
    assert_allclose(history[-1], posterior(priors, likelihoods.prod(axis=0)))
    assert_allclose(history[-1], sequential_posteriors(priors, likelihoods[::-1])[-1])
    step = priors
    for row, likelihood in zip(history[1:], likelihoods, strict=True):
        step = posterior(step, likelihood)
        assert_allclose(row, step)


def test_enough_data_outweighs_any_prior_but_zero():
    likelihoods = [[0.4, 0.6]] * 200
    assert sequential_posteriors([0.999, 0.001], likelihoods)[-1, 1] > 0.999
    assert sequential_posteriors([1.0, 0.0], likelihoods)[-1, 1] == 0


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.6], r"priors must sum to one, but \[0.5, 0.6\] sums to 1.1"),
        ([-0.5, 1.5], "priors must not be negative"),
        ([1.0], "one number for each of the 2 classes"),
        ([np.nan, 0.5], "priors must be finite"),
    ],
)
def test_bad_priors_are_refused(priors, message):
    with pytest.raises(ValueError, match=message):
        posterior(priors, [0.1, 0.2])


def test_priors_that_were_rounded_sum_to_one():
    rounded = np.array([0.3333337, 0.3333337, 0.3333334])
    assert_allclose(check_priors(rounded, "abc"), rounded / rounded.sum(), rtol=1e-12)


def test_priors_by_name_follow_the_order_of_the_classes():
    assert_allclose(check_priors({"b": 0.3, "a": 0.7}, ["a", "b"]), [0.7, 0.3])
    assert_allclose(check_priors(pd.Series({"b": 0.3, "a": 0.7}), ["a", "b"]), [0.7, 0.3])
    with pytest.raises(ValueError, match=r"priors must name each class once.*\['a', 'c'\]"):
        check_priors({"a": 0.5, "c": 0.5}, ["a", "b"])


@pytest.mark.parametrize(
    ("likelihoods", "message"),
    [
        ([0.1, -0.2], "likelihoods must not be negative; set log=True"),
        ([0.1, np.nan], "must not contain NaN"),
        ([0.3], "at least two hypotheses"),
        ([[0.1, 0.2], [0.0, 0.0]], r"The evidence at position \(1,\) is zero"),
    ],
)
def test_bad_likelihoods_are_refused(likelihoods, message):
    with pytest.raises(ValueError, match=message):
        posterior(None, likelihoods)


def test_sequential_updating_needs_rows_of_observations():
    with pytest.raises(ValueError, match="a row per observation"):
        sequential_posteriors(None, [0.1, 0.2])
