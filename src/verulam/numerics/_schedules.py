"""Learning-rate schedules: the step size as a function of the step number, counted from 1."""

from collections.abc import Callable
from dataclasses import dataclass


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

    @property
    def converges(self) -> bool:
        """Whether both conditions of stochastic approximation hold."""
        return self.sums_to_infinity and self.squares_sum


def constant(rate: float) -> Schedule:
    """Return the schedule that never changes: it follows drift, and never settles."""
    return Schedule("constant", lambda _: rate, sums_to_infinity=True, squares_sum=False)


def inverse(initial: float, power: float = 1.0) -> Schedule:
    r"""Return :math:`\eta(k) = \eta_1 / k^p`, which converges for :math:`\frac12 < p \le 1`."""
    return Schedule(
        "inverse",
        lambda step: initial / step**power,
        sums_to_infinity=power <= 1.0,
        squares_sum=power > 0.5,
    )


def exponential(initial: float, factor: float) -> Schedule:
    r"""Return :math:`\eta(k) = \eta_1 f^{k-1}` with :math:`0 < f < 1`: fast, may stop short."""
    return Schedule(
        "exponential",
        lambda step: initial * factor ** (step - 1),
        sums_to_infinity=False,
        squares_sum=True,
    )


def search_then_converge(initial: float, turning_step: float) -> Schedule:
    r"""Return :math:`\eta(k) = \eta_1 / (1 + k/\tau)`: constant at first, inverse later."""
    return Schedule(
        "search then converge",
        lambda step: initial / (1.0 + step / turning_step),
        sums_to_infinity=True,
        squares_sum=True,
    )
