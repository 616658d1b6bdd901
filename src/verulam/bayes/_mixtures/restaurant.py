"""The Chinese restaurant process: partitions that grow with the data, and its concentration."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import digamma, gammaln

from verulam.base import (
    LABELS,
    NUMBER,
    SEED,
    WHOLE,
    DataError,
    Seed,
    array_of_numbers,
    checked_arguments,
    generator,
)
from verulam.bayes._mixtures.checks import check_positive, check_whole

COUNTS = array_of_numbers(1, words="a vector of finite numbers", empty=True)


@dataclass(frozen=True, eq=False)
class Seating:
    """Customers at the tables of a restaurant: a partition.

    Attributes
    ----------
    labels : ndarray of shape (n_customers,)
        Table of each customer, numbered in the order in which they were opened.
    counts : ndarray of shape (n_tables,)
        Customers at each table.
    concentration
        Of the process that seated them.
    """

    labels: np.ndarray
    counts: np.ndarray
    concentration: float

    @property
    def n_tables(self) -> int:
        """Number of tables that are occupied."""
        return len(self.counts)

    @property
    def log_probability(self) -> float:
        """Logarithm of the probability of this partition."""
        return partition_log_probability(self.labels, self.concentration)


@checked_arguments(counts=COUNTS, concentration=NUMBER)
def seating_probabilities(counts: ArrayLike, concentration: float = 1.0) -> np.ndarray:
    r"""Return where the next customer sits: at each occupied table, or, last, at a new one.

    Parameters
    ----------
    counts
        Customers at each table.
    concentration
        :math:`\alpha`: how readily new tables are opened.

    Notes
    -----
    With :math:`n` customers, the arriving one included,

    .. math:: P(i) = \frac{n_i}{\alpha + n - 1}, \quad P(\text{new}) = \frac{\alpha}{\alpha + n - 1}

    (Alpaydin 16.10, where :math:`n` is printed as the number of those who already sit; the
    probabilities would then sum to more than 1).

    Examples
    --------
    >>> seating_probabilities([3, 1], concentration=1.0)
    array([0.6, 0.2, 0.2])
    """
    check_positive(concentration, "concentration")
    counts = _whole_numbers(counts, "counts", 1)
    return np.append(counts, concentration) / (counts.sum() + concentration)


@checked_arguments(n_customers=WHOLE, concentration=NUMBER, random_state=SEED)
def chinese_restaurant(
    n_customers: int, concentration: float = 1.0, *, random_state: Seed = None
) -> Seating:
    """Seat customers one after another, and return the partition that they form.

    Parameters
    ----------
    n_customers
        Number of customers.
    concentration
        How readily new tables are opened.
    random_state
        Seed.

    Notes
    -----
    The n-th customer joins a table in proportion to those who sit there, or opens one; the
    partition's probability does not depend on the order of the customers. See Alpaydin 16.10.

    Examples
    --------
    >>> from verulam.bayes import chinese_restaurant, expected_tables
    >>> seating = chinese_restaurant(100, 2.0, random_state=0)
    >>> seating.n_tables, round(expected_tables(100, 2.0), 2)
    (9, 8.39)
    """
    check_positive(concentration, "concentration")
    check_whole(n_customers, "n_customers", 0)
    uniforms = generator(random_state).random(n_customers)
    labels = np.zeros(n_customers, dtype=np.intp)
    n_tables = 0
    for place in range(n_customers):
        # Sitting down beside a customer drawn at random is joining a table by its size.
        neighbour = uniforms[place] * (place + concentration)
        if neighbour < place:
            labels[place] = labels[int(neighbour)]
        else:
            labels[place] = n_tables
            n_tables += 1
    return Seating(labels, np.bincount(labels, minlength=n_tables), float(concentration))


@checked_arguments(labels=LABELS, concentration=NUMBER)
def partition_log_probability(labels: ArrayLike, concentration: float = 1.0) -> float:
    r"""Return the log-probability of a partition, whatever its clusters are called.

    Parameters
    ----------
    labels
        Cluster of each item: any values that can be sorted.
    concentration
        :math:`\alpha` of the process.

    Notes
    -----
    .. math:: P = \frac{\Gamma(\alpha)}{\Gamma(\alpha + n)}\, \alpha^k \prod_{i=1}^k (n_i - 1)!

    the product of the seating probabilities in any order (Alpaydin 16.10).

    Examples
    --------
    >>> import numpy as np
    >>> round(float(np.exp(partition_log_probability(["a", "a", "b"], 1.0))), 4)
    0.1667
    """
    check_positive(concentration, "concentration")
    values = np.asarray(labels)
    if values.ndim != 1:
        raise DataError(f"labels has shape {values.shape}; expected one label for each item.")
    return counts_log_probability(np.unique(values, return_counts=True)[1], concentration)


def counts_log_probability(counts: np.ndarray, concentration: float) -> float:
    """Return the log-probability of a partition into clusters of these sizes."""
    return float(
        gammaln(concentration)
        - gammaln(concentration + counts.sum())
        + len(counts) * np.log(concentration)
        + gammaln(counts).sum()
    )


@checked_arguments(n_customers=WHOLE, concentration=NUMBER)
def expected_tables(n_customers: int, concentration: float = 1.0) -> float:
    r"""Return the expected number of tables :math:`\sum_{i=1}^n \alpha / (\alpha + i - 1)`.

    Parameters
    ----------
    n_customers
        Number of customers.
    concentration
        :math:`\alpha` of the process.

    Examples
    --------
    >>> [round(expected_tables(n, 1.0), 3) for n in (1, 2, 1000)]
    [1.0, 1.5, 7.485]
    """
    check_positive(concentration, "concentration")
    check_whole(n_customers, "n_customers", 0)
    return float(concentration * (digamma(concentration + n_customers) - digamma(concentration)))


@checked_arguments(n_tables=NUMBER, n_customers=WHOLE)
def likely_concentration(n_tables: float, n_customers: int) -> float:
    """Return the concentration under which so many tables are most likely: empirical Bayes.

    The likelihood of a number of tables is largest where it is the expected number.

    Parameters
    ----------
    n_tables
        Number of tables, or the mean of several draws; between 1 and n_customers, ends excluded
        where there are more than one customer.
    n_customers
        Number of customers.

    Examples
    --------
    >>> round(likely_concentration(8.3942, 100), 3)
    2.0
    """
    check_whole(n_customers, "n_customers", 0)
    check_positive(n_tables, "n_tables")
    if not 1 <= n_tables <= n_customers:
        raise DataError(
            f"n_tables must be a number from 1 to n_customers={n_customers}; got {n_tables!r}."
        )
    low, high = 1e-6, 1e6 * n_customers
    surplus = [expected_tables(n_customers, end) - n_tables for end in (low, high)]
    if surplus[0] >= 0 or surplus[1] <= 0:
        # At the ends the likelihood has no largest value: it grows towards zero or infinity.
        return low if surplus[0] >= 0 else high
    logarithm = brentq(
        lambda value: expected_tables(n_customers, float(np.exp(value))) - n_tables,
        np.log(low),
        np.log(high),
    )
    return float(np.exp(logarithm))


def draw_concentration(
    concentration: float,
    n_tables: int,
    n_customers: int,
    prior: tuple[float, float],
    random: np.random.Generator,
) -> float:
    r"""Return a concentration drawn given the number of tables, with a gamma prior on it.

    Parameters
    ----------
    concentration
        The present value.
    n_tables, n_customers
        What was seen.
    prior
        Shape and rate of the gamma distribution.
    random
        Generator of the draw.

    Notes
    -----
    Given :math:`\eta \sim \text{beta}(\alpha + 1, n)`, the concentration is drawn from one of two
    gamma distributions with rate :math:`b - \ln \eta` [escobar1995]_.

    .. [escobar1995] M. D. Escobar and M. West, "Bayesian density estimation and inference using
       mixtures", Journal of the American Statistical Association 90, 1995.
    """
    shape, rate = prior
    rate = rate - np.log(random.beta(concentration + 1.0, n_customers))
    odds = (shape + n_tables - 1.0) / (n_customers * rate)
    more = random.random() * (1.0 + odds) < odds
    return float(random.gamma(shape + n_tables - (0.0 if more else 1.0)) / rate)


def _whole_numbers(values: Any, name: str, least: int) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be whole numbers; got {values!r}.") from None
    if array.ndim != 1 or not (array == np.round(array)).all() or (array < least).any():
        raise DataError(f"{name} must be a list of whole numbers, {least} or more each.")
    return array
