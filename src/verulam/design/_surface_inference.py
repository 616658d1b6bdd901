"""What a fitted quadratic is worth: standard errors, analysis of variance and lack of fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from verulam.base import DataError

#: What the table of variances says of its sums of squares, as ``attrs["sums_of_squares"]``.
SEQUENTIAL_SQUARES = (
    "type I: each row beyond the rows above it, since a slope has a meaning without curvature, but "
    "not the other way round"
)
#: An error below this share of the whole variation is rounding.
ROUNDING = 1e-24
_COLUMNS = ["sum_of_squares", "degrees_of_freedom", "mean_square", "F", "p_value"]


@dataclass(frozen=True)
class ErrorVariance:
    """The variance of a single response, and the degrees of freedom of that estimate.

    Attributes
    ----------
    variance
        Mean square of the error; NaN where there is none.
    degrees_of_freedom
        How much it is based on; 0 where there is none.
    """

    variance: float
    degrees_of_freedom: float


@dataclass(frozen=True, eq=False)
class QuadraticFit:
    """Least squares on the codes of the factors, with all that tells how sure it is.

    Attributes
    ----------
    coefficients
        Of the constant, the codes, their squares and products.
    inverse
        Of the cross products of the terms: times a variance, the covariance of the coefficients.
    residual
        Responses less what is fitted.
    error
        What standard errors are made of.
    anova
        The analysis of variance.
    """

    coefficients: np.ndarray
    inverse: np.ndarray
    residual: np.ndarray
    error: ErrorVariance
    anova: pd.DataFrame


def fit_quadratic(
    codes: np.ndarray,
    observed: np.ndarray,
    blocks: ArrayLike | None,
    pure_error: tuple[float, float] | None,
) -> QuadraticFit:
    """Fit a quadratic to codes from -1 to +1, and analyse its variance.

    Parameters
    ----------
    codes
        One row per run, one column per factor.
    observed
        The response of each run.
    blocks
        The block of each run; None for none.
    pure_error
        Variance of a response and its degrees of freedom, where they are known from elsewhere.
    """
    terms = quadratic_terms(codes)
    shifts = _block_columns(blocks, len(codes))
    columns = np.hstack([terms, shifts])
    _check_rank(columns, codes.shape[1], terms.shape[1])
    coefficients = np.linalg.lstsq(columns, observed, rcond=None)[0]
    residual = observed - columns @ coefficients
    inverse = np.linalg.pinv(columns.T @ columns)
    rows = _explained(terms, shifts, observed, codes.shape[1])
    freedom = len(observed) - columns.shape[1]
    left = float(residual @ residual)
    if pure_error is None:
        repeated, degrees = _repeated(np.column_stack([codes, shifts]), observed)
        error = ErrorVariance(left / freedom if freedom else float("nan"), freedom)
        ends = [("residual", left, freedom)]
        if degrees:
            ends += [
                ("lack of fit", max(left - repeated, 0.0), freedom - degrees),
                ("pure error", repeated, degrees),
            ]
    else:
        error = _checked_error(pure_error)
        ends = [
            ("lack of fit", left, freedom),
            ("pure error", error.variance * error.degrees_of_freedom, error.degrees_of_freedom),
        ]
    table = _anova([*rows, *ends], error, float(((observed - observed.mean()) ** 2).sum()))
    count = terms.shape[1]
    return QuadraticFit(
        coefficients[:count], inverse[:count, :count], residual, error, _titled(table)
    )


def coefficient_table(
    fit: QuadraticFit, names: Sequence[str], centre: np.ndarray, half: np.ndarray
) -> pd.DataFrame:
    """Return the coefficients in the units of the factors, with errors and tests against zero.

    Parameters
    ----------
    fit
        The fit to codes.
    names
        Names of the factors.
    centre, half
        Middle and half of the range of each factor: it is centre + half * code.
    """
    turn = _own_units(centre, half)
    estimate = turn @ fit.coefficients
    variance = fit.error.variance * np.diag(turn @ fit.inverse @ turn.T)
    deviation = np.sqrt(np.maximum(variance, 0.0))
    known = fit.error.degrees_of_freedom > 0 and (deviation > 0).all()
    ratio = estimate / deviation if known else np.full(len(estimate), np.nan)
    tails = special.stdtr(fit.error.degrees_of_freedom, -np.abs(ratio)) if known else ratio
    return pd.DataFrame(
        {"estimate": estimate, "standard_error": deviation, "t": ratio, "p_value": 2 * tails},
        index=pd.Index(term_names(names), name="term"),
    )


def term_names(names: Sequence[str]) -> list[str]:
    """Return what the terms of a quadratic are called, in order.

    Parameters
    ----------
    names
        Names of the factors.
    """
    pairs = combinations_with_replacement(names, 2)
    products = [f"{one}^2" if one == other else f"{one} x {other}" for one, other in pairs]
    return ["constant", *names, *products]


def quadratic_terms(codes: np.ndarray) -> np.ndarray:
    """Return a column of ones, the codes, and their squares and products.

    Parameters
    ----------
    codes
        One row per run, one column per factor.
    """
    pairs = combinations_with_replacement(range(codes.shape[1]), 2)
    products = [codes[:, first] * codes[:, second] for first, second in pairs]
    return np.column_stack([np.ones(len(codes)), codes, *products])


def slope_rows(place: np.ndarray) -> np.ndarray:
    """Return the matrix that turns the coefficients into the gradient at one place.

    Parameters
    ----------
    place
        The code of each factor.
    """
    count = len(place)
    pairs = list(combinations_with_replacement(range(count), 2))
    rows = np.zeros((count, 1 + count + len(pairs)))
    rows[:, 1 : count + 1] = np.eye(count)
    for column, (first, second) in enumerate(pairs, start=count + 1):
        rows[first, column] += place[second]
        rows[second, column] += place[first]
    return rows


def _own_units(centre: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return the matrix that turns coefficients of codes into those of the factors."""
    count = len(centre)
    shift, scale = -centre / half, 1.0 / half
    pairs = list(combinations_with_replacement(range(count), 2))
    turn = np.zeros((1 + count + len(pairs),) * 2)
    turn[0, 0] = 1.0
    turn[0, 1 : count + 1] = shift
    turn[np.arange(1, count + 1), np.arange(1, count + 1)] = scale
    # A code is shift + scale * factor: a product of two is multiplied out.
    for column, (first, second) in enumerate(pairs, start=count + 1):
        turn[0, column] = shift[first] * shift[second]
        turn[1 + first, column] += scale[first] * shift[second]
        turn[1 + second, column] += shift[first] * scale[second]
        turn[column, column] = scale[first] * scale[second]
    return turn


