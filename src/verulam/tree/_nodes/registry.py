"""The kinds of nodes by name, in the order of their complexity."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verulam.base import unknown_name
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
    found = _fitted(kind, problem)
    if kind == "univariate" or (found and found.impurity < problem.impurity - 1e-9):
        return found
    simple = _fitted("univariate", problem)
    if found is None or (simple and simple.impurity < found.impurity):
        return simple
    return found


def _fitted(kind: str, problem: NodeProblem) -> FittedNode | None:
    n_inputs, most = problem.inputs.shape[1], problem.options.max_inputs
    if most >= n_inputs or kind in OF_ONE_INPUT:
        test = FITS[kind](problem)
    else:
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
