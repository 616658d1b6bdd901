"""Single-sample (online) training: weights that are corrected after each row, epoch by epoch."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.linear._training.single_sample_loops import dense_pass, sparse_pass
from verulam.linear._training.two_class_problem import Problem, Training, is_bounded
from verulam.numerics import Schedule, check_schedule, constant

#: Most corrections that a trajectory of single steps keeps.
MOST_STEPS = 20_000

#: Tables below this size stay in a processor's cache, where any order is as good as another.
SMALL_TABLE_BYTES = 4_000_000
#: Rows of a block, which are read one after the other.
BLOCK = 64

#: Says after a pass whether to stop, from the weights and those before the pass.
Finished = Callable[[np.ndarray, np.ndarray], bool]


@dataclass(frozen=True)
class UpdateRule:
    """How weights are corrected: perceptron, relaxation or least mean squares.

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
class OnlineState:
    """Weights in online training, and what their mean needs.

    Attributes
    ----------
    rule
        How they are corrected.
    weights
        The latest ones, bias in front.
    drift
        Sum of corrections times their moment; empty where no mean is kept.
    n_rows, n_corrections
        Rows seen and corrections made.
    stopped
        Whether a correction was short enough to be the last.
    """

    rule: UpdateRule
    weights: np.ndarray
    drift: np.ndarray
    n_rows: int = 0
    n_corrections: int = 0
    stopped: bool = False

    @classmethod
    def at(cls, weights: np.ndarray, rule: UpdateRule) -> "OnlineState":
        """Start from some weights, which are changed in place."""
        drift = np.zeros(len(weights) if rule.keep_mean else 0)
        return cls(rule, weights, drift)

    @property
    def mean_weights(self) -> np.ndarray:
        """Mean of the weights over all rows seen."""
        # A correction at moment t is missing from the first t of n vectors, so that the mean is
        # the latest vector less its corrections times t / n: no vector but the latest is needed.
        return self.weights - self.drift / max(self.n_rows, 1)

    @property
    def result(self) -> np.ndarray:
        """What is kept: the weights, or their mean."""
        return self.mean_weights if self.rule.keep_mean else self.weights

    def run_epoch(
        self, problem: Problem, order: np.ndarray, history: np.ndarray, smallest: float = 0.0
    ) -> int:
        """Go once through the rows: one epoch; return the number of corrections.

        The first correction that is shorter than `smallest` ends it.
        """
        rule = self.rule
        # Rates are tabled ahead for the whole epoch, since a schedule is a Python function that the
        # compiled loops cannot call; rates of corrections not made are left over.
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
            float(smallest),
        )
        if problem.sparse:
            table = problem.inputs
            n_corrections, n_seen = sparse_pass(
                # One type of index, so that the loops are compiled once.
                table.data,
                table.indices.astype(np.int64),
                table.indptr.astype(np.int64),
                *shared,
            )
        else:
            n_corrections, n_seen = dense_pass(problem.inputs, *shared)
        self.stopped = n_seen > 0
        self.n_rows += n_seen or len(order)
        self.n_corrections += n_corrections
        # Least mean squares diverge beyond twice the reciprocal of the largest squared row.
        if not is_bounded(self.weights):
            raise DataError(
                f"learning_rate={rule.rate(first):.4g} makes the weights grow without bound; "
                f"scale the inputs, or stay below {2.0 / problem.squares.max():.4g}, which is two "
                "over the largest squared length of a row."
            )
        return n_corrections


