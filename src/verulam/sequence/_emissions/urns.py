"""Hidden urns drawn from without replacement: what they show depends on all draws before."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._model.transitions import check_distribution

#: An urn, and how many balls of each colour have been taken from each urn.
State = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class UrnPosteriors:
    """Which urns balls came from.

    Attributes
    ----------
    probabilities : ndarray of shape (n_draws, n_urns)
        Probability of each urn at each draw, given all draws.
    log_likelihood
        Logarithm of the probability of the balls; minus infinity where they are impossible.
    """

    probabilities: np.ndarray
    log_likelihood: float


def urns_without_replacement(
    initial: Any, transitions: Any, contents: Any, balls: Any
) -> UrnPosteriors:
    r"""Return which hidden urns balls came from, where balls are not put back.

    Parameters
    ----------
    initial
        Probability of each first urn.
    transitions
        Transition matrix between urns.
    contents
        Number of balls of each colour in each urn, one row per urn.
    balls
        Colour of each ball drawn, a whole number from 0.

    Notes
    -----
    :math:`b_{jt}(m)` is the share of colour :math:`m` in what is left of urn :math:`j`, so that
    emissions vary with time and with the path (Alpaydin, exercise 15.8). The state of the exact
    recursion is the urn together with what has been taken from each; an empty urn shows nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import urns_without_replacement
    >>> found = urns_without_replacement([0.5, 0.5], np.eye(2), [[1, 1], [2, 2]], [0, 1])
    >>> float(np.exp(found.log_likelihood).round(4))
    0.4167
    >>> found.probabilities[0].round(1)
    array([0.6, 0.4])
    """
    counts = np.asarray(contents)
    if counts.ndim != 2 or counts.dtype.kind not in "iu" or (counts < 0).any():
        raise DataError("contents needs whole numbers, one row per urn and one column per colour.")
    n_urns, n_colours = counts.shape
    first = check_distribution(initial, "initial", (n_urns,))
    matrix = check_distribution(transitions, "transitions", (n_urns, n_urns))
    colours = np.asarray(balls)
    inside = colours.ndim == 1 and len(colours) > 0 and colours.dtype.kind in "iu"
    if not inside or colours.min() < 0 or colours.max() >= n_colours:
        raise DataError(
            f"balls needs one or more colours, whole numbers from 0 to {n_colours - 1}."
        )
    layers = _forward(first, matrix, counts, colours)
    total = sum(layers[-1].values())
    if total <= 0:
        return UrnPosteriors(np.full((len(colours), n_urns), np.nan), float("-inf"))
    return UrnPosteriors(_backward(layers, matrix, counts, colours), float(np.log(total)))


def _drawn(state: State, urn: int, colour: int, counts: np.ndarray) -> tuple[State, float]:
    """Return the state after a ball of some colour from an urn, and the chance of that colour."""
    width = counts.shape[1]
    taken = np.array(state[1]).reshape(counts.shape)
    left = counts[urn] - taken[urn]
    if left[colour] <= 0:
        return state, 0.0
    gone = list(state[1])
    gone[urn * width + colour] += 1
    return (urn, tuple(gone)), float(left[colour] / left.sum())


def _forward(
    first: np.ndarray, matrix: np.ndarray, counts: np.ndarray, colours: np.ndarray
) -> list[dict[State, float]]:
    start: State = (-1, (0,) * counts.size)
    layers: list[dict[State, float]] = [{start: 1.0}]
    for colour in colours:
        # Paths that took the same balls and end in the same urn have the same future: they are
        # added up, which leaves far fewer states than paths.
        layer: dict[State, float] = {}
        for state, weight in layers[-1].items():
            moves = first if state[0] < 0 else matrix[state[0]]
            for urn in np.flatnonzero(moves):
                after, chance = _drawn(state, int(urn), int(colour), counts)
                if chance > 0:
                    layer[after] = layer.get(after, 0.0) + weight * float(moves[urn]) * chance
        layers.append(layer)
    return layers[1:]


def _backward(
    layers: list[dict[State, float]], matrix: np.ndarray, counts: np.ndarray, colours: np.ndarray
) -> np.ndarray:
    probabilities = np.zeros((len(layers), len(counts)))
    ahead = dict.fromkeys(layers[-1], 1.0)
    for t in range(len(layers) - 1, -1, -1):
        if t < len(layers) - 1:
            before = {}
            for state in layers[t]:
                moves = matrix[state[0]]
                total = 0.0
                for urn in np.flatnonzero(moves):
                    after, chance = _drawn(state, int(urn), int(colours[t + 1]), counts)
                    total += float(moves[urn]) * chance * ahead.get(after, 0.0)
                before[state] = total
            ahead = before
        for state, weight in layers[t].items():
            probabilities[t, state[0]] += weight * ahead[state]
    return probabilities / probabilities.sum(axis=1, keepdims=True)
