"""EM of a linear dynamical system: expected sums over states, and the system they give."""

from dataclasses import dataclass, replace

import numpy as np

from verulam.base import DataError, SumRecord, unknown_name
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._dynamics.kalman import LinearSystem, StateEstimates, inputs_of

PARAMETERS = (
    "transition",
    "state_noise",
    "observation",
    "observation_noise",
    "initial_mean",
    "initial_covariance",
    "offset",
    "state_inputs",
    "observation_inputs",
)


@dataclass(frozen=True)
class DynamicalSums(SumRecord):
    r"""Expected products, those of moves and of what is seen once per regime.

    Attributes
    ----------
    log_likelihood, n_steps
        Of all sequences.
    n_sequences, firsts, first_products
        Number, sum and products of first states.
    n_moves, before, after, across
        :math:`\sum \bar z_{t-1} \bar z_{t-1}^T, \sum z_t z_t^T, \sum z_t \bar z_{t-1}^T` over the
        moves, with :math:`\bar z = (z, u)`.
    n_seen, states, cross, squares
        :math:`\sum \tilde z \tilde z^T, \sum x \tilde z^T, \sum x x^T` over steps where something
        is seen, with :math:`\tilde z = (z, u, 1)`.
    """

    log_likelihood: float
    n_steps: int
    n_sequences: int
    firsts: np.ndarray
    first_products: np.ndarray
    n_moves: np.ndarray
    before: np.ndarray
    after: np.ndarray
    across: np.ndarray
    n_seen: np.ndarray
    states: np.ndarray
    cross: np.ndarray
    squares: np.ndarray


def expected_products(
    systems: tuple[LinearSystem, ...],
    sequences: Sequences,
    regimes: np.ndarray,
    smoothed: StateEstimates,
) -> DynamicalSums:
    """Return the expected sums of smoothed sequences: the E-step."""
    means, covariances, lags = smoothed.means, smoothed.covariances, smoothed.lag_covariances
    assert lags is not None
    first = sequences.starts[:-1]
    inside = np.ones(len(means), dtype=bool)
    inside[first] = False
    n_dimensions, n_columns = means.shape[1], sequences.values.shape[1]
    n_regimes, known = len(systems), inputs_of(systems[0], sequences)
    width = n_dimensions + known.shape[1]
    before = np.empty((n_regimes, width, width))
    after = np.empty((n_regimes, n_dimensions, n_dimensions))
    across = np.empty((n_regimes, n_dimensions, width))
    n_moves, n_seen = np.empty(n_regimes), np.empty(n_regimes)
    states = np.empty((n_regimes, width + 1, width + 1))
    cross = np.empty((n_regimes, n_columns, width + 1))
    squares = np.empty((n_regimes, n_columns, n_columns))
    for g, system in enumerate(systems):
        here = np.flatnonzero(inside & (regimes == g))
        n_moves[g] = len(here)
        drivers = np.hstack([means[here - 1], known[here - 1]])
        before[g] = _products(drivers, covariances[here - 1])
        after[g] = _products(means[here], covariances[here])
        # E[z_t z_t-1'] needs the covariance between neighbours, which the smoother gives.
        across[g] = means[here].T @ drivers
        across[g, :, :n_dimensions] += lags[here].sum(axis=0)
        rows = np.flatnonzero(regimes == g)
        seen = _seen(system, sequences.values[rows], known[rows], means[rows], covariances[rows])
        n_seen[g], states[g], cross[g], squares[g] = seen
    return DynamicalSums(
        float(smoothed.log_likelihoods.sum()),
        len(means),
        len(first),
        means[first].sum(axis=0),
        _products(means[first], covariances[first]),
        n_moves,
        before,
        after,
        across,
        n_seen,
        states,
        cross,
        squares,
    )