def train_online(
    problem: Problem,
    state: OnlineState,
    *,
    max_iter: int,
    finished: Finished | None = None,
    smallest: float = 0.0,
    random: np.random.Generator | None = None,
    record: str | None = None,
) -> Training:
    """Take passes until `finished`, at most `max_iter`.

    Parameters
    ----------
    problem
        The inequalities.
    state
        First weights and update rule; the last weights when this returns.
    max_iter
        Most passes.
    finished
        When to stop; None where a pass needed no correction.
    smallest
        Above zero, training stops at the first correction that is shorter, instead.
    random
        Draws a new order for each pass; None keeps the order of the rows.
    record
        "passes" keeps the weights after each, "steps" after each correction, None nothing.
    """
    n_weights = problem.size[1]
    # Steps are recorded inside the compiled loops, which need the memory beforehand.
    history = np.empty((MOST_STEPS if record == "steps" else 0, n_weights))
    path = [state.weights[None, :].copy()]
    converged, n_iter, filled = False, 0, 0
    problem = shuffled_once(problem, random)
    for order in islice(orders(problem, random), max_iter):
        before = state.weights.copy()
        n_corrections = state.run_epoch(problem, order, history[filled:], smallest)
        n_iter += 1
        if record == "steps":
            filled = min(filled + n_corrections, len(history))
        elif record == "passes":
            path.append(state.result[None, :].copy())
        if smallest > 0.0:
            converged = state.stopped
        else:
            converged = finished(state.weights, before) if finished else n_corrections == 0
        if converged:
            break
    path.append(history[:filled])
    # Steps are of the weights; what is returned is their mean.
    if record == "steps" and state.rule.keep_mean:
        path.append(state.result[None, :])
    weights_path = np.concatenate(path) if record else np.empty((0, n_weights))
    return Training(
        weights=state.result.copy(),
        n_iter=n_iter,
        converged=converged,
        steps=np.arange(len(weights_path)),
        path=weights_path,
    )


def remark_on_rates(learning_rate: Any, *, stochastic: bool) -> str:
    """Return which condition of convergence a schedule of learning rates violates.

    Parameters
    ----------
    learning_rate
        What the user gave; only a schedule is judged.
    stochastic
        Whether noise must die out (the conditions of Robbins and Monro), besides every solution
        being within reach.
    """
    if not isinstance(learning_rate, Schedule):
        return ""
    conditions = check_schedule(learning_rate)
    fits = conditions.settles if stochastic else conditions.separates
    return "" if fits else f", but {conditions}"


def as_schedule(learning_rate: float | Schedule) -> Schedule:
    """Return a schedule for a number, or the schedule itself."""
    return learning_rate if isinstance(learning_rate, Schedule) else constant(learning_rate)


def shuffled_once(problem: Problem, random: np.random.Generator | None) -> Problem:
    """Return the problem with its rows in random order, where epochs will go by blocks.

    Parameters
    ----------
    problem
        The inequalities.
    random
        Draws the order; None keeps it.
    """
    if random is None or not _is_large(problem):
        return problem
    order = random.permutation(len(problem.signs))
    return problem.in_order(order)


def orders(problem: Problem, random: np.random.Generator | None) -> Iterator[np.ndarray]:
    """Yield the order of the rows in each epoch.

    Small tables get a new permutation each time. The rows of large ones, shuffled once, are read
    by blocks in random order, whose borders fall elsewhere in each pass: reading single rows from
    all over the memory would take most of the time.

    Parameters
    ----------
    problem
        The inequalities, shuffled once where they are large.
    random
        Draws the orders; None gives the order of the rows.
    """
    n_rows = len(problem.signs)
    if random is None:
        yield from repeat(np.arange(n_rows))
    while True:
        assert random is not None
        yield _by_blocks(n_rows, random) if _is_large(problem) else random.permutation(n_rows)


def _by_blocks(n_rows: int, random: np.random.Generator) -> np.ndarray:
    # Borders that fall elsewhere in each epoch keep rows from always following one another.
    border = int(random.integers(BLOCK))
    n_blocks = (n_rows - border) // BLOCK
    end = border + n_blocks * BLOCK
    blocks = np.arange(border, end).reshape(n_blocks, BLOCK)[random.permutation(n_blocks)]
    return np.concatenate([blocks.ravel(), np.arange(end, n_rows), np.arange(border)])


def _is_large(problem: Problem) -> bool:
    return not problem.sparse and problem.inputs.nbytes > SMALL_TABLE_BYTES
