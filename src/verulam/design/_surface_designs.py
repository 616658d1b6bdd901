"""Designs for quadratic response surfaces: central composite and Box-Behnken."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from verulam.design._factors import (
    Factor,
    as_design,
    checked_factors,
    decoded_columns,
    two_level_codes,
)

CompositeKind = Literal["circumscribed", "inscribed", "faced"]
#: Runs at the centre, where a design does not say: enough for an error of their own.
CENTRE_POINTS = 4

#: Factors, numbered from 1, that are varied together; for fewer than six it is every pair.
_BLOCKS = {
    6: "124 235 346 145 256 136",
    7: "456 167 257 124 347 135 236",
}


def central_composite(
    factors: Sequence[Factor], kind: CompositeKind | None = None, centre_points: int = CENTRE_POINTS
) -> pd.DataFrame:
    r"""Return corners, stars on the axes and centre points, from which a quadratic can be fitted.

    Parameters
    ----------
    factors
        What is varied, numeric or log, between its lowest and its highest level.
    kind
        "circumscribed" puts the corners at the levels and the stars beyond them; "inscribed"
        the stars at the levels and the corners within; "faced" both at the levels. None takes
        "circumscribed", but "faced" where a factor is a whole number, which may be impossible
        beyond its levels.
    centre_points
        Runs at the centre. Those beyond the first tell how far equal runs differ, and with that
        whether a quadratic is enough.

    Notes
    -----
    Alpaydin 19.3. Stars stand at :math:`\alpha = (2^k)^{1/4}` times the distance of a corner's
    coordinate, which makes the variance of the fitted surface the same in all directions; faced
    designs have :math:`\alpha = 1`.

    Examples
    --------
    >>> table = central_composite([Factor("x", (-1, 1), "numeric"), Factor("y", (0, 4), "numeric")])
    >>> len(table), table[4:9].round(3).to_numpy().tolist()
    (12, [[-1.414, 2.0], [1.414, 2.0], [0.0, -0.828], [0.0, 4.828], [0.0, 2.0]])
    """
    factors = _numeric_factors(factors)
    if kind is None:
        kind = "faced" if any(factor.whole for factor in factors) else "circumscribed"
    if kind not in ("circumscribed", "inscribed", "faced"):
        raise ValueError(f"kind={kind!r}; expected 'circumscribed', 'inscribed' or 'faced'.")
    count = len(factors)
    # Rotatable: at this distance the variance of the fit depends on the distance from the centre
    # alone, so that no direction is favoured before anything is known.
    reach = star_distance(count)
    stars = np.zeros((2 * count, count))
    # Two stars on each axis, all other factors at their centre.
    stars[np.arange(2 * count), np.repeat(np.arange(count), 2)] = np.tile([-1.0, 1.0], count)
    corners = two_level_codes(count)
    if kind == "circumscribed":
        stars *= reach
    # The same figure, drawn smaller, so that the stars are at the ends of the ranges.
    if kind == "inscribed":
        corners /= reach
    return _table(np.vstack([corners, stars]), centre_points, factors, "central composite")


def box_behnken(factors: Sequence[Factor], centre_points: int = CENTRE_POINTS) -> pd.DataFrame:
    """Return a design of three levels without corners, from which a quadratic can be fitted.

    Parameters
    ----------
    factors
        What is varied, three to seven numeric or log factors, between the lowest and the highest
        level of each.
    centre_points
        Runs at the centre; several, so that equal runs tell what chance does.

    Notes
    -----
    Alpaydin 19.3. A few factors at a time take all combinations of low and high while the others
    stay at their centre: two at a time for up to five factors, three at a time for six and seven.

    Examples
    --------
    >>> table = box_behnken([Factor(name, (-1, 1), "numeric") for name in "xyz"], 3)
    >>> len(table), table.head(2).to_numpy().tolist()
    (15, [[-1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])
    """
    factors = _numeric_factors(factors)
    runs = []
    for block in box_behnken_blocks(len(factors)):
        codes = np.zeros((2 ** len(block), len(factors)))
        codes[:, list(block)] = two_level_codes(len(block))
        runs.append(codes)
    return _table(np.vstack(runs), centre_points, factors, "box-behnken")


def star_distance(n_factors: int) -> float:
    """Return the distance of the stars of a rotatable central composite design."""
    return float((2**n_factors) ** 0.25)


def box_behnken_blocks(n_factors: int) -> list[tuple[int, ...]]:
    """Return the factors, from 0, that are varied together."""
    if not 3 <= n_factors <= 7:
        raise ValueError(f"A Box-Behnken design takes 3 to 7 factors, not {n_factors}.")
    # For six and seven factors, pairs would take more runs than balanced triples do.
    if n_factors not in _BLOCKS:
        return list(combinations(range(n_factors), 2))
    return [tuple(int(digit) - 1 for digit in block) for block in _BLOCKS[n_factors].split()]


def _numeric_factors(factors: Sequence[Factor]) -> tuple[Factor, ...]:
    for factor in factors:
        if factor.kind == "categorical":
            raise ValueError(
                f"Factor {factor.name!r} is categorical; a surface takes numeric or log factors."
            )
    return checked_factors(factors)


def _table(
    codes: np.ndarray, centre_points: int, factors: tuple[Factor, ...], design: str
) -> pd.DataFrame:
    if centre_points < 0:
        raise ValueError(f"centre_points={centre_points!r}; expected 0 or more.")
    codes = np.vstack([codes, np.zeros((centre_points, len(factors)))])
    return as_design(decoded_columns(codes, factors), design)
