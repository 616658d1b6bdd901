"""Emissions of counts: Poisson rates, and multinomial shares of several kinds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from verulam.base import DataError, SumRecord
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._model.emission import (
    Emission,
    check_least,
    check_positive,
    checked_start_values,
    hold_fixed,
    refuse_empty_columns,
)
from verulam.sequence._model.transitions import check_distribution


@dataclass(frozen=True)
class Rates:
    """Parameters of Poisson emissions.

    Attributes
    ----------
    rates : ndarray of shape (n_states, n_columns)
        Mean count of each column in each state.
    """

    rates: np.ndarray


@dataclass(frozen=True)
class Shares:
    """Parameters of multinomial emissions.

    Attributes
    ----------
    probabilities : ndarray of shape (n_states, n_columns)
        Share of each kind in each state.
    """

    probabilities: np.ndarray


@dataclass(frozen=True)
class CountSums(SumRecord):
    """Weighted counts of each column in each state, and the weight of the entries present."""

    counts: np.ndarray
    weight: np.ndarray


class CountEmission(Emission):
    """What emissions of counts share."""

    def encode(self, sequences: Sequences, parameters: Any = None) -> np.ndarray:
        """Return the rows, checked to be counts."""
        values = np.asarray(sequences.values, dtype=np.float64)
        present = values[~np.isnan(values)]
        if (present < 0).any() or (present != np.floor(present)).any():
            raise DataError(
                f"{type(self).__name__} takes counts; X has a number that is negative or not whole."
            )
        return values

    def statistics(self, parameters: Any, values: np.ndarray, weights: np.ndarray) -> CountSums:
        """Return the weighted counts."""
        present = ~np.isnan(values)
        return CountSums(weights.T @ np.where(present, values, 0.0), weights.T @ (present * 1.0))


@dataclass(frozen=True)
class PoissonEmission(CountEmission):
    r"""Each state shows counts at its own rates, column by column.

    Parameters
    ----------
    rates
        Rates to start from.
    prior
        Weight, in steps, of a rate of 1 in each state.
    fixed
        ``("rates",)`` to hold them.

    Notes
    -----
    :math:`\ln b_j(O_t) = \sum_d O_{td} \ln \lambda_{jd} - \lambda_{jd} - \ln O_{td}!`

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, PoissonEmission
    >>> counts = np.array([0, 1, 0, 1, 0, 9, 11, 10, 10, 0, 1, 0])
    >>> model = HiddenMarkovModel(2, PoissonEmission(), random_state=0).fit(counts)
    >>> np.sort(model.emission_.rates.ravel()).round(2)
    array([ 0.37, 10.  ])
    """

    rates: Any = None
    prior: float = 0.0
    fixed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_least(self, "prior", 0.0)
        check_positive(self, "rates", zero=True)

    @property
    def complete(self) -> bool:
        """Whether the rates are given."""
        return self.rates is not None

    def blank(self, survey: Any, head: np.ndarray, n_states: int) -> Rates:
        """Return the overall rates."""
        refuse_empty_columns(head)
        return Rates(np.repeat(np.nanmean(head, axis=0)[None] + 1e-3, n_states, axis=0))

    def with_start_values(self, parameters: Rates) -> Rates:
        """Return the parameters with the start values that the user has set."""
        return checked_start_values(self, ("rates",), parameters)

    def log_likelihoods(self, parameters: Rates, values: np.ndarray) -> np.ndarray:
        """Return the log-probability of the counts that are present."""
        present = ~np.isnan(values)
        counts = np.where(present, values, 0.0)
        rates = np.maximum(parameters.rates, 1e-300)
        result = counts @ np.log(rates).T - (present * 1.0) @ rates.T
        return result - gammaln(counts + 1.0).sum(axis=1)[:, None]

    def update(self, parameters: Rates, sums: CountSums) -> Rates:
        """Return the mean counts."""
        weight = sums.weight + self.prior
        rates = np.divide(
            sums.counts + self.prior, weight, out=parameters.rates.copy(), where=weight > 0
        )
        return hold_fixed(self, ("rates",), parameters, Rates(rates))

    def log_prior(self, parameters: Rates) -> float:
        """Return the logarithm of the Gamma prior, up to a constant."""
        if not self.prior:
            return 0.0
        rates = np.maximum(parameters.rates, 1e-300)
        return float(self.prior * (np.log(rates) - rates).sum())

    def sample(
        self, parameters: Rates, states: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return one row of counts per state."""
        return random.poisson(parameters.rates[states])

    def n_columns(self, parameters: Rates) -> int:
        """Return the columns of the rates."""
        return parameters.rates.shape[1]

    def expected(self, parameters: Rates) -> np.ndarray:
        """Return the rates."""
        return parameters.rates


