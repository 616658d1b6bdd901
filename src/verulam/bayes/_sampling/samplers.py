"""Markov chains that settle on a density: Metropolis' random walk and Gibbs' sampler."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    FUNCTION,
    NONE,
    NUMBER,
    SEED,
    WHOLE,
    DataError,
    Kind,
    Seed,
    array_of_numbers,
    checked_arguments,
    generator,
    spawn_seeds,
)
from verulam.bayes._sampling.chains import Chains

#: The share of proposals that a random walk should accept in one dimension and in many
#: (Roberts, Gelman and Gilks 1997).
_IDEAL_ACCEPTANCE = (0.44, 0.234)
#: Steps of the warm-up between two adjustments of the proposals.
_ADJUSTED_EVERY = 50

POINTS = array_of_numbers(
    1, 2, words="a finite point of shape (n_dimensions,), or one for each chain"
)
MAPPING = Kind("a mapping from names to values", lambda value: isinstance(value, Mapping))
FUNCTIONS = Kind(
    "a mapping from one name or more to functions that draw",
    lambda value: (
        isinstance(value, Mapping)
        and len(value) > 0
        and all(callable(draw) for draw in value.values())
    ),
)

State = dict[str, Any]
#: Draws one quantity given the others, by the generator it is handed.
Conditional = Callable[[State, np.random.Generator], Any]


@checked_arguments(
    log_density=FUNCTION,
    start=POINTS,
    n_draws=WHOLE,
    burn_in=WHOLE,
    n_chains=WHOLE,
    step=NUMBER | NONE,
    random_state=SEED,
)
def metropolis(
    log_density: Callable[[np.ndarray], float],
    start: ArrayLike,
    *,
    n_draws: int = 1000,
    burn_in: int = 1000,
    n_chains: int = 4,
    step: float | None = None,
    random_state: Seed = None,
) -> Chains:
    r"""Draw from a density that is known up to a factor, by Metropolis' random walk.

    Parameters
    ----------
    log_density
        Logarithm of the density at a point, up to a constant; minus infinity where it is zero.
    start
        Point of shape (n_dimensions,) about which chains start, or one of shape (n_chains,
        n_dimensions) for each; the density there must not be zero.
    n_draws, burn_in
        Steps of each chain that are kept, and before them those that are not.
    n_chains
        Number of chains.
    step
        Standard deviation of the proposals in every direction. None learns scale and shape of the
        proposals during the warm-up, and leaves them alone from then on.
    random_state
        Seed.

    Returns
    -------
    Chains
        Draws under the name ``"x"``, with the share of accepted proposals. A warning says so where
        the chains have not converged.

    Notes
    -----
    A step to :math:`x'` from a symmetric proposal is taken with probability :math:`\min(1, p(x') /
    p(x))`, otherwise the chain stays. See Alpaydin 16.7; Metropolis et al. (1953).

    Examples
    --------
    >>> from verulam.bayes import metropolis
    >>> chains = metropolis(lambda x: -0.5 * ((x[0] - 2.0) / 0.5) ** 2, [0.0], random_state=0)
    >>> chains.mean("x").round(1), chains.std("x").round(1)
    (array([2.]), array([0.5]))
    """
    _check_counts(n_draws=n_draws, burn_in=burn_in, n_chains=n_chains)
    if step is not None and not (np.isfinite(step) and step > 0):
        raise DataError(f"step must be a finite number above 0, or None; got {step!r}.")
    starts = _starts(start, n_chains)
    walks = [
        _walk(log_density, point, n_draws, burn_in, step, generator(seed))
        for point, seed in zip(starts, spawn_seeds(random_state, n_chains), strict=True)
    ]
    chains = Chains(
        {"x": np.array([draws for draws, _ in walks])},
        acceptance=np.array([accepted for _, accepted in walks]),
    )
    chains.warn_unless_converged()
    return chains


@checked_arguments(
    conditionals=FUNCTIONS,
    start=MAPPING,
    n_draws=WHOLE,
    burn_in=WHOLE,
    n_chains=WHOLE,
    random_state=SEED,
)
def gibbs(
    conditionals: Mapping[str, Conditional],
    start: Mapping[str, Any],
    *,
    n_draws: int = 1000,
    burn_in: int = 200,
    n_chains: int = 4,
    random_state: Seed = None,
) -> Chains:
    """Draw from a joint density by drawing each quantity in turn, given all the others.

    Parameters
    ----------
    conditionals
        For each quantity a function of the present state (a dict of all quantities) and a
        generator that returns a draw of it given the others; they are called in this order.
    start
        The state that chains start from.
    n_draws, burn_in
        Sweeps of each chain that are kept, and before them those that are not.
    n_chains
        Number of chains.
    random_state
        Seed.

    Returns
    -------
    Chains
        Draws of every quantity that has a conditional. A warning says so where the chains have not
        converged.

    Notes
    -----
    See Alpaydin 16.7; Geman and Geman (1984).

    Examples
    --------
    A Gaussian pair with correlation .6:

    >>> import numpy as np
    >>> from verulam.bayes import gibbs
    >>> conditionals = {
    ...     "x": lambda state, rng: rng.normal(0.6 * state["y"], 0.8),
    ...     "y": lambda state, rng: rng.normal(0.6 * state["x"], 0.8),
    ... }
    >>> chains = gibbs(conditionals, {"x": 0.0, "y": 0.0}, random_state=0)
    >>> round(float(np.corrcoef(chains["x"], chains["y"])[0, 1]), 1)
    0.6
    """
    _check_counts(n_draws=n_draws, burn_in=burn_in, n_chains=n_chains)
    missing = [name for name in conditionals if name not in start]
    if missing:
        raise DataError(f"start must have a value for {missing[0]!r}, which has a conditional.")
    parts = [
        _sweeps(conditionals, dict(start), n_draws, burn_in, generator(seed))
        for seed in spawn_seeds(random_state, n_chains)
    ]
    chains = Chains({name: np.array([part[name] for part in parts]) for name in conditionals})
    chains.warn_unless_converged()
    return chains


def _walk(
    log_density: Callable[[np.ndarray], float],
    point: np.ndarray,
    n_draws: int,
    burn_in: int,
    step: float | None,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """Return the draws of one chain, and the share of proposals that it accepted."""
    dimension = len(point)
    ideal = _IDEAL_ACCEPTANCE[min(dimension, 2) - 1]
    root, factor = np.eye(dimension), step or 1.0
    height = _height(log_density, point)
    if height == -np.inf:
        raise DataError(f"start must have a positive density; log_density({point}) is -inf.")
    draws = np.empty((burn_in + n_draws, dimension))
    accepted = np.zeros(burn_in + n_draws, dtype=bool)
    # In blocks: one call for many normal numbers costs hardly more than one for a single one.
    for first in range(0, len(draws), _ADJUSTED_EVERY):
        last = min(first + _ADJUSTED_EVERY, len(draws))
        moves = factor * rng.standard_normal((last - first, dimension)) @ root.T
        thresholds = -rng.standard_exponential(last - first)
        for t in range(first, last):
            proposal = point + moves[t - first]
            there = _height(log_density, proposal)
            if there - height > thresholds[t - first]:
                point, height, accepted[t] = proposal, there, True
            draws[t] = point
        if step is None and last <= burn_in:
            ratio = float(accepted[first:last].mean()) / ideal
            factor *= float(np.sqrt(np.clip(ratio, 0.2, 4.0)))
            # Shape from the draws, size from what was accepted.
            root, factor = _reshaped(root, factor, draws[last // 2 : last])
    return draws[burn_in:], float(accepted[burn_in:].mean())


def _reshaped(root: np.ndarray, factor: float, draws: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a root of the covariance of draws, and the factor that leaves its volume as it was."""
    if len(draws) <= 10 * len(root):
        return root, factor
    covariance = np.atleast_2d(np.cov(draws.T))
    variances = np.diagonal(covariance)
    if not (variances > 0.0).all():
        return root, factor
    # A little of the diagonal keeps all directions open.
    later = np.linalg.cholesky(covariance + 1e-3 * np.diag(variances))
    volumes = [float(np.log(np.diagonal(one)).mean()) for one in (root, later)]
    return later, factor * float(np.exp(volumes[0] - volumes[1]))


