"""A quadratic fitted to responses, and the setting where it is best."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, unknown_name
from verulam.design._factors import Factor, checked_factors, coded_settings
from verulam.design._surface_inference import (
    QuadraticFit,
    coefficient_table,
    fit_quadratic,
)

#: An eigenvalue below this share of the largest is taken for zero.
FLAT = 1e-8


@dataclass(frozen=True, eq=False)
class ResponseSurface:
    """A response as a quadratic function of the factors.

    Attributes
    ----------
    factors
        What was varied; each between the lowest and the highest value that was run.
    intercept, slopes, curvature
        The coefficients :math:`b_0`, :math:`b` and the symmetric :math:`B`, of the factors in
        their own units (of their logarithms, where a factor is log).
    stationary_point
        The setting where the surface is level; of a ridge, the one nearest to the centre.
    stationary_response
        What the surface predicts there.
    kind
        "minimum", "maximum", "saddle", or "ridge" where the surface is flat in some direction.
    eigenvalues
        Of :math:`B` with every factor coded from -1 to +1, in ascending order: large ones belong
        to directions that matter.
    r_squared
        The share of the variation that is explained; NaN where there is none.
    residual_degrees_of_freedom
        Runs less coefficients; with 0 the fit is exact and says nothing of its quality.
    warnings
        What stands against using the stationary point.
    coefficients
        A row per term: the estimate in the units above, its standard error, t and the p-value of
        its being zero. A product of two factors has twice the entry of :math:`B`.
    anova
        The analysis of variance: blocks, slopes, products and squares, each beyond those before
        it; what is left, and where settings are repeated its parts, lack of fit and pure error.
    fit
        The least squares behind it, on codes from -1 to +1.
    """

    factors: tuple[Factor, ...]
    intercept: float
    slopes: np.ndarray
    curvature: np.ndarray
    stationary_point: dict[str, float]
    stationary_response: float
    kind: str
    eigenvalues: np.ndarray
    r_squared: float
    residual_degrees_of_freedom: int
    warnings: tuple[str, ...]
    coefficients: pd.DataFrame
    anova: pd.DataFrame
    fit: QuadraticFit

    def predict(self, settings: pd.DataFrame) -> np.ndarray:
        """Return the response of the surface at each setting."""
        quadratic = _Quadratic(self.intercept, self.slopes, self.curvature)
        return quadratic.at(straight(settings, self.factors))


@dataclass(frozen=True)
class NextPoint:
    """Where to run next.

    Attributes
    ----------
    setting
        The level of each factor.
    predicted
        The response that the surface promises there.
    reason
        Why there.
    """

    setting: dict[str, Any]
    predicted: float
    reason: str


def fit_response_surface(
    settings: pd.DataFrame,
    response: ArrayLike,
    factors: Sequence[Factor] | None = None,
    *,
    blocks: ArrayLike | None = None,
    pure_error: tuple[float, float] | None = None,
) -> ResponseSurface:
    r"""Fit a quadratic to the responses by least squares and find where it is level.

    Parameters
    ----------
    settings
        One row per run, one column per factor.
    response
        What was measured in each run.
    factors
        Kinds of the columns; None takes every column as numeric.
    blocks
        The block of each run, such as its day: blocks may differ by a constant. None for none.
    pure_error
        Variance of a response and the degrees of freedom of that variance, where responses are
        means of repeated runs; None takes the residual, and repeated settings for lack of fit.

    Notes
    -----
    Alpaydin 19.3:

    .. math:: r = b_0 + b^T f + f^T B f, \qquad f^* = -\frac{1}{2} B^{-1} b

    With the terms in the columns of :math:`X`, coefficients have the covariance
    :math:`s^2 (X^T X)^{-1}`, where :math:`s^2` is the residual mean square. Runs at equal
    settings differ by pure error alone; what is left of the residual is lack of fit, and

    .. math:: F = \frac{SS_{lack} / (m - p)}{SS_{pure} / (n - m)}

    for :math:`n` runs at :math:`m` settings and :math:`p` coefficients tells whether a quadratic
    is enough (Box and Draper, 2007).

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"x": [0, 0, 2, 2, 1, 1], "y": [0, 2, 0, 2, 1, 3]})
    >>> surface = fit_response_surface(runs, (runs["x"] - 1) ** 2 + (runs["y"] - 1.5) ** 2)
    >>> surface.kind, {name: round(value, 6) for name, value in surface.stationary_point.items()}
    ('minimum', {'x': 1.0, 'y': 1.5})

    Three runs at the centre tell what chance does; the quadratic is enough here:

    >>> runs = pd.DataFrame({"x": [-2, -1, 0, 0, 0, 1, 2]})
    >>> surface = fit_response_surface(runs, [9.1, 6.2, 5.1, 4.8, 5.0, 5.9, 8.8])
    >>> surface.coefficients[["estimate", "standard_error"]].round(3)
              estimate  standard_error
    term
    constant     4.997           0.064
    x           -0.090           0.041
    x^2          0.992           0.029
    >>> surface.anova.loc["lack of fit", ["F", "p_value"]].round(3).to_dict()
    {'F': 0.421, 'p_value': 0.704}
    """
    used = _ranged(settings, factors)
    codes = coded_settings(settings, used).to_numpy()
    observed = _checked_response(response, len(codes))
    fit = fit_quadratic(codes, observed, blocks, pure_error)
    variation = float(((observed - observed.mean()) ** 2).sum())
    coded = _unpacked(fit.coefficients, len(used))
    # Curvatures of this size are rounding of the responses, and no bend of the surface.
    noise = 1e-12 * float(np.abs(observed).max())
    eigenvalues, kind = _shape(coded, noise)
    # B may be singular, as on a ridge: least squares gives the level point nearest to the centre.
    place = np.linalg.lstsq(2 * coded.curvature, -coded.slopes, rcond=FLAT)[0]
    low, high = _bounds(used)
    decoded = _in_own_units(coded, (low + high) / 2, (high - low) / 2)
    stationary = (low + high) / 2 + place * (high - low) / 2
    return ResponseSurface(
        used,
        decoded.intercept,
        decoded.slopes,
        decoded.curvature,
        stationary_point=_setting(stationary, used),
        stationary_response=decoded.at(stationary[None])[0].item(),
        kind=kind,
        eigenvalues=eigenvalues,
        r_squared=_share_explained(fit, variation),
        residual_degrees_of_freedom=_residual_freedom(fit),
        warnings=_warnings(place, kind, used),
        coefficients=coefficient_table(
            fit, [factor.name for factor in used], (low + high) / 2, (high - low) / 2
        ),
        anova=fit.anova,
        fit=fit,
    )


def next_point(surface: ResponseSurface, *, maximise: bool) -> NextPoint:
    """Return the setting, within the range that was run, where the surface is best.

    Parameters
    ----------
    surface
        A fitted surface.
    maximise
        Whether larger responses are better.

    Notes
    -----
    Where the stationary point will not do, every face of the range is searched, which is exact
    and takes :math:`3^k` small systems of equations.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    >>> surface = fit_response_surface(runs, runs["x"] ** 2)
    >>> next_point(surface, maximise=True).setting
    {'x': 2.0}
    """
    optimum = "maximum" if maximise else "minimum"
    if surface.kind == optimum and not surface.warnings:
        place = straight(pd.DataFrame([surface.stationary_point]), surface.factors)[0]
        reason = f"the {optimum} of the surface"
    else:
        place = _best_in_box(surface, -1.0 if maximise else 1.0)
        problem = f"a {surface.kind}" if surface.kind != optimum else "outside the range"
        reason = f"the best of the range, because the stationary point is {problem}"
    setting: dict[str, Any] = {
        factor.name: round(value) if factor.whole else value
        for factor, value in zip(
            surface.factors, _setting(place, surface.factors).values(), strict=True
        )
    }
    predicted = float(surface.predict(pd.DataFrame([setting]))[0])
    return NextPoint(setting, predicted, reason)


def straight(settings: pd.DataFrame, factors: Sequence[Factor]) -> np.ndarray:
    """Return the settings as numbers, logarithms where a factor is log."""
    columns = [settings[factor.name].to_numpy(dtype=np.float64) for factor in factors]
    logged = [np.log(c) if f.kind == "log" else c for c, f in zip(columns, factors, strict=True)]
    return np.column_stack(logged)


@dataclass(frozen=True, eq=False)
class _Quadratic:
    intercept: float
    slopes: np.ndarray
    curvature: np.ndarray

    def at(self, values: np.ndarray) -> np.ndarray:
        bent = np.einsum("ij,jk,ik->i", values, self.curvature, values)
        return self.intercept + values @ self.slopes + bent


def _ranged(settings: pd.DataFrame, factors: Sequence[Factor] | None) -> tuple[Factor, ...]:
    """Return each factor with the lowest and the highest value that was run."""
    if factors is None:
        factors = [Factor(str(name), (0, 1), "numeric") for name in settings.columns]
    ranged = []
    for factor in checked_factors(factors):
        if factor.name not in settings:
            raise unknown_name("column of settings", factor.name, map(str, settings.columns))
        column = settings[factor.name]
        if factor.kind == "categorical" or not pd.api.types.is_numeric_dtype(column.dtype):
            raise DataError(f"Factor {factor.name!r} is not numeric; fit one surface per level.")
        low, high = column.min(), column.max()
        if not low < high or not np.isfinite([low, high]).all() or column.isna().any():
            raise DataError(
                f"Factor {factor.name!r} needs at least two different values, none missing."
            )
        ranged.append(replace(factor, levels=(low.item(), high.item())))
    return tuple(ranged)


def _checked_response(response: ArrayLike, n_runs: int) -> np.ndarray:
    observed = np.asarray(response, dtype=np.float64)
    if observed.shape != (n_runs,):
        raise DataError(f"response has the shape {observed.shape}, but there are {n_runs} runs.")
    if not np.isfinite(observed).all():
        row = int(np.argmin(np.isfinite(observed)))
        raise DataError(f"response: the value of run {row} is missing or infinite.")
    return observed


def _share_explained(fit: QuadraticFit, variation: float) -> float:
    return 1 - float(fit.residual @ fit.residual) / variation if variation > 0 else float("nan")


def _residual_freedom(fit: QuadraticFit) -> int:
    left = "residual" if "residual" in fit.anova.index else "lack of fit"
    return int(fit.anova["degrees_of_freedom"][left])


def _unpacked(coefficients: np.ndarray, count: int) -> _Quadratic:
    curvature = np.zeros((count, count))
    pairs = combinations_with_replacement(range(count), 2)
    # B is symmetric: a product of two factors has half its coefficient on either side of the
    # diagonal, and a square, met once with both halves, the whole.
    for (first, second), value in zip(pairs, coefficients[count + 1 :], strict=True):
        curvature[first, second] += value / 2
        curvature[second, first] += value / 2
    return _Quadratic(float(coefficients[0]), coefficients[1 : count + 1], curvature)


def _shape(coded: _Quadratic, noise: float) -> tuple[np.ndarray, str]:
    """Return the eigenvalues of the curvature and what they make of the stationary point."""
    eigenvalues = np.linalg.eigvalsh(coded.curvature)
    largest = max(float(np.abs(eigenvalues).max()), float(np.abs(coded.slopes).max()))
    if (np.abs(eigenvalues) <= max(FLAT * largest, noise)).any():
        return eigenvalues, "ridge"
    if (eigenvalues > 0).all():
        return eigenvalues, "minimum"
    return eigenvalues, "maximum" if (eigenvalues < 0).all() else "saddle"


def _bounds(factors: Sequence[Factor]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of each factor's range, logarithms where it is log."""
    ends = pd.DataFrame({factor.name: [factor.low, factor.high] for factor in factors})
    low, high = straight(ends, factors)
    return low, high


