"""Rules that choose actions by their values and still try all of them, and their schedules."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.numerics import Schedule, check_schedule, constant, softmax
from verulam.reinforcement._checks import check_array, check_number, check_option
from verulam.reinforcement._exploration.rules_loops import (
    CONSTANT,
    EPSILON_GREEDY,
    EXPONENTIAL,
    INVERSE,
    SEARCH_THEN_CONVERGE,
    SOFTMAX,
)

CLOCKS = ("steps", "episodes", "visits")
#: Kinds of schedule that compiled loops know, with the name of their second number.
_KINDS = {
    "constant": (CONSTANT, ""),
    "inverse": (INVERSE, "power"),
    "exponential": (EXPONENTIAL, "factor"),
    "search then converge": (SEARCH_THEN_CONVERGE, "turning_step"),
}


@dataclass(frozen=True)
class EpsilonGreedy:
    r"""With probability :math:`\epsilon` any action, all as likely; otherwise the best one.

    Attributes
    ----------
    epsilon
        A number from 0 to 1, or a `verulam.numerics.Schedule` of such numbers.
    clock
        What a schedule counts: "steps", "episodes", or "visits" of the state.

    Notes
    -----
    Exploration draws from *all* actions, the best one included, so that every action has at least
    :math:`\epsilon / |A|`. With :math:`\epsilon = 1/n(s)` by visits the rule is greedy in the limit
    with infinite exploration. See Alpaydin 18.5.1.

    Examples
    --------
    >>> from verulam.reinforcement import EpsilonGreedy
    >>> EpsilonGreedy(0.3).probabilities([1.0, 5.0, 2.0]).round(3).tolist()
    [0.1, 0.8, 0.1]
    """

    epsilon: float | Schedule = 0.1
    clock: str = "steps"

    code = EPSILON_GREEDY

    def __post_init__(self) -> None:
        check_rate("epsilon", self.epsilon, 0.0, 1.0)
        check_option("clock", self.clock, CLOCKS)

    @property
    def schedule(self) -> Schedule:
        """The schedule of the level of exploration."""
        return as_schedule(self.epsilon)

    def probabilities(
        self, values: ArrayLike, available: ArrayLike | None = None, *, step: int = 1
    ) -> NDArray[np.float64]:
        """Return the probability of each action, the best ones sharing what is not explored.

        Parameters
        ----------
        values
            Value of each action.
        available
            Which actions there are; None for all.
        step
            Number that the schedule is asked for.
        """
        table, offered = _row(values, available)
        epsilon = float(np.clip(self.schedule(step), 0.0, 1.0))
        best = offered & (table == table[offered].max())
        return epsilon * offered / offered.sum() + (1.0 - epsilon) * best / best.sum()


@dataclass(frozen=True)
class Softmax:
    r"""Actions with probabilities :math:`P(a \mid s) \propto \exp(Q(s, a) / T)`.

    Attributes
    ----------
    temperature
        :math:`T`, a number above 0 or a `verulam.numerics.Schedule` of such numbers: annealing
        begins with a large one, where all actions are alike, and ends at the best action.
    clock
        What a schedule counts: "steps", "episodes", or "visits" of the state.

    Notes
    -----
    See Alpaydin 18.5.1, equations 18.10-18.11.

    Examples
    --------
    >>> from verulam.reinforcement import Softmax
    >>> Softmax(1.0).probabilities([1.0, 2.0]).round(3).tolist()
    [0.269, 0.731]
    """

    temperature: float | Schedule = 1.0
    clock: str = "steps"

    code = SOFTMAX

    def __post_init__(self) -> None:
        check_rate("temperature", self.temperature, 0.0, np.inf, open_low=True)
        check_option("clock", self.clock, CLOCKS)

    @property
    def schedule(self) -> Schedule:
        """The schedule of the level of exploration."""
        return as_schedule(self.temperature)

    def probabilities(
        self, values: ArrayLike, available: ArrayLike | None = None, *, step: int = 1
    ) -> NDArray[np.float64]:
        """Return the probability of each action.

        Parameters
        ----------
        values
            Value of each action.
        available
            Which actions there are; None for all.
        step
            Number that the schedule is asked for.
        """
        table, offered = _row(values, available)
        shares = np.zeros(len(table))
        temperature = max(float(self.schedule(step)), 1e-300)
        scores = table[offered] - table[offered].max()
        shares[offered] = softmax((scores / temperature)[None])[0]
        return shares


@dataclass(frozen=True)
class GLIECheck:
    """Whether exploration is greedy in the limit with infinite exploration.

    Attributes
    ----------
    explores_forever
        Every action of a state that is visited without end is tried without end.
    greedy_in_the_limit
        Exploration dies out.
    soft
        Every action has a probability above 0 at every step.
    """

    explores_forever: bool
    greedy_in_the_limit: bool
    soft: bool

    @property
    def holds(self) -> bool:
        """Whether both conditions hold, so that Sarsa converges to the best values."""
        return self.explores_forever and self.greedy_in_the_limit

    def __str__(self) -> str:
        if not self.explores_forever:
            return "exploration ends too early to try every action without end"
        if not self.greedy_in_the_limit:
            return (
                "exploration never dies out, so that Sarsa learns values of a policy that explores"
            )
        return "exploration is greedy in the limit and never ends"


def check_glie(rule: EpsilonGreedy | Softmax, n_steps: int = 2**16) -> GLIECheck:
    r"""Judge whether exploration is greedy in the limit with infinite exploration (GLIE).

    Parameters
    ----------
    rule
        The rule.
    n_steps
        Steps of its schedule that are looked at.

    Notes
    -----
    Exploration never ends where the probabilities of a bad action have an infinite sum:
    :math:`\sum_k \epsilon_k = \infty`, for softmax :math:`\sum_k e^{-1/T_k} = \infty` for values
    that differ by 1. By visits of the state the sum is over visits, which the theorem asks for; a
    schedule by steps or episodes meets it only where every state is visited at a steady rate. See
    Alpaydin 18.5.3 and Singh et al. (2000).

    Examples
    --------
    >>> from verulam.numerics import inverse
    >>> from verulam.reinforcement import EpsilonGreedy, check_glie
    >>> check_glie(EpsilonGreedy(inverse(1.0), clock="visits")).holds
    True
    >>> print(check_glie(EpsilonGreedy(0.1)))
    exploration never dies out, so that Sarsa learns values of a policy that explores
    """
    if not isinstance(rule, EpsilonGreedy | Softmax):
        raise DataError(
            f"rule is of type {type(rule).__name__}; expected EpsilonGreedy or Softmax."
        )
    levels = rule.schedule.table(1, n_steps)
    if isinstance(rule, Softmax):
        with np.errstate(under="ignore"):
            levels = np.exp(-1.0 / np.maximum(levels, 1e-300))
    shares = Schedule("exploration", _Listed(levels), False, False)
    check = check_schedule(shares, n_steps)
    # Where it falls at all, and without a floor, the last quarter falls as well.
    falls = levels[-1] == 0.0 or levels[-1] <= 0.995 * levels[n_steps // 2]
    return GLIECheck(check.sums_to_infinity, bool(falls), bool((levels > 0).all()))


@dataclass(frozen=True)
class _Listed:
    levels: NDArray[np.float64]

    def __call__(self, step: Any) -> Any:
        return self.levels[np.asarray(step, dtype=np.int64) - 1]


def check_rate(name: str, value: Any, low: float, high: float, *, open_low: bool = False) -> None:
    """Refuse what is neither a number of the range nor a schedule of such numbers."""
    if not isinstance(value, Schedule):
        check_number(name, value, low, high, open_low=open_low)
        return
    first = value(1)
    if not (np.isfinite(first) and (first > low if open_low else first >= low) and first <= high):
        raise DataError(f"{name} is a schedule that begins with {first!r}, outside of its range.")


def as_schedule(rate: float | Schedule) -> Schedule:
    """Return a schedule as it is, or the one that never changes from a number."""
    return rate if isinstance(rate, Schedule) else constant(float(rate))


def as_rule(exploration: Any) -> EpsilonGreedy | Softmax:
    """Return a rule as it is, the greedy one of a number, or that with its defaults for None."""
    if exploration is None:
        return EpsilonGreedy()
    if isinstance(exploration, EpsilonGreedy | Softmax):
        return exploration
    if isinstance(exploration, int | float) and not isinstance(exploration, bool):
        return EpsilonGreedy(float(exploration))
    raise DataError(
        f"exploration is of type {type(exploration).__name__}; expected EpsilonGreedy or Softmax, "
        "or a number from 0 to 1."
    )


def loop_numbers(rate: float | Schedule) -> tuple[int, float, float] | None:
    """Return kind and two numbers of a schedule for compiled loops; None if they do not know it."""
    schedule = as_schedule(rate)
    kind, name = _KINDS.get(schedule.name, (None, ""))
    function: Any = schedule.rate
    if kind is None or not type(function).__module__.startswith("verulam"):
        return None
    first = function.rate if kind == CONSTANT else function.initial
    return kind, float(first), float(getattr(function, name)) if name else 0.0


def _row(values: ArrayLike, available: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    table = check_array("values", values, (None,))
    offered = np.ones(len(table), bool) if available is None else np.asarray(available, dtype=bool)
    if offered.shape != table.shape or not offered.any():
        raise DataError("available must have one flag for each action, at least one of them True.")
    return table, offered
