"""What conjugate families share: updates, evidence, the three estimates, and a stream of data."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    COUNT,
    NUMBERS,
    SEED,
    Chunk,
    DataError,
    Kind,
    Seed,
    check_weights,
    checked_arguments,
    generator,
    open_source,
)
from verulam.bayes._families.distributions import Distribution
from verulam.numerics import FullMoments, full_moments

#: The three ways to go on from data to a prediction.
ESTIMATES = ("ml", "map", "full")
#: Squares of larger numbers, summed over many observations, leave the range of float64.
LARGEST_NUMBER = 1e150


class Conjugate:
    r"""A model of data together with a prior of its parameter whose posterior is of the same kind.

    Objects never change: `posterior` returns a new one, which is the prior of the
    data to come.

    Notes
    -----
    With data :math:`X` and parameter :math:`\theta`,

    .. math:: p(\theta \mid X) = \frac{p(\theta)\, p(X \mid \theta)}{p(X)}, \qquad
        p(x' \mid X) = \int p(x' \mid \theta)\, p(\theta \mid X)\, d\theta

    See Alpaydin 16.1 (16.1-16.2).
    """

    # -- what a family defines

    @property
    def distribution(self) -> Any:
        """The distribution of the parameter."""
        raise NotImplementedError

    @property
    def predictive(self) -> Any:
        """The distribution of the next observation, averaged over the parameter."""
        raise NotImplementedError

    def at(self, parameter: Any) -> Any:
        """Return the distribution of one observation for a value of the parameter."""
        raise NotImplementedError

    def maximum_likelihood(self, data: Any) -> Any:
        """Return the parameter for which the data are likeliest."""
        raise NotImplementedError

    def _rows(self, data: Any) -> np.ndarray:
        """Return checked data as a table with a row for each observation."""
        raise NotImplementedError

    def _sums(self, rows: np.ndarray, weights: np.ndarray | None) -> Any:
        """Return the sufficient statistics of a table."""
        raise NotImplementedError

    def _updated(self, statistics: Any) -> Self:
        """Return the posterior."""
        raise NotImplementedError

    def _log_evidence(self, statistics: Any, posterior: Self) -> float:
        """Return the logarithm of the integral of likelihood times prior."""
        raise NotImplementedError

    # -- what all of them can do

    def statistics(self, data: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Return the sufficient statistics of data, which add with ``+``.

        Parameters
        ----------
        data
            Observations: an array, an iterator of chunks or a callable that returns one, a Dask
            array, or statistics, which are returned as they are.
        sample_weight
            Weight of every observation; a whole number counts as so many of them.
        """
        if isinstance(data, self._statistics_type()):
            return data
        source = open_source(data, None, sample_weight, self._chunk)
        in_memory = getattr(source, "data", None)
        if in_memory is not None and not len(in_memory):
            return self._sums(in_memory.inputs, None)
        return source.total(partial(_chunk_sums, self._sums))

    def posterior(self, data: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Return the posterior that data make of this prior.

        Parameters
        ----------
        data, sample_weight
            As for `statistics`; without any rows the posterior is the prior.
        """
        return self._updated(self.statistics(data, sample_weight))

    def log_evidence(self, data: Any) -> float:
        """Return the logarithm of the probability (density) of all data together."""
        self._refuse_improper("evidence")
        statistics = self.statistics(data)
        return float(self._log_evidence(statistics, self._updated(statistics)))

    def log_likelihood(self, parameter: Any, data: Any) -> float:
        """Return the log-likelihood of a parameter."""
        rows = self._rows(data)
        return float(self.at(parameter).log_density(self._observations(rows)).sum())

    def predict(self, data: Any, estimate: str = "full") -> Any:
        """Return the distribution of the next observation after data.

        Parameters
        ----------
        data
            As for `statistics`.
        estimate
            "full" averages over the posterior, "map" takes its mode, and "ml" the parameter for
            which the data are likeliest, without a prior.
        """
        if estimate not in ESTIMATES:
            raise DataError(f'estimate must be "ml", "map" or "full"; got {estimate!r}.')
        statistics = self.statistics(data)
        if estimate == "ml":
            return self.at(self.maximum_likelihood(statistics))
        posterior = self._updated(statistics)
        if estimate == "full":
            return posterior.predictive
        mode = posterior.mode
        if isinstance(mode, float | np.ndarray) and np.isnan(mode).any():
            raise DataError(
                f'estimate="map" needs a posterior with one mode, and that of {posterior} has '
                'none; take estimate="full", or more data.'
            )
        return self.at(mode)

    def simulate(self, n: int, random_state: Seed = None) -> tuple[Any, np.ndarray]:
        """Draw a parameter from the prior, and then `n` observations given it."""
        rng = generator(random_state)
        parameter = self._one(self.sample(1, rng))
        return parameter, self.at(parameter).sample(n, rng)

    def log_density(self, parameter: Any) -> np.ndarray:
        """Return the log-density of a value of the parameter, or of several."""
        self._refuse_improper("density")
        return np.asarray(self.distribution.log_density(parameter))

    def sample(self, n: int = 1, random_state: Seed = None) -> Any:
        """Return `n` draws of the parameter."""
        self._refuse_improper("draws")
        return self.distribution.sample(n, random_state)

    @property
    def mean(self) -> Any:
        """Expected value of the parameter."""
        self._refuse_improper("mean")
        return self.distribution.mean

    @property
    def mode(self) -> Any:
        """The likeliest value of the parameter: the MAP estimate, once there are data."""
        self._refuse_improper("mode")
        return self.distribution.mode

    def _statistics_type(self) -> type[Any]:
        return FullMoments

    def _observations(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows as the distribution of one observation takes them."""
        return rows

    def _one(self, draws: Any) -> Any:
        """Return the first of several draws."""
        return draws[0]

    def _improper(self) -> str:
        """Say which parameters make the prior one without an integral; empty where none do."""
        return ""

    def _refuse_improper(self, what: str) -> None:
        reason = self._improper()
        if reason:
            raise DataError(
                f"{type(self).__name__} is improper as it stands ({reason}) and has no {what}; "
                "update it with data first, or give it a proper prior."
            )

    def _chunk(self, data: Any, targets: Any, weights: Any, first: bool) -> Chunk:
        rows = self._rows(data)
        return Chunk(rows, None, check_weights(weights, rows))


class OfMoments(Conjugate):
    """A family whose sufficient statistics are number, mean and scatter of the rows."""

    def _rows(self, data: Any) -> np.ndarray:
        return numbers_of(data)

    def _sums(self, rows: np.ndarray, weights: np.ndarray | None) -> FullMoments:
        if not len(rows):
            width = self._width() if rows.shape[1] != self._width() else rows.shape[1]
            return FullMoments(np.zeros(1), np.zeros((1, width)), np.zeros((1, width, width)))
        return full_moments(np.ascontiguousarray(rows), np.zeros(len(rows), int), weights, 1)

    def _width(self) -> int:
        return 1

    def _observations(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0]


def numbers_of(data: Any) -> np.ndarray:
    """Return observations of one number as a table with one column."""
    values = as_table(data, "data")
    if values.ndim == 2 and values.shape[1] == 1:
        return values
    if values.ndim > 1:
        raise DataError(f"data must be a vector of numbers; got shape {values.shape}.")
    return values.reshape(-1, 1)


def as_table(data: Any, name: str) -> np.ndarray:
    """Return finite numbers as an array."""
    if data is None:
        raise DataError(f"{name} must be numbers; got None.")
    try:
        values = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers ({error}).") from None
    if not np.isfinite(values).all():
        place = [int(part) for part in np.argwhere(~np.isfinite(values))[0]] if values.ndim else []
        raise DataError(f"{name} must be finite; entry {place} is {values[tuple(place)]}.")
    largest = float(np.abs(values).max(initial=0.0))
    if largest > LARGEST_NUMBER:
        raise DataError(
            f"{name} holds numbers as large as {largest:.3g}, whose squares are beyond floating "
            "point; divide them by a constant."
        )
    return np.atleast_1d(values)


def _chunk_sums(sums: Callable[[np.ndarray, Any], Any], chunk: Chunk) -> Any:
    return sums(chunk.inputs, chunk.weights)


FAMILY = Kind(
    "a conjugate family, such as BetaBernoulli", lambda value: isinstance(value, Conjugate)
)


@checked_arguments(family=FAMILY, x=NUMBERS, n=COUNT, random_state=SEED)
def average_density(
    family: Conjugate, x: ArrayLike, n: int = 1000, random_state: Seed = None
) -> np.ndarray:
    """Return the predictive density at `x` as an average over draws of the parameter.

    Parameters
    ----------
    family
        A prior, or a posterior.
    x
        Observations.
    n
        Number of draws.
    random_state
        Seed.

    Examples
    --------
    >>> from verulam.bayes import BetaBernoulli, average_density
    >>> family = BetaBernoulli(a=8.0, b=4.0)
    >>> average_density(family, [1.0], n=5000, random_state=0).round(1), round(family.mean, 1)
    (array([0.7]), 0.7)
    """
    rng = generator(random_state)
    draws = family.sample(n, rng)
    observations: list[Distribution] = [family.at(parameter) for parameter in draws]
    return np.mean([one.density(x) for one in observations], axis=0)
