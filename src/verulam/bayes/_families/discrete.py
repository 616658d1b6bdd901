"""Probabilities of classes: beta-Bernoulli and Dirichlet-multinomial."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, gammaln

from verulam.base import DataError, SumRecord
from verulam.bayes._families.conjugate import Conjugate, as_table
from verulam.bayes._families.distributions import Bernoulli, Beta, check_positive
from verulam.bayes._families.multivariate import Categorical, Dirichlet, check_concentrations


@dataclass(frozen=True, eq=False)
class Counts(SumRecord):
    """How often each class occurred.

    Attributes
    ----------
    counts : ndarray of shape (n_classes,)
        Number of each class; for zeros and ones, in that order.
    """

    counts: np.ndarray


@dataclass(frozen=True)
class BetaBernoulli(Conjugate):
    r"""A probability with a beta prior, learned from zeros and ones.

    Attributes
    ----------
    a, b
        Imaginary counts of ones and of zeros; 1 and 1 is the uniform prior.

    Notes
    -----
    After :math:`A` ones among :math:`N`,

    .. math:: p(q \mid X) = \mathrm{Beta}(q \mid a + A,\; b + N - A) \propto q^{a+A-1}
        (1 - q)^{b+N-A-1}

    The printed text has :math:`1 - p` where :math:`1 - q` is meant. See Alpaydin 16.2.2.

    Examples
    --------
    >>> from verulam.bayes import BetaBernoulli
    >>> BetaBernoulli().posterior([1, 1, 0, 1])
    BetaBernoulli(a=4.0, b=2.0)
    >>> BetaBernoulli().predict([1, 1, 1, 1], estimate="ml").probability
    1.0
    >>> round(BetaBernoulli().predict([1, 1, 1, 1], estimate="full").probability, 4)
    0.8333
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        check_positive(self, "a", "b")

    @classmethod
    def uniform(cls) -> "BetaBernoulli":
        """Return the prior under which every probability is equally likely."""
        return cls(1.0, 1.0)

    @classmethod
    def jeffreys(cls) -> "BetaBernoulli":
        """Return the prior that does not depend on how the probability is written."""
        return cls(0.5, 0.5)

    @classmethod
    def from_mean(cls, mean: float, size: float) -> "BetaBernoulli":
        """Return the prior with an expected probability, worth `size` imaginary observations."""
        if not 0.0 < mean < 1.0:
            raise DataError(f"mean must be between 0 and 1; got {mean!r}.")
        if not size > 0:
            raise DataError(f"size must be above 0; got {size!r}.")
        return cls(mean * size, (1.0 - mean) * size)

    @property
    def distribution(self) -> Beta:
        """The beta distribution of the probability."""
        return Beta(self.a, self.b)

    @property
    def predictive(self) -> Bernoulli:
        """The distribution of the next observation."""
        return Bernoulli(self.a / (self.a + self.b))

    def at(self, parameter: float) -> Bernoulli:
        """Return the distribution of one observation for a probability of ones."""
        return Bernoulli(float(parameter))

    def maximum_likelihood(self, data: Any) -> float:
        """Return the share of ones."""
        zeros, ones = self.statistics(data).counts
        if not zeros + ones:
            raise DataError("data has no rows, so that no likelihood has a maximum.")
        return float(ones / (zeros + ones))

    def _statistics_type(self) -> type[Any]:
        return Counts

    def _rows(self, data: Any) -> np.ndarray:
        values = as_table(data, "data").reshape(-1, 1)
        if not np.isin(values, (0.0, 1.0)).all():
            wrong = values[~np.isin(values, (0.0, 1.0))][0]
            raise DataError(f"data of BetaBernoulli must be zeros and ones; got {wrong:g}.")
        return values

    def _sums(self, rows: np.ndarray, weights: np.ndarray | None) -> Counts:
        ones = rows[:, 0]
        shares = np.ones(len(ones)) if weights is None else weights
        total = shares @ ones
        return Counts(np.array([shares.sum() - total, total]))

    def _updated(self, statistics: Counts) -> "BetaBernoulli":
        zeros, ones = map(float, statistics.counts)
        return BetaBernoulli(self.a + ones, self.b + zeros)

    def _log_evidence(self, statistics: Counts, posterior: "BetaBernoulli") -> float:
        return float(betaln(posterior.a, posterior.b) - betaln(self.a, self.b))

    def _observations(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0]


