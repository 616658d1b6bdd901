"""Training as a loop over epochs that anybody may watch, draw or end."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.numerics._schedules import Schedule
from verulam.numerics._training.rules import Adam, AdaptiveRate, GradientDescent, RuleMemory

Parameters = NDArray[np.floating]
#: An error this many times that of the first epoch will not come back.
RUNAWAY = 1e9


class DivergenceError(DataError):
    """Training has left the numbers."""


class Objective(Protocol):
    """A mean error over rows, as a function of one flat vector of parameters."""

    n_rows: int

    def value_and_gradient(self, theta: Parameters) -> tuple[float, Parameters]:
        """Return the mean error over all rows with its penalties, and its gradient."""
        ...

    def run_epoch(
        self, theta: Parameters, memory: RuleMemory, order: NDArray[np.int64], batch_size: int
    ) -> float:
        """Take a step for each batch of rows in order; return the mean error on the way."""
        ...


@dataclass(frozen=True)
class Epoch:
    """One pass over the training rows.

    Attributes
    ----------
    number
        Counted from 1.
    loss
        Mean training error of the pass, with its penalties.
    validation_loss
        Mean error on the rows set aside; NaN where there are none.
    learning_rate
        The rate of the pass; NaN for solvers that search along a line.
    weight_norm
        Length of the vector of parameters afterwards.
    """

    number: int
    loss: float
    validation_loss: float
    learning_rate: float
    weight_norm: float


@dataclass(frozen=True)
class Stopping:
    """When training ends before its last epoch.

    Attributes
    ----------
    max_iter
        Most epochs.
    tol
        Improvement that counts as progress.
    n_iter_no_change
        Epochs without progress after which it ends.
    """

    max_iter: int = 200
    tol: float = 1e-4
    n_iter_no_change: int = 10


class History(Sequence[Epoch]):
    """The epochs of a training, in order."""

    def __init__(self, epochs: Sequence[Epoch] = ()) -> None:
        self._epochs = list(epochs)

    def __len__(self) -> int:
        return len(self._epochs)

    def __getitem__(self, place: Any) -> Any:
        return self._epochs[place]

    def append(self, epoch: Epoch) -> None:
        """Add the next."""
        self._epochs.append(epoch)

    @property
    def losses(self) -> list[float]:
        """Training errors of all epochs."""
        return [epoch.loss for epoch in self._epochs]

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each epoch."""
        columns = list(Epoch.__dataclass_fields__)
        rows = [[getattr(epoch, name) for name in columns] for epoch in self._epochs]
        return pd.DataFrame(rows, columns=columns).rename(columns={"number": "epoch"})


def train(
    objective: Objective,
    theta: Parameters,
    memory: RuleMemory,
    *,
    batch_size: int,
    stopping: Stopping,
    shuffle: np.random.Generator | None,
    learning_rate: float | Schedule | AdaptiveRate = 0.0,
    validation: Callable[[Parameters], float] | None = None,
    history: History | None = None,
) -> Iterator[Epoch]:
    """Train by batches, yielding after each epoch; the parameters are changed in place.

    Where rows are set aside, those of the epoch with the least validation error are restored at
    the end, also where the caller ends the loop. After Ctrl-C, which may come amid an epoch, they
    are those of the best epoch until then in any case.

    Parameters
    ----------
    objective
        What is minimised.
    theta
        Parameters, first the start and then the solution.
    memory
        Memory of the rule of the steps.
    batch_size
        Rows of a step.
    stopping
        When to end.
    shuffle
        Draws the order of the rows of each epoch; None takes them in theirs.
    learning_rate
        A schedule over epochs, or a rate that adapts; a number leaves that of the rule.
    validation
        Returns the mean error of parameters on rows set aside.
    history
        Record that is added to.
    """
    history = History() if history is None else history
    order = np.arange(objective.n_rows)
    best, best_theta, idle = np.inf, None, 0
    first, restores = len(history), validation is not None
    try:
        for number in range(first + 1, first + stopping.max_iter + 1):
            memory.rate = next_rate(learning_rate, memory.rate, history)
            if shuffle is not None:
                shuffle.shuffle(order)
            loss = objective.run_epoch(theta, memory, order, batch_size)
            start = history[first].loss if len(history) > first else loss
            check_progress(loss, theta, memory.rate, start)
            unseen = np.nan if validation is None else validation(theta)
            watched = loss if validation is None else unseen
            # Any improvement is kept; only one beyond `tol` says that there is more to learn.
            idle = 0 if watched < best - stopping.tol else idle + 1
            if watched < best:
                best, best_theta = watched, theta.copy()
            norm = float(np.linalg.norm(theta.astype(np.float64)))
            history.append(Epoch(number, loss, float(unseen), memory.rate, norm))
            yield history[-1]
            if idle >= stopping.n_iter_no_change:
                return
    except KeyboardInterrupt:
        restores = True  # the unfinished epoch is taken back
        raise
    finally:
        if restores and best_theta is not None:
            theta[:] = best_theta


def next_rate(
    learning_rate: float | Schedule | AdaptiveRate, rate: float, history: History
) -> float:
    """Return the learning rate of the epoch that follows a history."""
    if isinstance(learning_rate, Schedule):
        return learning_rate(len(history) + 1)
    if isinstance(learning_rate, AdaptiveRate):
        return learning_rate.following(rate, history.losses)
    return rate


def check_progress(loss: float, theta: Parameters, rate: float, start: float) -> None:
    """Raise where training has left the numbers or runs away, before anything is made of it."""
    is_number = np.isfinite(loss) and np.isfinite(theta).all()
    if is_number and loss <= RUNAWAY * max(start, 1.0):
        return
    state = f"has grown from {start:.3g} to {loss:.3g}" if is_number else "is no number any more"
    raise DivergenceError(
        f"Training diverged: the error {state} at a learning rate of {rate:.3g}. Lower "
        "learning_rate, or bring the columns to a common scale first (StandardScaler)."
    )


def rule_of(solver: str, learning_rate: Any, momentum: float, nesterov: bool) -> Any:
    """Return the rule that a solver's name stands for, with the rate of its first epoch."""
    if isinstance(learning_rate, Schedule):
        rate = learning_rate(1)
    elif isinstance(learning_rate, AdaptiveRate):
        rate = learning_rate.learning_rate
    else:
        rate = float(learning_rate)
    return Adam(rate) if solver == "adam" else GradientDescent(rate, momentum, nesterov)
