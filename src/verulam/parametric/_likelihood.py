"""Maximum-likelihood estimation for any density that can be written down as a function."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError

Vector = NDArray[np.float64]
#: Relative steps, at first, of the differences that stand for second derivatives.
STEP = 1e-4
#: A step is lengthened until the log-likelihood falls by so much along it, far above rounding.
FALL = 1e-4
#: Curvature, relative to that of single parameters, below which a direction has no maximum.
FLAT = 1e-5
#: Rounds of the search, and how far parameters may run before it is given up.
ROUNDS, FARTHEST = 20, 1e12


@dataclass(frozen=True, eq=False)
class MaximumLikelihood:
    """The parameters under which a sample is most likely.

    Attributes
    ----------
    names
        What the parameters are called.
    parameters
        Their estimates.
    standard_errors
        Roots of the diagonal of the inverse observed information; NaN at a bound, and where the
        likelihood has no maximum in that direction.
    log_likelihood
        That of the sample.
    n_rows
        Size of the sample.
    converged
        Whether the search ended at a maximum.
    """

    names: tuple[str, ...]
    parameters: Vector
    standard_errors: Vector
    log_likelihood: float
    n_rows: int
    converged: bool

    @property
    def aic(self) -> float:
        """Akaike's criterion: twice the number of parameters less the log-likelihood."""
        return 2.0 * (len(self.parameters) - self.log_likelihood)

    def to_frame(self) -> pd.DataFrame:
        """Return estimates and standard errors as a table."""
        columns = {"estimate": self.parameters, "standard_error": self.standard_errors}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="parameter"))

    def __str__(self) -> str:
        estimates = [
            f"{name} = {value:.4g} (standard error {error:.2g})"
            for name, value, error in zip(
                self.names, self.parameters, self.standard_errors, strict=True
            )
        ]
        total = f"log-likelihood {self.log_likelihood:.6g} of {self.n_rows} rows"
        return f"{', '.join(estimates)}; {total}"


def maximise_likelihood(
    log_density: Callable[..., Any],
    X: ArrayLike,
    init: Sequence[float],
    *,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
    names: Sequence[str] | None = None,
) -> MaximumLikelihood:
    r"""Return the parameters that maximise the likelihood of a sample, by numerical search.

    Parameters
    ----------
    log_density
        Called as ``log_density(X, *parameters)``, it returns the log density of each row.
    X
        The sample.
    init
        Where the search begins; a likelihood of several maxima gives the one nearby.
    bounds
        Smallest and largest value of each parameter, None for none, such as
        ``[(None, None), (1e-9, None)]`` for a mean and a standard deviation.
    names
        What the parameters are called.

    Notes
    -----
    :math:`\hat\theta = \arg\max_\theta \sum_t \log p(x^t \mid \theta)` (SIT1305 II, maximum
    likelihood). Where there is a formula, as for the Bernoulli, multinomial and Gaussian
    densities, their own classes are quicker and exact. Standard errors come from the curvature
    at the maximum, which is right for large samples.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.parametric import maximise_likelihood
    >>> waits = [0.5, 2.0, 1.0, 0.5]
    >>> def exponential(x, rate):
    ...     return np.log(rate) - rate * x
    >>> print(maximise_likelihood(exponential, waits, [0.5], bounds=[(1e-9, None)], names=["rate"]))
    rate = 1 (standard error 0.5); log-likelihood -4 of 4 rows
    """
    sample = np.asarray(X, dtype=np.float64)
    if sample.ndim == 0 or len(sample) == 0:
        raise DataError("X is empty: at least one row is needed.")
    if not np.isfinite(sample).all():
        raise DataError("X has a missing or infinite value.")
    first = np.atleast_1d(np.asarray(init, dtype=np.float64))
    labels = tuple(names) if names is not None else tuple(f"p{k + 1}" for k in range(len(first)))
    limits = list(bounds) if bounds is not None else [(None, None)] * len(first)
    for entries, argument in ((labels, "names"), (limits, "bounds")):
        if len(entries) != len(first):
            raise DataError(f"{argument} has {len(entries)} entries for {len(first)} parameters.")

    def loss(parameters: Vector) -> float:
        # Beyond what a density allows, any logarithm may warn; such places are not taken.
        with np.errstate(all="ignore"):
            values = np.asarray(log_density(sample, *parameters), dtype=np.float64)
        if values.shape != (len(sample),):
            raise DataError(
                f"log_density returned shape {values.shape}: one value for each of the "
                f"{len(sample)} rows is needed."
            )
        total = float(values.sum())
        return -total if np.isfinite(total) else np.inf

    if not np.isfinite(loss(first)):
        raise DataError(f"init={first.tolist()}: the sample is impossible there; begin elsewhere.")
    best, converged = _nelder_mead(loss, first, limits)
    if not converged:
        warnings.warn(
            "The search for the largest likelihood has not converged.",
            ConvergenceWarning,
            stacklevel=2,
        )
    errors = _standard_errors(loss, best, limits)
    return MaximumLikelihood(labels, best, errors, -loss(best), len(sample), converged)