def _products(rows: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Return expected products of rows that begin with states, whose covariances are known."""
    products = rows.T @ rows
    size = covariances.shape[1]
    products[:size, :size] += covariances.sum(axis=0)
    return products


def _seen(
    system: LinearSystem,
    values: np.ndarray,
    known: np.ndarray,
    means: np.ndarray,
    covariances: np.ndarray,
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of steps where something is seen, and their products.

    Where only part of a row is present, the rest is a linear function of state and that part,
    with noise that is left over; steps with nothing present teach nothing of what is seen.
    """
    n_columns, n_dimensions = system.observation.shape
    present = ~np.isnan(values)
    drivers = np.hstack([means, known, np.ones((len(means), 1))])
    width = drivers.shape[1]
    states = np.zeros((width, width))
    cross, squares = np.zeros((n_columns, width)), np.zeros((n_columns, n_columns))
    # Rows with the same gaps share one regression of what is missing on what is present.
    patterns, which = np.unique(present, axis=0, return_inverse=True)
    count = 0
    for place, pattern in enumerate(patterns):
        if not pattern.any():
            continue
        rows = np.flatnonzero(which.ravel() == place)
        count += len(rows)
        moments = drivers[rows][:, :, None] * drivers[rows][:, None]
        moments[:, :n_dimensions, :n_dimensions] += covariances[rows]
        maps, left_over = _completed(system, values[rows], known[rows], pattern)
        part = np.einsum("tip,tpq->tiq", maps, moments)
        states += moments.sum(axis=0)
        cross += part.sum(axis=0)
        squares += np.einsum("tip,tjp->ij", part, maps) + len(rows) * left_over
    return count, states, cross, squares


def _completed(
    system: LinearSystem, values: np.ndarray, known: np.ndarray, pattern: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row as a linear map of ``(state, inputs, 1)``, and the covariance left over."""
    n_columns, n_dimensions = system.observation.shape
    maps = np.zeros((len(values), n_columns, n_dimensions + known.shape[1] + 1))
    maps[:, pattern, -1] = values[:, pattern]
    left_over = np.zeros((n_columns, n_columns))
    absent = ~pattern
    if absent.any():
        # Given the state, what is absent is known from what is present by the noise that both
        # share: a conditional Gaussian.
        noise = system.observation_noise
        solved = np.linalg.pinv(noise[np.ix_(pattern, pattern)]) @ noise[np.ix_(pattern, absent)]
        weights = np.hstack([system.observation, system.observation_inputs])
        maps[:, absent, :-1] = weights[absent] - solved.T @ weights[pattern]
        gaps = values[:, pattern] - system.offset[pattern]
        maps[:, absent, -1] = system.offset[absent] + gaps @ solved
        left_over[np.ix_(absent, absent)] = (
            noise[np.ix_(absent, absent)] - noise[np.ix_(absent, pattern)] @ solved
        )
    return maps, left_over


def updated_systems(
    systems: tuple[LinearSystem, ...],
    sums: DynamicalSums,
    fixed: tuple[str, ...],
    diagonal: bool,
    floor: np.ndarray,
) -> tuple[LinearSystem, ...]:
    """Return the systems that the sums give: the M-step. A regime without data keeps its own.

    Parameters
    ----------
    systems
        The systems that the sums were made under.
    sums
        The expected sums.
    fixed
        Names of parameters to keep.
    diagonal
        Whether the noise of what is seen is independent between columns.
    floor
        Least variance of that noise, one per column.
    """
    for name in fixed:
        if name not in PARAMETERS:
            raise unknown_name("parameter", name, PARAMETERS)
    # With the mean held, the covariance is that around the held mean, not around the estimate.
    mean = sums.firsts / sums.n_sequences
    if "initial_mean" in fixed:
        mean = systems[0].initial_mean
    cross = np.outer(mean, sums.firsts) / sums.n_sequences
    spread = sums.first_products / sums.n_sequences - cross - cross.T + np.outer(mean, mean)
    if "initial_covariance" in fixed:
        spread = systems[0].initial_covariance
    moved = []
    for g, system in enumerate(systems):
        begun = replace(system, initial_mean=mean, initial_covariance=_symmetric(spread))
        moved.append(_seen_update(_moved_update(begun, sums, g, fixed), sums, g, fixed, diagonal))
    return tuple(
        replace(system, observation_noise=_raised(system.observation_noise, floor))
        if "observation_noise" not in fixed
        else system
        for system in moved
    )


def _moved_update(
    system: LinearSystem, sums: DynamicalSums, g: int, fixed: tuple[str, ...]
) -> LinearSystem:
    if sums.n_moves[g] < 1:
        return system
    size, state_noise = system.n_dimensions, system.state_noise
    free = np.repeat(
        ["transition" not in fixed, "state_inputs" not in fixed], [size, system.n_inputs]
    )
    weights = np.hstack([system.transition, system.state_inputs])
    weights = _regressed(weights, free, sums.across[g], sums.before[g])
    if "state_noise" not in fixed:
        # The mean of (x' - W x)(x' - W x)', multiplied out.
        across = weights @ sums.across[g].T
        around = weights @ sums.before[g] @ weights.T
        state_noise = (sums.after[g] - across - across.T + around) / sums.n_moves[g]
    return replace(
        system,
        transition=weights[:, :size].copy(),
        state_inputs=weights[:, size:].copy(),
        state_noise=_symmetric(state_noise),
    )


def _seen_update(
    system: LinearSystem, sums: DynamicalSums, g: int, fixed: tuple[str, ...], diagonal: bool
) -> LinearSystem:
    if sums.n_seen[g] < 1:
        return system
    states, cross, size = sums.states[g], sums.cross[g], system.n_dimensions
    names = ("observation", "observation_inputs", "offset")
    free = np.repeat([name not in fixed for name in names], [size, system.n_inputs, 1])
    weights = np.column_stack([system.observation, system.observation_inputs, system.offset])
    weights = _regressed(weights, free, cross, states)
    noise = system.observation_noise
    if "observation_noise" not in fixed:
        product = weights @ cross.T
        noise = sums.squares[g] - product - product.T + weights @ states @ weights.T
        noise = _symmetric(noise / sums.n_seen[g])
        noise = np.diag(np.diag(noise)) if diagonal else noise
    return replace(
        system,
        observation=weights[:, :size].copy(),
        observation_inputs=weights[:, size:-1].copy(),
        offset=weights[:, -1].copy(),
        observation_noise=noise,
    )


def _regressed(
    weights: np.ndarray, free: np.ndarray, cross: np.ndarray, products: np.ndarray
) -> np.ndarray:
    """Return weights of a regression whose free columns are learned, the others held."""
    weights = weights.copy()
    if free.any():
        # Normal equations of the free columns, with what the fixed ones explain taken off.
        rest = cross[:, free] - weights[:, ~free] @ products[np.ix_(~free, free)]
        weights[:, free] = _divided(rest, products[np.ix_(free, free)])
    return weights


def _divided(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return ``left / right`` by least squares, which also holds where `right` is singular."""
    return np.linalg.lstsq(right, left.T, rcond=None)[0].T


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)


def _raised(noise: np.ndarray, floor: np.ndarray) -> np.ndarray:
    short = np.maximum(floor - np.diag(noise), 0.0)
    return noise + np.diag(short)


def start_system(
    values: np.ndarray, starts: np.ndarray, n_dimensions: int, known: np.ndarray | None = None
) -> LinearSystem:
    """Return a first guess: main directions of the steps and of those just before.

    Parameters
    ----------
    values
        First steps of the data, with NaN where numbers are missing.
    starts
        Where each sequence begins, and at the end the number of steps.
    n_dimensions
        Numbers that make up a state.
    known
        Inputs of each step that drive the state, if any; of what is seen they explain nothing yet.
    """
    n_columns = values.shape[1]
    present = ~np.isnan(values)
    if not present.any(axis=0).all():
        column = int(np.argmin(present.any(axis=0)))
        raise DataError(f"Column {column} of X has no value that is present.")
    offset, spread = np.nanmean(values, axis=0), np.nanvar(values, axis=0)
    spread = np.where(spread > 0, spread, np.maximum(offset**2, 1.0) * 1e-6)
    rows = np.nan_to_num(values - offset) / np.sqrt(spread)
    n_lags = -(-n_dimensions // n_columns)
    if n_lags > len(values):
        raise DataError(
            f"n_dimensions is {n_dimensions}, but X has {values.size} numbers to start from."
        )
    inside = np.arange(len(rows)) - np.repeat(starts[:-1], np.diff(starts))
    pasts = []
    for lag in range(n_lags):
        shifted = np.zeros_like(rows)
        shifted[lag:] = rows[: len(rows) - lag]
        shifted[inside < lag] = 0.0
        pasts.append(shifted)
    history = np.hstack(pasts)
    eigenvalues, vectors = np.linalg.eigh(history.T @ history / len(history))
    leading = np.argsort(eigenvalues)[::-1][:n_dimensions]
    scales = np.sqrt(np.maximum(eigenvalues[leading], 1e-3))
    # Principal components of the last few steps: states of more dimensions than columns must be
    # told by the past as well. They are scaled to a variance of about one.
    states = history @ vectors[:, leading] / scales
    inputs = np.empty((len(states), 0)) if known is None else known
    usual, spreads = inputs.mean(axis=0), inputs.std(axis=0)
    spreads = np.where(spreads > 0, spreads, 1.0)
    moves = np.flatnonzero(inside > 0)
    drivers = np.hstack([states, (inputs - usual) / spreads])[moves - 1]
    ridge = 1e-3 * (1 + len(moves)) * np.eye(drivers.shape[1])
    weights = np.linalg.solve(drivers.T @ drivers + ridge, drivers.T @ states[moves]).T
    transition, effects = weights[:, :n_dimensions], weights[:, n_dimensions:] / spreads
    largest = np.abs(np.linalg.eigvals(transition)).max(initial=0.0)
    # A guess that grows would swamp the data.
    transition = transition * min(1.0, 0.99 / max(largest, 1e-12))
    # The usual inputs hold the state at a level of its own, which is part of the mean of what is
    # seen. EM would take hundreds of passes to tell it from the offset.
    level = np.linalg.solve(np.eye(n_dimensions) - transition, effects @ usual)
    identity = np.eye(n_dimensions)
    seen = vectors[:n_columns, leading] * scales * np.sqrt(spread)[:, None]
    return LinearSystem(
        transition,
        0.3 * identity,
        seen,
        np.diag(0.5 * spread),
        level,
        identity,
        offset - seen @ level,
        effects,
        np.zeros((n_columns, effects.shape[1])),
    )
