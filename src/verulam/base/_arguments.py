"""Arguments of public functions: what kind each must be, as data, checked before anything runs.

Learners declare theirs as `_parameter_constraints`; this is the same for functions. Ranges that
depend on other arguments stay where they are computed with.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from numbers import Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from verulam.base._errors import DataError

P = ParamSpec("P")
Result = TypeVar("Result")
#: Longest text of a refused argument that a message shows.
LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Kind:
    """What an argument must be.

    Attributes
    ----------
    words
        What is accepted, to follow "must be".
    accepts
        Tells whether a value is of this kind.
    """

    words: str
    accepts: Callable[[Any], bool]

    def __or__(self, other: "Kind") -> "Kind":
        return Kind(
            f"{self.words}, or {other.words}",
            lambda value: self.accepts(value) or other.accepts(value),
        )


def checked_arguments(**kinds: Kind) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Return a decorator that refuses arguments of another kind, in one sentence.

    Parameters
    ----------
    kinds
        What each argument must be, by name; others are not looked at.

    Examples
    --------
    >>> from verulam.base import NUMBER, checked_arguments
    >>> @checked_arguments(radius=NUMBER)
    ... def area(radius):
    ...     return 3.14 * radius**2
    >>> area("wide")
    Traceback (most recent call last):
    ...
    verulam.base.DataError: radius must be a number; got 'wide'.
    """

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        names = signature(function)

        @wraps(function)
        def call(*arguments: P.args, **options: P.kwargs) -> Result:
            for name, value in names.bind(*arguments, **options).arguments.items():
                if name in kinds and not kinds[name].accepts(value):
                    raise DataError(f"{name} must be {kinds[name].words}; got {_shown(value)}.")
            return function(*arguments, **options)

        return call

    return decorate


def _shown(value: Any) -> str:
    text = repr(value)
    if "\n" in text or len(text) > LONGEST_SHOWN:
        shape = getattr(value, "shape", None)
        return f"{type(value).__name__}" + (f" of shape {shape}" if shape is not None else "")
    return text


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return False
    # Larger whole numbers become objects in arrays, which few functions take.
    if isinstance(value, int):
        return abs(value) < 2**63
    return isinstance(value, Real) and bool(value == value)


def _is_whole(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return abs(int(value)) < 2**63


def array_of_numbers(
    *dimensions: int, words: str, finite: bool = True, empty: bool = False
) -> Kind:
    """Return the kind of arrays, lists or tables of numbers with so many dimensions.

    Parameters
    ----------
    dimensions
        Numbers of dimensions that are accepted; any if there are none.
    words
        What such an array is called.
    finite
        Whether NaN and infinite numbers are refused.
    empty
        Whether an array without numbers is accepted.
    """

    def accepts(value: Any) -> bool:
        if value is None or isinstance(value, str | dict | set):
            return False
        try:
            array = np.asarray(value)
            if array.dtype.kind not in "biufO":
                return False
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            return False
        if (dimensions and array.ndim not in dimensions) or not (empty or array.size):
            return False
        return not finite or bool(np.isfinite(array).all())

    return Kind(words, accepts)


def _dimensions(value: Any) -> int:
    if isinstance(value, str | dict | set):
        return 0
    try:
        return np.ndim(value)
    except ValueError:  # rows of unlike lengths
        return 0


def _is_generator(value: Any) -> bool:
    kinds = (np.random.Generator, np.random.RandomState, np.random.SeedSequence)
    return isinstance(value, kinds)


def _has_methods(value: Any) -> bool:
    return not isinstance(value, type) and all(hasattr(value, name) for name in ("fit", "predict"))


NUMBER = Kind("a number", _is_number)
WHOLE = Kind("a whole number", _is_whole)
COUNT = Kind("a whole number, 1 or more", lambda value: _is_whole(value) and value >= 1)
POSITIVE = Kind("a finite number above 0", lambda value: _is_number(value) and 0 < value < np.inf)
FUNCTION = Kind("a function", callable)
TEXT = Kind("a string", lambda value: isinstance(value, str))
NONE = Kind("None", lambda value: value is None)
VECTOR = array_of_numbers(1, words="a vector of finite numbers")
TABLE = array_of_numbers(2, words="a table of finite numbers")
NUMBERS = array_of_numbers(words="finite numbers")
COLLECTION = Kind(
    "a list, or another collection",
    lambda value: isinstance(value, Iterable) and not isinstance(value, str | Mapping),
)
LABELS = Kind(
    "a vector of labels without missing ones",
    lambda value: _dimensions(value) == 1 and all(label is not None for label in value),
)
BOOLEAN = Kind("True or False", lambda value: isinstance(value, bool | np.bool_))
SEED = Kind(
    "None, a whole number from 0 on, or a generator of random numbers",
    lambda value: value is None or (_is_whole(value) and value >= 0) or _is_generator(value),
)
LEARNER = Kind("a learner with fit and predict", _has_methods)
