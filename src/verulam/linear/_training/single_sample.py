"""The engine of the trainers that correct their weights after each row."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.linear._training.epoch_orders import orders, shuffled_once
from verulam.linear._training.single_sample_loops import dense_pass, sparse_pass
from verulam.linear._training.two_class_problem import Problem, Training, is_bounded
from verulam.numerics import Schedule, check_schedule, constant

#: Most corrections that a trajectory of single steps keeps.
MOST_STEPS = 20_000

#: Says after a pass whether to stop, from the weights and those before the pass.
Finished = Callable[[np.ndarray, np.ndarray], bool]


@dataclass(frozen=True)
class Corrections:
    """How weights are corrected.

    Attributes
    ----------
    rule
        One of the codes of the loops.
    rate
        Rates of the steps.
    margin
        What products are compared with, unless the problem has margins of its own.
    by_correction
        Whether rates count corrections instead of rows.
    keep_mean
        Whether the mean of the weights over all rows seen is kept.
    """

    rule: int
    rate: Schedule
    margin: float = 0.0
    by_correction: bool = True
    keep_mean: bool = False


@dataclass
class Walker:
    """Weights on their way through the rows.

    Attributes
    ----------
    corrections
        How they are corrected.
    weights
        Where they are.
    drift
        Sum of corrections times their moment; empty where no mean is kept.
    n_rows, n_corrections
        Rows seen and corrections made.
    """

    corrections: Corrections
    weights: np.ndarray
    drift: np.ndarray
    n_rows: int = 0
    n_corrections: int = 0

    @classmethod
    def at(cls, weights: np.ndarray, corrections: Corrections) -> "Walker":
        """Start from given weights, which are changed in place."""
        drift = np.zeros(len(weights) if corrections.keep_mean else 0)
        return cls(corrections, weights, drift)

    @property
    def mean_weights(self) -> np.ndarray:
        """Mean of the weights over all rows seen."""
        return self.weights - self.drift / max(self.n_rows, 1)

    @property
    def result(self) -> np.ndarray:
        """What is kept: the weights, or their mean."""
        return self.mean_weights if self.corrections.keep_mean else self.weights

    def take_pass(self, problem: Problem, order: np.ndarray, history: np.ndarray) -> int:
        """Go once through the rows, and return the number of corrections."""
        rule = self.corrections
        first = (self.n_corrections if rule.by_correction else self.n_rows) + 1
        shared = (
            problem.signs,
            order,
            self.weights,
            self.drift,
            rule.rule,
            np.array([float(rule.margin)]) if problem.margins is None else problem.margins,
            rule.rate.table(first, len(order)),
            rule.by_correction,
            self.n_rows,
            history,
        )
        if problem.sparse:
            table = problem.inputs
            made = sparse_pass(
                table.data, table.indices.astype(np.int64), table.indptr.astype(np.int64), *shared
            )
        else:
            made = dense_pass(problem.inputs, *shared)
        self.n_rows += len(order)
        self.n_corrections += made
        if not is_bounded(self.weights):
            raise DataError(
                f"learning_rate={rule.rate(first):.4g} makes the weights grow without bound; "
                f"scale the inputs, or stay below {2.0 / problem.squares.max():.4g}, which is two "
                "over the largest squared length of a row."
            )
        return made


def walk(
    problem: Problem,
    walker: Walker,
    *,
    max_iter: int,
    finished: Finished | None = None,
    random: np.random.Generator | None = None,
    record: str | None = None,
) -> Training:
    """Take passes until `finished`, at most `max_iter`.

    Parameters
    ----------
    problem
        The inequalities.
    walker
        Start and rule; at its end when this returns.
    max_iter
        Most passes.
    finished
        When to stop; None where a pass needed no correction.
    random
        Draws a new order for each pass; None keeps the order of the rows.
    record
        "passes" keeps the weights after each, "steps" after each correction, None nothing.
    """
    n_weights = problem.size[1]
    history = np.empty((MOST_STEPS if record == "steps" else 0, n_weights))
    path = [walker.weights[None, :].copy()]
    converged, n_iter, filled = False, 0, 0
    problem = shuffled_once(problem, random)
    for order in islice(orders(problem, random), max_iter):
        before = walker.weights.copy()
        room = history[filled:]
        made = walker.take_pass(problem, order, room)
        n_iter += 1
        if record == "steps":
            filled = min(filled + made, len(history))
        elif record == "passes":
            path.append(walker.result[None, :].copy())
        converged = finished(walker.weights, before) if finished else made == 0
        if converged:
            break
    path.append(history[:filled])
    if record == "steps" and walker.corrections.keep_mean:
        path.append(walker.result[None, :])
    weights_path = np.concatenate(path) if record else np.empty((0, n_weights))
    return Training(
        weights=walker.result.copy(),
        n_iter=n_iter,
        converged=converged,
        steps=np.arange(len(weights_path)),
        path=weights_path,
    )


def remark_on_rates(learning_rate: Any, *, stochastic: bool) -> str:
    """Return in which way a schedule of one's own stands in the way of convergence.

    Parameters
    ----------
    learning_rate
        What the user gave; only a schedule is judged.
    stochastic
        Whether noise must die out, besides every solution being within reach.
    """
    if not isinstance(learning_rate, Schedule):
        return ""
    found = check_schedule(learning_rate)
    fits = found.settles if stochastic else found.separates
    return "" if fits else f", but {found}"


def as_schedule(learning_rate: float | Schedule) -> Schedule:
    """Return a schedule for a number, or the schedule itself."""
    return learning_rate if isinstance(learning_rate, Schedule) else constant(learning_rate)
