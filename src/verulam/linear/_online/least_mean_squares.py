"""The Widrow-Hoff rule: least squares by corrections, one row at a time or all together."""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import RANDOM_STATE, DataError, Interval, Seed, StrOptions, generator
from verulam.linear._descent.squared_error import choose_margins
from verulam.linear._training.batch import largest_stable_rate, train_batch
from verulam.linear._training.criteria import SQUARED_LOSS
from verulam.linear._training.perceptrons import INIT, ITERATIONS, RATE, RECORD
from verulam.linear._training.single_sample import UpdateRule, as_schedule, train_online
from verulam.linear._training.single_sample_loops import LEAST_MEAN_SQUARES
from verulam.linear._training.trainer import StreamingTrainer
from verulam.linear._training.two_class_problem import Problem, Training
from verulam.numerics import Schedule, search_then_converge

#: With an automatic rate, steps begin to shrink after so many passes.
_PASSES_AT_FULL_RATE = 2


class LeastMeanSquares(StreamingTrainer):
    r"""Correct the weights in proportion to the error of the linear output: ADALINE.

    Parameters
    ----------
    mode
        "online" corrects after each row, "batch" after all.
    learning_rate
        Step size, or a schedule :math:`\eta(k)` of the rows (of the passes in batch mode).
        "auto" is as large as is safe at first, and falls as :math:`1/k` in online mode.
    margins
        Wished products :math:`b_i`: "ones", "fisher" for the reciprocal shares of the classes,
        or a positive number for each row. A stream has ones.
    init
        First weights, the bias in front; None starts at zero, "random" near it.
    max_iter
        Most passes over the rows.
    tol
        When to stop, see `stopping`.
    stopping
        What is compared with `tol`: "pass", the change of the weights in a pass, as a part of
        their length; or "correction", the length of a single correction,
        :math:`|\eta(k) (b_i - a^T y_i)\, y_i| < \theta`, the rule of the text. A row that is
        predicted well by chance ends training by the latter, so `tol` must be small.
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
        Whether the weights have settled.
    trajectory_ : Trajectory or None
        Weights, criterion and errors on the way.

    Notes
    -----
    .. math:: a \leftarrow a + \eta(k) (b_i - a^T y_i)\, y_i

    Corrections go on after the classes are separated, and never cease by themselves: rates fall,
    or a threshold ends training. The limit for falling rates is the least-squares solution,
    whether the classes are separable or not; it need not separate them even where a plane could. A
    constant rate follows drift but never settles. See Bartkowiak 5.6 (5.10-5.11, signs and
    brackets corrected), Alpaydin 11.3 (11.7) and SIT1305 IV.

    Examples
    --------
    >>> from verulam.linear import LeastMeanSquares
    >>> line = LeastMeanSquares(mode="batch", tol=1e-6)
    >>> line = line.fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> line.coef_.round(3), line.intercept_.round(3)
    (array([[0.6]]), array([-1.2]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "mode": [StrOptions({"online", "batch"})],
        "learning_rate": [*RATE, StrOptions({"auto"})],
        "margins": [StrOptions({"ones", "fisher"}), "array-like"],
        "init": [StrOptions({"random"}), *INIT],
        "max_iter": ITERATIONS,
        "tol": [Interval(Real, 0, None, closed="left")],
        "stopping": [StrOptions({"pass", "correction"})],
        "shuffle": ["boolean"],
        "record": RECORD,
        "random_state": RANDOM_STATE,
    }
    _seeks_separation = False
    _descends = True
    _loss = SQUARED_LOSS

    def __init__(
        self,
        *,
        mode: str = "online",
        learning_rate: float | str | Schedule = "auto",
        margins: str | ArrayLike = "ones",
        init: ArrayLike | str | None = None,
        max_iter: int = 1000,
        tol: float = 1e-4,
        stopping: str = "pass",
        shuffle: bool = True,
        record: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.mode = mode
        self.learning_rate = learning_rate
        self.margins = margins
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.stopping = stopping
        self.shuffle = shuffle
        self.record = record
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["LeastMeanSquares"]:
        return [cls(random_state=0), cls(mode="batch")]

    def _read(self, X: ArrayLike, y: ArrayLike) -> Problem:
        problem = super()._read(X, y)
        if self._has_ones:
            return problem
        return replace(problem, margins=choose_margins(self.margins, problem, None))

    @property
    def _has_ones(self) -> bool:
        return isinstance(self.margins, str) and self.margins == "ones"

    def _check_stream(self) -> None:
        if not self._has_ones:
            raise DataError(
                'partial_fit knows no shares of the classes, so margins must be "ones".'
            )

    def _train(self, problem: Problem) -> Training:
        by_correction = self.stopping == "correction"
        if by_correction and not self.tol > 0.0:
            raise DataError('tol must be above 0 with stopping="correction"; got 0.')
        if self.mode == "batch":
            rate = self.learning_rate
            if isinstance(rate, str):
                # Short of the bound, at which the steps would swing for ever.
                rate = 0.9 * largest_stable_rate(problem)
            state = self._initial_state(problem)
            training = train_batch(
                problem,
                lambda products, _: 0.5 * self._row_coefficients(products, problem),
                rate=as_schedule(rate),
                satisfied=lambda _: False,
                max_iter=self.max_iter,
                tol=self.tol,
                relative=not by_correction,
                record=self.record,
                init=state.weights,
            )
            # A stream goes on from the end of the batch.
            state.weights[:] = training.weights
            return training
        return train_online(
            problem,
            self._initial_state(problem),
            max_iter=self.max_iter,
            finished=lambda weights, before: settled(weights, before, self.tol),
            smallest=self.tol if by_correction else 0.0,
            random=generator(self.random_state) if self.shuffle else None,
            record=self.record,
        )

    def _update_rule(self, problem: Problem) -> UpdateRule:
        rate = self.learning_rate
        if isinstance(rate, str):
            # First search at a constant rate, then converge as 1/k: noise must die out.
            turning_step = _PASSES_AT_FULL_RATE * problem.size[0]
            rate = search_then_converge(1.0 / problem.squares.max(), turning_step)
        return UpdateRule(LEAST_MEAN_SQUARES, as_schedule(rate), margin=1.0, by_correction=False)


def settled(weights: np.ndarray, before: np.ndarray, tol: float) -> bool:
    """Whether the weights have moved by less than a part of their length."""
    length = float(np.linalg.norm(weights))
    return float(np.linalg.norm(weights - before)) <= tol * length
