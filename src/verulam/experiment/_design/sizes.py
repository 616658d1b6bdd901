"""How many runs a design takes, before anything is run."""

import math
from collections.abc import Sequence

from verulam.base import unknown_name
from verulam.experiment._design.factorial import DESIGN_CAVEATS
from verulam.experiment._design.factors import Factor, checked_factors
from verulam.experiment._design.surface_designs import box_behnken_blocks


def run_count(
    design: str,
    factors: Sequence[Factor],
    *,
    n_generators: int = 0,
    centre_points: int = 1,
    replicates: int = 1,
) -> int:
    """Return how many runs a design takes, before anything is run.

    Parameters
    ----------
    design
        "one factor at a time" (with the baseline among the levels), "full factorial",
        "fractional factorial", "central composite" or "box-behnken".
    factors
        What is varied.
    n_generators
        Of a fractional factorial: each halves the runs.
    centre_points
        Of a central composite or Box-Behnken design.
    replicates
        Runs of each setting, such as the number of splits.

    Examples
    --------
    >>> five = [Factor(name, (1, 2, 3, 4, 5)) for name in "abc"]
    >>> run_count("one factor at a time", five), run_count("full factorial", five)
    (13, 125)
    """
    factors = checked_factors(factors)
    count = len(factors)
    match design:
        case "one factor at a time":
            settings = 1 + sum(len(factor.levels) - 1 for factor in factors)
        case "full factorial":
            settings = math.prod(len(factor.levels) for factor in factors)
        case "fractional factorial":
            settings = 2 ** (count - n_generators)
        case "central composite":
            settings = 2**count + 2 * count + centre_points
        case "box-behnken":
            blocks = box_behnken_blocks(count)
            settings = len(blocks) * 2 ** len(blocks[0]) + centre_points
        case _:
            known = [name for name in DESIGN_CAVEATS if name not in ("best guess", "sequential")]
            raise unknown_name("design", design, known)
    return settings * replicates
