"""Batch training: gradient steps over all rows at once, and the largest stable rate."""

from collections.abc import Callable

import numpy as np

from verulam.base import DataError
from verulam.linear._training.tables import weighted_gram
from verulam.linear._training.two_class_problem import Problem, Training, is_bounded
from verulam.linear._tuning import GRAM_WEIGHTS
from verulam.numerics import Schedule

#: Coefficient of each row in the correction, from the products and the problem.
Coefficients = Callable[[np.ndarray, Problem], np.ndarray]
#: Steps of the power method that takes their place.
_POWER_STEPS = 100

#: Turns a gradient step into another, such as Newton's, given the products it starts from.
StepRule = Callable[[np.ndarray, np.ndarray], np.ndarray]
#: Says from the products whether all inequalities hold, with their margins.
Satisfied = Callable[[np.ndarray], bool]


def train_batch(
    problem: Problem,
    coefficients: Coefficients,
    *,
    rate: Schedule,
    satisfied: Satisfied,
    max_iter: int,
    tol: float = 0.0,
    relative: bool = True,
    record: str | None = None,
    init: np.ndarray | None = None,
    step_rule: StepRule | None = None,
) -> Training:
    r"""Repeat :math:`a \leftarrow a + \eta(k) \sum_i c_i y_i`.

    Parameters
    ----------
    problem
        The inequalities.
    coefficients
        The :math:`c_i` of the trainer.
    rate
        Schedule :math:`\eta`.
    satisfied
        Stops where it is true of the products.
    max_iter
        Most corrections.
    tol
        Stops where a correction is this small beside the weights; zero never does.
    relative
        Whether `tol` is a part of the weights' length, not a length by itself.
    record
        Anything but None keeps the weights after each correction.
    init
        First weights, zero by default.
    step_rule
        Turns each gradient step into the one to be taken.
    """
    weights = np.zeros(problem.size[1]) if init is None else init.astype(np.float64)
    path = [weights]
    products = problem.products(weights)
    converged, n_iter = satisfied(products), 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        step = rate(n_iter) * problem.combine(coefficients(products, problem))
        if step_rule is not None:
            step = step_rule(step, products)
        weights = weights + step
        if not is_bounded(weights):
            raise DataError(diverging_rate(rate(n_iter), problem))
        products = problem.products(weights)
        if record:
            path.append(weights)
        # Relative to the weights, but not to tiny ones, beside which no step is ever short.
        length = max(1.0, float(np.linalg.norm(weights))) if relative else 1.0
        short = float(np.linalg.norm(step)) < tol * length
        converged = satisfied(products) or short
    points = np.array(path) if record else np.empty((0, len(weights)))
    return Training(weights, n_iter, bool(converged), np.arange(len(points)), points)


def diverging_rate(rate: float, problem: Problem) -> str:
    """Return the message about a step size that makes the weights overflow."""
    return (
        f"learning_rate={rate:.4g} makes the weights grow without bound; scale the inputs, or "
        f"stay below {largest_stable_rate(problem):.4g}, which is two over the largest "
        "eigenvalue of the rows' products."
    )


def largest_stable_rate(problem: Problem) -> float:
    r"""Return :math:`2 / \lambda_{\max}(Y^T Y)`, beyond which batch least squares diverges."""
    if problem.size[1] > GRAM_WEIGHTS:
        return 2.0 / _largest_eigenvalue(problem)
    # Scaled first, for the products of huge rows would overflow.
    largest = max(float(abs(problem.inputs).max()), 1.0)
    products = weighted_gram(problem.inputs / largest, np.ones(len(problem.signs)))
    # The one in front of each row is scaled, too.
    products[0] /= largest
    products[:, 0] /= largest
    return 2.0 / float(np.linalg.eigvalsh(products)[-1]) / largest**2


def _largest_eigenvalue(problem: Problem) -> float:
    """Return the largest eigenvalue of the rows' products by the power method."""
    direction = np.ones(problem.size[1]) / np.sqrt(problem.size[1])
    value = 1.0
    for _ in range(_POWER_STEPS):
        # A product with the Gram matrix that never forms it.
        image = problem.combine(problem.products(direction))
        value = float(np.linalg.norm(image))
        direction = image / max(value, 1e-300)
    return max(value, 1e-300)
