"""Numbers far from the unit scale: what no solver can use, and what makes networks learn little."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, is_classifier, is_regressor

#: Weights are of the order of one at the start: sums of larger numbers keep no digit behind the
#: point, and no solver has a slope to go by.
LARGEST_NUMBER = 1.0 / float(np.finfo(np.float64).eps)
#: Typical sizes of numbers between which networks learn as they should.
UNIT_SCALE = (0.03, 30.0)
#: A network that leaves more of the error than this of guesses without any inputs learned little.
LITTLE = 0.5


def check_scale(
    learner: Any, inputs: NDArray[np.floating], targets: NDArray[Any] | None = None
) -> None:
    """Raise before training where numbers are too large for any solver.

    Parameters
    ----------
    learner
        The learner, which may know the names of the columns.
    inputs
        Rows to train on.
    targets
        Numbers to predict, or codes of classes, which are never too large; None for none.
    """
    if _largest(inputs) > LARGEST_NUMBER:
        column, size = widest_column(learner, inputs)
        raise DataError(
            f"X holds numbers up to {size:.3g} in column {column}, too large to train with; bring "
            "the columns to a common scale first (StandardScaler)."
        )
    if targets is not None and targets.dtype.kind == "f" and _largest(targets) > LARGEST_NUMBER:
        raise DataError(
            f"y holds numbers up to {_largest(targets):.3g}, too large to train with; divide them "
            "by a constant first (TransformedTargetRegressor)."
        )


def largest_numbers(learner: Any, inputs: NDArray[np.floating], targets: Any = None) -> str:
    """Return a sentence that says where the largest numbers are that a network diverged from.

    Parameters
    ----------
    learner, inputs, targets
        As in `check_scale`.
    """
    column, size = widest_column(learner, inputs)
    place = f"column {column}"
    if targets is not None and targets.dtype.kind == "f" and _largest(targets) > size:
        place, size = "y (TransformedTargetRegressor divides them)", _largest(targets)
    return f"The largest numbers, up to {size:.3g}, are in {place}."


def widest_column(learner: Any, inputs: NDArray[np.floating]) -> tuple[str, float]:
    """Return which column of inputs has the largest numbers, and the largest of them."""
    sizes = np.abs(inputs.reshape(-1, inputs.shape[-1])).max(axis=0)
    place = int(sizes.argmax())
    return _column(learner, place, len(sizes)), float(sizes[place])


def _largest(values: NDArray[np.floating]) -> float:
    """Return the largest magnitude, without a copy of the numbers."""
    return max(float(values.max()), -float(values.min()))


def scale_advice(learner: Any, error: Any, loss: float, *, settled: bool) -> str:
    """Return what to do about numbers far from the unit scale that kept a network from learning.

    Parameters
    ----------
    learner
        The learner, which may know the names of the columns.
    error
        What was minimised.
    loss
        The training error at the end.
    settled
        Whether training ended by itself.

    Returns
    -------
    str
        Empty where the scale is no trouble, or did none.
    """
    if settled and not loss > LITTLE * error_without_inputs(learner, error):
        return ""
    words = []
    sizes = np.sqrt(np.mean(np.square(error.inputs, dtype=np.float64), axis=0))
    if sizes.max() > UNIT_SCALE[1]:
        column = _column(learner, int(sizes.argmax()), len(sizes))
        words.append(
            f"Column {column} of X has numbers of about {sizes.max():.2g}: networks learn where "
            "all columns are near the unit scale (StandardScaler)."
        )
    if is_regressor(learner):
        mean, deviation = _mean_and_deviation(error)
        if deviation and not UNIT_SCALE[0] < deviation <= max(deviation, abs(mean)) < UNIT_SCALE[1]:
            words.append(
                f"y has a mean of {mean:.2g} and a standard deviation of {deviation:.2g}: subtract "
                "the one and divide by the other, which TransformedTargetRegressor does for rows "
                "of a table."
            )
    return " ".join(words)


def error_without_inputs(learner: Any, error: Any) -> float:
    """Return the least error of outputs that are the same for all rows.

    Parameters
    ----------
    learner
        The learner.
    error
        What it minimises.
    """
    targets = getattr(error, "targets", None)
    if targets is None or not (is_classifier(learner) or is_regressor(learner)):
        return np.inf
    weights = _weights(error)
    if is_classifier(learner):
        masses = np.bincount(np.asarray(targets, dtype=np.int64), weights)
        masses = masses[masses > 0]
        return float(-(masses * np.log(masses / masses.sum())).sum() / error.mass)
    numbers = np.asarray(targets, dtype=np.float64).reshape(len(targets), -1)
    spread = numbers - np.average(numbers, axis=0, weights=weights)
    return 0.5 * float(weights @ np.square(spread).sum(axis=1)) / error.mass


def _weights(error: Any) -> NDArray[np.float64]:
    """Return the weights of rows, or of steps of sequences."""
    weights = getattr(error, "step_weights", error.weights)
    return np.ones(len(error.targets)) if weights is None else np.asarray(weights)


def _mean_and_deviation(error: Any) -> tuple[float, float]:
    """Return both for the numbers of largest deviation, where there are several for each row."""
    numbers = np.asarray(error.targets, dtype=np.float64).reshape(len(error.targets), -1)
    weights = _weights(error)
    means = np.average(numbers, axis=0, weights=weights)
    deviations = np.sqrt(np.average(np.square(numbers - means), axis=0, weights=weights))
    place = int(deviations.argmax())
    return float(means[place]), float(deviations[place])


def _column(learner: Any, place: int, count: int) -> str:
    """Return the name of a column, or its number."""
    names = getattr(learner, "feature_names_in_", ())
    return repr(str(names[place])) if len(names) == count else f"{place} (counted from 0)"
