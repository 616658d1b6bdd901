"""Linear dynamical systems run ahead: forecasts, and states with what is seen of them drawn."""

from dataclasses import dataclass

import numpy as np

from verulam.sequence._data.sequences import Sequences
from verulam.sequence._dynamics.kalman import (
    LinearSystem,
    pushes,
    run_filter,
    stacked,
    without_inputs,
)


@dataclass(frozen=True)
class StateForecast:
    """What is to come after the last step of a sequence.

    Attributes
    ----------
    means : ndarray of shape (n_ahead, n_columns)
        Expected observations.
    covariances : ndarray of shape (n_ahead, n_columns, n_columns)
        Their covariances.
    states : ndarray of shape (n_ahead, n_dimensions)
        Expected states.
    """

    means: np.ndarray
    covariances: np.ndarray
    states: np.ndarray


def forecast_system(
    system: LinearSystem, values: np.ndarray, known: np.ndarray, n_ahead: int
) -> StateForecast:
    """Return what is to come after one sequence: steps at which nothing is seen.

    Parameters
    ----------
    system
        The system.
    values
        What was seen.
    known
        Inputs of these steps and of those to come, of no columns where the system has none.
    n_ahead
        Number of steps to come.
    """
    longer = np.vstack([values, np.full((n_ahead, values.shape[1]), np.nan)])
    ahead = Sequences(longer, np.array([0, len(longer)]), known)
    steps = np.zeros(len(longer), dtype=np.int64)
    estimates = run_filter(stacked((system,)), ahead, steps).estimates
    states = estimates.means[-n_ahead:]
    seen = system.observation @ estimates.covariances[-n_ahead:] @ system.observation.T
    means = expected_rows(system, states, known[-n_ahead:])
    return StateForecast(means, seen + system.observation_noise, states)


def expected_rows(system: LinearSystem, states: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return what is expected to be seen of states, with the inputs of their steps."""
    means = states @ system.observation.T + system.offset
    return means + known @ system.observation_inputs.T if system.n_inputs else means


def draw_system(
    stack: LinearSystem,
    starts: np.ndarray,
    regimes: np.ndarray,
    random: np.random.Generator,
    known: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return states and what is seen of them, drawn from systems of which each step uses one.

    Parameters
    ----------
    stack
        The systems, stacked.
    starts
        Where each sequence begins, and at the end the number of steps.
    regimes
        Which system each step uses.
    random
        Generator of the draws.
    known
        Inputs of each step, where the systems have some.
    """
    size, width = stack.n_dimensions, stack.offset.shape[1]
    inputs = np.empty((len(regimes), 0)) if known is None else known
    state_noise = random.standard_normal((len(regimes), size, 1))
    noise = random.standard_normal((len(regimes), width, 1))
    roots = np.stack([_root(part) for part in stack.state_noise])
    seen_roots = np.stack([_root(part) for part in stack.observation_noise])
    states = (roots[regimes] @ state_noise)[:, :, 0] + pushes(stack, inputs, regimes)
    first = starts[:-1]
    states[first] = (
        stack.initial_mean + state_noise[first, :, 0] @ _root(stack.initial_covariance).T
    )
    # All noise is there already: what is left to do step by step is the push by the state before.
    opening = np.zeros(len(regimes), dtype=bool)
    opening[first] = True
    for t in np.flatnonzero(~opening):
        states[t] += stack.transition[regimes[t]] @ states[t - 1]
    seen = (stack.observation[regimes] @ states[:, :, None] + seen_roots[regimes] @ noise)[:, :, 0]
    seen = seen + stack.offset[regimes]
    return states, without_inputs(stack, seen, -inputs, regimes)


def _root(covariance: np.ndarray) -> np.ndarray:
    """Return a matrix whose product with its transpose is the covariance, singular or not."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))
