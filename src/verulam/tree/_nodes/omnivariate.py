"""The kind of a node chosen by a statistical test: the simplest that is not clearly worse."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from verulam.statistics import five_by_two_f_test
from verulam.tree._nodes.problem import NodeProblem
from verulam.tree._nodes.registry import FittedNode, fit_node
from verulam.tree._structure.validation_rows import mixed_order

Numbers = NDArray[np.float64]

#: Nodes of fewer rows are given the simplest kind: their halves say nothing.
FEWEST_ROWS = 20
REPLICATIONS = 5


@dataclass(frozen=True, eq=False)
class KindChoice:
    """The kind that was chosen for a node, and why.

    Attributes
    ----------
    kind
        Name of the chosen kind.
    errors : ndarray of shape (n_candidates, 5, 2)
        Error of each candidate on each half of five random divisions; empty if the node had too
        few rows.
    """

    kind: str
    errors: Numbers


def choose_kind(problem: NodeProblem, candidates: Sequence[str], alpha: float) -> KindChoice:
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
        order = mixed_order(problem.codes, problem.random, stratified=True)
        halves = np.sort(order[0::2]), np.sort(order[1::2])
        for fold, (train, test) in enumerate((halves, halves[::-1])):
            for place, kind in enumerate(candidates):
                errors[place, replication, fold] = half_error(problem, kind, train, test)
    chosen = 0
    for place in range(1, len(candidates)):
        if is_better(errors[place], errors[chosen], alpha):
            chosen = place
    return KindChoice(candidates[chosen], errors)


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
    fitted = fit_node(kind, _rows_of(problem, train))
    counts = np.bincount(problem.codes[train], problem.weights[train], minlength=problem.n_classes)
    if fitted is None:
        decisions = np.full(len(test), counts.argmax())
    else:
        cells = fitted.test.branches(problem.inputs[train]) * problem.n_classes
        size = fitted.test.n_branches * problem.n_classes
        table = np.bincount(cells + problem.codes[train], problem.weights[train], minlength=size)
        votes = table.reshape(-1, problem.n_classes).argmax(axis=1)
        decisions = votes[fitted.test.branches(problem.inputs[test])]
    return float(np.average(decisions != problem.codes[test], weights=problem.weights[test]))


def _rows_of(problem: NodeProblem, rows: NDArray[np.intp]) -> NodeProblem:
    return replace(
        problem,
        inputs=np.ascontiguousarray(problem.inputs[rows]),
        codes=problem.codes[rows],
        weights=problem.weights[rows],
    )


def fit_chosen(problem: NodeProblem, candidates: Sequence[str], alpha: float) -> FittedNode | None:
    """Return the test of the kind that the comparison chooses, trained on all rows of the node."""
    return fit_node(choose_kind(problem, candidates, alpha).kind, problem)
