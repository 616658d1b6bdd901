"""Univariate and linear nodes: thresholds, Fisher's and logistic discriminants, CART-LC, OC1."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from verulam.numerics import sigmoid
from verulam.tree._nodes.class_grouping import fisher_direction, two_groups
from verulam.tree._nodes.oblique import (
    SMALLEST_DIFFERENCE,
    Hyperplane,
    along,
    along_inputs,
    best_input,
    best_of_starts,
    jump,
    tune_coefficients,
)
from verulam.tree._nodes.oblique_loops import ERROR, best_interval
from verulam.tree._nodes.problem import NodeProblem, split_impurity_of
from verulam.tree._nodes.splits import IntervalTest, LinearTest

Numbers = NDArray[np.float64]

#: Ridge penalties of the logistic discriminant, from smooth to almost none.
RIDGES = (1e-2, 1e-4, 1e-6, 1e-8)
#: Newton steps for each of them.
MOST_STEPS = 25


def fit_univariate(problem: NodeProblem) -> LinearTest | None:
    """Return the best threshold on one input."""
    column, plane = best_input(problem)
    if not np.isfinite(plane.impurity):
        return None
    weights = np.zeros(problem.inputs.shape[1])
    weights[column] = 1.0
    return LinearTest(weights, plane.intercept)


def fit_ternary(problem: NodeProblem) -> IntervalTest | None:
    """Return the best two thresholds on one input, by trying all pairs."""
    best, interval = np.inf, None
    for column in range(problem.inputs.shape[1]):
        order = np.argsort(problem.inputs[:, column], kind="stable")
        impurity, low, high = best_interval(
            problem.inputs[order, column],
            problem.codes[order],
            problem.weights[order],
            problem.n_classes,
            problem.options.criterion,
            problem.options.min_rows,
        )
        if impurity < best - 1e-9:
            best, interval = impurity, IntervalTest(column, float(low), float(high))
    return interval


def fit_lda(problem: NodeProblem) -> LinearTest | None:
    """Return Fisher's discriminant of two groups of classes, with the best threshold along it."""
    groups = two_groups(problem)
    direction = fisher_direction(problem, groups == 1)
    return _test_of(along(problem, direction)) if direction.any() else None


def fit_logistic(problem: NodeProblem) -> LinearTest | None:
    """Return the linear discriminant trained to misclassify few rows of two groups.

    Gradient methods need a smooth error: the logistic discriminant is trained with less and less
    of a penalty, until no error is left or no penalty. From there the errors themselves are
    reduced, as `fewest_errors` says.
    """
    groups = two_groups(problem)
    weights = logistic_weights(problem.inputs, groups, problem.weights)
    return _test_of(fewest_errors(problem.of_groups(groups), weights)) if weights.any() else None


def fewest_errors(problem: NodeProblem, weights: Numbers) -> Hyperplane:
    """Return the hyperplane of fewest errors that a search from a direction comes to.

    The threshold of fewest errors comes first, the purest of them if it is one; then coefficients
    are tuned one by one and by random jumps, which only fewer errors justify. Fewer may exist
    elsewhere: to find the fewest of all is not feasible with many inputs.

    Parameters
    ----------
    problem
        The node's rows; each side of the hyperplane votes for its larger class.
    weights
        Direction to start from.

    Notes
    -----
    Alpaydin 9.6; Brodley and Utgoff (1995). The search is that of OC1.
    """
    by_errors = replace(problem, options=replace(problem.options, criterion=ERROR))
    purest, start = along(problem, weights), along(by_errors, weights)
    if not np.isfinite(start.impurity):
        return start
    branches = purest.scores(np.zeros(len(problem.inputs)), problem.inputs) > 0
    if split_impurity_of(by_errors, branches, 2) <= start.impurity + SMALLEST_DIFFERENCE:
        start = replace(purest, impurity=start.impurity)
    return jump(by_errors, start)


def fit_cart(problem: NodeProblem) -> LinearTest | None:
    """Return the best threshold on one input, its coefficients tuned one by one."""
    plane = best_input(problem)[1]
    return _test_of(tune_coefficients(problem, plane)) if np.isfinite(plane.impurity) else None


def fit_oc1(problem: NodeProblem) -> LinearTest | None:
    """Return the best hyperplane of a search with random jumps, from several starts (OC1)."""
    plane = best_input(problem)[1]
    return _test_of(best_of_starts(problem, plane)) if np.isfinite(plane.impurity) else None


def useful_inputs(problem: NodeProblem, most: int) -> NDArray[np.intp]:
    """Return the inputs whose best thresholds leave the least impurity, in their order."""
    impurities = np.array([plane.impurity for plane in along_inputs(problem)])
    return np.sort(np.argsort(np.round(impurities, 9), kind="stable")[:most])


def logistic_weights(features: Numbers, groups: NDArray[np.int64], weights: Numbers) -> Numbers:
    """Return the weights of a logistic discriminant, with the least penalty that was needed.

    Parameters
    ----------
    features
        Rows of numbers of similar spread.
    groups
        0 or 1 for each row.
    weights
        Weight of each row.
    """
    design = np.column_stack([features, np.ones(len(features))])
    shares = weights / weights.sum()
    coefficients = np.zeros(design.shape[1])
    # A warm start from the larger penalty; once the groups are separated, less of a penalty would
    # only make the weights grow without bound.
    for ridge in RIDGES:
        penalty = np.full(design.shape[1], ridge)
        penalty[-1] = 0.0
        coefficients = _newton(design, groups, shares, coefficients, penalty)
        scores = design @ coefficients
        if scores[groups == 1].min() > scores[groups == 0].max():
            break
    return coefficients[:-1]


def _newton(
    design: Numbers,
    groups: NDArray[np.int64],
    shares: Numbers,
    coefficients: Numbers,
    penalty: Numbers,
) -> Numbers:
    """Return the coefficients of least penalised deviance by Newton's method, from a start."""

    def loss(trial: Numbers) -> float:
        scores = design @ trial
        return float(shares @ np.logaddexp(0.0, np.where(groups == 1, -scores, scores))) + float(
            0.5 * penalty @ trial**2
        )

    current = loss(coefficients)
    for _ in range(MOST_STEPS):
        probabilities = sigmoid(design @ coefficients)
        gradient = design.T @ (shares * (probabilities - groups)) + penalty * coefficients
        curvature = shares * probabilities * (1.0 - probabilities)
        hessian = (design * curvature[:, None]).T @ design + np.diag(penalty)
        # The intercept is not penalised: where all rows are sure, its curvature vanishes.
        hessian[np.diag_indices_from(hessian)] += 1e-10
        change = np.linalg.solve(hessian, gradient)
        # Backtracking: far from the optimum a full Newton step may overshoot.
        step_length, new_loss = 1.0, loss(coefficients - change)
        while new_loss > current and step_length > 1e-4:
            step_length *= 0.5
            new_loss = loss(coefficients - step_length * change)
        if new_loss >= current - 1e-10 * abs(current):
            break
        coefficients, current = coefficients - step_length * change, new_loss
    return coefficients


def _test_of(plane: Hyperplane) -> LinearTest | None:
    """Return a hyperplane as a test; None if it splits nothing."""
    if not np.isfinite(plane.impurity):
        return None
    return LinearTest(plane.weights, plane.intercept)
