"""The Indian buffet: expected counts, probabilities by enumeration, the limit of beta processes."""

from itertools import product

import numpy as np
import pytest

from verulam.base import DataError
from verulam.bayes import (
    Buffet,
    beta_process,
    buffet_log_probability,
    expected_dishes,
    indian_buffet,
)


@pytest.fixture(scope="module")
def draws():
    rng = np.random.default_rng(0)
    return [indian_buffet(5, 1.5, random_state=rng) for _ in range(6000)]


def test_expected_counts(draws):
    dishes = np.array([draw.n_dishes for draw in draws])
    assert expected_dishes(5, 1.5) == pytest.approx(1.5 * (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5))
    assert dishes.mean() == pytest.approx(expected_dishes(5, 1.5), abs=0.08)
    assert dishes.var() == pytest.approx(expected_dishes(5, 1.5), rel=0.08)


def test_every_customer_takes_poisson_many(draws):
    """Mean and variance of each row's sum are alpha, the first's and the last's."""
    for customer in (0, 2, 4):
        sums = np.array([draw.dishes[customer].sum() for draw in draws])
        assert sums.mean() == pytest.approx(1.5, abs=0.06)
        assert sums.var() == pytest.approx(1.5, rel=0.08)


def test_draws_have_their_probabilities(draws):
    """Two customers of the five: tables up to order of columns, against the formula."""
    rng = np.random.default_rng(1)
    seen = {}
    for _ in range(20_000):
        table = indian_buffet(2, 0.8, random_state=rng).dishes
        key = tuple(sorted(map(tuple, table.T)))
        seen[key] = seen.get(key, 0) + 1
    total = 0.0
    for n_both, n_first, n_second in product(range(5), repeat=3):
        columns = [(1, 1)] * n_both + [(1, 0)] * n_first + [(0, 1)] * n_second
        table = np.array(columns, dtype=int).reshape(-1, 2).T
        probability = np.exp(buffet_log_probability(table, 0.8))
        total += probability
        assert seen.get(tuple(sorted(columns)), 0) / 20_000 == pytest.approx(probability, abs=0.012)
    assert total == pytest.approx(1.0, abs=1e-3)


def test_the_order_of_customers_does_not_matter():
    table = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]])
    value = buffet_log_probability(table, 2.0)
    assert buffet_log_probability(table[[2, 0, 1]], 2.0) == pytest.approx(value)
    assert buffet_log_probability(table[:, [2, 0, 1]], 2.0) == pytest.approx(value)


def test_dishes_come_in_order_of_their_first_customer():
    buffet = indian_buffet(20, 3.0, random_state=0)
    assert isinstance(buffet, Buffet)
    assert (np.diff(buffet.dishes.argmax(axis=0)) >= 0).all()
    assert buffet.dishes.sum(axis=0).min() >= 1
    assert buffet.log_probability == buffet_log_probability(buffet.dishes, 3.0)


def test_many_dishes_of_a_beta_process_are_a_buffet():
    """With beta(alpha / k, 1); with beta(alpha, 1) rows would have k alpha / (alpha + 1)."""
    rng = np.random.default_rng(0)
    tables = [beta_process(5, 400, 1.5, random_state=rng)[1] for _ in range(1500)]
    used = np.array([(table.sum(axis=0) > 0).sum() for table in tables])
    assert used.mean() == pytest.approx(expected_dishes(5, 1.5), abs=0.15)
    assert np.mean([table[0].sum() for table in tables]) == pytest.approx(1.5, abs=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: indian_buffet(0), "n_customers must be a whole number, 1 or more; got 0"),
        (lambda: indian_buffet(3, -1.0), "concentration must be a number above 0; got -1.0"),
        (lambda: beta_process(3, 0), "n_dishes must be a whole number"),
        (lambda: buffet_log_probability([[2]]), "dishes must be a table of zeros and ones"),
        (lambda: buffet_log_probability([[1, 0]]), "dishes has columns that nobody takes"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
