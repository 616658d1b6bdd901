"""Fisher scores of sequences under a hidden Markov model with discrete observations."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from verulam.base import DataError


def hidden_markov_scores(
    sequences: Sequence[Any], start: np.ndarray, transitions: np.ndarray, emissions: np.ndarray
) -> np.ndarray:
    r"""Return the gradient of each sequence's log probability under a hidden Markov model.

    Parameters
    ----------
    sequences
        Sequences of observations, numbered from 0.
    start : ndarray of shape (n_states,)
        Probabilities :math:`\pi_i` of the first state.
    transitions : ndarray of shape (n_states, n_states)
        Probabilities :math:`a_{ij}` of the next state.
    emissions : ndarray of shape (n_states, n_observations)
        Probabilities :math:`b_j(m)` of the observations.

    Notes
    -----
    With respect to the logarithms of the three tables, each row up to a constant: expected counts
    less those that the row would give, such as

    .. math:: E[n_j(m)] - b_j(m) \sum_l E[n_j(l)]

    so that a `FisherKernel` of them compares sequences of any length. See Alpaydin 13.7, 15.6.

    Examples
    --------
    One state: the sequence has an observation more of the first kind than expected.

    >>> import numpy as np
    >>> from verulam.kernel import hidden_markov_scores
    >>> hidden_markov_scores([[0, 0, 0, 1]], np.ones(1), np.ones((1, 1)), np.full((1, 2), 0.5))
    array([[ 0.,  0.,  1., -1.]])
    """
    tables = [np.asarray(each, dtype=np.float64) for each in (start, transitions, emissions)]
    return np.array([_scores(each, place, *tables) for place, each in enumerate(sequences)])


def _scores(
    sequence: Any, place: int, start: np.ndarray, transitions: np.ndarray, emissions: np.ndarray
) -> np.ndarray:
    observed = np.asarray(sequence, dtype=np.int64)
    if not len(observed) or observed.min() < 0 or observed.max() >= emissions.shape[1]:
        raise DataError(
            f"sequence {place} must have observations from 0 to {emissions.shape[1] - 1}."
        )
    likely = emissions[:, observed].T
    forward, backward = np.empty(likely.shape), np.ones(likely.shape)
    scales = np.empty(len(observed))
    for t in range(len(observed)):
        reached = start if t == 0 else forward[t - 1] @ transitions
        forward[t] = reached * likely[t]
        scales[t] = forward[t].sum()
        if scales[t] <= 0:
            raise DataError(f"sequence {place} is impossible under the model at step {t}.")
        forward[t] /= scales[t]
    for t in range(len(observed) - 1, 0, -1):
        backward[t - 1] = transitions @ (likely[t] * backward[t]) / scales[t]
    states = forward * backward
    ahead = likely[1:] * backward[1:] / scales[1:, None]
    moves = transitions * (forward[:-1].T @ ahead)
    counts = np.zeros(emissions.shape)
    np.add.at(counts.T, observed, states)
    return np.concatenate(
        [
            states[0] - start,
            (moves - moves.sum(axis=1, keepdims=True) * transitions).ravel(),
            (counts - counts.sum(axis=1, keepdims=True) * emissions).ravel(),
        ]
    )
