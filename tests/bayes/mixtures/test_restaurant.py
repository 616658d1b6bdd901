"""The Chinese restaurant: seating, exchangeability and expected tables, by enumeration."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import gamma

from verulam.base import DataError
from verulam.bayes import (
    Seating,
    chinese_restaurant,
    expected_tables,
    likely_concentration,
    partition_log_probability,
    seating_probabilities,
)
from verulam.bayes._mixtures.restaurant import draw_concentration


def partitions(n):
    """Yield all partitions of n items as labels in order of appearance."""
    if n == 1:
        yield (0,)
        return
    for labels in partitions(n - 1):
        for label in range(max(labels) + 2):
            yield (*labels, label)


def test_seating_probabilities_count_the_arriving_customer():
    """Three customers at two tables: the fourth divides by alpha + 4 - 1."""
    np.testing.assert_allclose(seating_probabilities([2, 1], 0.5), [2 / 3.5, 1 / 3.5, 0.5 / 3.5])
    assert seating_probabilities([2, 1], 0.5).sum() == pytest.approx(1.0)
    assert seating_probabilities([], 0.5) == pytest.approx([1.0])


def test_the_probability_is_the_product_of_the_seats_in_any_order():
    for labels in partitions(5):
        value = partition_log_probability(labels, 0.7)
        for order in list(permutations(range(5)))[::17]:
            log_product, tables = 0.0, {}
            for customer in order:
                names = list(tables)
                chances = seating_probabilities([tables[name] for name in names], 0.7)
                label = labels[customer]
                place = names.index(label) if label in tables else len(names)
                log_product += np.log(chances[place])
                tables[label] = tables.get(label, 0) + 1
            assert log_product == pytest.approx(value)


def test_probabilities_of_all_partitions_sum_to_one_and_give_the_expected_tables():
    every = list(partitions(6))
    assert len(every) == 203
    probabilities = np.exp([partition_log_probability(labels, 1.3) for labels in every])
    assert probabilities.sum() == pytest.approx(1.0)
    tables = np.array([max(labels) + 1 for labels in every])
    assert probabilities @ tables == pytest.approx(expected_tables(6, 1.3))
    assert expected_tables(6, 1.3) == pytest.approx(sum(1.3 / (1.3 + i) for i in range(6)))


def test_draws_have_these_probabilities():
    rng = np.random.default_rng(0)
    draws = [tuple(chinese_restaurant(4, 0.8, random_state=rng).labels) for _ in range(20_000)]
    for labels in partitions(4):
        share = np.mean([draw == labels for draw in draws])
        assert share == pytest.approx(np.exp(partition_log_probability(labels, 0.8)), abs=0.012)


def test_a_seating_tells_its_tables():
    seating = chinese_restaurant(50, 1.0, random_state=3)
    assert isinstance(seating, Seating)
    assert seating.n_tables == len(seating.counts) == seating.labels.max() + 1
    assert seating.counts.sum() == 50
    assert seating.log_probability == partition_log_probability(seating.labels, 1.0)
    assert chinese_restaurant(0, 1.0).n_tables == 0


def test_the_likely_concentration_maximises_the_likelihood_of_the_tables():
    alpha = likely_concentration(4, 30)
    assert expected_tables(30, alpha) == pytest.approx(4)
    values = [
        partition_log_probability([0] * 10 + [1] * 10 + [2] * 5 + [3] * 5, a)
        for a in (0.9 * alpha, alpha, 1.1 * alpha)
    ]
    assert values[1] == max(values)


def test_drawn_concentrations_have_their_posterior():
    """The number of tables and a gamma prior, on a grid."""
    rng, value, draws = np.random.default_rng(0), 1.0, []
    for _ in range(20_000):
        value = draw_concentration(value, 5, 40, (2.0, 1.5), rng)
        draws.append(value)
    grid = np.linspace(0.01, 12, 4000)
    weights = gamma(2.0, scale=1 / 1.5).pdf(grid) * np.exp(
        [partition_log_probability([0] * 36 + [1, 2, 3, 4], a) for a in grid]
    )
    weights /= weights.sum()
    assert np.mean(draws) == pytest.approx(weights @ grid, rel=0.03)
    assert np.std(draws) == pytest.approx(
        np.sqrt(weights @ grid**2 - (weights @ grid) ** 2), rel=0.05
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: seating_probabilities([2, 0]), "counts must be a list of whole numbers, 1"),
        (lambda: seating_probabilities("ab"), "counts must be a vector of finite numbers"),
        (lambda: chinese_restaurant(3, 0.0), "concentration must be a number above 0; got 0.0"),
        (lambda: chinese_restaurant(2.5), "n_customers must be a whole number"),
        (lambda: partition_log_probability([[1]]), "labels must be a vector of labels"),
        (lambda: likely_concentration(9, 5), "n_tables must be a number from 1"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
