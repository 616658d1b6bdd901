"""Trainers by linear programming, which are certain to end."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from verulam.base import StrOptions
from verulam.linear._training.perceptrons import RECORD
from verulam.linear._training.scaling import scale_columns
from verulam.linear._training.separability import (
    ProgramSolution,
    dual_program,
    own_slack_program,
    shared_slack_program,
)
from verulam.linear._training.trainer import LinearTrainer
from verulam.linear._training.two_class_problem import Problem, Training, one_step
from verulam.linear._tuning import DUAL_ROWS


class LinearProgramDiscriminant(LinearTrainer):
    r"""Minimise the shortfall from the margin by a linear program.

    Parameters
    ----------
    slack
        "own" minimises the sum of each row's shortfall, the perceptron criterion with margin;
        "shared" the largest shortfall, which decides separability.
    dual
        Whether to solve the dual program of own slacks: the weights are then its multipliers.
        "auto" does so where there are more than a thousand rows, for it has a variable for each
        row where the primal also has an inequality; the optimum is the same.
    record
        "passes" or "steps" keeps the way in `trajectory_`, which is one step from zero.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the plane is positive for the second.
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Bias.
    objective_ : float
        Sum or largest of the shortfalls; zero exactly where the classes are separable.
    slacks_ : ndarray
        Shortfall of each row, or the one of all.
    dual_ : ndarray of shape (n_rows,)
        Multiplier of each row's inequality.
    n_iter_ : int
        One: the program is solved once.
    converged_ : bool
        Always true.
    trajectory_ : Trajectory or None
        Weights, shortfall and errors at zero and at the solution.

    Notes
    -----
    .. math:: \min \sum_i \tau_i \quad\text{with } a^T y_i + \tau_i \ge 1,\ \tau_i \ge 0

    It ends with an optimum whether the classes are separable or not. Shared slack on nonseparable
    classes gives the zero vector: the program then proves, but does not classify. See Bartkowiak
    5.8 (5.12-5.17).

    Examples
    --------
    >>> from verulam.linear import LinearProgramDiscriminant
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> both = LinearProgramDiscriminant().fit(corners, [0, 0, 0, 1])
    >>> both.predict(corners).tolist(), both.objective_
    ([0, 0, 0, 1], 0.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "slack": [StrOptions({"own", "shared"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "record": RECORD,
    }

    def __init__(
        self, *, slack: str = "own", dual: bool | str = "auto", record: str | None = None
    ) -> None:
        self.slack = slack
        self.dual = dual
        self.record = record

    def _criterion(self, products: np.ndarray, problem: Problem) -> np.ndarray:
        shortfalls = self._loss.loss(products, problem.squares[:, None], 1.0)
        return shortfalls.sum(axis=0) if self.slack == "own" else shortfalls.max(axis=0)

    @classmethod
    def _example_learners(cls) -> list["LinearProgramDiscriminant"]:
        return [cls(), cls(dual=True)]

    def _program(self, n_rows: int) -> Callable[[Any], ProgramSolution]:
        # One slack shared by all has a small primal; its dual would have a variable for each row.
        if self.slack == "shared":
            return shared_slack_program
        dual = n_rows > DUAL_ROWS if isinstance(self.dual, str) else self.dual
        return dual_program if dual else own_slack_program

    def _train(self, problem: Problem) -> Training:
        # The shortfalls are the same over any columns; the solver's tolerances are not.
        columns = scale_columns(problem.inputs)
        rows = Problem(columns.values, problem.signs).rows()
        solution = self._program(len(rows))(rows)
        self.objective_ = solution.objective
        self.slacks_ = solution.slacks
        self.dual_ = solution.dual
        weights = columns.original(solution.weights)
        return one_step(weights, self.record)
