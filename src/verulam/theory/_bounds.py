"""PAC bounds: sample size, error, confidence or size of the class, each solved for the others."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scipy.optimize import brentq

from verulam.base import (
    NONE,
    NUMBER,
    TEXT,
    WHOLE,
    DataError,
    Kind,
    checked_arguments,
)

#: Numbers of hypotheses may be larger than any float.
SIZE = Kind(
    "a number", lambda value: NUMBER.accepts(value) or (isinstance(value, int) and value > 0)
)
METHODS = ("exact", "loose", "agnostic")
#: No solution is looked for beyond so many samples.
MOST_SAMPLES = 1e15


@dataclass(frozen=True)
class LearningBound:
    """Four numbers that a PAC bound ties together, one of them solved for.

    Attributes
    ----------
    solved
        Name of the one that was solved for.
    n_samples
        Number of examples, m.
    error
        Error that a hypothesis is allowed, epsilon.
    delta
        Probability that a learner may return a worse one.
    size
        Size of the class: its number of hypotheses, of inputs of a box, or its VC dimension.
    method
        Form of the bound.
    value
        Solution before it was rounded to a whole number.
    """

    solved: str
    n_samples: int
    error: float
    delta: float
    size: float
    method: str
    value: float

    def __str__(self) -> str:
        return (
            f"With {self.n_samples:,} examples, the probability that a consistent hypothesis has "
            f"an error above {self.error:.3g} is below {self.delta:.3g}."
            if self.method != "agnostic"
            else f"With {self.n_samples:,} examples, the probability that the training error of "
            f"any hypothesis is off by more than {self.error:.3g} is below {self.delta:.3g}."
        )


@dataclass(frozen=True)
class _Problem:
    """A bound as a function: log of the probability of failure, given size, error and samples."""

    log_delta: Callable[[float, float, float], float]
    size_name: str
    #: Classes of a larger size are not looked for: the bound holds for all that matter.
    most_size: float


@checked_arguments(
    n_hypotheses=SIZE | NONE,
    error=NUMBER | NONE,
    delta=NUMBER | NONE,
    n_samples=NUMBER | NONE,
    method=TEXT,
)
def finite_class_bound(
    n_hypotheses: float | None = None,
    *,
    error: float | None = None,
    delta: float | None = None,
    n_samples: int | None = None,
    method: str = "exact",
) -> LearningBound:
    r"""Solve the bound of a finite class of hypotheses for the one number that is left out.

    Parameters
    ----------
    n_hypotheses
        Number of hypotheses, :math:`|H|`.
    error
        Error that is allowed, :math:`\varepsilon`.
    delta
        Probability of failure that is allowed, :math:`\delta`.
    n_samples
        Number of examples, :math:`m`.
    method
        "exact" for :math:`|H|(1-\varepsilon)^m < \delta`; "loose" for
        :math:`m > (\ln|H| + \ln(1/\delta)) / \varepsilon`, which follows from it because
        :math:`1 - \varepsilon < e^{-\varepsilon}`; "agnostic" for classes that need not hold the
        concept, :math:`2|H| e^{-2m\varepsilon^2} < \delta` by Hoeffding's inequality.

    Notes
    -----
    A hypothesis whose error is above :math:`\varepsilon` agrees with m independent examples with
    probability below :math:`(1-\varepsilon)^m`; that any of them does is at most :math:`|H|`
    times as probable. The number of examples is the least whole number that meets the bound, the
    number of hypotheses the largest. See SIT1305 I, "Occam's razor".

    Examples
    --------
    Conjunctions of ten attributes, each required, forbidden or ignored:

    >>> from verulam.theory import finite_class_bound
    >>> finite_class_bound(3**10, error=0.1, delta=0.05).n_samples
    133
    >>> finite_class_bound(3**10, error=0.1, delta=0.05, method="loose").n_samples
    140
    >>> round(finite_class_bound(3**10, delta=0.05, n_samples=500).error, 4)
    0.0276
    """
    if method not in METHODS:
        raise DataError(f"method is {method!r}; expected one of {', '.join(map(repr, METHODS))}.")

    def log_delta(size: float, epsilon: float, count: float) -> float:
        if method == "agnostic":
            return math.log(2.0) + _log(size) - 2.0 * count * epsilon**2
        rate = math.log1p(-epsilon) if method == "exact" else -epsilon
        return _log(size) + count * rate

    problem = _Problem(log_delta, "n_hypotheses", math.inf)
    return _solve(problem, n_hypotheses, error, delta, n_samples, method)


@checked_arguments(
    n_inputs=WHOLE | NONE,
    error=NUMBER | NONE,
    delta=NUMBER | NONE,
    n_samples=NUMBER | NONE,
    method=TEXT,
)
def box_bound(
    n_inputs: int | None = 2,
    *,
    error: float | None = None,
    delta: float | None = None,
    n_samples: int | None = None,
    method: str = "exact",
) -> LearningBound:
    r"""Solve the bound of the tightest box for the one number that is left out.

    Parameters
    ----------
    n_inputs
        Number of inputs, d.
    error
        Error that is allowed, :math:`\varepsilon`.
    delta
        Probability of failure that is allowed, :math:`\delta`.
    n_samples
        Number of examples, :math:`m`.
    method
        "exact" for :math:`2d(1-\varepsilon/2d)^m < \delta`; "loose" for
        :math:`m > (2d/\varepsilon) \ln(2d/\delta)`.

    Notes
    -----
    The tightest box around the positive examples errs only between itself and the box of the
    concept. Of the strips along its 2d sides, each of probability :math:`\varepsilon/2d`, one must
    have stayed empty if its error is above :math:`\varepsilon`. See SIT1305 I, "S, G, and the
    version space".

    Examples
    --------
    >>> from verulam.theory import box_bound
    >>> box_bound(error=0.1, delta=0.05, method="loose").n_samples
    176
    >>> box_bound(error=0.1, delta=0.05).n_samples
    174
    """
    if method not in METHODS[:2]:
        raise DataError(f"method is {method!r}; expected 'exact' or 'loose'.")

    def log_delta(size: float, epsilon: float, count: float) -> float:
        sides = 2.0 * size
        rate = math.log1p(-epsilon / sides) if method == "exact" else -epsilon / sides
        return _log(sides) + count * rate

    problem = _Problem(log_delta, "n_inputs", 1e6)
    return _solve(problem, n_inputs, error, delta, n_samples, method)


@checked_arguments(
    dimension=NUMBER | NONE, error=NUMBER | NONE, delta=NUMBER | NONE, n_samples=NUMBER | NONE
)
def vc_bound(
    dimension: int | None = None,
    *,
    error: float | None = None,
    delta: float | None = None,
    n_samples: int | None = None,
) -> LearningBound:
    r"""Solve the bound of a class of a given VC dimension for the one number that is left out.

    Parameters
    ----------
    dimension
        VC dimension of the class, d.
    error
        Error that is allowed, :math:`\varepsilon`.
    delta
        Probability of failure that is allowed, :math:`\delta`.
    n_samples
        Number of examples, :math:`m`.

    Notes
    -----
    A consistent learner fails with probability below
    :math:`2 \Pi(2m) 2^{-m\varepsilon/2}`, where the class tells at most
    :math:`\Pi(2m) \le (2em/d)^d` labelings of 2m points apart. See Blumer, Ehrenfeucht, Haussler
    and Warmuth (1989), "Learnability and the Vapnik-Chervonenkis dimension", theorem 2.1.

    Examples
    --------
    A line in the plane has dimension three:

    >>> from verulam.theory import vc_bound
    >>> vc_bound(3, error=0.1, delta=0.05).n_samples
    729
    """

    def log_delta(size: float, epsilon: float, count: float) -> float:
        # Fewer points than the dimension may be labelled in every way.
        labelings = (
            size * math.log(2.0 * math.e * count / size)
            if 2.0 * count > size
            else 2.0 * count * math.log(2.0)
        )
        return math.log(2.0) + labelings - 0.5 * count * epsilon * math.log(2.0)

    problem = _Problem(log_delta, "dimension", 1e9)
    return _solve(problem, dimension, error, delta, n_samples, "vc")


def _solve(
    problem: _Problem,
    size: float | None,
    error: float | None,
    delta: float | None,
    n_samples: int | None,
    method: str,
) -> LearningBound:
    known = {problem.size_name: size, "error": error, "delta": delta, "n_samples": n_samples}
    unknown = [name for name, number in known.items() if number is None]
    if len(unknown) != 1:
        left_out = ", ".join(unknown) or "none"
        raise DataError(
            f"Leave out exactly one of {', '.join(known)}, to be solved for; left out: {left_out}."
        )
    _check(known, problem.size_name)
    value = _SOLVERS["size" if unknown[0] == problem.size_name else unknown[0]](problem, known)
    count = _whole_above(value) if unknown[0] == "n_samples" else int(known["n_samples"] or 0)
    return LearningBound(
        unknown[0],
        count,
        value if error is None else error,
        value if delta is None else delta,
        _whole_below(value) if size is None else size,
        method,
        value,
    )


def _check(known: dict[str, Any], size_name: str) -> None:
    for name in ("error", "delta"):
        if known[name] is not None and not 0.0 < known[name] < 1.0:
            raise DataError(f"{name} must lie between 0 and 1, but is {known[name]}.")
    for name in (size_name, "n_samples"):
        number = known[name]
        if number is not None and not (number >= 1 and number == number):
            raise DataError(f"{name} must be at least 1, but is {number}.")


def _sample_size(problem: _Problem, known: dict[str, Any]) -> float:
    size, error, log_delta = known[problem.size_name], known["error"], math.log(known["delta"])

    def excess(count: float) -> float:
        return problem.log_delta(size, error, count) - log_delta

    if excess(1.0) < 0.0:
        return 0.0
    low, high = 1.0, 2.0
    # The bound of a VC dimension first rises with the samples, then falls for good.
    while excess(high) >= 0.0:
        low, high = high, 2.0 * high
        if high > MOST_SAMPLES:
            raise DataError(f"No number of samples up to {MOST_SAMPLES:.0e} is enough.")
    return float(brentq(excess, low, high, xtol=1e-9, rtol=1e-14))


def _least_error(problem: _Problem, known: dict[str, Any]) -> float:
    size, count, log_delta = known[problem.size_name], known["n_samples"], math.log(known["delta"])

    def excess(error: float) -> float:
        return problem.log_delta(size, error, count) - log_delta

    high = 1.0 - 1e-15  # at 1 the logarithm of 1 - error has no value
    if excess(high) >= 0.0:
        raise DataError(
            f"{count:,} samples are too few: no error below 1 is promised with probability "
            f"{1.0 - known['delta']:g}."
        )
    return float(brentq(excess, 0.0, high, xtol=1e-15, rtol=1e-14))


def _least_delta(problem: _Problem, known: dict[str, Any]) -> float:
    logarithm = problem.log_delta(known[problem.size_name], known["error"], known["n_samples"])
    return math.exp(min(logarithm, 0.0))


def _largest_size(problem: _Problem, known: dict[str, Any]) -> float:
    error, count, log_delta = known["error"], known["n_samples"], math.log(known["delta"])

    def excess(logarithm: float) -> float:
        return problem.log_delta(math.exp(logarithm), error, count) - log_delta

    if excess(0.0) >= 0.0:
        raise DataError(f"{count:,} samples are too few for a class of any size.")
    # In logarithms, since sizes may be astronomical; e^700 is about the largest number there is.
    high = min(math.log(problem.most_size), 700.0)
    if excess(high) < 0.0:
        return math.inf
    return math.exp(brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-14))


_SOLVERS = {
    "n_samples": _sample_size,
    "error": _least_error,
    "delta": _least_delta,
    "size": _largest_size,
}


def _whole_above(value: float) -> int:
    """Return the least whole number that meets a strict bound."""
    # A solution that misses a whole number by rounding is that number, which is not enough.
    return max(1, math.floor(value + 1e-9) + 1)


def _whole_below(value: float) -> float:
    """Return the largest whole number that meets a strict bound; infinity has none above it."""
    return value if math.isinf(value) else math.ceil(value - 1e-9) - 1


def _log(size: float) -> float:
    # Whole numbers of any size have a logarithm, though they may be no floats.
    return math.log(size)
