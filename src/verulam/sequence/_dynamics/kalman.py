"""Linear dynamical systems: what is known of continuous states, by Kalman's filter and smoother."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._data.sequences import Sequences, read_sequences
from verulam.sequence._dynamics import kalman_loops as loops
from verulam.sequence._model.inference import sums_by_sequence

#: Least eigenvalue of a covariance, relative to the largest, that counts as rounding.
NEGATIVE = 1e-8


@dataclass(frozen=True)
class LinearSystem:
    r"""A state that moves linearly with noise, seen linearly with noise; inputs may drive both.

    Attributes
    ----------
    transition : ndarray of shape (n_dimensions, n_dimensions)
        :math:`A`.
    state_noise : ndarray of shape (n_dimensions, n_dimensions)
        Covariance :math:`Q` of what is added at each step.
    observation : ndarray of shape (n_columns, n_dimensions)
        :math:`C`.
    observation_noise : ndarray of shape (n_columns, n_columns)
        Covariance :math:`R` of what is added to what is seen.
    initial_mean : ndarray of shape (n_dimensions,)
        Mean of the first state.
    initial_covariance : ndarray of shape (n_dimensions, n_dimensions)
        Covariance of the first state.
    offset : ndarray of shape (n_columns,)
        :math:`d`, what is seen of a state of zeros.
    state_inputs : ndarray of shape (n_dimensions, n_inputs)
        :math:`B`, what the inputs of a step add to the state of the next one.
    observation_inputs : ndarray of shape (n_columns, n_inputs)
        :math:`D`, what they add to what is seen at the step itself.
    """

    transition: np.ndarray
    state_noise: np.ndarray
    observation: np.ndarray
    observation_noise: np.ndarray
    initial_mean: np.ndarray
    initial_covariance: np.ndarray
    offset: np.ndarray
    state_inputs: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    observation_inputs: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        # Without inputs there are as many rows as with them, and no columns.
        for name, rows in (("state_inputs", "transition"), ("observation_inputs", "observation")):
            if getattr(self, name).shape == (0, 0):
                shape = np.shape(getattr(self, rows))[:-1]
                object.__setattr__(self, name, np.empty((*shape, 0)))

    @property
    def n_inputs(self) -> int:
        """Numbers that are known at each step and drive the system."""
        return self.state_inputs.shape[-1]

    @property
    def n_dimensions(self) -> int:
        """Numbers that make up a state."""
        return len(self.initial_mean)

    @property
    def n_columns(self) -> int:
        """Numbers that are seen at each step."""
        return len(self.offset)


def linear_system(
    transition: Any,
    state_noise: Any,
    observation: Any,
    observation_noise: Any,
    *,
    initial_mean: Any = None,
    initial_covariance: Any = None,
    offset: Any = None,
    state_inputs: Any = None,
    observation_inputs: Any = None,
) -> LinearSystem:
    """Return a system with its matrices checked.

    Parameters
    ----------
    transition, state_noise, observation, observation_noise
        Matrices; a number stands for a matrix of one row and one column.
    initial_mean
        None for zeros.
    initial_covariance
        None for the covariance that the state has in the long run.
    offset
        None for zeros.
    state_inputs, observation_inputs
        What inputs add to the next state, and to what is seen: one column per input. None for
        zeros, and both None where there are no inputs.

    Examples
    --------
    >>> from verulam.sequence import linear_system
    >>> linear_system(0.5, 0.75, 1.0, 1.0).initial_covariance
    array([[1.]])
    >>> linear_system(0.5, 0.75, 1.0, 1.0, state_inputs=2.0).observation_inputs
    array([[0.]])
    """
    move, state, seen, noise = (
        np.atleast_2d(np.array(part, dtype=np.float64))
        for part in (transition, state_noise, observation, observation_noise)
    )
    n_dimensions, n_columns = len(move), len(seen)
    known = np.zeros_like(move) if initial_covariance is None else initial_covariance
    system = LinearSystem(
        move,
        state,
        seen,
        noise,
        _vector(initial_mean, n_dimensions),
        np.atleast_2d(np.array(known, dtype=np.float64)),
        _vector(offset, n_columns),
        *_input_effects(state_inputs, observation_inputs, n_dimensions, n_columns),
    )
    check_system(system)
    if initial_covariance is None:
        return replace(system, initial_covariance=long_run_covariance(move, state))
    return system


def _vector(values: Any, size: int) -> np.ndarray:
    return np.zeros(size) if values is None else np.atleast_1d(np.array(values, dtype=np.float64))


def _input_effects(
    on_state: Any, on_observation: Any, n_dimensions: int, n_columns: int
) -> list[np.ndarray]:
    effects = [
        None if part is None else np.atleast_2d(np.array(part, dtype=np.float64))
        for part in (on_state, on_observation)
    ]
    n_inputs = next((part.shape[1] for part in effects if part is not None), 0)
    return [
        np.zeros((rows, n_inputs)) if part is None else part
        for part, rows in zip(effects, (n_dimensions, n_columns), strict=True)
    ]


def check_system(system: LinearSystem) -> None:
    """Raise where shapes do not fit or a covariance is none."""
    n_dimensions, n_columns = len(system.transition), len(system.observation)
    square, seen = (n_dimensions, n_dimensions), (n_columns, n_columns)
    shapes = {
        "transition": square,
        "state_noise": square,
        "observation": (n_columns, n_dimensions),
        "observation_noise": seen,
        "initial_mean": (n_dimensions,),
        "initial_covariance": square,
        "offset": (n_columns,),
        "state_inputs": (n_dimensions, system.n_inputs),
        "observation_inputs": (n_columns, system.n_inputs),
    }
    for name, shape in shapes.items():
        values = getattr(system, name)
        if values.shape != shape:
            raise DataError(f"{name} has shape {values.shape}; expected {shape}.")
        if not np.isfinite(values).all():
            raise DataError(f"{name} holds values that are missing or infinite.")
    for name in ("state_noise", "observation_noise", "initial_covariance"):
        values = getattr(system, name)
        eigenvalues = np.linalg.eigvalsh(values)
        bound = NEGATIVE * max(float(np.abs(values).max()), 1e-300)
        if not np.allclose(values, values.T) or eigenvalues[0] < -bound:
            raise DataError(
                f"{name} is no covariance: it must be symmetric with no negative eigenvalue."
            )


def long_run_covariance(transition: np.ndarray, state_noise: np.ndarray) -> np.ndarray:
    """Return the covariance that a state has after many steps, or raise where it grows."""
    from scipy.linalg import solve_discrete_lyapunov

    if transition.shape != state_noise.shape or transition.shape[0] != transition.shape[1]:
        raise DataError(
            f"transition has shape {transition.shape} and state_noise {state_noise.shape}; "
            "expected two square matrices of the same size."
        )
    if np.abs(np.linalg.eigvals(transition)).max() >= 1.0:
        raise DataError(
            "The state has no long run: transition has an eigenvalue of 1 or more. Give "
            "initial_covariance."
        )
    return solve_discrete_lyapunov(transition, state_noise)


@dataclass(frozen=True)
class StateEstimates:
    """Gaussian posteriors of the states.

    Attributes
    ----------
    means : ndarray of shape (n_steps, n_dimensions)
        Mean of each state.
    covariances : ndarray of shape (n_steps, n_dimensions, n_dimensions)
        Covariance of each state.
    lag_covariances : ndarray of shape (n_steps, n_dimensions, n_dimensions) or None
        Covariance of each state with the one before; zero at the first step of a sequence, and
        None where only the steps so far are known.
    log_likelihoods : ndarray of shape (n_sequences,)
        Log-density of each sequence.
    """

    means: np.ndarray
    covariances: np.ndarray
    lag_covariances: np.ndarray | None
    log_likelihoods: np.ndarray


def kalman_filter(
    system: LinearSystem, X: Any, lengths: Any = None, inputs: Any = None
) -> StateEstimates:
    r"""Return what is known of each state from the steps so far.

    Parameters
    ----------
    system
        The system.
    X, lengths
        Sequences: a list of arrays, or one array with the lengths. Missing numbers (NaN) are
        integrated out, one by one.
    inputs
        In the form of X, what is known at each step and drives the system, where it has inputs.

    Notes
    -----
    .. math:: z_{t+1} = A z_t + B u_t + w_t, \quad w_t \sim \mathcal N(0, Q), \qquad
              x_t = C z_t + D u_t + d + v_t, \quad v_t \sim \mathcal N(0, R)

    is the hidden Markov model with a continuous state, and with inputs :math:`u_t` the
    input-output model (Alpaydin 15.9). The numbers of a step are decorrelated and taken in one
    by one [koopman2000]_, which inverts no matrix.

    References
    ----------
    .. [koopman2000] S. J. Koopman and J. Durbin, "Fast filtering and smoothing for multivariate
       state space models", Journal of Time Series Analysis 21(3), 2000.

    Examples
    --------
    >>> from verulam.sequence import kalman_filter, linear_system
    >>> system = linear_system(1.0, 0.0, 1.0, 1.0, initial_covariance=1e6)
    >>> kalman_filter(system, [1.0, 3.0, 5.0]).means.ravel().round(3)
    array([1., 2., 3.])
    """
    sequences = numbers_of(system.n_columns, read_sequences(X, lengths, inputs))
    steps = np.zeros(sequences.n_steps, dtype=np.int64)
    return run_filter(stacked((system,)), sequences, steps).estimates


def kalman_smoother(
    system: LinearSystem, X: Any, lengths: Any = None, inputs: Any = None
) -> StateEstimates:
    """Return what is known of each state from its whole sequence.

    Parameters
    ----------
    system, X, lengths, inputs
        As in `kalman_filter`.

    Examples
    --------
    >>> from verulam.sequence import kalman_smoother, linear_system
    >>> system = linear_system(1.0, 0.0, 1.0, 1.0, initial_covariance=1e6)
    >>> kalman_smoother(system, [1.0, 3.0, 5.0]).means.ravel().round(3)
    array([3., 3., 3.])

    A level that inputs raise step by step, and that is seen without noise of its own:

    >>> driven = linear_system(1.0, 0.0, 1.0, 1.0, initial_covariance=1e6, state_inputs=1.0)
    >>> kalman_smoother(driven, [1.0, 3.0, 5.0], inputs=[2.0, 2.0, 0.0]).means.ravel().round(3)
    array([1., 3., 5.])
    """
    sequences = numbers_of(system.n_columns, read_sequences(X, lengths, inputs))
    steps = np.zeros(sequences.n_steps, dtype=np.int64)
    return run_smoother(stacked((system,)), sequences, steps)


def numbers_of(n_columns: int, sequences: Sequences) -> Sequences:
    """Return the sequences as C-ordered float64, or raise where the width is another."""
    values = np.ascontiguousarray(sequences.values, dtype=np.float64)
    if values.shape[1] != n_columns:
        raise DataError(f"X has {values.shape[1]} columns, but the system shows {n_columns}.")
    if np.isinf(values).any():
        raise DataError("X holds infinite values; use NaN for missing ones.")
    return sequences.with_values(values)


def stacked(systems: tuple[LinearSystem, ...]) -> LinearSystem:
    """Return the systems of several regimes as one, stacked along a first axis."""
    names = [field.name for field in fields(LinearSystem)]
    stack = {name: np.stack([getattr(part, name) for part in systems]) for name in names}
    # All regimes begin alike.
    stack["initial_mean"] = systems[0].initial_mean
    stack["initial_covariance"] = systems[0].initial_covariance
    return LinearSystem(**{name: np.ascontiguousarray(part) for name, part in stack.items()})


@dataclass(frozen=True)
class Filtering:
    """Filtered estimates, and what each number changed."""

    estimates: StateEstimates
    gains: np.ndarray
    innovations: np.ndarray
    scales: np.ndarray


def run_filter(stack: LinearSystem, sequences: Sequences, regimes: np.ndarray) -> Filtering:
    """Return the filtered estimates where each step has its regime."""
    n_steps, n_columns = sequences.values.shape
    size = stack.n_dimensions
    means, covariances = np.empty((n_steps, size)), np.empty((n_steps, size, size))
    firsts = sequences.starts[:-1][np.diff(sequences.starts) > 0]
    means[firsts], covariances[firsts] = stack.initial_mean, stack.initial_covariance
    gains = np.zeros((n_steps, n_columns, size))
    innovations, scales = np.zeros((2, n_steps, n_columns))
    known = inputs_of(stack, sequences)
    logs = np.zeros(n_steps)
    loops.filter_steps(
        without_inputs(stack, sequences.values, known, regimes),
        sequences.starts,
        regimes,
        pushes(stack, known, regimes),
        _arguments(stack),
        (*_noise_scratch(n_columns, size), np.empty(n_columns), np.empty((size, size)), logs),
        means,
        covariances,
        gains,
        innovations,
        scales,
    )
    totals = sums_by_sequence(logs, sequences.starts)
    estimates = StateEstimates(means, covariances, None, totals)
    return Filtering(estimates, gains, innovations, scales)


def _noise_scratch(n_columns: int, size: int) -> tuple[np.ndarray, ...]:
    """Return what `decorrelate` fills: rows, factor, variances, and places of numbers."""
    factor = np.zeros((n_columns, n_columns))
    return np.empty((n_columns, size)), factor, np.empty(n_columns), np.empty(n_columns, dtype=int)


def run_smoother(stack: LinearSystem, sequences: Sequences, regimes: np.ndarray) -> StateEstimates:
    """Return the smoothed estimates where each step has its regime."""
    filtering = run_filter(stack, sequences, regimes)
    estimates = filtering.estimates
    means, covariances = estimates.means, estimates.covariances
    lags = np.zeros_like(covariances)
    n_columns, size = sequences.values.shape[1], stack.n_dimensions
    vectors, matrices = np.empty((2, size)), np.empty((4, size, size))
    loops.smooth_steps(
        sequences.values,
        sequences.starts,
        regimes,
        _arguments(stack),
        (*_noise_scratch(n_columns, size), *vectors, *matrices),
        means,
        covariances,
        filtering.gains,
        filtering.innovations,
        filtering.scales,
        lags,
    )
    return StateEstimates(means, covariances, lags, estimates.log_likelihoods)


def inputs_of(system: LinearSystem, sequences: Sequences) -> np.ndarray:
    """Return the inputs of each step, none where the system has none, or raise."""
    known = sequences.inputs
    if known is None:
        if system.n_inputs:
            raise DataError(
                f"The system has {system.n_inputs} inputs: pass inputs= beside X, one row per step."
            )
        return np.empty((sequences.n_steps, 0))
    if known.shape[1] != system.n_inputs:
        raise DataError(
            f"inputs has {known.shape[1]} columns, but the system has {system.n_inputs}."
        )
    return known


def pushes(stack: LinearSystem, known: np.ndarray, regimes: np.ndarray) -> np.ndarray:
    """Return what inputs add to the state on its way into each step; one row where there are none.

    The row of a first step is not used.
    """
    if not stack.n_inputs:
        return np.zeros((1, stack.n_dimensions))
    return np.einsum("tij,tj->ti", stack.state_inputs[regimes], np.roll(known, 1, axis=0))


def without_inputs(
    stack: LinearSystem, values: np.ndarray, known: np.ndarray, regimes: np.ndarray
) -> np.ndarray:
    """Return what is seen less what inputs add to it."""
    if not stack.n_inputs:
        return values
    return values - np.einsum("tij,tj->ti", stack.observation_inputs[regimes], known)


def _arguments(stack: LinearSystem) -> tuple[np.ndarray, ...]:
    return (
        stack.transition,
        stack.state_noise,
        stack.observation,
        stack.offset,
        stack.observation_noise,
    )
