"""Learning-rate schedules: the step size as a function of the step number, counted from 1."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError


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


@dataclass(frozen=True)
class ScheduleCheck:
    r"""Whether a schedule meets the conditions of convergence, judged by its first steps.

    Attributes
    ----------
    sums_to_infinity
        :math:`\sum_k \eta(k) = \infty`: no solution is out of reach.
    ratio_vanishes
        :math:`\sum_k \eta(k)^2 / (\sum_k \eta(k))^2 \to 0`: with the first condition,
        corrections of a perceptron with margin end where classes are separable.
    squares_sum
        :math:`\sum_k \eta(k)^2 < \infty`: with the first condition, least mean squares and
        other stochastic approximations settle.
    """

    sums_to_infinity: bool
    ratio_vanishes: bool
    squares_sum: bool

    @property
    def separates(self) -> bool:
        """Whether corrections by rows short of a margin end on separable classes."""
        return self.sums_to_infinity and self.ratio_vanishes

    @property
    def settles(self) -> bool:
        """Whether stochastic approximations settle."""
        return self.sums_to_infinity and self.squares_sum

    def __str__(self) -> str:
        if not self.sums_to_infinity:
            return "the learning rates have a finite sum, so training may stop short of its aim"
        if not self.ratio_vanishes:
            return "single learning rates outweigh all others, so corrections may never end"
        if not self.squares_sum:
            return "the learning rates fall too slowly for the weights to settle"
        return "the learning rates meet the conditions of convergence"


def check_schedule(schedule: Schedule, n_steps: int = 2**16) -> ScheduleCheck:
    r"""Judge a schedule by the sums over its first steps, whatever its author declared.

    Parameters
    ----------
    schedule
        The schedule.
    n_steps
        Steps that are summed.

    Notes
    -----
    The sum over the second half of the steps is compared with that over the quarter before: for
    :math:`1/k` both are :math:`\log 2`, and any faster fall makes the second smaller. Sums that
    grow more slowly than the logarithm are taken for finite. See Bartkowiak 5.5.

    Examples
    --------
    >>> check_schedule(inverse(1.0)).settles, check_schedule(constant(0.1)).settles
    (True, False)
    >>> print(check_schedule(exponential(1.0, 0.9)))
    the learning rates have a finite sum, so training may stop short of its aim
    """
    rates = schedule.table(1, n_steps)
    if not (np.isfinite(rates).all() and (rates >= 0).all()):
        raise DataError(
            f"the schedule {schedule.name!r} must give rates that are not negative; got "
            f"{rates.min():.4g} to {rates.max():.4g}."
        )
    # Squares of huge rates would overflow; the conditions do not depend on their size.
    rates = rates / max(float(rates.max()), 1e-300)
    # Terms 1/k sum to the same over (n/4, n/2] as over (n/2, n]: a series that diverges keeps that
    # up, one that converges falls behind.
    quarter, half = n_steps // 4, n_steps // 2
    squares = rates**2
    shares = [
        squares[:count].sum() / max(rates[:count].sum() ** 2, 1e-300)
        for count in (quarter, n_steps)
    ]
    return ScheduleCheck(
        sums_to_infinity=_keeps_growing(rates, quarter, half),
        ratio_vanishes=bool(shares[1] < 0.95 * shares[0]),
        squares_sum=not _keeps_growing(squares, quarter, half),
    )


def _keeps_growing(terms: np.ndarray, quarter: int, half: int) -> bool:
    before, after = float(terms[quarter:half].sum()), float(terms[half:].sum())
    return after > 0 and after >= 0.999 * before


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
