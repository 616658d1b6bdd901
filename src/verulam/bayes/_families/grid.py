"""Any prior with any likelihood, by a sum over the values of the parameter or over a grid."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    TEXT,
    DataError,
    Seed,
    checked_arguments,
    generator,
)
from verulam.bayes._families.conjugate import as_table
from verulam.bayes._families.discrete import BetaBernoulli
from verulam.bayes._families.distributions import Distribution, StudentT
from verulam.bayes._families.gaussian import GaussianMean, GaussianPrecision

#: Logarithm of a density: its values at the points, or a function that returns them.
LogDensity = ArrayLike | Callable[[np.ndarray], Any]


@dataclass(frozen=True, eq=False)
class GridPosterior:
    """The posterior of a parameter that takes the values of a list, or of a grid.

    Attributes
    ----------
    points : ndarray of shape (n_points,) or (n_points, n_parameters)
        Values of the parameter.
    probabilities : ndarray of shape (n_points,)
        Posterior probability of each, or of the cell of the grid about it.
    log_evidence : float
        Logarithm of the probability of the data.
    volumes : ndarray of shape (n_points,)
        Size of each cell; ones where the parameter takes these values only.
    most_likely
        The value for which the data are likeliest.
    """

    points: np.ndarray
    probabilities: np.ndarray
    log_evidence: float
    volumes: np.ndarray
    most_likely: Any

    @property
    def density(self) -> np.ndarray:
        """Posterior density at each point."""
        return self.probabilities / self.volumes

    @property
    def mean(self) -> Any:
        """Expected value of the parameter."""
        return _number(self.probabilities @ self.points)

    @property
    def mode(self) -> Any:
        """The value with the highest density: the MAP estimate."""
        return _number(self.points[int(np.argmax(self.density))])

    @property
    def variance(self) -> Any:
        """Variance of the parameter."""
        return _number(self.probabilities @ (self.points - self.probabilities @ self.points) ** 2)

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` draws among the points."""
        rng = generator(random_state)
        return self.points[rng.choice(len(self.points), size=n, p=self.probabilities)]

    def update(self, log_likelihood: LogDensity) -> "GridPosterior":
        """Return the posterior after further data."""
        values = _values(log_likelihood, self.points, "log_likelihood")
        with np.errstate(divide="ignore"):
            before = np.log(self.density)
        return _posterior(self.points, values, before, self.volumes)

    def average(self, values: LogDensity) -> Any:
        """Return the expected value of a function of the parameter, such as a likelihood of x."""
        heights = np.asarray(values(self.points) if callable(values) else values)
        return _number(self.probabilities @ heights)


def grid_posterior(
    points: ArrayLike,
    log_likelihood: LogDensity,
    log_prior: LogDensity | Distribution | None = None,
    *,
    continuous: bool = True,
) -> GridPosterior:
    r"""Return the posterior over the values of a parameter.

    Parameters
    ----------
    points
        Values of the parameter: in increasing order for a grid of one number, or rows of a regular
        grid of several.
    log_likelihood
        Log-likelihood at each point, or a function of the points that returns it.
    log_prior
        The same of the prior, up to a constant, or a distribution; None for a flat prior.
    continuous
        Whether the points stand for the cells about them; otherwise the parameter takes these
        values only.

    Notes
    -----
    .. math:: p(\theta \mid X) = \frac{p(\theta)\, p(X \mid \theta)}
        {\sum_{\theta'} p(\theta')\, p(X \mid \theta')}

    with an integral by the trapezoid rule in place of the sum for a grid. See Alpaydin 16.1 (16.1).

    Examples
    --------
    Is the die fair (1/6), or loaded (1/2)? Two sixes in three throws:

    >>> import numpy as np
    >>> from verulam.bayes import grid_posterior
    >>> heights = lambda q: 2 * np.log(q) + np.log(1 - q)
    >>> grid_posterior([1 / 6, 1 / 2], heights, continuous=False).probabilities.round(3)
    array([0.156, 0.844])
    """
    values = as_table(points, "points")
    if values.ndim > 2 or len(values) < 2:
        raise DataError("points must be two values or more, or rows of them.")
    volumes = _volumes(values) if continuous else np.ones(len(values))
    heights = _values(log_likelihood, values, "log_likelihood")
    if isinstance(log_prior, Distribution):
        log_prior = log_prior.log_density
    before = np.zeros(len(values)) if log_prior is None else _values(log_prior, values, "log_prior")
    # Priors are known up to a constant, which the evidence must not contain.
    before = before - _log_total(before, volumes)
    return _posterior(values, heights, before, volumes)