def _nelder_mead(
    loss: Callable[[Vector], float], first: Vector, limits: Sequence[Any]
) -> tuple[Vector, bool]:
    """Return the optimum of simplex searches, one after another, and whether they came to rest."""
    # A simplex may collapse short of the optimum; a fresh one around its end goes on.
    point, value, converged = first, loss(first), False
    for _ in range(ROUNDS):
        simplex = optimize.minimize(
            loss,
            point,
            method="Nelder-Mead",
            bounds=limits,
            options={"maxiter": 500 * len(first), "xatol": 1e-10, "fatol": 1e-12},
        )
        gain = value - float(simplex.fun)
        point, value = np.asarray(simplex.x), float(simplex.fun)
        if simplex.success and gain <= 1e-10 * max(1.0, abs(value)):
            converged = True
            break
        if not np.isfinite(point).all() or np.abs(point).max() > FARTHEST:
            break
    return point, converged


def _within(value: float, step: float, limit: Any) -> bool:
    """Tell whether both ends of a step are within the bounds of a parameter."""
    low, high = limit
    return (low is None or value - step > low) and (high is None or value + step < high)


def _step(loss: Callable[[Vector], float], best: Vector, place: int, limit: Any) -> float:
    """Return how far to go along a parameter: near zero, its own size says nothing about it."""
    value, along, least = float(best[place]), np.eye(len(best))[place], loss(best)
    step = longer = STEP * max(abs(value), STEP)
    while longer < FARTHEST and _within(value, longer, limit):
        falls = [loss(best + sign * longer * along) - least for sign in (-1.0, 1.0)]
        if not np.isfinite(falls).all():
            break
        step = longer
        if max(falls) >= FALL:
            break
        longer *= 4.0
    return step


def _standard_errors(
    loss: Callable[[Vector], float], best: Vector, limits: Sequence[Any]
) -> Vector:
    """Return roots of the inverse observed information, of the parameters at no bound."""
    steps = np.array([_step(loss, best, place, limit) for place, limit in enumerate(limits)])
    free = np.array(list(map(_within, best, steps, limits)))
    errors = np.full(len(best), np.nan)
    places = np.flatnonzero(free)
    moves = [
        step * np.eye(len(best))[place] for place, step in zip(places, steps[free], strict=True)
    ]
    # Central differences for the Hessian of the negative log-likelihood.
    curvature = np.array(
        [
            [
                loss(best + one + other)
                - loss(best + one - other)
                - loss(best - one + other)
                + loss(best - one - other)
                for other in moves
            ]
            for one in moves
        ]
    )
    if not len(places) or not np.isfinite(curvature).all():
        return errors
    curvature /= 4.0 * np.outer(steps[free], steps[free])
    diagonal = np.diag(curvature)
    # In units of their own curvature, what is flat differs from zero by rounding alone.
    if (diagonal > 0).all():
        units = np.sqrt(np.outer(diagonal, diagonal))
        if np.linalg.eigvalsh(curvature / units)[0] > FLAT:
            errors[free] = np.sqrt(np.diag(np.linalg.inv(curvature / units)) / diagonal)
    return errors
