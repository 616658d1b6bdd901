"""Criterion functions of a linear discriminant, with gradients and Hessians."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, unknown_name
from verulam.linear._training.tables import check_labels, check_rows, weighted_gram
from verulam.linear._training.two_class_problem import Problem

#: Loss, or a derivative of it, of each row: from its product, its squared length, and its margin
#: or that of all.
RowFunction = Callable[[np.ndarray, np.ndarray, Any], np.ndarray]


@dataclass(frozen=True)
class RowLoss:
    """The loss of a row as a function of its product with the weights.

    Attributes
    ----------
    loss
        The loss.
    derivative
        Its derivative over the product.
    curvature
        Its second derivative; of the perceptron's loss it is zero.
    default_margin
        Margin where none is given.
    """

    loss: RowFunction
    derivative: RowFunction
    curvature: RowFunction
    default_margin: float


PERCEPTRON_LOSS = RowLoss(
    lambda products, _, margin: np.maximum(margin - products, 0.0),
    # A row on the margin counts as misclassified: from zero weights the first step must move.
    lambda products, _, margin: -(products <= margin).astype(np.float64),
    lambda products, _, __: np.zeros_like(products),
    0.0,
)
QUADRATIC_LOSS = RowLoss(
    lambda products, _, margin: np.minimum(products - margin, 0.0) ** 2,
    lambda products, _, margin: 2.0 * np.minimum(products - margin, 0.0),
    lambda products, _, margin: 2.0 * (products <= margin),
    0.0,
)
RELAXATION_LOSS = RowLoss(
    lambda products, squares, margin: 0.5 * np.minimum(products - margin, 0.0) ** 2 / squares,
    lambda products, squares, margin: np.minimum(products - margin, 0.0) / squares,
    lambda products, squares, margin: (products <= margin) / squares,
    1.0,
)
SQUARED_LOSS = RowLoss(
    lambda products, _, margin: (margin - products) ** 2,
    lambda products, _, margin: 2.0 * (products - margin),
    lambda products, _, __: np.full_like(products, 2.0),
    1.0,
)
ROW_LOSSES = {
    "perceptron": PERCEPTRON_LOSS,
    "quadratic": QUADRATIC_LOSS,
    "relaxation": RELAXATION_LOSS,
    "squared error": SQUARED_LOSS,
}


@dataclass(frozen=True)
class LineCriterion:
    r"""A criterion of the weights :math:`a` of a line between two classes.

    Made by `line_criterion`. Its methods take one vector, the bias in front.

    Attributes
    ----------
    name
        Which criterion it is.
    margin
        Margin :math:`b`.
    problem
        The rows, augmented and sign-normalised.
    """

    name: str
    margin: float
    problem: Problem

    def value(self, weights: ArrayLike) -> float:
        """Return the criterion."""
        losses = ROW_LOSSES[self.name].loss(
            self.problem.products(self._checked(weights)), self.problem.squares, self.margin
        )
        return float(losses.sum())

    def gradient(self, weights: ArrayLike) -> np.ndarray:
        """Return its gradient."""
        # The chain rule: products are linear in the weights, with the rows as their gradients.
        derivatives = ROW_LOSSES[self.name].derivative(
            self.problem.products(self._checked(weights)), self.problem.squares, self.margin
        )
        return self.problem.combine(derivatives)

    def hessian(self, weights: ArrayLike) -> np.ndarray:
        """Return its second derivatives, where it has them."""
        # The Hessian is a weighted Gram matrix of the rows; squared signs are one.
        curvatures = ROW_LOSSES[self.name].curvature(
            self.problem.products(self._checked(weights)), self.problem.squares, self.margin
        )
        return weighted_gram(self.problem.inputs, curvatures)

    def errors(self, weights: ArrayLike) -> int:
        """Return the number of rows on the wrong side, or on the line."""
        return int((self.problem.products(self._checked(weights)) <= 0).sum())

    def _checked(self, weights: ArrayLike) -> np.ndarray:
        vector = np.asarray(weights, dtype=np.float64)
        if vector.shape != (self.problem.size[1],):
            raise DataError(
                f"weights must be {self.problem.size[1]} numbers, the bias in front; got the "
                f"shape {vector.shape}."
            )
        return vector


def line_criterion(
    name: str, X: ArrayLike, y: ArrayLike, *, margin: float | None = None
) -> LineCriterion:
    r"""Return what a trainer makes small, to be looked at or given to any optimiser.

    Parameters
    ----------
    name
        "perceptron": :math:`J_p(a) = \sum (b - a^T y_i)` over rows with :math:`a^T y_i \le b`,
        whose gradient jumps; "quadratic": :math:`J_q(a) = \sum (a^T y_i - b)^2` over the same
        rows, whose gradient is continuous; "relaxation": :math:`J_r(a) = \tfrac12 \sum (a^T y_i -
        b)^2 / \|y_i\|^2`, which long rows do not rule; "squared error":
        :math:`J_s(a) = \sum (a^T y_i - b)^2` over all rows.
    X, y
        Rows and their two classes.
    margin
        The margin :math:`b`; None takes zero for the first two, one for the others.

    Notes
    -----
    See Bartkowiak 5.5-5.6 (5.3, 5.5-5.7; signs and gradients corrected).

    Examples
    --------
    >>> corners, both = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> criterion = line_criterion("perceptron", corners, both)
    >>> criterion.value([0.0, 1.0, 1.0]), criterion.gradient([0.0, 1.0, 1.0]).tolist()
    (2.0, [3.0, 1.0, 1.0])
    >>> criterion.value([-1.5, 1.0, 1.0]), criterion.errors([-1.5, 1.0, 1.0])
    (0.0, 0)
    """
    if name not in ROW_LOSSES:
        raise unknown_name("criterion", name, ROW_LOSSES)
    inputs = check_rows(X, sparse=True)
    labels = check_labels(y, inputs.shape[0])
    if margin is not None and not np.isfinite(margin):
        raise DataError(f"margin must be a finite number; got {margin}.")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise DataError(f"y must have two classes; it has {len(classes)}.")
    problem = Problem(inputs, np.where(labels == classes[1], 1.0, -1.0))
    margin = ROW_LOSSES[name].default_margin if margin is None else float(margin)
    return LineCriterion(name, margin, problem)
