"""Latin hypercubes: settings that fill the ranges of many factors evenly."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from verulam.base import DataError, Seed, generator
from verulam.design._factors import Factor, as_design, checked_factors


def latin_hypercube(factors: Sequence[Factor], n_settings: int, seed: Seed = 0) -> pd.DataFrame:
    r"""Return settings that are spread evenly over every factor, and over all of them together.

    Parameters
    ----------
    factors
        What is varied. Numeric and log factors take values between their lowest and highest
        level, whole ones whole numbers; categorical factors their levels, about equally often.
    n_settings
        Number of settings.
    seed
        The same seed gives the same settings.

    Notes
    -----
    McKay, Beckman and Conover (1979). The range of each factor is cut into :math:`n` equal parts
    (of the logarithm, where it is log), and each part has exactly one setting:

    .. math:: x_{ij} = (\pi_j(i) + u_{ij}) / n

    for permutations :math:`\pi_j` of :math:`0, \ldots, n - 1` and :math:`u_{ij}` uniform. The
    number of settings does not grow with the factors, as that of a factorial does (Alpaydin
    19.3). Of many such designs, one of low discrepancy is taken, which leaves no large hole.

    Examples
    --------
    >>> import numpy as np
    >>> factors = [Factor("C", (0.1, 1000.0), "log"), Factor("kernel", ("rbf", "poly"))]
    >>> table = latin_hypercube(factors, 4, seed=1)
    >>> sorted(np.floor(np.log10(table["C"])).astype(int).tolist()), sorted(table["kernel"])
    ([-1, 0, 1, 2], ['poly', 'poly', 'rbf', 'rbf'])
    """
    from scipy.stats import qmc

    known = checked_factors(factors)
    whole = isinstance(n_settings, int | np.integer) and not isinstance(n_settings, bool)
    if not whole or n_settings < 2:
        raise DataError(f"n_settings: {n_settings!r}; expected a whole number of at least 2.")
    # The optimiser compares pairs of columns; one column is even as it is.
    optimised: Literal["random-cd"] | None = "random-cd" if len(known) > 1 else None
    sampler = qmc.LatinHypercube(len(known), optimization=optimised, seed=generator(seed))
    shares = sampler.random(int(n_settings))
    columns = {factor.name: _values(factor, shares[:, place]) for place, factor in enumerate(known)}
    return as_design(columns, "latin hypercube")


def _values(factor: Factor, shares: np.ndarray) -> Any:
    """Return the values at these shares of the way from low to high."""
    if factor.kind == "categorical":
        places = np.minimum((shares * len(factor.levels)).astype(np.int64), len(factor.levels) - 1)
        return [factor.levels[place] for place in places]
    if factor.whole and factor.kind == "numeric":
        # Every whole number has an equal part of the range; rounding would halve those of the ends.
        count = int(factor.high) - int(factor.low) + 1
        return int(factor.low) + np.minimum((shares * count).astype(np.int64), count - 1)
    return factor.decoded(2 * shares - 1)
