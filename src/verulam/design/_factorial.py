"""Designs: which settings of the factors are run, how many there are, in which order."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import Seed, generator, unknown_name
from verulam.design._factors import Factor, as_design, checked_factors


def full_factorial(factors: Sequence[Factor]) -> pd.DataFrame:
    """Return every combination of levels, the last factor varying fastest.

    Parameters
    ----------
    factors
        What is varied.

    Notes
    -----
    Alpaydin 19.2: factors are varied together, as in a grid search; with :math:`F` factors at
    :math:`L` levels there are :math:`L^F` settings.

    Examples
    --------
    >>> full_factorial([Factor("k", (1, 3), "numeric"), Factor("weights", ("equal", "near"))])
       k weights
    0  1   equal
    1  1    near
    2  3   equal
    3  3    near
    """
    factors = checked_factors(factors)
    rows = list(product(*(factor.levels for factor in factors)))
    columns = {factor.name: [row[place] for row in rows] for place, factor in enumerate(factors)}
    return as_design(columns, "full factorial")


def one_at_a_time(factors: Sequence[Factor], baseline: Mapping[str, Any]) -> pd.DataFrame:
    """Return the baseline, then each factor at its other levels with all others at the baseline.

    Parameters
    ----------
    factors
        What is varied.
    baseline
        The level of each factor while another one is varied.

    Notes
    -----
    Alpaydin 19.2: :math:`O(LF)` settings, at the price of every interaction.

    Examples
    --------
    >>> table = one_at_a_time([Factor("k", (1, 3, 5)), Factor("C", (1, 10))], {"k": 1, "C": 1})
    >>> table.to_numpy().tolist()
    [[1, 1], [3, 1], [5, 1], [1, 10]]
    >>> table.attrs["caveat"][:25]
    'Interactions are ignored:'
    """
    factors = checked_factors(factors)
    names = [factor.name for factor in factors]
    missing = [name for name in names if name not in baseline]
    if missing:
        raise ValueError(f"baseline: the level of factor {missing[0]!r} is missing.")
    for name in baseline:
        if name not in names:
            raise unknown_name("factor", name, names)
    settings = [dict(baseline)]
    for factor in factors:
        others = [level for level in factor.levels if level != baseline[factor.name]]
        settings += [{**baseline, factor.name: level} for level in others]
    columns = {name: [setting[name] for setting in settings] for name in names}
    return as_design(columns, "one factor at a time")


def best_guess(start: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a start and what it turned into step by step, as a record of what was tried.

    Parameters
    ----------
    start
        The first setting.
    steps
        The factors that each step changed, with their new levels.

    Notes
    -----
    Alpaydin 19.2. Nothing systematic is behind such a search, and the record says so.

    Examples
    --------
    >>> tried = best_guess({"k": 5, "p": 2}, [{"k": 7}, {"p": 1}])
    >>> tried.to_numpy().tolist(), tried.attrs["caveat"][:21]
    ([[5, 2], [7, 2], [7, 1]], 'There is no guarantee')
    """
    settings = [dict(start)]
    for step in steps:
        for name in step:
            if name not in start:
                raise unknown_name("factor", name, start)
        settings.append({**settings[-1], **step})
    columns = {name: [setting[name] for setting in settings] for name in start}
    return as_design(columns, "best guess")


def randomised_order(n: int, seed: Seed = 0, blocks: ArrayLike | None = None) -> np.ndarray:
    """Return the numbers of the runs in random order.

    Parameters
    ----------
    n
        Number of runs.
    seed
        The same seed gives the same order.
    blocks
        The block of each run: blocks are run one after the other, as they first appear, each in
        random order within.

    Notes
    -----
    Alpaydin 19.4: what changes with time must not be mistaken for the effect of a factor.

    Examples
    --------
    >>> randomised_order(6, seed=1, blocks=["day 1"] * 3 + ["day 2"] * 3)
    array([0, 2, 1, 4, 5, 3])
    """
    # Sorted by block afterwards, stably, so that the order within each block stays random.
    order = generator(seed).permutation(n)
    if blocks is None:
        return order
    places, _ = pd.factorize(np.asarray(blocks))
    if len(places) != n:
        raise ValueError(f"blocks has {len(places)} entries, but there are {n} runs.")
    return order[np.argsort(places[order], kind="stable")]
