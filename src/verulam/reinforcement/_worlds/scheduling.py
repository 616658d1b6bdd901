"""Scheduling as a process: a state is an order of jobs, an action swaps two of them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.reinforcement._checks import check_array, check_number
from verulam.reinforcement._processes.process import MarkovDecisionProcess

#: More jobs have too many orders for a table.
MOST_JOBS = 7

Order = tuple[int, ...]


class SchedulingWorld:
    """Jobs with durations, precedence and a shared resource; swaps repair a schedule.

    Parameters
    ----------
    durations
        Time that each job takes.
    before
        Pairs of jobs of which the first must end before the second begins.
    demands
        How much of the resource each job takes while it runs; None for 1 each.
    capacity
        How much of the resource there is.
    step_reward
        Reward of a swap, in addition to the time that it saves.
    discount
        From 0 to 1.

    Notes
    -----
    A state is an order in which jobs are put in, each at the first time that precedence and the
    resource allow, so that every state is a feasible schedule. An action swaps neighbours, or stops
    the repair. What a swap saves of the whole time is its reward, so that the return is what the
    repair saved. See Alpaydin 18.8, and Zhang and Dietterich (1995).

    Examples
    --------
    >>> from verulam.reinforcement import SchedulingWorld, value_iteration
    >>> world = SchedulingWorld([3, 2, 2, 4], before=[(0, 3)], capacity=2)
    >>> plan = value_iteration(world.process)
    >>> first = world.order_of(0)
    >>> world.makespan(first), world.repaired(plan.policy), world.shortest()
    (7.0, 7.0, 7.0)
    """

    def __init__(
        self,
        durations: Sequence[float],
        *,
        before: Iterable[tuple[int, int]] = (),
        demands: Sequence[float] | None = None,
        capacity: float = 1.0,
        step_reward: float = -0.01,
        discount: float = 1.0,
    ) -> None:
        self.durations = check_array("durations", durations, (None,))
        count = len(self.durations)
        if not 1 <= count <= MOST_JOBS or (self.durations <= 0).any():
            raise DataError(f"durations must hold 1 to {MOST_JOBS} numbers above 0.")
        self.before = [(int(a), int(b)) for a, b in before]
        if any(not (0 <= a < count and 0 <= b < count) for a, b in self.before):
            raise DataError(f"before must hold pairs of jobs from 0 to {count - 1}.")
        self.demands = (
            np.ones(count) if demands is None else check_array("demands", demands, (count,))
        )
        self.capacity = check_number("capacity", capacity, 0.0, open_low=True)
        if (self.demands > self.capacity).any() or (self.demands < 0).any():
            raise DataError("demands must lie between 0 and the capacity.")
        self.step_reward = check_number("step_reward", step_reward, -np.inf, 0.0)
        self.discount = check_number("discount", discount, 0.0, 1.0)
        if not self._orders:
            raise DataError("before goes round in a circle, so that no order keeps to it.")

    @cached_property
    def _orders(self) -> list[Order]:
        jobs = range(len(self.durations))
        return [order for order in permutations(jobs) if self.is_feasible(order)]

    def is_feasible(self, order: Order) -> bool:
        """Return whether an order keeps to the precedence."""
        self._check_jobs(order)
        place = {job: number for number, job in enumerate(order)}
        return all(place[a] < place[b] for a, b in self.before)

    def schedule(self, order: Order) -> dict[int, float]:
        """Return the time at which each job begins.

        Parameters
        ----------
        order
            Jobs in the order in which they are put in.
        """
        if not self.is_feasible(order):
            raise DataError(f"order is {order!r}, which puts a job in before one that it needs.")
        begins: dict[int, float] = {}
        for job in order:
            ready = [begins[a] + self.durations[a] for a, b in self.before if b == job]
            earliest = max(ready, default=0.0)
            ends = [begins[other] + self.durations[other] for other in begins]
            # A job can begin at once, or when another one ends.
            for time in sorted({earliest, *(end for end in ends if end > earliest)}):
                if self._fits(job, time, begins):
                    begins[job] = float(time)
                    break
        return begins

    def _check_jobs(self, order: Order) -> None:
        count = len(self.durations)
        if sorted(order) != list(range(count)):
            raise DataError(f"order is {order!r}; expected each job from 0 to {count - 1} once.")

    def _fits(self, job: int, time: float, begins: Mapping[int, float]) -> bool:
        end = time + self.durations[job]
        moments = [time, *(start for start in begins.values() if time < start < end)]
        return all(
            self.demands[job]
            + sum(
                self.demands[other]
                for other, start in begins.items()
                if start <= moment < start + self.durations[other]
            )
            <= self.capacity + 1e-9
            for moment in moments
        )

    def makespan(self, order: Order) -> float:
        """Return when the last job of an order ends."""
        begins = self.schedule(order)
        return float(max(start + self.durations[job] for job, start in begins.items()))

    def shortest(self) -> float:
        """Return the least time of all orders, by trying them."""
        return min(self.makespan(order) for order in self._orders)

    def order_of(self, state: int) -> Order:
        """Return the order of a state by its number."""
        return self.process.states[state]

    @cached_property
    def process(self) -> MarkovDecisionProcess:
        """The repair of schedules as a process, which begins with any order."""
        spans = {order: self.makespan(order) for order in self._orders}
        stop = "stop"

        def offered(state: Any) -> list[Any]:
            if state == stop:
                return []
            swaps = range(len(state) - 1)
            return [stop, *(place for place in swaps if self.is_feasible(_swapped(state, place)))]

        def step(state: Any, action: Any) -> list[tuple[float, Any, float]]:
            if action == stop:
                return [(1.0, stop, 0.0)]
            other = _swapped(state, action)
            return [(1.0, other, spans[state] - spans[other] + self.step_reward)]

        return MarkovDecisionProcess.from_function(step, self._orders, offered, self.discount)

    def repaired(self, policy: Any, state: int = 0, *, max_steps: int = 1000) -> float:
        """Return the whole time of the schedule that a policy leads to.

        Parameters
        ----------
        policy
            An action for each state.
        state
            Number of the first order.
        max_steps
            Most swaps.
        """
        process = self.process
        current = process.states[state]
        for _ in range(max_steps):
            action = process.actions[int(policy[process.state_code(current)])]
            if action == "stop":
                break
            current = _swapped(current, action)
        return self.makespan(current)


def _swapped(order: Order, place: int) -> Order:
    return (*order[:place], order[place + 1], order[place], *order[place + 2 :])
