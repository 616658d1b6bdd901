"""Where the best setting of a fitted surface may lie: the confidence region of Box and Hunter."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, special
from scipy.stats import qmc

from verulam.base import DataError
from verulam.design._factors import coded_settings
from verulam.design._response_surface import ResponseSurface
from verulam.design._surface_inference import ROUNDING, slope_rows

#: Points of the range, as a power of two, that are looked at for parts of the region.
_POINTS = 12
#: A code this close to -1 or +1 is at the end of the range.
_AT_END = 1e-6


@dataclass(frozen=True, eq=False)
class OptimumRegion:
    """All settings at which the true surface may be level, with a confidence.

    Attributes
    ----------
    surface
        The fitted surface.
    confidence
        How often such a region has the true stationary point in it.
    limit
        The largest statistic within the region.
    """

    surface: ResponseSurface
    confidence: float
    limit: float

    @cached_property
    def intervals(self) -> pd.DataFrame:
        """A row per factor: the stationary point and the ends of the region.

        The region is followed within the range that was run; where it reaches an end of that,
        the interval is not closed. The intervals hold together for all factors, so that each is
        wider than one for its factor alone. NaN where no setting of the range belongs to the
        region.
        """
        rows = {}
        reach = _reach(self.surface, self.limit)
        for factor, (low, high) in zip(self.surface.factors, reach, strict=True):
            ends = replace(factor, whole=False).decoded([low, high])
            closed = bool(low > -1 + _AT_END and high < 1 - _AT_END)
            optimum = self.surface.stationary_point[factor.name]
            rows[factor.name] = [optimum, *map(float, ends), closed]
        columns = ["optimum", "low", "high", "closed"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("factor")

    @property
    def closed(self) -> bool:
        """Whether the region ends within the range that was run, in every factor."""
        return bool(self.intervals["closed"].all())

    def contains(self, settings: pd.DataFrame) -> np.ndarray:
        """Return whether each setting belongs to the region.

        Parameters
        ----------
        settings
            One row per setting, one column per factor.
        """
        codes = coded_settings(settings, self.surface.factors).to_numpy()
        if _is_exact(self.surface):
            return np.asarray(np.isclose(codes, _stationary_codes(self.surface)).all(axis=1))
        return np.asarray(_statistics(codes, self.surface) <= self.limit)


def optimum_region(surface: ResponseSurface, confidence: float = 0.95) -> OptimumRegion:
    r"""Return the confidence region of the setting where a surface is level.

    Parameters
    ----------
    surface
        What `fit_response_surface` returned.
    confidence
        How sure the region is to have the true stationary point in it, between 0 and 1.

    Notes
    -----
    Box and Hunter (1954). The gradient :math:`d(f) = b + 2 B f` is linear in the coefficients, so
    that it is normal with a known form of covariance :math:`V(f)`; where the true surface is
    level its mean is zero. The region

    .. math:: \{ f : d(f)^T V(f)^{-1} d(f) \le k F_{k, \nu} \}

    of :math:`k` factors, with the :math:`\nu` degrees of freedom of the error, is exact for
    normal errors and a true quadratic (Alpaydin 19.3 has the point alone); with a lack of fit, a
    region made of `pure_error` is too narrow. It need not be an
    ellipse, nor be bounded: where the curvature is not sure, neither is the place. With one factor
    it is Fieller's interval.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.design import fit_response_surface
    >>> runs = pd.DataFrame({"x": [-2, -1, 0, 0, 0, 1, 2]})
    >>> surface = fit_response_surface(runs, [9.9, 6.7, 5.1, 4.8, 5.0, 5.4, 7.8])
    >>> optimum_region(surface).intervals.round(3)
            optimum    low   high  closed
    factor
    x         0.285  0.214  0.361    True
    """
    if not 0 < confidence < 1:
        raise DataError(f"confidence: {confidence!r}; expected a number between 0 and 1.")
    error, count = surface.fit.error, len(surface.factors)
    if not error.degrees_of_freedom:
        raise DataError(
            "surface: as many coefficients as runs leave no error; repeat some runs, or give "
            "pure_error to fit_response_surface."
        )
    limit = count * float(special.fdtri(count, error.degrees_of_freedom, confidence))
    return OptimumRegion(surface, confidence, limit)


def _statistics(places: np.ndarray, surface: ResponseSurface) -> np.ndarray:
    """Return the squared length of the gradient at some places, in units of its covariance."""
    count = places.shape[1]
    at_zero = slope_rows(np.zeros(count))
    # The rows are linear in the place: one matrix per factor makes them for all places at once.
    by_factor = np.stack([slope_rows(axis) - at_zero for axis in np.eye(count)])
    rows = at_zero + np.einsum("nf,fij->nij", places, by_factor)
    gradients = rows @ surface.fit.coefficients
    covariances = surface.fit.error.variance * (
        rows @ surface.fit.inverse @ np.swapaxes(rows, 1, 2)
    )
    solved = np.linalg.solve(covariances, gradients[:, :, np.newaxis])[:, :, 0]
    return np.einsum("ni,ni->n", gradients, solved)


def _reach(surface: ResponseSurface, limit: float) -> np.ndarray:
    """Return the lowest and the highest code of each factor that the region has in the range."""
    count = len(surface.factors)
    level = _stationary_codes(surface)
    within = bool((np.abs(level) <= 1).all())
    if _is_exact(surface):
        return np.column_stack([level, level]) if within else np.full((count, 2), np.nan)
    grid = 2 * qmc.Sobol(count, scramble=False).random_base2(_POINTS) - 1
    known = grid[_statistics(grid, surface) <= limit]
    if within:
        known = np.vstack([known, level])
    if not len(known):
        return np.full((count, 2), np.nan)
    steps = _ellipse(surface, level, limit)
    reach = np.empty((count, 2))
    for factor in range(count):
        for end, sign in enumerate((-1.0, 1.0)):
            farthest = known[np.argmax(sign * known[:, factor])]
            # Where an ellipse around the stationary point would end is a start near the truth.
            starts = [farthest, np.clip(level + sign * steps[:, factor], -1.0, 1.0)]
            pushed = [_pushed(start, factor, sign, surface, limit, steps) for start in starts]
            reach[factor, end] = sign * max(sign * farthest[factor], *pushed)
    # Exactly at the ends where rounding alone is between, so that these come out as they were.
    return np.where(np.abs(reach) > 1 - _AT_END, np.sign(reach), reach)


def _stationary_codes(surface: ResponseSurface) -> np.ndarray:
    point = pd.DataFrame([surface.stationary_point])
    return coded_settings(point, surface.factors).to_numpy()[0]


def _is_exact(surface: ResponseSurface) -> bool:
    """Return whether the error is rounding alone."""
    return surface.fit.error.variance <= ROUNDING * float(surface.anova["sum_of_squares"].max())


def _ellipse(surface: ResponseSurface, level: np.ndarray, limit: float) -> np.ndarray:
    """Return in column j the step to the end, along factor j, of the ellipse of small errors."""
    count = len(level)
    at_zero = slope_rows(np.zeros(count))
    bend = np.column_stack(
        [(slope_rows(axis) - at_zero) @ surface.fit.coefficients for axis in np.eye(count)]
    )
    rows, inverse = slope_rows(level), np.linalg.pinv(bend)
    spread = inverse @ (rows @ surface.fit.inverse @ rows.T) @ inverse.T
    lengths = np.sqrt(np.maximum(np.diag(spread), 1e-300))
    return np.sqrt(limit * surface.fit.error.variance) * spread / lengths


def _pushed(
    start: np.ndarray,
    factor: int,
    sign: float,
    surface: ResponseSurface,
    limit: float,
    steps: np.ndarray,
) -> float:
    """Return how far the region goes from a start, up or down one factor."""
    # In steps of the ellipse, so that a small region is no harder than a large one.
    width = np.clip(np.diag(steps), 1e-9, 1.0)
    direction = -sign * width * np.eye(len(start))[factor]

    def excess(place: np.ndarray) -> np.ndarray:
        return np.asarray(_statistics((place * width)[np.newaxis], surface) / limit)

    search: dict[str, Any] = {
        "method": "SLSQP",
        "bounds": [(-1 / size, 1 / size) for size in width],
        "constraints": optimize.NonlinearConstraint(excess, -np.inf, 1.0),
        "options": {"maxiter": 200, "ftol": 1e-10},
    }
    outcome = optimize.minimize(direction.dot, start / width, **search)
    place = np.clip(outcome.x * width, -1.0, 1.0)
    feasible = bool(excess(place / width)[0] <= 1 + 1e-6)
    return float(sign * place[factor]) if feasible else float("-inf")