@checked_arguments(parameter=TEXT, kind=TEXT)
def prior(parameter: str, kind: str, **settings: Any) -> Any:
    """Return a prior of the catalogue: of what, and how much it says.

    Parameters
    ----------
    parameter
        "probability" (of Bernoulli's ones), "mean" or "precision" (of a Gaussian).
    kind
        "uniform": all values alike; "jeffreys": the same whatever the units; "informative": with
        the settings of the conjugate family; "heavy-tailed": Student's t of a mean, which lets the
        data win where they contradict it, for `grid_posterior`.
    **settings
        Arguments of the family, or of Student's t.

    Notes
    -----
    See Alpaydin 16.5.

    Examples
    --------
    >>> from verulam.bayes import prior
    >>> prior("probability", "jeffreys")
    BetaBernoulli(a=0.5, b=0.5)
    >>> prior("mean", "heavy-tailed", df=3.0, location=2.0)
    StudentT(df=3.0, location=2.0, squared_scale=1.0)
    """
    catalogue: dict[str, dict[str, Callable[..., Any]]] = {
        "probability": {
            "uniform": BetaBernoulli.uniform,
            "jeffreys": BetaBernoulli.jeffreys,
            "informative": BetaBernoulli,
        },
        "mean": {
            "uniform": GaussianMean.uniform,
            "jeffreys": GaussianMean.jeffreys,
            "informative": GaussianMean,
            "heavy-tailed": StudentT,
        },
        "precision": {"jeffreys": GaussianPrecision.jeffreys, "informative": GaussianPrecision},
    }
    if parameter not in catalogue:
        raise DataError(f"parameter must be {', '.join(map(repr, catalogue))}; got {parameter!r}.")
    if kind not in catalogue[parameter]:
        raise DataError(
            f"kind of prior of a {parameter} must be "
            f"{', '.join(map(repr, catalogue[parameter]))}; got {kind!r}."
        )
    family = catalogue[parameter][kind]
    accepted = list(signature(family).parameters)
    for name in settings:
        if name not in accepted:
            raise DataError(
                f"settings of the {kind} prior of a {parameter} must be among "
                f"{', '.join(accepted)}; got {name}."
                if accepted
                else f"the {kind} prior of a {parameter} takes no settings; got {name}."
            )
    return family(**settings)


def _posterior(
    points: np.ndarray, log_likelihood: np.ndarray, log_prior: np.ndarray, volumes: np.ndarray
) -> GridPosterior:
    joint = log_likelihood + log_prior
    log_evidence = _log_total(joint, volumes)
    return GridPosterior(
        points,
        np.exp(joint - log_evidence) * volumes,
        log_evidence,
        volumes,
        _number(points[int(np.argmax(log_likelihood))]),
    )


def _log_total(log_values: np.ndarray, volumes: np.ndarray) -> float:
    highest = log_values.max()
    if not np.isfinite(highest):
        raise DataError("likelihood times prior is zero at every point; choose other points.")
    return float(highest + np.log(np.exp(log_values - highest) @ volumes))


def _values(function: LogDensity, points: np.ndarray, name: str) -> np.ndarray:
    values = np.asarray(function(points) if callable(function) else function, dtype=np.float64)
    if values.shape != (len(points),) or np.isnan(values).any():
        raise DataError(f"{name} must have a number for each of the {len(points)} points.")
    return values


def _volumes(points: np.ndarray) -> np.ndarray:
    """Return the size of the cell about each point: half the gaps on both sides."""
    if points.ndim == 2:
        # Cells of a regular grid are alike but at its border, where they are cut in halves.
        volumes = np.ones(len(points))
        for column in points.T:
            levels, places = np.unique(column, return_inverse=True)
            volumes *= _volumes(levels)[places]
        return volumes
    gaps = np.diff(points)
    if not (gaps > 0).all():
        raise DataError("points must be in increasing order.")
    return 0.5 * (np.r_[gaps, 0.0] + np.r_[0.0, gaps])


def _number(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value
