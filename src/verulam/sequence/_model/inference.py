"""Inference over hidden states: likelihoods, posteriors, best paths, drawn paths, filtering.

One set of loops serves every model: what differs between models are the emissions (one row per
step, one column per state) and the transitions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verulam.sequence._model.transitions import AnyTransitions, Transitions
from verulam.sequence._recursions import diagonal_loops
from verulam.sequence._recursions import inference_loops as loops
from verulam.sequence._recursions import viterbi_loops as log_loops
from verulam.sequence._recursions.inference_loops import DENSE, DIAGONALS
from verulam.sequence._recursions.scratch import Scratch, fresh_or_scratch
from verulam.sequence._tuning import SUMMED_STATES

NO_TAIL = np.empty(0)
NO_SUMS = np.empty((0, 0))


@dataclass(frozen=True)
class EmissionLikelihoods:
    r"""The likelihood of each step under each state: what inference needs of an `Emission`.

    Attributes
    ----------
    relative : ndarray of shape (n_steps, n_states)
        :math:`b_j(O_t) / e^{p_t}`, at most about 1 in each row; the loops overwrite it.
    log_peaks : ndarray of shape (n_steps,)
        :math:`p_t`, such as the largest logarithm in each row.
    logarithms
        Returns :math:`\ln b_j(O_t)` for the steps from a start up to a stop: needed where
        relative numbers underflow, and for best paths.
    """

    relative: np.ndarray
    log_peaks: np.ndarray
    logarithms: Callable[[int, int], np.ndarray]

    def __len__(self) -> int:
        return len(self.relative)


@dataclass(frozen=True)
class Smoothed:
    r"""Posteriors of the states and of the transitions, given whole sequences.

    Attributes
    ----------
    probabilities : ndarray of shape (n_steps, n_states)
        :math:`\gamma_t(i)`.
    transition_sums : ndarray
        :math:`\sum_t \xi_t(i, j)` per allowed transition, or :math:`\xi_{t-1}(i, j)` at each
        step t where transitions vary.
    log_likelihoods : ndarray of shape (n_sequences,)
        :math:`\ln P(O)`; minus infinity where a sequence is impossible.
    impossible : ndarray of shape (n_sequences,)
        The first step that no path can explain, counted over all steps; -1 where there is none.
    """

    probabilities: np.ndarray
    transition_sums: np.ndarray
    log_likelihoods: np.ndarray
    impossible: np.ndarray


@dataclass(frozen=True)
class Filtered:
    r"""Posteriors of the states given the steps so far.

    Attributes
    ----------
    probabilities : ndarray of shape (n_steps, n_states)
        :math:`P(q_t = i \mid O_1 \ldots O_t)`.
    log_likelihoods, impossible
        As in `Smoothed`.
    """

    probabilities: np.ndarray
    log_likelihoods: np.ndarray
    impossible: np.ndarray


@dataclass(frozen=True)
class BestPath:
    r"""The most probable states.

    Attributes
    ----------
    states : ndarray of shape (n_steps,)
        :math:`q_t^*`.
    log_probabilities : ndarray of shape (n_sequences,)
        :math:`\ln P(O, Q^*)` of each sequence; minus infinity where it is impossible.
    """

    states: np.ndarray
    log_probabilities: np.ndarray


def emissions_from_logarithms(logarithms: np.ndarray) -> EmissionLikelihoods:
    """Return the emissions whose logarithms are given.

    Parameters
    ----------
    logarithms
        One row per step, one column per state.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import emissions_from_logarithms
    >>> emissions_from_logarithms(np.log([[0.2, 0.4]])).relative
    array([[0.5, 1. ]])
    """
    peaks = np.max(logarithms, axis=1, initial=-np.inf)
    # Where no state is possible, the peak is minus infinity, and its difference from itself NaN.
    peaks[~np.isfinite(peaks)] = 0.0
    relative = np.exp(logarithms - peaks[:, None])
    return EmissionLikelihoods(relative, peaks, lambda start, stop: logarithms[start:stop])


def smooth_states(
    emissions: EmissionLikelihoods,
    starts: np.ndarray,
    initial: np.ndarray,
    transitions: AnyTransitions,
    *,
    scratch: Scratch | None = None,
) -> Smoothed:
    r"""Return the posteriors of states and transitions by the forward-backward procedure.

    Parameters
    ----------
    emissions
        Used up: `relative` is overwritten.
    starts
        Where each sequence begins, and at the end the number of steps.
    initial
        Probability of each state at a first step.
    transitions
        Probabilities of the transitions.
    scratch
        Memory to use again, where the posteriors are summed at once and not kept.

    Notes
    -----
    .. math:: \gamma_t(i) = \frac{\alpha_t(i)\beta_t(i)}{\sum_j \alpha_t(j)\beta_t(j)}, \qquad
              \xi_t(i,j) = \frac{\alpha_t(i) a_{ij} b_j(O_{t+1}) \beta_{t+1}(j)}
              {\sum_k \sum_l \alpha_t(k) a_{kl} b_l(O_{t+1}) \beta_{t+1}(l)}

    with :math:`\alpha, \beta` scaled at each step (Alpaydin 15.5-15.7, 15.20-15.27); where that
    underflows for a sequence, it is computed again in logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import Transitions, emissions_from_logarithms, smooth_states
    >>> emissions = emissions_from_logarithms(np.log([[0.9, 0.2], [0.1, 0.6]]))
    >>> moves = Transitions.from_matrix([[0.7, 0.3], [0.4, 0.6]])
    >>> smoothed = smooth_states(emissions, np.array([0, 2]), np.array([0.5, 0.5]), moves)
    >>> smoothed.probabilities.round(3)
    array([[0.738, 0.262],
           [0.233, 0.767]])
    """
    forward = run_forward(emissions, starts, initial, transitions, scratch)
    alpha, failures = forward.alpha, forward.failures
    gamma = fresh_or_scratch("gamma", alpha.shape, scratch)
    if isinstance(transitions, Transitions):
        sums = run_backward(emissions, starts, transitions, forward, gamma).sums
    else:
        layout, transposed = transitions.layouts
        back = emissions.relative, starts, transposed.dense, alpha, gamma, NO_SUMS, failures
        loops.backward_dense(*back, NO_TAIL, True)
        _clear_failures(forward, emissions, gamma, starts)
        sums = np.zeros_like(transitions.matrices)
        loops.dense_transition_sums(alpha, emissions.relative, layout.dense, sums)
    logs = forward.log_likelihoods
    impossible = np.full(len(starts) - 1, -1)
    # Only the sequences that scaling could not save: exponentials at every step are slow.
    for s in np.flatnonzero(failures >= 0):
        steps = slice(int(starts[s]), int(starts[s + 1]))
        exact = _exact(emissions, steps, initial, transitions)
        logs[s], impossible[s] = exact.log_likelihood, exact.impossible
        if exact.impossible < 0:
            gamma[steps] = exact.gamma
            exact.add_transitions(transitions, sums)
    return Smoothed(gamma, sums, logs, impossible)


def filter_states(
    emissions: EmissionLikelihoods,
    starts: np.ndarray,
    initial: np.ndarray,
    transitions: AnyTransitions,
) -> Filtered:
    """Return the posteriors of the states given the steps so far; arguments as `smooth_states`."""
    forward = run_forward(emissions, starts, initial, transitions)
    with np.errstate(invalid="ignore", divide="ignore"):
        probabilities = np.divide(forward.alpha, forward.scales[:, None], out=forward.alpha)
    impossible = np.full(len(starts) - 1, -1)
    for s in np.flatnonzero(forward.failures >= 0):
        steps = slice(int(starts[s]), int(starts[s + 1]))
        exact = _exact(emissions, steps, initial, transitions)
        forward.log_likelihoods[s], impossible[s] = exact.log_likelihood, exact.impossible
        probabilities[steps] = _shares(exact.log_alpha)
    return Filtered(probabilities, forward.log_likelihoods, impossible)


def best_paths(
    logarithms: np.ndarray, starts: np.ndarray, initial: np.ndarray, transitions: AnyTransitions
) -> BestPath:
    r"""Return the most probable path of each sequence by the Viterbi algorithm.

    Parameters
    ----------
    logarithms
        Logarithm of each state's emission at each step.
    starts, initial, transitions
        As in `smooth_states`.

    Notes
    -----
    :math:`\delta_t(j) = \max_i \delta_{t-1}(i) a_{ij} \cdot b_j(O_t)`, in logarithms
    (Alpaydin 15.6). Of equally good sources the first counts.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import Transitions, best_paths
    >>> moves = Transitions.from_matrix([[0.7, 0.3], [0.4, 0.6]])
    >>> logarithms = np.log([[0.9, 0.2], [0.1, 0.6]])
    >>> best_paths(logarithms, np.array([0, 2]), np.array([0.5, 0.5]), moves).states
    array([0, 1])
    """
    layout, transposed = transitions.log_layouts
    logarithms = np.ascontiguousarray(logarithms)
    paths = np.zeros(len(logarithms), dtype=np.int64)
    values = np.empty(len(starts) - 1)
    scores = np.empty_like(logarithms)
    with np.errstate(divide="ignore"):
        log_initial = np.log(initial)
    data = logarithms, starts, log_initial
    # Each form has loops of its own, so that only what a model needs is compiled.
    if layout.kind == DENSE:
        log_loops.best_scores_dense(*data, layout.dense, scores)
        log_loops.trace_back_dense(scores, starts, transposed.dense, paths, values)
    else:
        log_loops.viterbi_sparse(*data, layout, transposed, scores, paths, values)
    return BestPath(paths, values)


def draw_paths(
    emissions: EmissionLikelihoods,
    starts: np.ndarray,
    initial: np.ndarray,
    transitions: AnyTransitions,
    random: np.random.Generator,
) -> np.ndarray:
    """Return states drawn from their joint posterior, one path per sequence.

    Parameters
    ----------
    emissions, starts, initial, transitions
        As in `smooth_states`.
    random
        Generator of the draws.
    """
    filtered = filter_states(emissions, starts, initial, transitions)
    paths = np.zeros(len(emissions), dtype=np.int64)
    loops.sample_paths(
        filtered.probabilities, starts, transitions.layouts[1], random.random(len(paths)), paths
    )
    return paths


@dataclass(frozen=True)
class Forward:
    """What the scaled forward recursion leaves.

    Attributes
    ----------
    alpha : ndarray of shape (n_steps, n_states)
        Forward variables, each row relative to the sum of the row before.
    scales : ndarray of shape (n_steps,)
        Sums of the rows.
    log_likelihoods : ndarray of shape (n_sequences,)
        Log-likelihood of each sequence that has not failed.
    failures : ndarray of shape (n_sequences,)
        Step at which all of a row was zero; -1 where there is none.
    """

    alpha: np.ndarray
    scales: np.ndarray
    log_likelihoods: np.ndarray
    failures: np.ndarray


def run_forward(
    emissions: EmissionLikelihoods,
    starts: np.ndarray,
    initial: np.ndarray,
    transitions: AnyTransitions,
    scratch: Scratch | None = None,
) -> Forward:
    """Run the forward recursion, scaled at each step; arguments as in `smooth_states`."""
    alpha = fresh_or_scratch("alpha", emissions.relative.shape, scratch)
    scales = np.ones(len(alpha))
    failures = np.empty(len(starts) - 1, dtype=np.int64)
    layout = transitions.layouts[0]
    data, outputs = (emissions.relative, starts, initial), (alpha, scales, failures)
    if layout.kind == DENSE:
        loops.forward_dense(*data, layout.dense, *outputs)
    elif layout.kind == DIAGONALS:
        diagonal_loops.forward_diagonals(*data, layout.offsets, layout.diagonals, *outputs)
    else:
        loops.forward_edges(*data, layout, *outputs)
    # ln P(O) is the sum of the logarithms of the scales; what emissions were divided by comes back.
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.log(scales) + emissions.log_peaks
    return Forward(alpha, scales, sums_by_sequence(steps, starts), failures)


@dataclass(frozen=True)
class Backward:
    """What the backward recursion leaves beside the posteriors.

    Attributes
    ----------
    head : ndarray of shape (n_states,)
        What precedes the first step, so that a long sequence can be worked through in blocks.
    sums : ndarray of shape (n_edges,)
        Posteriors of the transitions, summed over the sequences that have not failed.
    """

    head: np.ndarray
    sums: np.ndarray


def run_backward(
    emissions: EmissionLikelihoods,
    starts: np.ndarray,
    transitions: Transitions,
    forward: Forward,
    gamma: np.ndarray,
    tail: np.ndarray = NO_TAIL,
    *,
    count_tail: bool = True,
) -> Backward:
    """Fill the posteriors of the states; what has failed is noted in `forward`, and left zero.

    Parameters
    ----------
    emissions, starts, transitions
        As in `smooth_states`.
    forward
        What `run_forward` returned.
    gamma
        To be filled.
    tail
        What follows the last step of all, where that is not the end of a sequence.
    count_tail
        Whether the transition into the tail is one of those to sum.
    """
    layout, transposed = transitions.layouts
    alpha, failures = forward.alpha, forward.failures
    if layout.kind == DENSE:
        few = len(layout.dense[0]) <= SUMMED_STATES
        products = np.zeros_like(layout.dense[0]) if few else NO_SUMS
        back = emissions.relative, starts, transposed.dense, alpha, gamma, products, failures
        head = loops.backward_dense(*back, tail, count_tail)
        _clear_failures(forward, emissions, gamma, starts)
        if not few:
            # Row t of the emissions now holds what follows t: one matrix product over all steps
            # sums the posteriors of all transitions, but for the one after the last step.
            last = len(alpha) if len(tail) and count_tail else -1
            products = alpha[:last].T @ emissions.relative[:last]
        return Backward(head, transitions.edge_sums(products))
    if layout.kind == DIAGONALS:
        # The diagonals of the transpose are the same in the opposite order.
        products = np.zeros_like(layout.diagonals)
        along = transposed.offsets, transposed.diagonals, alpha, gamma, products
        head = diagonal_loops.backward_diagonals(
            emissions.relative, starts, *along, failures, tail, count_tail
        )
        products = products[::-1].ravel()
    else:
        products = np.zeros(len(layout.weights))
        head = loops.backward_edges(
            emissions.relative,
            starts,
            *(layout, transposed, alpha, gamma, products),
            *(failures, tail, count_tail),
        )
    _clear_failures(forward, emissions, gamma, starts)
    return Backward(head, transitions.edge_sums(products))


def _clear_failures(
    forward: Forward, emissions: EmissionLikelihoods, gamma: np.ndarray, starts: np.ndarray
) -> None:
    for s in np.flatnonzero(forward.failures >= 0):
        steps = slice(starts[s], starts[s + 1])
        forward.alpha[steps] = emissions.relative[steps] = gamma[steps] = 0.0


def sums_by_sequence(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the sum of the values of each sequence; 0 for one without steps."""
    if len(starts) == 2:
        return np.array([values.sum()])
    lengths = np.diff(starts)
    sums = np.zeros(len(lengths))
    # reduceat returns the entry itself, not zero, where a sequence has no steps.
    filled = lengths > 0
    if filled.any():
        sums[filled] = np.add.reduceat(values, starts[:-1][filled])
    return sums


