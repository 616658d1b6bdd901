"""Dual problems of the machines, each a quadratic program in a box with at most two sums."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from verulam.base import DataError


@dataclass(frozen=True, eq=False)
class DualProblem:
    r"""A quadratic program in a box, with at most one or two equality constraints.

    .. math:: \min_\beta \tfrac{1}{2} \beta^T K \beta + c^T \beta
              \quad\text{with}\quad l \le \beta \le u

    In the dual of a classifier :math:`\beta^t = \alpha^t r^t`, the Lagrange multiplier of a row
    with the sign of its class.

    Attributes
    ----------
    linear
        The vector :math:`c`.
    lower, upper
        Bounds of the coefficients.
    init
        Feasible coefficients to begin with; their sums are those of the constraints.
    constraint
        "none", "total" (the sum is constant), "simplex" (the same, with bounds of zero and
        infinity) or "groups" (the sum is constant within each group).
    row_of : ndarray or None
        Row of the Gram matrix that each coefficient belongs to, where a row has several; None
        where each has one.
    groups : ndarray or None
        Group, 0 or 1, of each coefficient.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    init: np.ndarray
    constraint: str = "total"
    row_of: np.ndarray | None = None
    groups: np.ndarray | None = None

    def box(self) -> "BoxProblem":
        """Return the program as solvers use it: rows and groups written out, without `init`."""
        size = len(self.linear)
        row_of = np.arange(size) if self.row_of is None else self.row_of
        groups: np.ndarray | None = np.zeros(size, dtype=np.int64)
        if self.constraint == "none":
            groups = None
        elif self.constraint == "groups":
            groups = self.groups
        return BoxProblem(self.linear, self.lower, self.upper, row_of, groups)


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """Linear term, box and equality constraints of a dual program, as solvers use them.

    Attributes
    ----------
    linear, lower, upper
        Linear term and bounds, see `DualProblem`.
    row_of
        Row of the Gram matrix of each coefficient.
    groups
        Group of each coefficient, whose sum is constant; None without such constraints.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    row_of: np.ndarray
    groups: np.ndarray | None

    @cached_property
    def n_sums(self) -> int:
        """Number of equality constraints."""
        return 0 if self.groups is None else int(self.groups.max(initial=0)) + 1

    def members(self, group: int) -> np.ndarray:
        """Return which coefficients are in a group, all of them without constraints."""
        if self.groups is None:
            return np.ones(len(self.linear), dtype=bool)
        return self.groups == group


def classification_problem(
    signs: np.ndarray,
    costs: np.ndarray,
    init: np.ndarray | None = None,
    *,
    fit_intercept: bool = True,
) -> DualProblem:
    r"""Return the dual of the soft margin, in :math:`\beta^t = \alpha^t r^t`.

    Parameters
    ----------
    signs
        Class :math:`r^t`, -1 or 1.
    costs
        Cost :math:`C^t` of each row's slack.
    init
        Feasible coefficients to begin with; zero if None.
    fit_intercept
        Whether the plane may be off the origin; without, the coefficients need not sum to zero.
    """
    return DualProblem(
        linear=-signs,
        lower=np.where(signs > 0, 0.0, -costs),
        upper=np.where(signs > 0, costs, 0.0),
        init=np.zeros(len(signs)) if init is None else init,
        constraint="total" if fit_intercept else "none",
    )


def nu_classification_problem(signs: np.ndarray, nu: float, weights: np.ndarray) -> DualProblem:
    r"""Return the dual with a share :math:`\nu` of margin errors in place of a cost."""
    positive = signs > 0
    shares = weights / weights.sum()
    # Each class carries half of nu, and no row more than its share.
    smaller = float(min(shares[positive].sum(), shares[~positive].sum()))
    if nu > 2.0 * smaller + 1e-12:
        raise DataError(
            f"nu={nu:g} is infeasible for classes of these sizes: half of it must fit into the "
            f"smaller class. The largest feasible value is {2.0 * smaller:.6g}."
        )
    init = np.where(
        positive, fill_up(shares * positive, nu / 2), -fill_up(shares * ~positive, nu / 2)
    )
    return DualProblem(
        linear=np.zeros(len(signs)),
        lower=np.where(positive, 0.0, -shares),
        upper=np.where(positive, shares, 0.0),
        init=init,
        constraint="groups",
        groups=np.where(positive, 0, 1),
    )


def hull_problem(signs: np.ndarray, usable: np.ndarray) -> DualProblem:
    """Return the program of the nearest points of the two classes' convex hulls."""
    positive = signs > 0
    init = np.zeros(len(signs))
    for side, sign in ((positive, 1.0), (~positive, -1.0)):
        members = side & usable
        init[members] = sign / members.sum()
    return DualProblem(
        linear=np.zeros(len(signs)),
        # The sums keep shares below one, so these bounds never bind.
        lower=np.where(positive | ~usable, 0.0, -2.0),
        upper=np.where(positive & usable, 2.0, 0.0),
        init=init,
        constraint="groups",
        groups=np.where(positive, 0, 1),
    )


