"""The Indian buffet process: binary features without a bound on their number."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from verulam.base import (
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

DISHES = array_of_numbers(2, words="a table of 0 and 1, a row for each customer", empty=True)


@dataclass(frozen=True, eq=False)
class Buffet:
    """Which customer takes which dish.

    Attributes
    ----------
    dishes : ndarray of shape (n_customers, n_dishes)
        1 where a customer takes a dish, 0 elsewhere; dishes in the order in which they were first
        taken.
    concentration
        Of the process.
    """

    dishes: np.ndarray
    concentration: float

    @property
    def n_dishes(self) -> int:
        """Number of dishes that somebody takes."""
        return self.dishes.shape[1]

    @property
    def log_probability(self) -> float:
        """Logarithm of the probability of this table, dishes in any order."""
        return buffet_log_probability(self.dishes, self.concentration)


@checked_arguments(n_customers=WHOLE, concentration=NUMBER, random_state=SEED)
def indian_buffet(
    n_customers: int, concentration: float = 1.0, *, random_state: Seed = None
) -> Buffet:
    r"""Let customers pass a buffet one after another, and return what they take.

    Parameters
    ----------
    n_customers
        Number of customers.
    concentration
        :math:`\alpha`: expected number of dishes of each customer.
    random_state
        Seed.

    Notes
    -----
    The first customer takes Poisson(:math:`\alpha`) dishes. The n-th takes a dish that :math:`n_j`
    of those before took with probability :math:`n_j / n`, and Poisson(:math:`\alpha / n`) new ones
    (Alpaydin 16.12).

    Examples
    --------
    >>> from verulam.bayes import indian_buffet
    >>> indian_buffet(4, 2.0, random_state=1).dishes
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 1, 1, 1],
           [0, 0, 1, 0]])
    """
    check_buffet(n_customers, concentration)
    random = generator(random_state)
    counts = np.zeros(0, dtype=np.int64)
    rows = []
    for customer in range(1, n_customers + 1):
        taken = random.random(len(counts)) * customer < counts
        n_new = int(random.poisson(concentration / customer))
        rows.append(np.append(taken, np.ones(n_new, dtype=bool)))
        counts = np.append(counts + taken, np.ones(n_new, dtype=np.int64))
    dishes = np.zeros((n_customers, len(counts)), dtype=np.int64)
    for customer, row in enumerate(rows):
        dishes[customer, : len(row)] = row
    return Buffet(dishes, float(concentration))


@checked_arguments(n_customers=WHOLE, n_dishes=WHOLE, concentration=NUMBER, random_state=SEED)
def beta_process(
    n_customers: int,
    n_dishes: int,
    concentration: float = 1.0,
    *,
    random_state: Seed = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw popularities of a fixed number of dishes, and who takes them.

    Parameters
    ----------
    n_customers
        Number of customers.
    n_dishes
        Number of dishes; as it grows, the table that is left without untouched dishes is that of
        `indian_buffet`.
    concentration
        :math:`\alpha`.
    random_state
        Seed.

    Returns
    -------
    tuple of ndarray
        Popularity of each dish, and which customer takes which.

    Notes
    -----
    :math:`\mu_j \sim \text{beta}(\alpha / k, 1)`, :math:`z_j^t \sim \text{Bernoulli}(\mu_j)`
    (Alpaydin 16.12, 16.50-16.51, where the first parameter is printed as :math:`\alpha`; without
    the division the number of dishes that a customer takes would grow with k).

    Examples
    --------
    >>> popularities, dishes = beta_process(100, 50, 2.0, random_state=0)
    >>> dishes.shape, bool(dishes.sum(axis=1).max() < 10)
    ((100, 50), True)
    """
    check_buffet(n_customers, concentration)
    check_whole(n_dishes, "n_dishes")
    random = generator(random_state)
    popularities = random.beta(concentration / n_dishes, 1.0, size=n_dishes)
    taken = random.random((n_customers, n_dishes)) < popularities
    return popularities, taken.astype(np.int64)


@checked_arguments(dishes=DISHES, concentration=NUMBER)
def buffet_log_probability(dishes: ArrayLike, concentration: float = 1.0) -> float:
    r"""Return the log-probability of a table of dishes, whatever the order of its columns.

    Parameters
    ----------
    dishes
        1 where a customer takes a dish, 0 elsewhere; every dish is taken by somebody.
    concentration
        :math:`\alpha` of the process.

    Notes
    -----
    .. math:: P = \frac{\alpha^K}{\prod_h K_h!}\, e^{-\alpha H_N}
              \prod_{j=1}^K \frac{(N - m_j)!\,(m_j - 1)!}{N!}

    where :math:`m_j` customers take dish j, :math:`K_h` columns are alike and
    :math:`H_N = \sum_{i \le N} 1/i` [griffiths2011]_.

    References
    ----------
    .. [griffiths2011] T. L. Griffiths and Z. Ghahramani, "The Indian buffet process: an
       introduction and review", Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(np.exp(buffet_log_probability([[1], [1]], 1.0))), 4)
    0.1116
    """
    table = np.asarray(dishes)
    if table.ndim != 2 or not np.isin(table, (0, 1)).all():
        raise DataError("dishes must be a table of zeros and ones.")
    check_buffet(len(table), concentration)
    counts = table.sum(axis=0)
    if (counts == 0).any():
        raise DataError("dishes has columns that nobody takes; leave them out.")
    n_customers, n_dishes = table.shape
    alike = np.unique(table, axis=1, return_counts=True)[1] if n_dishes else np.zeros(0)
    harmonic = (1.0 / np.arange(1, n_customers + 1)).sum()
    terms = gammaln(n_customers - counts + 1) + gammaln(counts) - gammaln(n_customers + 1)
    constant = n_dishes * np.log(concentration) - gammaln(alike + 1).sum()
    return float(constant - concentration * harmonic + terms.sum())


@checked_arguments(n_customers=WHOLE, concentration=NUMBER)
def expected_dishes(n_customers: int, concentration: float = 1.0) -> float:
    r"""Return the expected number of dishes :math:`\alpha \sum_{i \le n} 1 / i`.

    Parameters
    ----------
    n_customers
        Number of customers.
    concentration
        :math:`\alpha` of the process.

    Examples
    --------
    >>> round(expected_dishes(10, 2.0), 3)
    5.858
    """
    check_buffet(n_customers, concentration)
    return float(concentration * (1.0 / np.arange(1, n_customers + 1)).sum())


def check_buffet(n_customers: Any, concentration: Any) -> None:
    """Refuse numbers that no buffet has."""
    check_whole(n_customers, "n_customers")
    check_positive(concentration, "concentration")
