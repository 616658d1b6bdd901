"""Arguments that functions of processes share: whole numbers, positive numbers, sweeps."""

from typing import Any

import numpy as np

from verulam.base import DataError


def check_whole(value: Any, name: str, least: int = 1) -> None:
    """Refuse what is not a whole number, or too small.

    Parameters
    ----------
    value
        The argument.
    name
        What it is called.
    least
        The smallest that is accepted.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise DataError(f"{name} must be a whole number, {least} or more; got {value!r}.")


def check_positive(value: Any, name: str) -> None:
    """Refuse what is not a finite number above zero."""
    if not _is_positive(value):
        raise DataError(f"{name} must be a number above 0; got {value!r}.")


def _is_positive(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and 0.0 < float(value) < np.inf


def check_shape_and_rate(values: Any, name: str) -> tuple[float, float]:
    """Return the parameters of a gamma distribution, after checking that they are two."""
    numbers = [float(value) for value in values if _is_positive(value)]
    if len(values) != 2 or len(numbers) != 2:
        raise DataError(
            f"{name} must be two numbers above 0, shape and rate of a gamma distribution; got "
            f"{values!r}."
        )
    return numbers[0], numbers[1]


def check_sweeps(learner: Any) -> None:
    """Refuse a burn-in that leaves no sweep."""
    if learner.burn_in >= learner.n_iter:
        raise DataError(
            f"burn_in is {learner.burn_in}; it must be less than n_iter={learner.n_iter}."
        )
