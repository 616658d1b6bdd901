"""What effects have to say beyond their table: the surface through them, and remarks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.design import (
    Factor,
    LenthAnalysis,
    ResponseSurface,
    fit_response_surface,
    optimum_region,
)

if TYPE_CHECKING:
    from verulam.experiment._effects.effects import FactorEffects

#: A surface needs at least this many levels of each factor, and at most so many factors.
FEWEST_LEVELS, MOST_FACTORS = 3, 5
#: Fewer factors than this need no remark on types and surfaces.
FEWEST_FACTORS = 2
#: Of the region of the optimum; a lack of fit counts at the level that is left.
CONFIDENCE = 0.95


def surface_through(
    settings: pd.DataFrame, names: Sequence[str], pure_error: tuple[float, float] | None
) -> ResponseSurface | None:
    """Return the quadratic through mean responses; None where there is none.

    Parameters
    ----------
    settings
        The level of each factor, and the "mean" response.
    names
        The factors.
    pure_error
        Variance of a mean and its degrees of freedom; None where it is not known.
    """
    if len(names) > MOST_FACTORS:
        return None
    factors = []
    for name in names:
        levels = sorted(set(settings[name])) if _numbers(settings[name]) else []
        if len(levels) < FEWEST_LEVELS:
            return None
        # A quadratic fits best where the levels are spread evenly.
        kind: Any = "log" if _reads_better_as_log(levels) else "numeric"
        factors.append(Factor(name, levels, kind))
    try:
        columns = settings[list(names)].astype(float)
        return fit_response_surface(columns, settings["mean"], factors, pure_error=pure_error)
    except (DataError, ValueError):  # too few settings for a quadratic
        return None


def effect_remarks(effects: "FactorEffects") -> tuple[str, ...]:
    """Return in sentences how the table was made, and what surface and Lenth's method say.

    Parameters
    ----------
    effects
        The effects.
    """
    remarks = []
    several = len(effects.factors) >= FEWEST_FACTORS
    # A single effect is adjusted for nothing, whatever the type.
    if several and not effects.table.index.intersection(list(effects.factors)).empty:
        remarks.append(f"Sums of squares are of {effects.sums_of_squares}.")
    if effects.lenth is not None:
        remarks.append(_lenth_text(effects.lenth))
    if several and (surface := effects.surface) is not None:
        remarks.append(_surface_text(surface))
    return tuple(remarks)


def _lenth_text(judged: LenthAnalysis) -> str:
    sure, likely = judged.effects("active"), judged.effects("possibly active")
    names = "; ".join(
        f"{', '.join(beyond)} beyond {margin}"
        for beyond, margin in (
            (sure, f"the simultaneous margin {judged.simultaneous_margin:.3g}"),
            (likely, f"the margin of error {judged.margin_of_error:.3g}"),
        )
        if beyond
    )
    verdict = names or f"no effect is beyond the margin of error {judged.margin_of_error:.3g}"
    return (
        "One split tells no error of replication; by Lenth's method (pseudo standard error "
        f"{judged.pseudo_standard_error:.3g}) {verdict}."
    )


def _surface_text(surface: ResponseSurface) -> str:
    p_value = float(surface.anova["p_value"].get("lack of fit", np.nan))
    enough = not p_value < 1 - CONFIDENCE
    verdict = " is enough" if enough else " is not enough"
    lack = f"{verdict} (lack of fit: p = {p_value:.2g})" if np.isfinite(p_value) else ""
    opening = f"A quadratic surface of the factors{lack}: it is level at a {surface.kind}"
    point = surface.stationary_point
    if not all(factor.low <= point[factor.name] <= factor.high for factor in surface.factors):
        return f"{opening} outside the range that was run."
    # Where the model is wrong, a region made of pure error would be far too narrow.
    intervals = _intervals(surface) if enough else {}
    places = ", ".join(
        f"{name} = {value:.4g}{intervals.get(name, '')}" for name, value in point.items()
    )
    region = f" ({100 * CONFIDENCE:.0f}% region of Box and Hunter)" if intervals else ""
    return f"{opening}, {places}{region}."


def _intervals(surface: ResponseSurface) -> dict[str, str]:
    """Return the interval of each factor in brackets; nothing where there is no error."""
    try:
        table = optimum_region(surface, CONFIDENCE).intervals
    except DataError:  # no error to make a region of
        return {}
    return {
        str(name): f" ({row['low']:.4g} to {row['high']:.4g}{'' if row['closed'] else ' at least'})"
        for name, row in table.iterrows()
    }


def _numbers(levels: pd.Series) -> bool:
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)


def _reads_better_as_log(levels: Sequence[float]) -> bool:
    """Return whether the middle level is nearer to the middle of the range after logarithms."""
    if levels[0] <= 0:
        return False
    plain, logged = np.array(levels, dtype=np.float64), np.log(levels)
    return bool(_skewness(logged) < _skewness(plain))


def _skewness(levels: np.ndarray) -> float:
    middle = (levels[0] + levels[-1]) / 2
    return abs(float(np.median(levels)) - middle) / float(levels[-1] - levels[0])
