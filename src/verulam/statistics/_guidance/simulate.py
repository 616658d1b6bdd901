"""Size and power of tests, by simulation."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed, generator, unknown_name
from verulam.statistics._core.checks import checked_count, checked_level
from verulam.statistics._guidance.simulated import PAIR_TESTS
from verulam.statistics._guidance.simulated_many import MANY_TESTS

TESTS = {**PAIR_TESTS, **MANY_TESTS}


@dataclass(frozen=True, eq=False)
class Simulation:
    """How often a test rejected.

    Parameters
    ----------
    test
        Name of the test.
    table
        Columns effect, rejection_rate and standard_error (of the simulation).
    alpha
        Level of the test.
    design
        Sizes and correlations of the simulated experiments.
    """

    test: str
    table: pd.DataFrame
    alpha: float
    design: dict[str, Any]


def simulate(
    test: str,
    effects: ArrayLike = 0.0,
    *,
    repeats: int = 10_000,
    alpha: float = 0.05,
    random_state: Seed = 0,
    **design: Any,
) -> Simulation:
    """Return how often a test rejects when the truth is off by each of `effects`.

    Parameters
    ----------
    test
        Name of the test, one of `simulated_tests`.
    effects
        Distances from the null hypothesis: at zero the rate is the size of the test, elsewhere
        its power. Differences are in standard deviations, those of error rates in probability.
    repeats
        Number of simulated experiments per effect.
    alpha
        Level of significance.
    random_state
        Seed.
    design
        Parameters of the experiment, such as ``folds`` and ``correlation``.

    Notes
    -----
    Classifiers are Bernoulli errors of known probability (Alpaydin 19.16, exercise 2), splits are
    normal differences of known correlation.

    Examples
    --------
    >>> from verulam.statistics import simulate
    >>> simulate("cv t", correlation=0.1, random_state=0).table.round(3)
       effect  rejection_rate  standard_error
    0     0.0            0.15           0.004
    """
    if test not in TESTS:
        raise unknown_name("simulated test", test, TESTS)
    checked_level(alpha)
    if checked_count(repeats, "repeats") < 1:
        raise DataError("repeats must be at least 1.")
    function = TESTS[test]
    known = list(inspect.signature(function).parameters)[3:]
    for name in design:
        if name not in known:
            raise unknown_name(f"parameter of {test!r}", name, known)
    rng = generator(random_state)
    grid = np.atleast_1d(np.asarray(effects, dtype=np.float64))
    rates = np.array(
        [np.mean(function(rng, repeats, float(effect), **design) < alpha) for effect in grid]
    )
    table = pd.DataFrame(
        {
            "effect": grid,
            "rejection_rate": rates,
            "standard_error": np.sqrt(rates * (1 - rates) / repeats),
        }
    )
    return Simulation(test, table, alpha, design)


def simulated_tests() -> pd.DataFrame:
    """Return the tests that `simulate` knows, with the parameters of their designs.

    Examples
    --------
    >>> from verulam.statistics import simulated_tests
    >>> simulated_tests().loc["cv t", "design"]
    'folds=10, correlation=0.0'
    """
    rows = {}
    for name, function in TESTS.items():
        parameters = list(inspect.signature(function).parameters.values())[3:]
        rows[name] = {
            "experiment": (function.__doc__ or "").splitlines()[0],
            "design": ", ".join(
                f"{parameter.name}={parameter.default}" for parameter in parameters
            ),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("test")


def size_table(
    *, repeats: int = 10_000, alpha: float = 0.05, random_state: Seed = 0
) -> pd.DataFrame:
    """Return the simulated size of every test under its own assumptions.

    Parameters
    ----------
    repeats
        Number of simulated experiments per test.
    alpha
        Level of significance.
    random_state
        Seed.
    """
    rows = {
        name: simulate(name, repeats=repeats, alpha=alpha, random_state=random_state)
        .table.iloc[0]
        .drop("effect")
        for name in TESTS
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("test")
