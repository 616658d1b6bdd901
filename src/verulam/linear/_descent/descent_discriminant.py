"""A line by gradient or Newton descent on any of the criteria."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError, Interval, StrOptions
from verulam.linear._logistic.logistic_solvers import hessian_solver
from verulam.linear._training.batch import train_batch
from verulam.linear._training.criteria import ROW_LOSSES, RowLoss
from verulam.linear._training.perceptrons import ITERATIONS, RATE, RECORD
from verulam.linear._training.single_sample import as_schedule
from verulam.linear._training.tables import weighted_gram
from verulam.linear._training.trainer import LinearTrainer
from verulam.linear._training.two_class_problem import Problem, Training
from verulam.numerics import Schedule

#: Halvings of a Newton step that would go up.
_MOST_HALVINGS = 30
#: Part of a criterion below which a rise is rounding.
_ROUNDING = 1e-12


class DescentDiscriminant(LinearTrainer):
    r"""Descend a criterion of the line by its gradient, or by Newton's method.

    Parameters
    ----------
    criterion
        What is made small, as in `line_criterion`: "squared error", "quadratic", "relaxation" or
        "perceptron".
    solver
        "gradient" steps down the gradient, "newton" solves for the bottom of the parabola that
        has the same slope and curvature; the perceptron's criterion has none.
    learning_rate
        "optimal" takes the rate that is best on a parabola; or a step size, or a schedule.
        Newton's method does not use it.
    margin
        Product :math:`b` that every row should have.
    tol
        Stop where a step is this small beside the weights, or all rows have the margin.
    max_iter
        Most steps.
    record
        "passes" or "steps" keeps the weights after each step in `trajectory_`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the plane is positive for the second.
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Bias.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether the steps became short.
    trajectory_ : Trajectory or None
        Weights, criterion and errors on the way.

    Notes
    -----
    .. math:: a \leftarrow a - \eta \nabla J(a), \qquad
              \eta = \frac{\|\nabla J\|^2}{\nabla J^T H \nabla J}, \qquad
              a \leftarrow a - H^{-1} \nabla J(a)

    Newton's method needs fewer steps, each of which costs :math:`O(d^3)`; one is enough for the
    squared error. Where the Hessian is singular the shortest step is taken. See Bartkowiak 5.4
    (5.1-5.2).

    Examples
    --------
    >>> from verulam.linear import DescentDiscriminant
    >>> rows, classes = [[1, 2], [2, 0], [3, 1], [2, 3]], [1, 1, 0, 0]
    >>> newton = DescentDiscriminant(solver="newton").fit(rows, classes)
    >>> [round(float(w), 4) for w in (*newton.intercept_, *newton.coef_[0])]
    [3.6667, -1.3333, -0.6667]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions(set(ROW_LOSSES))],
        "solver": [StrOptions({"gradient", "newton"})],
        "learning_rate": [*RATE, StrOptions({"optimal"})],
        "margin": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": ITERATIONS,
        "record": RECORD,
    }
    _seeks_separation = False
    _descends = True

    def __init__(
        self,
        *,
        criterion: str = "squared error",
        solver: str = "gradient",
        learning_rate: float | str | Schedule = "optimal",
        margin: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 1000,
        record: str | None = None,
    ) -> None:
        self.criterion = criterion
        self.solver = solver
        self.learning_rate = learning_rate
        self.margin = margin
        self.tol = tol
        self.max_iter = max_iter
        self.record = record

    @classmethod
    def _example_learners(cls) -> list["DescentDiscriminant"]:
        return [cls(), cls(criterion="quadratic", solver="newton")]

    @property
    def _row_loss(self) -> RowLoss:
        return ROW_LOSSES[self.criterion]

    def _train(self, problem: Problem) -> Training:
        step_rule, rate = None, as_schedule(1.0)
        if self.solver == "newton" or isinstance(self.learning_rate, str):
            if self.criterion == "perceptron":
                raise DataError(
                    "the perceptron's criterion has no curvature, hence neither Newton steps nor "
                    "an optimal rate: give a learning_rate, or take another criterion."
                )
            curvature = CriterionCurvature(problem, self._row_loss, self.margin)
            newton = self.solver == "newton"
            step_rule = curvature.newton_step if newton else curvature.optimal_step
        else:
            rate = as_schedule(self.learning_rate)
        return train_batch(
            problem,
            self._row_coefficients,
            rate=rate,
            satisfied=self._satisfied,
            max_iter=self.max_iter,
            tol=self.tol,
            record=self.record,
            step_rule=step_rule,
        )

    def _satisfied(self, products: np.ndarray) -> bool:
        return self.criterion != "squared error" and bool((products > self.margin).all())


@dataclass(frozen=True)
class CriterionCurvature:
    """The curvature of a criterion over the weights.

    Attributes
    ----------
    problem
        The inequalities.
    loss
        What a row costs.
    margin
        Its margin.
    """

    problem: Problem
    loss: RowLoss
    margin: float

    def curvatures(self, products: np.ndarray) -> np.ndarray:
        """Return the second derivative of each row's loss over its product."""
        return self.loss.curvature(products, self.problem.squares, self.margin)

    def value(self, products: np.ndarray) -> float:
        """Return the criterion."""
        return float(self.loss.loss(products, self.problem.squares, self.margin).sum())

    def optimal_step(self, slope: np.ndarray, products: np.ndarray) -> np.ndarray:
        """Return the way down a slope that ends at the bottom of its parabola.

        Parameters
        ----------
        slope
            Minus the gradient.
        products
            Where the step begins.
        """
        # Products are linear in the weights, so the matrix itself is not needed.
        curvature = float(self.curvatures(products) @ self.problem.products(slope) ** 2)
        return slope * (float(slope @ slope) / curvature) if curvature > 0 else slope

    def newton_step(self, slope: np.ndarray, products: np.ndarray) -> np.ndarray:
        """Return the step to the bottom of the parabola, halved while that goes up."""
        hessian = weighted_gram(self.problem.inputs, self.curvatures(products))
        step = hessian_solver(hessian)(slope)
        value, moves = self.value(products), self.problem.products(step)
        # Rows come to count, or cease to, on the way: the parabola is only right nearby.
        for _ in range(_MOST_HALVINGS):
            if self.value(products + moves) <= value * (1.0 + _ROUNDING):
                break
            step, moves = step / 2.0, moves / 2.0
        return step
