"""The machines' duals, each as one program in a box."""

import numpy as np

from verulam.base import DataError
from verulam.kernel._solvers.dual import DualProblem


def classification_problem(
    signs: np.ndarray, costs: np.ndarray, start: np.ndarray | None = None, *, bias: bool = True
) -> DualProblem:
    r"""Return the dual of the soft margin, in :math:`\beta^t = \alpha^t r^t`.

    Parameters
    ----------
    signs
        Class :math:`r^t`, -1 or 1.
    costs
        Cost :math:`C^t` of each row's slack.
    start
        Feasible coefficients; zero if None.
    bias
        Whether the plane may be off the origin; without, the coefficients need not sum to zero.
    """
    return DualProblem(
        linear=-signs,
        lower=np.where(signs > 0, 0.0, -costs),
        upper=np.where(signs > 0, costs, 0.0),
        start=np.zeros(len(signs)) if start is None else start,
        constraint="total" if bias else "none",
    )


def nu_classification_problem(signs: np.ndarray, nu: float, weights: np.ndarray) -> DualProblem:
    r"""Return the dual with a share :math:`\nu` of margin errors in place of a cost."""
    positive = signs > 0
    shares = weights / weights.sum()
    smaller = float(min(shares[positive].sum(), shares[~positive].sum()))
    if nu > 2.0 * smaller + 1e-12:
        raise DataError(
            f"nu={nu:g} is infeasible for classes of these sizes: half of it must fit into the "
            f"smaller class. The largest feasible value is {2.0 * smaller:.6g}."
        )
    start = np.where(
        positive, fill_up(shares * positive, nu / 2), -fill_up(shares * ~positive, nu / 2)
    )
    return DualProblem(
        linear=np.zeros(len(signs)),
        lower=np.where(positive, 0.0, -shares),
        upper=np.where(positive, shares, 0.0),
        start=start,
        constraint="groups",
        groups=np.where(positive, 0, 1),
    )


def hull_problem(signs: np.ndarray, usable: np.ndarray) -> DualProblem:
    """Return the program of the nearest points of the two classes' convex hulls."""
    positive = signs > 0
    start = np.zeros(len(signs))
    for own, end in ((positive, 1.0), (~positive, -1.0)):
        chosen = own & usable
        start[chosen] = end / chosen.sum()
    return DualProblem(
        linear=np.zeros(len(signs)),
        # The sums keep shares below one, so these bounds never bind.
        lower=np.where(positive | ~usable, 0.0, -2.0),
        upper=np.where(positive & usable, 2.0, 0.0),
        start=start,
        constraint="groups",
        groups=np.where(positive, 0, 1),
    )


def regression_problem(targets: np.ndarray, costs: np.ndarray, epsilon: float) -> DualProblem:
    r"""Return the dual of the tube: coefficients :math:`\alpha_+` first, :math:`-\alpha_-` then."""
    zeros = np.zeros(len(targets))
    return DualProblem(
        linear=np.concatenate([epsilon - targets, -epsilon - targets]),
        lower=np.concatenate([zeros, -costs]),
        upper=np.concatenate([costs, zeros]),
        start=np.zeros(2 * len(targets)),
        owners=np.tile(np.arange(len(targets)), 2),
    )


def nu_regression_problem(targets: np.ndarray, costs: np.ndarray, nu: float) -> DualProblem:
    r"""Return the dual in which a share :math:`\nu` of errors sets the width of the tube."""
    zeros, size = np.zeros(len(targets)), len(targets)
    half = fill_up(costs, 0.5 * nu * float(costs.sum()))
    return DualProblem(
        linear=np.concatenate([-targets, -targets]),
        lower=np.concatenate([zeros, -costs]),
        upper=np.concatenate([costs, zeros]),
        start=np.concatenate([half, -half]),
        constraint="groups",
        owners=np.tile(np.arange(size), 2),
        groups=np.repeat([0, 1], size),
    )


def one_class_problem(weights: np.ndarray, nu: float) -> DualProblem:
    r"""Return the dual of the plane that parts the data from the origin.

    Coefficients sum to one; each is at most its share of the weights over :math:`\nu`.
    """
    upper = weights / (nu * weights.sum())
    return DualProblem(
        linear=np.zeros(len(weights)),
        lower=np.zeros(len(weights)),
        upper=upper,
        start=fill_up(upper, 1.0),
    )


def description_problem(diagonal: np.ndarray, costs: np.ndarray) -> DualProblem:
    """Return half the dual of the smallest ball."""
    return DualProblem(
        linear=-0.5 * diagonal,
        lower=np.zeros(len(diagonal)),
        upper=costs,
        start=fill_up(costs, 1.0),
    )


def simplex_problem(linear: np.ndarray, start: np.ndarray | None = None) -> DualProblem:
    r"""Return a program whose coefficients are not negative and keep their sum.

    Parameters
    ----------
    linear
        The vector :math:`c`.
    start
        Coefficients with that sum; all of it, one, in the first coefficient if None.
    """
    if start is None:
        start = np.zeros(len(linear))
        start[0] = 1.0
    if (start < 0.0).any():
        raise DataError(f"start must not be negative on a simplex; got {start.min():g}.")
    return DualProblem(
        linear, np.zeros(len(linear)), np.full(len(linear), np.inf), start, constraint="simplex"
    )


def fill_up(room: np.ndarray, total: float) -> np.ndarray:
    """Return coefficients that fill one place after another until they sum to `total`."""
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    return np.clip(total - before, 0.0, room)