def _in_own_units(coded: _Quadratic, centre: np.ndarray, half: np.ndarray) -> _Quadratic:
    """Return the quadratic in f = centre + half * code."""
    curvature = coded.curvature / np.outer(half, half)
    slopes = coded.slopes / half - 2 * curvature @ centre
    at_zero = coded.at((-centre / half)[None])
    return _Quadratic(float(at_zero[0]), slopes, curvature)


def _setting(values: np.ndarray, factors: Sequence[Factor]) -> dict[str, float]:
    return {
        factor.name: float(np.exp(value) if factor.kind == "log" else value)
        for factor, value in zip(factors, values, strict=True)
    }


def _warnings(place: np.ndarray, kind: str, factors: Sequence[Factor]) -> tuple[str, ...]:
    warnings = []
    if kind == "saddle":
        warnings.append("The stationary point is a saddle: neither a minimum nor a maximum.")
    if kind == "ridge":
        warnings.append("The surface is flat in some direction: many settings, or none, are level.")
    for factor, code in zip(factors, place, strict=True):
        if abs(code) > 1 + 1e-9:
            warnings.append(
                f"The stationary point is outside the range of {factor.name!r} that was run, "
                f"{factor.low:g} to {factor.high:g}."
            )
    return tuple(warnings)


def _best_in_box(surface: ResponseSurface, sign: float) -> np.ndarray:
    """Return where `sign` times the surface is least within the range that was run."""
    low, high = _bounds(surface.factors)
    slopes, curvature = sign * surface.slopes, sign * surface.curvature
    best, least = low, np.inf
    # Each factor is at its low end, at its high end, or free; what is free is level there.
    for sides in product((-1, 0, 1), repeat=len(low)):
        side = np.array(sides)
        free = side == 0
        point = np.where(side < 0, low, high)
        point[free] = 0.0
        # The gradient with the free factors at zero: it vanishes where a linear system is solved.
        gradient = slopes + 2 * curvature @ point
        inner = 2 * curvature[np.ix_(free, free)]
        point[free] = np.linalg.lstsq(inner, -gradient[free], rcond=None)[0]
        if (point < low).any() or (point > high).any():
            continue
        value = float(slopes @ point + point @ curvature @ point)
        if value < least:
            best, least = point, value
    return best