def _height(log_density: Callable[[np.ndarray], float], point: np.ndarray) -> float:
    value = log_density(point)
    if np.size(value) != 1 or not NUMBER.accepts(np.asarray(value).item()) or value == np.inf:
        raise DataError(
            f"log_density must return a number below infinity; got {value!r} at {point}."
        )
    return float(np.asarray(value).item())


def _sweeps(
    conditionals: Mapping[str, Conditional],
    state: State,
    n_draws: int,
    burn_in: int,
    rng: np.random.Generator,
) -> dict[str, list[Any]]:
    draws: dict[str, list[Any]] = {name: [] for name in conditionals}
    for sweep in range(burn_in + n_draws):
        for name, conditional in conditionals.items():
            state[name] = conditional(state, rng)
        if sweep >= burn_in:
            for name in conditionals:
                draws[name].append(np.array(state[name], dtype=np.float64))
    return draws


def _starts(start: ArrayLike, n_chains: int) -> np.ndarray:
    points = np.asarray(start, dtype=np.float64)
    if points.ndim == 1 and points.size:
        points = np.tile(points, (n_chains, 1))
    if points.ndim != 2 or len(points) != n_chains or not np.isfinite(points).all():
        raise DataError(
            "start must be a finite point of shape (n_dimensions,), or one for each of the "
            f"{n_chains} chains; got shape {np.shape(start)}."
        )
    return points


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        least = 0 if name == "burn_in" else 1
        if not isinstance(count, int | np.integer) or count < least:
            raise DataError(f"{name} must be a whole number of at least {least}; got {count!r}.")
