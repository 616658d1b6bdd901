r"""Rules that turn a gradient into a step: descent with momentum, Adam, and an adaptive rate."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.numerics._training.step_loops import (
    ADAM,
    BETA_1,
    BETA_2,
    DESCENT,
    EPSILON,
    KIND,
    MOMENTUM,
    NESTEROV,
    RATE,
    take_step,
)


@dataclass(frozen=True)
class GradientDescent:
    r"""Steps against the gradient, with a share of the step before.

    .. math:: \Delta^t = -\eta\, \partial E / \partial \theta + \alpha\, \Delta^{t-1}

    Attributes
    ----------
    learning_rate
        The rate :math:`\eta`.
    momentum
        The share :math:`\alpha`; under a constant gradient :math:`g` steps grow to
        :math:`-\eta g / (1 - \alpha)` (Alpaydin 11.8.1, eq. 11.30).
    nesterov
        Whether to look ahead along the step before.
    """

    learning_rate: float = 0.01
    momentum: float = 0.0
    nesterov: bool = False

    def numbers(self) -> NDArray[np.float64]:
        """Return the rule as compiled code reads it."""
        numbers = np.zeros(8)
        numbers[[KIND, RATE, MOMENTUM]] = DESCENT, self.learning_rate, self.momentum
        numbers[NESTEROV] = float(self.nesterov)
        return numbers


@dataclass(frozen=True)
class Adam:
    """Steps scaled by running moments of the gradient (Kingma and Ba, 2015).

    Attributes
    ----------
    learning_rate
        Length of a step, about.
    beta_1, beta_2
        Share of the past in the mean and in the mean square of the gradient.
    epsilon
        Least root of the mean square.
    """

    learning_rate: float = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8

    def numbers(self) -> NDArray[np.float64]:
        """Return the rule as compiled code reads it."""
        numbers = np.zeros(8)
        numbers[[KIND, RATE]] = ADAM, self.learning_rate
        numbers[[BETA_1, BETA_2, EPSILON]] = self.beta_1, self.beta_2, self.epsilon
        return numbers


@dataclass(frozen=True)
class AdaptiveRate:
    r"""A learning rate that grows while the error falls and shrinks when it does not.

    .. math:: \Delta\eta = +a \text{ if } E^{t+\tau} < E^t, \text{ else } -b\,\eta

    Attributes
    ----------
    learning_rate
        The rate of the first epoch.
    increase
        What is added, :math:`a`.
    decrease
        The share that is taken away, :math:`b`.
    lag
        Epochs :math:`\tau` between the errors that are compared.
    averaged
        Epochs whose mean error is compared, since that of a single one may oscillate.

    Notes
    -----
    See Alpaydin 11.8.1, eq. 11.31. scikit-learn's ``learning_rate="adaptive"`` only ever divides.

    Examples
    --------
    >>> rate = AdaptiveRate(0.1, increase=0.02, decrease=0.5)
    >>> rate.following(0.1, [1.0, 0.8]), rate.following(0.1, [0.8, 0.9])
    (0.12000000000000001, 0.05)
    """

    learning_rate: float = 0.01
    increase: float = 0.001
    decrease: float = 0.3
    lag: int = 1
    averaged: int = 1

    def __post_init__(self) -> None:
        if not (self.learning_rate > 0 and self.increase >= 0 and 0 <= self.decrease < 1):
            raise DataError(
                "AdaptiveRate: learning_rate must be positive, increase not negative and decrease "
                f"at least 0 and below 1; got {self}."
            )
        if self.lag < 1 or self.averaged < 1:
            raise DataError(f"AdaptiveRate: lag and averaged must be at least 1; got {self}.")

    def following(self, rate: float, errors: Sequence[float]) -> float:
        """Return the rate of the next epoch.

        Parameters
        ----------
        rate
            That of the last.
        errors
            Errors of all epochs so far.
        """
        if len(errors) < self.lag + self.averaged:
            return rate
        now = float(np.mean(errors[-self.averaged :]))
        before = float(np.mean(errors[-self.averaged - self.lag : -self.lag]))
        return rate + self.increase if now < before else rate - self.decrease * rate


@dataclass
class RuleMemory:
    """What a rule remembers between steps, for one vector of parameters.

    Attributes
    ----------
    numbers
        The rule as compiled code reads it, with the number of steps taken.
    first, second
        The last change, or the two moments.
    """

    numbers: NDArray[np.float64]
    first: NDArray[np.floating]
    second: NDArray[np.floating] = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, rule: GradientDescent | Adam, theta: NDArray[np.floating]) -> "RuleMemory":
        """Return the memory before the first step."""
        second = np.zeros_like(theta) if isinstance(rule, Adam) else theta[:0].copy()
        return cls(rule.numbers(), np.zeros_like(theta), second)

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return float(self.numbers[RATE])

    @rate.setter
    def rate(self, value: float) -> None:
        self.numbers[RATE] = value

    @property
    def momentum(self) -> float:
        """Share of the last change in the next."""
        return float(self.numbers[MOMENTUM])

    @property
    def is_descent(self) -> bool:
        """Whether steps go along the gradient, with momentum that does not look ahead."""
        return bool(self.numbers[KIND] == DESCENT and not self.numbers[NESTEROV])

    def step(self, theta: NDArray[np.floating], gradient: NDArray[np.floating]) -> None:
        """Move the parameters, in place."""
        take_step(theta, gradient, self.first, self.second, self.numbers)
