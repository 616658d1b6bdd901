"""Additive models of linear smoothers as weighted sums of their targets."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.nonparametric._smoothing.base import Smoother

#: With more rows, the weights of all targets in all fitted values take too long to find.
MOST_ROWS = 2_000


@dataclass(frozen=True)
class AdditiveWeights:
    """What backfitting does to any targets, with smoothers as they came out.

    Attributes
    ----------
    smoothers
        The fitted smoother of each input.
    means
        For each input, the mean over rows of its smoother's weights of what it smooths.
    left
        For each input, the weights of the targets in what it smooths, which the others leave.
    """

    smoothers: list[Smoother]
    means: list[np.ndarray]
    left: list[np.ndarray]

    def weights(self, queries: np.ndarray) -> np.ndarray:
        """Return the weight of each training target in the prediction at some inputs."""
        total = np.full((len(queries), len(self.left[0])), 1.0 / len(self.left[0]))
        for place, smoother in enumerate(self.smoothers):
            own = smoother.weights(queries[:, [place]])
            total += (own - self.means[place]) @ self.left[place]
        return total


def additive_weights(smoothers: list[Any], inputs: np.ndarray, n_rounds: int) -> AdditiveWeights:
    """Return the weights of the targets after some rounds of backfitting from nothing.

    Parameters
    ----------
    smoothers
        The fitted smoother of each input.
    inputs
        Training inputs.
    n_rounds
        Rounds over the inputs.
    """
    n_rows = len(inputs)
    for place, smoother in enumerate(smoothers):
        check_linear(smoother, place)
    if n_rows > MOST_ROWS:
        raise DataError(
            f"The band of an additive model needs the weights of all {n_rows} targets in each "
            f"other's fit, which is done up to {MOST_ROWS} rows; `component_bands` has no limit."
        )
    own = [smoother.weights(inputs[:, [place]]) for place, smoother in enumerate(smoothers)]
    means = [weights.mean(axis=0) for weights in own]
    centred = np.eye(n_rows) - 1.0 / n_rows
    parts = [np.zeros((n_rows, n_rows)) for _ in smoothers]
    left = list(parts)
    total = np.zeros((n_rows, n_rows))
    for _ in range(n_rounds):
        for place, weights in enumerate(own):
            total -= parts[place]
            left[place] = centred - total
            parts[place] = (weights - means[place]) @ left[place]
            total += parts[place]
    return AdditiveWeights(smoothers, means, left)


def check_linear(smoother: Any, place: int) -> None:
    """Raise where the smoother of an input is no weighted sum of targets that can be asked for."""
    if not (isinstance(smoother, Smoother) and hasattr(smoother, "weights")):
        raise DataError(
            f"{type(smoother).__name__}, the smoother of input {place}, has no "
            "weights of the targets; linear smoothers of this package do."
        )
