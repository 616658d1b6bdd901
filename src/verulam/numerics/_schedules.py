"""Learning-rate schedules: the step size as a function of the step number, counted from 1."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Schedule:
    r"""A learning rate :math:`\eta(k)`.

    Attributes
    ----------
    name
        What the schedule is called.
    rate
        The function :math:`\eta`.
    sums_to_infinity
        :math:`\sum_k \eta(k) = \infty`: no optimum is out of reach.
    squares_sum
        :math:`\sum_k \eta(k)^2 < \infty`: noise dies out.

    Examples
    --------
    >>> schedule = inverse(0.5)
    >>> [schedule(k) for k in (1, 2, 4)]
    [0.5, 0.25, 0.125]
    >>> schedule.converges
    True
    """

    name: str
    rate: Callable[[int], float]
    sums_to_infinity: bool
    squares_sum: bool

    def __call__(self, step: int) -> float:
        """Return the rate of one step, the first of which is 1."""
        return self.rate(step)

    def table(self, first: int, count: int) -> np.ndarray:
        """Return the rates of `count` steps from number `first` on.

        Examples
        --------
        >>> inverse(1.0).table(2, 3).round(3).tolist()
        [0.5, 0.333, 0.25]
        """
        steps: Any = np.arange(first, first + count, dtype=np.float64)
        try:
            return np.broadcast_to(np.asarray(self.rate(steps), dtype=np.float64), (count,)).copy()
        except (TypeError, ValueError):
            # A rate of the user's own may know single steps only.
            return np.fromiter(map(self.rate, steps), dtype=np.float64, count=count)

    @property
    def converges(self) -> bool:
        """Whether both conditions of stochastic approximation hold."""
        return self.sums_to_infinity and self.squares_sum


def constant(rate: float) -> Schedule:
    """Return the schedule that never changes: it follows drift, and never settles."""
    return Schedule("constant", _Constant(rate), sums_to_infinity=True, squares_sum=False)


def inverse(initial: float, power: float = 1.0) -> Schedule:
    r"""Return :math:`\eta(k) = \eta_1 / k^p`, which converges for :math:`\frac12 < p \le 1`."""
    return Schedule(
        "inverse",
        _Inverse(initial, power),
        sums_to_infinity=power <= 1.0,
        squares_sum=power > 0.5,
    )


def exponential(initial: float, factor: float) -> Schedule:
    r"""Return :math:`\eta(k) = \eta_1 f^{k-1}` with :math:`0 < f < 1`: fast, may stop short."""
    return Schedule(
        "exponential",
        _Exponential(initial, factor),
        sums_to_infinity=False,
        squares_sum=True,
    )


def search_then_converge(initial: float, turning_step: float) -> Schedule:
    r"""Return :math:`\eta(k) = \eta_1 / (1 + k/\tau)`: constant at first, inverse later."""
    return Schedule(
        "search then converge",
        _SearchThenConverge(initial, turning_step),
        sums_to_infinity=True,
        squares_sum=True,
    )


# Records instead of closures, so that a learner with a schedule can be saved and sent elsewhere.
@dataclass(frozen=True)
class _Constant:
    rate: float

    def __call__(self, step: int) -> float:
        return self.rate


@dataclass(frozen=True)
class _Inverse:
    initial: float
    power: float

    def __call__(self, step: int) -> float:
        return self.initial / step**self.power


@dataclass(frozen=True)
class _Exponential:
    initial: float
    factor: float

    def __call__(self, step: int) -> float:
        return self.initial * self.factor ** (step - 1)


@dataclass(frozen=True)
class _SearchThenConverge:
    initial: float
    turning_step: float

    def __call__(self, step: int) -> float:
        return self.initial / (1.0 + step / self.turning_step)