@dataclass(frozen=True)
class _Exact:
    """One sequence in logarithms."""

    log_alpha: np.ndarray
    log_beta: np.ndarray
    log_emissions: np.ndarray
    log_likelihood: float
    impossible: int
    first: int

    @property
    def gamma(self) -> np.ndarray:
        return _shares(self.log_alpha + self.log_beta)

    def add_transitions(self, transitions: AnyTransitions, sums: np.ndarray) -> None:
        ahead = self.log_emissions + self.log_beta
        layout = transitions.log_layouts[0]
        for t in range(1, len(ahead)):
            before = self.log_alpha[t - 1] - self.log_likelihood
            if isinstance(transitions, Transitions):
                i, j = transitions.sources, transitions.targets
                sums += np.exp(before[i] + ahead[t, j]) * transitions.weights
            else:
                matrix = layout.dense[self.first + t]
                sums[self.first + t] = np.exp(before[:, None] + matrix + ahead[t])


def _exact(
    emissions: EmissionLikelihoods, steps: slice, initial: np.ndarray, transitions: AnyTransitions
) -> _Exact:
    logarithms = np.ascontiguousarray(emissions.logarithms(steps.start, steps.stop))
    with np.errstate(divide="ignore"):
        log_initial = np.log(initial)
    alpha, beta = log_loops.log_forward_backward(
        logarithms, steps.start, log_initial, *transitions.log_layouts
    )
    dead = np.flatnonzero(np.isneginf(alpha).all(axis=1))
    impossible = steps.start + int(dead[0]) if len(dead) else -1
    last = alpha[-1]
    value = -np.inf if len(dead) else float(np.logaddexp.reduce(last))
    return _Exact(alpha, beta, logarithms, value, impossible, steps.start)


def _shares(logarithms: np.ndarray) -> np.ndarray:
    """Return each row's shares; equal ones where the row is impossible."""
    peaks = logarithms.max(axis=1, keepdims=True)
    relative = np.exp(logarithms - np.where(np.isfinite(peaks), peaks, 0.0))
    relative[~np.isfinite(peaks[:, 0])] = 1.0
    return relative / relative.sum(axis=1, keepdims=True)