def nu_origin_problem(nu: float, weights: np.ndarray) -> DualProblem:
    r"""Return the dual with a share :math:`\nu` of margin errors and no intercept.

    It is in the multipliers :math:`\alpha^t` of signed rows, which sum to :math:`\nu` whatever
    their classes.
    """
    shares = weights / weights.sum()
    return DualProblem(
        linear=np.zeros(len(weights)),
        lower=np.zeros(len(weights)),
        upper=shares,
        init=fill_up(shares, nu),
    )


def origin_problem(usable: np.ndarray) -> DualProblem:
    """Return the program of the point of signed rows' convex hull that is nearest the origin."""
    return DualProblem(
        linear=np.zeros(len(usable)),
        lower=np.zeros(len(usable)),
        # The sum keeps shares below one, so this bound never binds.
        upper=np.where(usable, 2.0, 0.0),
        init=usable / usable.sum(),
    )


def regression_problem(targets: np.ndarray, costs: np.ndarray, epsilon: float) -> DualProblem:
    r"""Return the dual of the tube: coefficients :math:`\alpha_+` first, :math:`-\alpha_-` then."""
    zeros = np.zeros(len(targets))
    return DualProblem(
        linear=np.concatenate([epsilon - targets, -epsilon - targets]),
        lower=np.concatenate([zeros, -costs]),
        upper=np.concatenate([costs, zeros]),
        init=np.zeros(2 * len(targets)),
        row_of=np.tile(np.arange(len(targets)), 2),
    )


def nu_regression_problem(targets: np.ndarray, costs: np.ndarray, nu: float) -> DualProblem:
    r"""Return the dual in which a share :math:`\nu` of errors sets the width of the tube."""
    zeros, size = np.zeros(len(targets)), len(targets)
    # Both walls of the tube share the total cost of errors equally.
    half = fill_up(costs, 0.5 * nu * float(costs.sum()))
    return DualProblem(
        linear=np.concatenate([-targets, -targets]),
        lower=np.concatenate([zeros, -costs]),
        upper=np.concatenate([costs, zeros]),
        init=np.concatenate([half, -half]),
        constraint="groups",
        row_of=np.tile(np.arange(size), 2),
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
        init=fill_up(upper, 1.0),
    )


def description_problem(diagonal: np.ndarray, costs: np.ndarray) -> DualProblem:
    """Return half the dual of the smallest ball."""
    return DualProblem(
        linear=-0.5 * diagonal,
        lower=np.zeros(len(diagonal)),
        upper=costs,
        init=fill_up(costs, 1.0),
    )


def simplex_problem(linear: np.ndarray, init: np.ndarray | None = None) -> DualProblem:
    r"""Return a program whose coefficients are not negative and have a constant sum.

    Parameters
    ----------
    linear
        The vector :math:`c`.
    init
        Coefficients with that sum; all of it, one, in the first coefficient if None.
    """
    if init is None:
        init = np.zeros(len(linear))
        init[0] = 1.0
    if (init < 0.0).any():
        raise DataError(f"init must not be negative on a simplex; got {init.min():g}.")
    return DualProblem(
        linear, np.zeros(len(linear)), np.full(len(linear), np.inf), init, constraint="simplex"
    )


def fill_up(capacities: np.ndarray, total: float) -> np.ndarray:
    """Return coefficients that fill one place after another until they sum to `total`."""
    before = np.concatenate([[0.0], np.cumsum(capacities)[:-1]])
    return np.clip(total - before, 0.0, capacities)