def _block_columns(blocks: ArrayLike | None, n_runs: int) -> np.ndarray:
    """Return a column for all blocks but one, which sum to zero over the blocks."""
    if blocks is None:
        return np.empty((n_runs, 0))
    places, known = pd.factorize(np.asarray(blocks))
    if len(places) != n_runs or (places < 0).any():
        raise DataError(
            f"blocks has {int((places >= 0).sum())} entries, but there are {n_runs} runs; one for "
            "each is needed."
        )
    # The constant is the mean over the blocks, each counting alike.
    columns = np.eye(len(known))[places]
    return columns[:, 1:] - columns[:, :1]


def _check_rank(columns: np.ndarray, count: int, n_terms: int) -> None:
    rank = int(np.linalg.matrix_rank(columns))
    if rank == columns.shape[1]:
        return
    shifts = columns.shape[1] - n_terms
    beside = f" and {shifts + 1} blocks" if shifts else ""
    raise DataError(
        f"The {len(columns)} runs determine {rank} of the {columns.shape[1]} coefficients of a "
        f"quadratic in {count} factors{beside}; run more settings, with three levels of each "
        "factor."
    )


def _checked_error(pure_error: tuple[float, float]) -> ErrorVariance:
    variance, freedom = (float(number) for number in pure_error)
    if not variance >= 0 or not freedom > 0 or not np.isfinite([variance, freedom]).all():
        raise DataError(
            f"pure_error: {pure_error!r}; expected a variance of at least 0 and degrees of freedom "
            "above 0."
        )
    return ErrorVariance(variance, freedom)


def _explained(
    terms: np.ndarray, shifts: np.ndarray, observed: np.ndarray, count: int
) -> list[tuple[str, float, float]]:
    """Return what blocks, slopes, products and squares explain, one after the other."""
    pairs = list(combinations_with_replacement(range(count), 2))
    square = np.array([first == second for first, second in pairs])
    second_order = terms[:, count + 1 :]
    steps = [
        ("blocks", shifts),
        ("first order", terms[:, 1 : count + 1]),
        ("interactions", second_order[:, ~square]),
        ("squares", second_order[:, square]),
    ]
    rows, columns = [], terms[:, :1]
    before = _left(columns, observed)
    for name, added in steps:
        if not added.shape[1]:
            continue
        columns = np.hstack([columns, added])
        after = _left(columns, observed)
        rows.append((name, max(before - after, 0.0), float(added.shape[1])))
        before = after
    return rows


def _left(columns: np.ndarray, observed: np.ndarray) -> float:
    fitted = columns @ np.linalg.lstsq(columns, observed, rcond=None)[0]
    return float(((observed - fitted) ** 2).sum())


def _repeated(conditions: np.ndarray, observed: np.ndarray) -> tuple[float, int]:
    """Return the sum of squares within runs of equal conditions, and its degrees of freedom."""
    # Codes of one setting may differ by rounding alone.
    _, group = np.unique(np.round(conditions, 9), axis=0, return_inverse=True)
    group = group.ravel()
    means = np.bincount(group, weights=observed) / np.bincount(group)
    return float(((observed - means[group]) ** 2).sum()), len(observed) - len(means)


def _anova(
    rows: Sequence[tuple[str, float, float]], error: ErrorVariance, total: float
) -> pd.DataFrame:
    """Return the table; lack of fit is tested by the pure error, all else by the error."""
    pure = next((row for row in rows if row[0] == "pure error"), None)
    table = []
    for name, squares, freedom in rows:
        mean_square = squares / freedom if freedom else float("nan")
        against = error
        if name == "lack of fit" and pure is not None:
            against = ErrorVariance(pure[1] / pure[2], pure[2])
        ratio = p_value = float("nan")
        tested = name not in ("residual", "pure error") and freedom > 0
        if tested and against.degrees_of_freedom and against.variance > ROUNDING * total:
            ratio = mean_square / against.variance
            p_value = float(special.fdtrc(freedom, against.degrees_of_freedom, ratio))
        table.append([squares, freedom, mean_square, ratio, p_value])
    index = pd.Index([name for name, *_ in rows], name="source")
    return pd.DataFrame(table, index, _COLUMNS).astype(float)


def _titled(table: pd.DataFrame) -> pd.DataFrame:
    table.attrs = {"sums_of_squares": SEQUENTIAL_SQUARES}
    return table