@dataclass(frozen=True, eq=False)
class DirichletMultinomial(Conjugate):
    r"""Probabilities of several classes with a Dirichlet prior, learned from counts.

    Attributes
    ----------
    alpha : ndarray of shape (n_classes,)
        Imaginary count :math:`\alpha_i` of each class.

    Notes
    -----
    After :math:`N_i` observations of each class the posterior is Dirichlet with
    :math:`\alpha_i + N_i`; its mode is :math:`(\alpha_i + N_i - 1) / (\alpha_0 + N - K)`, and

    .. math:: p(X) = \frac{\Gamma(\alpha_0)}{\Gamma(\alpha_0 + N)} \prod_i
        \frac{\Gamma(\alpha_i + N_i)}{\Gamma(\alpha_i)}

    for observations in the order in which they came. See Alpaydin 16.2.1 (16.3-16.4).

    Examples
    --------
    >>> from verulam.bayes import DirichletMultinomial
    >>> prior = DirichletMultinomial([1.0, 1.0, 1.0])
    >>> posterior = prior.posterior([[1, 0, 0], [0, 0, 1], [1, 0, 0]])
    >>> posterior.alpha
    array([3., 1., 2.])
    >>> posterior.predictive.probabilities.round(3)
    array([0.5  , 0.167, 0.333])
    """

    alpha: np.ndarray

    def __post_init__(self) -> None:
        values = as_table(self.alpha, "alpha")
        if values.ndim != 1:
            raise DataError(f"alpha must be a vector of imaginary counts; got {values.shape}.")
        check_concentrations(values, "DirichletMultinomial")
        object.__setattr__(self, "alpha", values)

    @classmethod
    def uniform(cls, n_classes: int) -> "DirichletMultinomial":
        """Return the prior under which all shares are equally likely."""
        return cls(np.ones(n_classes))

    @classmethod
    def jeffreys(cls, n_classes: int) -> "DirichletMultinomial":
        """Return the prior that does not depend on how the shares are written."""
        return cls(np.full(n_classes, 0.5))

    @classmethod
    def from_shares(cls, shares: ArrayLike, size: float) -> "DirichletMultinomial":
        """Return the prior with expected shares, worth `size` imaginary observations."""
        expected = as_table(shares, "shares")
        if (expected <= 0).any() or not np.isclose(expected.sum(), 1.0):
            raise DataError("shares must be above 0 and sum to 1.")
        if not size > 0:
            raise DataError(f"size must be above 0; got {size!r}.")
        return cls(expected * size)

    @property
    def distribution(self) -> Dirichlet:
        """The Dirichlet distribution of the shares."""
        return Dirichlet(self.alpha)

    @property
    def predictive(self) -> Categorical:
        """The distribution of the class of the next observation."""
        return Categorical(self.alpha / self.alpha.sum())

    def at(self, parameter: ArrayLike) -> Categorical:
        """Return the distribution of the class of one observation for some shares."""
        return Categorical(np.asarray(parameter, dtype=np.float64))

    def maximum_likelihood(self, data: Any) -> np.ndarray:
        """Return the share of each class in the data."""
        counts = self.statistics(data).counts
        if not counts.sum():
            raise DataError("data has no rows, so that no likelihood has a maximum.")
        return np.asarray(counts / counts.sum())

    def log_likelihood(self, parameter: Any, data: Any) -> float:
        """Return the log-likelihood of shares."""
        counts = self.statistics(data).counts
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(counts > 0, counts * np.log(np.asarray(parameter)), 0.0)
        return float(terms.sum())

    def _statistics_type(self) -> type[Any]:
        return Counts

    def _rows(self, data: Any) -> np.ndarray:
        rows = as_table(data, "data")
        if rows.size == 0:
            return np.empty((0, len(self.alpha)))
        rows = np.atleast_2d(rows)
        if rows.ndim != 2 or rows.shape[1] != len(self.alpha):
            raise DataError(
                f"data must have a column of counts for each of the {len(self.alpha)} classes; got "
                f"shape {rows.shape}."
            )
        if (rows < 0).any():
            raise DataError(f"data must be counts, not negative; got {rows.min():g}.")
        return rows

    def _sums(self, rows: np.ndarray, weights: np.ndarray | None) -> Counts:
        return Counts(rows.sum(axis=0) if weights is None else weights @ rows)

    def _updated(self, statistics: Counts) -> "DirichletMultinomial":
        return DirichletMultinomial(self.alpha + statistics.counts)

    def _log_evidence(self, statistics: Counts, posterior: "DirichletMultinomial") -> float:
        rise = gammaln(posterior.alpha).sum() - gammaln(self.alpha).sum()
        return float(rise + gammaln(self.alpha.sum()) - gammaln(posterior.alpha.sum()))
