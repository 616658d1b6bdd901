"""Kinds of nodes by name, from simple to complex, and omnivariate nodes that choose among them.

An omnivariate node takes the simplest kind that no more complex one significantly improves on, by
the combined 5x2 cv F test.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from verulam.base import unknown_name
from verulam.statistics import five_by_two_f_test
from verulam.tree._nodes.curved import (
    fit_ellipsoid,
    fit_gaussian,
    fit_network,
    fit_quadratic,
    fit_sphere,
)
from verulam.tree._nodes.linear import (
    fit_cart,
    fit_lda,
    fit_logistic,
    fit_oc1,
    fit_ternary,
    fit_univariate,
    useful_inputs,
)
from verulam.tree._nodes.problem import NodeProblem, split_impurity_of
from verulam.tree._nodes.splits import NodeTest
from verulam.tree._structure.tree import OTHER
from verulam.tree._structure.validation_rows import mixed_order

Numbers = NDArray[np.float64]

FITS: dict[str, Callable[[NodeProblem], NodeTest | None]] = {
    "univariate": fit_univariate,
    "ternary": fit_ternary,
    "lda": fit_lda,
    "logistic": fit_logistic,
    "cart": fit_cart,
    "oc1": fit_oc1,
    "gaussian": fit_gaussian,
    "sphere": fit_sphere,
    "ellipsoid": fit_ellipsoid,
    "quadratic": fit_quadratic,
    "network": fit_network,
}
#: Kinds that look at one input, which they find by themselves.
OF_ONE_INPUT = ("univariate", "ternary")
#: Number of each kind of node in the structure of a tree.
KIND_NUMBERS = {name: OTHER + place for place, name in enumerate(FITS)}
KIND_NAMES = {number: name for name, number in KIND_NUMBERS.items()}
#: Omnivariate nodes of fewer rows are given the simplest kind: their halves say nothing.
FEWEST_ROWS = 20
#: Divisions into halves of the 5x2 cv F test.
REPLICATIONS = 5


@dataclass(frozen=True, eq=False)
class FittedNode:
    """A test that was learned, and what kind it turned out to be.

    Attributes
    ----------
    kind
        Name of the kind.
    test
        The test.
    impurity
        Impurity of the training rows after the split.
    """

    kind: str
    test: NodeTest
    impurity: float


def check_kind(name: str) -> None:
    """Raise if there is no kind of node of that name."""
    if name not in FITS:
        raise unknown_name("node", name, list(FITS))


def fit_node(kind: str, problem: NodeProblem) -> FittedNode | None:
    """Return the test of a kind that a node's rows teach; None if nothing divides them.

    Where the kind finds no split, or one that leaves all branches as mixed as the node was, the
    best single threshold takes its place if it is better.
    """
    if len(problem.present) < 2:
        return None
    fitted = _fitted(kind, problem)
    if kind == "univariate" or (fitted and fitted.impurity < problem.impurity - 1e-9):
        return fitted
    threshold = _fitted("univariate", problem)
    if fitted is None or (threshold and threshold.impurity < fitted.impurity):
        return threshold
    return fitted


def _fitted(kind: str, problem: NodeProblem) -> FittedNode | None:
    n_inputs, most = problem.inputs.shape[1], problem.options.max_inputs
    if most >= n_inputs or kind in OF_ONE_INPUT:
        test = FITS[kind](problem)
    else:
        # Ranked by single thresholds, which is cheap; the kind itself then sees the best inputs
        # alone.
        columns = useful_inputs(problem, most)
        test = FITS[kind](problem.on_inputs(columns))
        test = test and test.on_columns(columns, n_inputs)
    if test is None:
        return None
    branches = test.branches(problem.inputs)
    counts = np.bincount(branches, minlength=test.n_branches)
    if counts.min() < problem.options.min_rows:
        return None
    return FittedNode(kind, test, split_impurity_of(problem, branches, test.n_branches))


@dataclass(frozen=True, eq=False)
class KindChoice:
    """The kind that was selected for a node, and why.

    Attributes
    ----------
    kind
        Name of the kind.
    errors : ndarray of shape (n_candidates, 5, 2)
        Error of each candidate on each half of five random divisions; empty if the node had too
        few rows.
    """

    kind: str
    errors: Numbers


def fit_omnivariate(
    problem: NodeProblem, candidates: Sequence[str], alpha: float
) -> FittedNode | None:
    """Return the test of the kind that the comparison selects, trained on all rows of the node."""
    return fit_node(select_kind(problem, candidates, alpha).kind, problem)


def select_kind(problem: NodeProblem, candidates: Sequence[str], alpha: float) -> KindChoice:
    """Return the simplest candidate that no more complex one significantly improves on.

    Each candidate is trained on one half of the node's rows and tested on the other, five times
    over; starting from the simplest, another takes its place if its mean error is smaller and
    the combined 5x2 cv F test rejects that the two have the same error.

    Parameters
    ----------
    problem
        The node's rows.
    candidates
        Kinds of nodes, from the simplest to the most complex.
    alpha
        Level of significance.

    Notes
    -----
    Alpaydin 9.7 and 19.11.4; Yıldız and Alpaydın (2001).
    """
    if len(problem.codes) < FEWEST_ROWS or len(candidates) == 1:
        return KindChoice(candidates[0], np.empty((len(candidates), 0, 2)))
    errors = np.empty((len(candidates), REPLICATIONS, 2))
    for replication in range(REPLICATIONS):
        # Every other row of an order sorted by class: halves with the same shares of the classes.
        order = mixed_order(problem.codes, problem.random, stratified=True)
        halves = np.sort(order[0::2]), np.sort(order[1::2])
        for fold, (train, test) in enumerate((halves, halves[::-1])):
            for place, kind in enumerate(candidates):
                errors[place, replication, fold] = half_error(problem, kind, train, test)
    simplest = 0
    for place in range(1, len(candidates)):
        if is_better(errors[place], errors[simplest], alpha):
            simplest = place
    return KindChoice(candidates[simplest], errors)


def is_better(errors: Numbers, simpler: Numbers, alpha: float) -> bool:
    """Tell whether errors are significantly smaller than those of a simpler kind."""
    differences = errors - simpler
    if differences.mean() >= 0.0:
        return False
    if np.ptp(differences, axis=1).max() <= 1e-12:
        # No variance at all, and a difference: the statistic is infinite.
        return True
    return five_by_two_f_test(errors, simpler, alpha=alpha).p_value < alpha


def half_error(
    problem: NodeProblem, kind: str, train: NDArray[np.intp], test: NDArray[np.intp]
) -> float:
    """Return the error on some rows of a node trained on others, its branches voting."""
    fitted = fit_node(kind, _on_rows(problem, train))
    counts = np.bincount(problem.codes[train], problem.weights[train], minlength=problem.n_classes)
    if fitted is None:
        decisions = np.full(len(test), counts.argmax())
    else:
        # One count for each pair of branch and class.
        cells = fitted.test.branches(problem.inputs[train]) * problem.n_classes
        size = fitted.test.n_branches * problem.n_classes
        table = np.bincount(cells + problem.codes[train], problem.weights[train], minlength=size)
        votes = table.reshape(-1, problem.n_classes).argmax(axis=1)
        decisions = votes[fitted.test.branches(problem.inputs[test])]
    return float(np.average(decisions != problem.codes[test], weights=problem.weights[test]))


def _on_rows(problem: NodeProblem, rows: NDArray[np.intp]) -> NodeProblem:
    return replace(
        problem,
        inputs=np.ascontiguousarray(problem.inputs[rows]),
        codes=problem.codes[rows],
        weights=problem.weights[rows],
    )
