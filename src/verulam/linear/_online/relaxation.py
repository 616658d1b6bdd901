"""Relaxation: corrections that bring a row to the margin, or part of the way."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import RANDOM_STATE, Interval, Seed, StrOptions, generator
from verulam.linear._training.batch import train_batch
from verulam.linear._training.criteria import RELAXATION_LOSS
from verulam.linear._training.perceptrons import INIT, ITERATIONS, RECORD
from verulam.linear._training.single_sample import (
    OnlineState,
    UpdateRule,
    as_schedule,
    train_online,
)
from verulam.linear._training.single_sample_loops import RELAXATION
from verulam.linear._training.trainer import LinearTrainer
from verulam.linear._training.two_class_problem import Problem, Training, first_weights


class Relaxation(LinearTrainer):
    r"""Move the weights towards the margin of each row that has not reached it.

    Parameters
    ----------
    mode
        "online" corrects after each row, "batch" after all.
    relaxation
        Part :math:`0 < \eta < 2` of the way to go: below one the row stays short of the margin
        (under-relaxation), above one it goes beyond.
    margin
        Product :math:`b` that every row should have.
    tol
        Rows within this part of the margin have reached it. Relaxation may only approach the
        boundary of the solutions, so some tolerance is needed.
    init
        First weights, the bias in front; None starts at zero.
    max_iter
        Most passes over the rows.
    shuffle
        Whether each pass of the online mode has a new random order.
    record
        "passes" or "steps" keeps the weights on the way in `trajectory_`.
    random_state
        Seed of the orders.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the plane is positive for the second.
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Bias.
    n_iter_ : int
        Passes over the rows.
    converged_ : bool
        Whether all rows have reached the margin, within the tolerance.
    trajectory_ : Trajectory or None
        Weights, criterion and errors on the way.

    Notes
    -----
    .. math:: a \leftarrow a + \eta \frac{b - a^T y_i}{\|y_i\|^2}\, y_i
              \quad\text{where } a^T y_i \le b

    descends :math:`J_r(a) = \tfrac12 \sum_{a^T y_i \le b} (a^T y_i - b)^2 / \|y_i\|^2`, whose
    gradient is continuous. The batch mode divides the sum by the number of rows that are short of
    the margin, without which it oscillates as soon as more than one row pulls the same way.
    See Bartkowiak 5.5 (5.5-5.6), where signs and the gradient are misprinted.

    Examples
    --------
    >>> from verulam.linear import Relaxation
    >>> line = Relaxation(random_state=0).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> line.converged_, line.predict([[1.5], [3.5]]).tolist()
    (True, [0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "mode": [StrOptions({"online", "batch"})],
        "relaxation": [Interval(Real, 0, 2, closed="neither")],
        "margin": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "init": INIT,
        "max_iter": ITERATIONS,
        "shuffle": ["boolean"],
        "record": RECORD,
        "random_state": RANDOM_STATE,
    }
    _loss = RELAXATION_LOSS

    def __init__(
        self,
        *,
        mode: str = "online",
        relaxation: float = 1.5,
        margin: float = 1.0,
        tol: float = 0.1,
        init: ArrayLike | None = None,
        max_iter: int = 1000,
        shuffle: bool = True,
        record: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.mode = mode
        self.relaxation = relaxation
        self.margin = margin
        self.tol = tol
        self.init = init
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.record = record
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["Relaxation"]:
        return [cls(random_state=0, max_iter=50), cls(mode="batch", max_iter=500)]

    def _train(self, problem: Problem) -> Training:
        rate, first = as_schedule(self.relaxation), first_weights(self.init, problem.size[1])
        if self.mode == "batch":
            return train_batch(
                problem,
                self._shortfalls,
                rate=rate,
                satisfied=self._satisfied,
                max_iter=self.max_iter,
                record=self.record,
                init=first,
            )
        rule = UpdateRule(RELAXATION, rate, margin=self.margin)
        return train_online(
            problem,
            OnlineState.at(first, rule),
            max_iter=self.max_iter,
            finished=lambda weights, _: self._satisfied(problem.products(weights)),
            random=generator(self.random_state) if self.shuffle else None,
            record=self.record,
        )

    def _satisfied(self, products: np.ndarray) -> bool:
        return bool((products >= (1.0 - self.tol) * self.margin).all())

    def _shortfalls(self, products: np.ndarray, problem: Problem) -> np.ndarray:
        # The mean instead of the sum: several rows that pull the same way would overshoot.
        return self._row_coefficients(products, problem) / (products <= self.margin).sum()