@dataclass(frozen=True)
class MultinomialEmission(CountEmission):
    r"""Each state shows how often each of several kinds occurred, such as words in a line.

    Parameters
    ----------
    probabilities
        Shares of the kinds to start from.
    prior
        Pseudo-count of each kind in each state.
    fixed
        ``("probabilities",)`` to hold them.

    Notes
    -----
    :math:`b_j(O_t) = \frac{n_t!}{\prod_m r_m^t!} \prod_m b_j(m)^{r_m^t}`; with one count of 1 per
    step it is the categorical emission of Alpaydin 15.8 (15.34, whose printed form has lost the
    exponent).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, MultinomialEmission
    >>> counts = [[9, 1], [8, 2], [1, 9], [2, 8]] * 5
    >>> model = HiddenMarkovModel(2, MultinomialEmission(), random_state=0).fit([counts])
    >>> np.sort(model.emission_.probabilities[:, 0]).round(2)
    array([0.15, 0.85])
    """

    probabilities: Any = None
    prior: float = 0.0
    fixed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_least(self, "prior", 0.0)

    @property
    def complete(self) -> bool:
        """Whether the shares are given."""
        return self.probabilities is not None

    def blank(self, survey: Any, head: np.ndarray, n_states: int) -> Shares:
        """Return equal shares."""
        refuse_empty_columns(head)
        return Shares(np.full((n_states, head.shape[1]), 1.0 / head.shape[1]))

    def with_start_values(self, parameters: Shares) -> Shares:
        """Return the parameters with the start values that the user has set."""
        if self.probabilities is None:
            return parameters
        shape = parameters.probabilities.shape
        return Shares(check_distribution(self.probabilities, "probabilities", shape))

    def features(self, values: np.ndarray) -> np.ndarray:
        """Return the shares of the kinds at each step."""
        counts = np.nan_to_num(values)
        return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)

    def log_likelihoods(self, parameters: Shares, values: np.ndarray) -> np.ndarray:
        """Return the log-probability of the counts; a step with a gap counts as missing."""
        gaps = np.isnan(values).any(axis=1)
        counts = np.where(gaps[:, None], 0.0, values)
        possible = parameters.probabilities > 0
        logarithms = np.log(np.where(possible, parameters.probabilities, 1.0))
        result = counts @ logarithms.T
        result += (gammaln(counts.sum(axis=1) + 1.0) - gammaln(counts + 1.0).sum(axis=1))[:, None]
        result[counts @ (~possible * 1.0).T > 0] = -np.inf
        return result

    def statistics(self, parameters: Any, values: np.ndarray, weights: np.ndarray) -> CountSums:
        """Return the weighted counts of the steps without gaps."""
        gaps = np.isnan(values).any(axis=1)
        return super().statistics(parameters, np.where(gaps[:, None], np.nan, values), weights)

    def update(self, parameters: Shares, sums: CountSums) -> Shares:
        """Return the shares of the counts and pseudo-counts."""
        counts = sums.counts + self.prior
        totals = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, totals, out=parameters.probabilities.copy(), where=totals > 0)
        return hold_fixed(self, ("probabilities",), parameters, Shares(shares))

    def log_prior(self, parameters: Shares) -> float:
        """Return the logarithm of the Dirichlet prior, up to a constant."""
        return float(self.prior * np.log(parameters.probabilities).sum()) if self.prior else 0.0

    def sample(
        self, parameters: Shares, states: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return one count of 1 per state."""
        return random.multinomial(1, parameters.probabilities[states])

    def n_columns(self, parameters: Shares) -> int:
        """Return the number of kinds."""
        return parameters.probabilities.shape[1]

    def expected(self, parameters: Shares) -> np.ndarray:
        """Return the shares."""
        return parameters.probabilities

    def n_parameters(self, parameters: Shares) -> int:
        """Return the number of free shares."""
        return parameters.probabilities.size - len(parameters.probabilities)
