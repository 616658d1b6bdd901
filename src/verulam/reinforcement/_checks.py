"""Checks of arguments that the package shares: one sentence names what was wrong."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError

#: How far probabilities may be from a sum of one.
SUM_TOLERANCE = 1e-6


def check_number(
    name: str,
    value: Any,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return a finite number of a range, or refuse it by name."""
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    inside = (
        is_number
        and np.isfinite(value)
        and (value > low if open_low else value >= low)
        and (value < high if open_high else value <= high)
    )
    if not inside:
        raise DataError(
            f"{name} is {value!r}; expected {_range_text(low, high, open_low, open_high)}."
        )
    return float(value)


def _range_text(low: float, high: float, open_low: bool, open_high: bool) -> str:
    lower = f"{'above' if open_low else 'at least'} {low:g}"
    upper = f"{'below' if open_high else 'at most'} {high:g}"
    if np.isinf(low) and np.isinf(high):
        return "a finite number"
    if np.isinf(high):
        return f"a number {lower}"
    return f"a number {upper}" if np.isinf(low) else f"a number {lower} and {upper}"


def check_count(name: str, value: Any, low: int = 1) -> int:
    """Return a whole number that is not below the least one, or refuse it by name."""
    if type(value) is bool or not isinstance(value, Integral) or value < low:
        raise DataError(f"{name} is {value!r}; expected a whole number of at least {low}.")
    return int(value)


def check_option(name: str, value: Any, options: Sequence[str]) -> str:
    """Return one of some words, or refuse it by name."""
    if value not in options:
        raise DataError(f"{name} is {value!r}; expected one of {', '.join(map(repr, options))}.")
    return str(value)


def check_type(name: str, value: Any, kind: type, hint: str = "") -> None:
    """Refuse an argument of another class."""
    if not isinstance(value, kind):
        inner = isinstance(getattr(value, "process", None), kind)
        raise DataError(
            f"{name} is of type {type(value).__name__}; expected {hint or kind.__name__}"
            f"{', which it has as its attribute process' if inner else ''}."
        )


def check_array(name: str, value: Any, shape: Sequence[int | None]) -> NDArray[np.float64]:
    """Return finite numbers of a shape, in which None stands for any length."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} holds something else than numbers.") from None
    fits = array.ndim == len(shape) and all(
        expected is None or length == expected
        for length, expected in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise DataError(f"{name} has shape {array.shape}; expected {_shape_text(shape)}.")
    if not np.isfinite(array).all():
        raise DataError(f"{name} has a value that is missing or infinite.")
    return array


def _shape_text(shape: Sequence[int | None]) -> str:
    if any(part is None for part in shape):
        lengths = ", ".join("any" if part is None else str(part) for part in shape)
        axes = "one axis" if len(shape) == 1 else f"{len(shape)} axes"
        return f"{axes}, of length {lengths}"
    return " x ".join(map(str, shape)) or "a number"


def check_distribution(name: str, value: Any, size: int) -> NDArray[np.float64]:
    """Return probabilities that sum to one."""
    shares = check_array(name, value, (size,))
    if (shares < 0).any() or abs(shares.sum() - 1.0) > SUM_TOLERANCE:
        raise DataError(
            f"{name} must hold probabilities that sum to 1; they sum to {shares.sum():.6g}"
            + (f" and the smallest is {shares.min():.6g}." if (shares < 0).any() else ".")
        )
    return shares / shares.sum()


def check_codes(name: str, value: Any, size: int, length: int | None = None) -> NDArray[np.int64]:
    """Return whole numbers from 0 to below `size`."""
    array = check_array(name, value, (length,))
    codes = array.astype(np.int64)
    if len(codes) and ((codes != array).any() or codes.min() < 0 or codes.max() >= size):
        raise DataError(f"{name} must hold whole numbers from 0 to {size - 1}.")
    return codes
