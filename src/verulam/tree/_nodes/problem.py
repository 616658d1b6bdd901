"""The learning problem of a node in a multivariate tree, and the line search of its splits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.tree._nodes.oblique_loops import ENTROPY, ERROR, GINI, best_cut, side_impurity

Numbers = NDArray[np.float64]

CRITERIA = {"gini": GINI, "entropy": ENTROPY, "misclassification": ERROR}


@dataclass(frozen=True)
class NodeOptions:
    """Choices that are the same in all nodes.

    Attributes
    ----------
    criterion
        Code of the impurity.
    min_rows
        Fewest rows of a branch.
    grouping
        How more than two classes are divided into two groups: "exchange" or "two_means".
    max_inputs
        Inputs that a node may use.
    hidden_units
        Units of a network.
    n_init
        Starts of searches that may end in local minima.
    n_jumps
        Random directions that are tried in vain before a search ends.
    """

    criterion: int
    min_rows: int
    grouping: str
    max_inputs: int
    hidden_units: int
    n_init: int
    n_jumps: int


@dataclass(frozen=True, eq=False)
class NodeProblem:
    """The training rows that reached a node.

    Attributes
    ----------
    inputs : ndarray of shape (n_rows, n_inputs)
        Numbers, standardised.
    codes : ndarray of int64
        Class of each row.
    weights : ndarray of shape (n_rows,)
        Weight of each row.
    n_classes
        Classes of the learner; some may be absent.
    options
        Choices that are the same in all nodes.
    random
        Where chance comes from.
    """

    inputs: Numbers
    codes: NDArray[np.int64]
    weights: Numbers
    n_classes: int
    options: NodeOptions
    random: np.random.Generator

    @property
    def class_weights(self) -> Numbers:
        """Weight of each class."""
        counts = np.bincount(self.codes, self.weights, minlength=self.n_classes)
        return counts.astype(np.float64)

    @property
    def present(self) -> NDArray[np.intp]:
        """Classes that have rows in the node."""
        return np.flatnonzero(np.bincount(self.codes, minlength=self.n_classes))

    @property
    def impurity(self) -> float:
        """Impurity of the node."""
        return impurity_of(self.class_weights, self.options.criterion)

    def class_means(self) -> Numbers:
        """Return the mean inputs of the classes that are present."""
        sums = np.zeros((self.n_classes, self.inputs.shape[1]))
        np.add.at(sums, self.codes, self.inputs * self.weights[:, None])
        return (sums / np.maximum(self.class_weights, 1e-300)[:, None])[self.present]

    def on_inputs(self, columns: NDArray[np.intp]) -> "NodeProblem":
        """Return the problem with some of its inputs."""
        return replace(self, inputs=np.ascontiguousarray(self.inputs[:, columns]))

    def of_groups(self, groups: NDArray[np.int64]) -> "NodeProblem":
        """Return the problem of telling two groups of classes apart."""
        return replace(self, codes=groups, n_classes=2)


@dataclass(frozen=True)
class Step:
    """How far to go in a direction.

    Attributes
    ----------
    impurity
        Impurity after the split; infinite if there is none.
    length
        Multiple of the direction; NaN if there is none.
    """

    impurity: float
    length: float


def find_step(problem: NodeProblem, scores: Numbers, direction: Numbers) -> Step:
    """Return the multiple of a direction that, added to the scores, splits the classes best."""
    # Entries that are all but zero would have to be moved by infinite steps.
    moving = np.flatnonzero(np.abs(direction) > 1e-9 * np.abs(direction).max(initial=0.0))
    # A row changes sides where score + length * direction passes 0. In the order of those lengths
    # one run through the rows judges every length, whatever the number of inputs.
    keys = -scores[moving] / direction[moving]
    order = np.argsort(keys)
    moving = moving[order]
    # Where the rows are for a step of minus infinity.
    side = (scores > 0).astype(np.intp)
    side[moving] = direction[moving] < 0
    cells = side * problem.n_classes + problem.codes
    table = np.bincount(cells, problem.weights, minlength=2 * problem.n_classes)
    impurity, length = best_cut(
        keys[order],
        direction[moving] > 0,
        problem.codes[moving],
        problem.weights[moving],
        table.reshape(2, -1),
        np.bincount(side, minlength=2),
        problem.options.criterion,
        problem.options.min_rows,
    )
    return Step(float(impurity), float(length))


def find_threshold(problem: NodeProblem, scores: Numbers) -> Step:
    """Return the constant that, added to the scores, splits the classes best."""
    return find_step(problem, scores, np.ones(len(scores)))


def first_least(impurities: Sequence[float]) -> int:
    """Return the place of the least impurity, the first of those that differ by rounding alone."""
    return int(np.argmin(np.round(impurities, 9)))


def split_impurity_of(problem: NodeProblem, branches: NDArray[Any], n_branches: int) -> float:
    """Return the impurity after a split, averaged over its branches."""
    cells = branches * problem.n_classes + problem.codes
    table = np.bincount(cells, problem.weights, minlength=n_branches * problem.n_classes)
    criterion = problem.options.criterion
    parts = [side_impurity(row, criterion) for row in table.reshape(n_branches, -1)]
    return float(np.sum(parts) / table.sum())


def impurity_of(counts: Numbers, criterion: int) -> float:
    """Return the impurity of class weights."""
    return float(side_impurity(counts, criterion) / counts.sum())
