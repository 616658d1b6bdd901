"""The perceptron algorithm: batch, single-sample, averaged, and with the worst row first."""

from itertools import count
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import RANDOM_STATE, Interval, Seed, StrOptions, generator
from verulam.linear._training.batch import train_batch
from verulam.linear._training.single_sample import (
    OnlineState,
    UpdateRule,
    as_schedule,
    train_online,
)
from verulam.linear._training.single_sample_loops import PERCEPTRON
from verulam.linear._training.trainer import LinearTrainer, StreamingTrainer
from verulam.linear._training.two_class_problem import Problem, Training, first_weights
from verulam.numerics import Schedule

RATE = [Interval(Real, 0, None, closed="neither"), Schedule]
ITERATIONS = [Interval(Integral, 1, None, closed="left")]
MARGIN = [Interval(Real, 0, None, closed="left")]
INIT = ["array-like", None]
RECORD = [StrOptions({"passes", "steps"}), None]


class BatchPerceptron(LinearTrainer):
    r"""Add all misclassified rows to the weights at once, until none is left.

    Parameters
    ----------
    learning_rate
        Step size, or a schedule :math:`\eta(k)` of the corrections.
    margin
        Rows whose product does not exceed it count as misclassified. With a margin and a falling
        rate this is the variable-increment rule with margin.
    init
        First weights, the bias in front; None starts at zero.
    max_iter
        Most corrections.
    record
        "passes" or "steps" keeps the weights after each correction in `trajectory_`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the plane is positive for the second.
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Bias.
    n_iter_ : int
        Corrections made.
    converged_ : bool
        Whether all rows are on their side, beyond the margin.
    trajectory_ : Trajectory or None
        Weights, criterion and errors on the way.

    Notes
    -----
    .. math:: a \leftarrow a + \eta(k) \sum_{a^T y_i \le b} y_i

    descends :math:`J_p(a) = \sum_{a^T y_i \le b} (b - a^T y_i)`. It ends if and only if the
    classes are separable. See Bartkowiak 5.5 (5.3-5.4); the printed update has the wrong sign.

    Examples
    --------
    >>> from verulam.linear import BatchPerceptron
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> both = BatchPerceptron().fit(corners, [0, 0, 0, 1])
    >>> both.predict(corners).tolist(), both.n_iter_
    ([0, 0, 0, 1], 9)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learning_rate": RATE,
        "margin": MARGIN,
        "init": INIT,
        "max_iter": ITERATIONS,
        "record": RECORD,
    }

    def __init__(
        self,
        *,
        learning_rate: float | Schedule = 1.0,
        margin: float = 0.0,
        init: ArrayLike | None = None,
        max_iter: int = 1000,
        record: str | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.margin = margin
        self.init = init
        self.max_iter = max_iter
        self.record = record

    @classmethod
    def _example_learners(cls) -> list["BatchPerceptron"]:
        return [cls(max_iter=200)]

    def _train(self, problem: Problem) -> Training:
        # A product of zero is on the wrong side, too: at the start, with weights of zero, all are.
        return train_batch(
            problem,
            self._row_coefficients,
            rate=as_schedule(self.learning_rate),
            satisfied=lambda products: bool((products > self.margin).all()),
            max_iter=self.max_iter,
            record=self.record,
            init=first_weights(self.init, problem.size[1]),
        )


class FarthestMarginPerceptron(LinearTrainer):
    r"""Correct by the row that is worst off, until all are on their side.

    Parameters
    ----------
    learning_rate
        Step size, or a schedule :math:`\eta(k)` of the corrections.
    slack
        Slack that a row gains by each of its corrections, times the rate. Above zero, training
        ends whether the classes are separable or not: rows that cannot be put right are let go.
    max_iter
        Most corrections.
    record
        "passes" or "steps" keeps the weights after each correction in `trajectory_`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the plane is positive for the second.
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Bias.
    slacks_ : ndarray of shape (n_rows,)
        Slack :math:`\xi_i` of each row.
    n_iter_ : int
        Corrections made.
    converged_ : bool
        Whether all rows are on their side, or within their slack.
    trajectory_ : Trajectory or None
        Weights, criterion and errors on the way.

    Notes
    -----
    Each correction takes the row with the least :math:`a^T y_i + \xi_i`. With slack
    :math:`\lambda` it is the same rule in a space where row :math:`i` has an input
    :math:`\sqrt{\lambda}` of its own, in which any classes are separable. See Bartkowiak 5.7.

    Examples
    --------
    >>> from verulam.linear import FarthestMarginPerceptron
    >>> line = FarthestMarginPerceptron().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> line.converged_, line.predict([[1.5], [3.5]]).tolist()
    (True, [0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learning_rate": RATE,
        "slack": MARGIN,
        "max_iter": ITERATIONS,
        "record": RECORD,
    }

    def __init__(
        self,
        *,
        learning_rate: float | Schedule = 1.0,
        slack: float = 0.0,
        max_iter: int = 10_000,
        record: str | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.slack = slack
        self.max_iter = max_iter
        self.record = record

    @classmethod
    def _example_learners(cls) -> list["FarthestMarginPerceptron"]:
        return [cls(max_iter=200), cls(slack=1.0, max_iter=500)]

    def _train(self, problem: Problem) -> Training:
        rates, self.slacks_ = as_schedule(self.learning_rate), np.zeros(len(problem.signs))
        corrections = count(1)

        def worst_row(products: np.ndarray, _: Problem) -> np.ndarray:
            coefficients, row = np.zeros(len(products)), (products + self.slacks_).argmin()
            coefficients[row] = 1.0
            # What the correction adds to its product by the row's own input in the enlarged space.
            self.slacks_[row] += self.slack * rates(next(corrections))
            return coefficients

        return train_batch(
            problem,
            worst_row,
            rate=rates,
            satisfied=lambda products: bool((products + self.slacks_ > 0).all()),
            max_iter=self.max_iter,
            record=self.record,
        )

    def _explain(self, problem: Problem) -> str:
        if not self.slack:
            return super()._explain(problem)
        return (
            f"FarthestMarginPerceptron stopped after {self.n_iter_} corrections without "
            "converging; raise max_iter, or slack."
        )


class Perceptron(StreamingTrainer):
    r"""Correct by each misclassified row as it comes.

    Parameters
    ----------
    learning_rate
        Step size, or a schedule :math:`\eta(k)` of the corrections.
    margin
        Rows whose product does not exceed it count as misclassified.
    average
        Whether to keep the mean of the weights over all rows seen instead of the last ones,
        which settles where classes overlap. Single steps are recorded of the weights, passes
        of their mean.
    init
        First weights, the bias in front; None starts at zero, "random" near it. From zero a
        constant rate changes the length of the weights only.
    max_iter
        Most passes over the rows.
    shuffle
        Whether each pass has a new random order.
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
    n_corrections_ : int
        Corrections made.
    converged_ : bool
        Whether a whole pass needed no correction.
    trajectory_ : Trajectory or None
        Weights, criterion and errors on the way.

    Notes
    -----
    .. math:: a \leftarrow a + \eta(k)\, y_i \quad\text{where } a^T y_i \le b

    With a constant rate and no margin it is the fixed-increment rule, with a margin and a falling
    rate the variable-increment rule, with the mean the averaged perceptron. If a plane of margin
    :math:`\gamma` separates rows of length at most :math:`R`, the fixed-increment rule makes at
    most :math:`(R/\gamma)^2` corrections. A schedule with :math:`\sum\eta = \infty` and
    :math:`\sum\eta^2 / (\sum\eta)^2 \to 0` also ends. See Bartkowiak 5.5, Alpaydin 11.2 and
    SIT1305 IV.

    Examples
    --------
    >>> from verulam.linear import Perceptron
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> either = Perceptron(random_state=0).fit(corners, [0, 1, 1, 1])
    >>> either.predict(corners).tolist(), either.converged_
    ([0, 1, 1, 1], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learning_rate": RATE,
        "margin": MARGIN,
        "average": ["boolean"],
        "init": [StrOptions({"random"}), *INIT],
        "max_iter": ITERATIONS,
        "shuffle": ["boolean"],
        "record": RECORD,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        learning_rate: float | Schedule = 1.0,
        margin: float = 0.0,
        average: bool = False,
        init: ArrayLike | str | None = None,
        max_iter: int = 1000,
        shuffle: bool = True,
        record: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.margin = margin
        self.average = average
        self.init = init
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.record = record
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["Perceptron"]:
        return [cls(random_state=0), cls(average=True, max_iter=50, random_state=0)]

    @property
    def _settles(self) -> bool:
        return self.average

    def _train(self, problem: Problem) -> Training:
        state = self._initial_state(problem)
        training = train_online(
            problem,
            state,
            max_iter=self.max_iter,
            random=generator(self.random_state) if self.shuffle else None,
            record=self.record,
        )
        self.n_corrections_ = state.n_corrections
        return training

    def _update_rule(self, problem: Problem) -> UpdateRule:
        return UpdateRule(
            PERCEPTRON,
            as_schedule(self.learning_rate),
            margin=self.margin,
            keep_mean=self.average,
        )

    def _set_weights(self, state: OnlineState) -> None:
        super()._set_weights(state)
        self.n_corrections_ = state.n_corrections
