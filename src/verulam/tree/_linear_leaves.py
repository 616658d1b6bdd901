"""Model trees (M5'): linear models in the leaves of regression trees."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.tree._growing.assemble import Growth
from verulam.tree._structure.tree import LEAF, TreeStructure, surviving

#: Where there are as many weights as rows.
LARGEST_PENALTY = 10.0

#: What is smaller, as a share of the largest target of a node, is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class LinearLeaves:
    """A linear model for each node, for the numeric columns.

    Attributes
    ----------
    columns : ndarray of intp
        The numeric columns.
    means : ndarray of shape (n_numeric,)
        What stands in for missing numbers.
    weights : ndarray of shape (n_nodes, n_numeric)
        Weight of each column in each node.
    intercepts : ndarray of shape (n_nodes,)
        Constant term of each node.
    lowest, highest : ndarray of shape (n_nodes,)
        Range of the training targets in each node.
    """

    columns: NDArray[np.intp]
    means: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]

    def predict(self, rows: NDArray[np.float64], leaves: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the value of each row's linear model.

        Predictions leave the range of the leaf's targets by at most its width on either side.
        """
        inputs = _filled(rows[:, self.columns], self.means)
        values = (inputs * self.weights[leaves]).sum(axis=1) + self.intercepts[leaves]
        lowest, highest = self.bounds
        return np.clip(values, lowest[leaves], highest[leaves])

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and largest prediction of each node."""
        # A line goes on for ever: far from the training rows it would predict what no target was.
        width = self.highest - self.lowest
        return self.lowest - width, self.highest + width

    def of_nodes(self, order: NDArray[np.intp]) -> "LinearLeaves":
        """Return the models of some of the nodes, in that order."""
        return replace(
            self,
            weights=self.weights[order],
            intercepts=self.intercepts[order],
            lowest=self.lowest[order],
            highest=self.highest[order],
        )


def fit_linear_leaves(
    growth: Growth,
    rows: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    threshold: float,
) -> tuple[Growth, LinearLeaves]:
    """Return the tree cut back to where one linear model does as well as those below it.

    The error of a model of v weights on n rows is the root of its mean squared residual times
    ``(n + v) / (n - v)``; that of a subtree is the same with all its weights and splits, as in
    M5'. A node whose mean squared residual is below `threshold` is a leaf as well.

    Parameters
    ----------
    growth
        The grown tree, with the training rows of its nodes.
    rows, targets, weights
        The training data.
    threshold
        Acceptable mean squared error of a leaf.
    """
    columns = np.flatnonzero(growth.structure.n_categories == 0)
    with np.errstate(invalid="ignore", over="ignore"):
        present = ~np.isnan(rows[:, columns])
        means = np.where(present, rows[:, columns], 0.0).sum(axis=0) / np.maximum(
            present.sum(axis=0), 1
        )
    inputs = _filled(rows[:, columns], means)
    with np.errstate(over="ignore", invalid="ignore"):
        widest = np.square(inputs.max(axis=0) - inputs.min(axis=0)) * len(inputs)
    if not np.isfinite(widest).all():
        column = columns[int(np.argmin(np.isfinite(widest)))]
        raise DataError(
            f"Column {column} of X is too large for its squares: divide it by a power of ten."
        )
    structure = growth.structure
    models: list[dict[str, Any]] = []
    for node in range(len(structure)):
        node_rows = growth.node_rows(node)
        # A branch that no row took has the model of its parent, which comes before it.
        models.append(
            _fit_node(inputs, targets, weights, node_rows)
            if len(node_rows)
            else models[structure.parent[node]]
        )
    squares = np.array([model["squared"] for model in models])
    n_weights = np.array([np.count_nonzero(model["weights"]) + 1 for model in models])
    slack = 1e-9 * float(np.ptp(targets))
    to_leaf = no_better_than_models(structure, squares, n_weights, threshold, slack)
    pruned = growth.collapsed(to_leaf)
    order = surviving(structure, to_leaf)

    def stacked(name: str) -> Any:
        return np.array([models[node][name] for node in order])

    leaves = LinearLeaves(
        columns,
        means,
        stacked("weights").reshape(len(order), len(columns)),
        stacked("intercept"),
        stacked("low"),
        stacked("high"),
    )
    return pruned, leaves


def _filled(inputs: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(inputs), means, inputs)


def _fit_node(
    inputs: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    node_rows: NDArray[np.int32],
) -> dict[str, Any]:
    """Return the least-squares model of a node's rows and its error.

    Weights that rounding alone would make are 0, so that they do not count as learned.
    """
    X, y = inputs[node_rows], targets[node_rows]
    share = np.ones(len(y)) if weights is None else weights[node_rows]
    share = share / share.sum()
    centre, mean = share @ X, float(share @ y)
    scales = np.sqrt(share @ (X - centre) ** 2)
    # A column that is constant in the node has no slope to learn there.
    usable = scales > 1e-9 * (np.abs(centre) + 1e-300)
    coefficients = np.zeros(X.shape[1])
    noise = ROUNDING * np.abs(y).max()
    # The mean of equal targets may miss them by a last digit.
    varied = np.abs(y - mean).max() > noise
    if varied and 0 < np.count_nonzero(usable) < len(y) - 1:
        # Centred and scaled, so that `rcond` means the same for columns of any unit; weighted least
        # squares by the roots of the weights.
        design = (X[:, usable] - centre[usable]) / scales[usable] * np.sqrt(share)[:, None]
        response = (y - mean) * np.sqrt(share)
        solution = np.linalg.lstsq(design, response, rcond=1e-9)[0]
        coefficients[usable] = np.where(np.abs(solution) > noise, solution / scales[usable], 0.0)
    intercept = mean - centre @ coefficients
    residuals = y - X @ coefficients - intercept
    return {
        "weights": coefficients,
        "intercept": intercept,
        "squared": float(share @ residuals**2),
        "low": y.min(),
        "high": y.max(),
    }


def no_better_than_models(
    structure: TreeStructure,
    squares: NDArray[np.float64],
    n_weights: NDArray[np.int64],
    threshold: float,
    slack: float,
) -> NDArray[np.bool_]:
    """Return the inner nodes whose own model does as well as all those below, from the leaves up.

    Parameters
    ----------
    structure
        The tree.
    squares
        Mean squared residual of each node's own model.
    n_weights
        Numbers that each model has learned.
    threshold
        Mean squared residual below which a model is good enough.
    slack
        By how much the error of a model may be larger: perfect fits differ by rounding.
    """
    weight, n_rows = structure.weight, structure.n_rows
    to_leaf = np.zeros(len(structure), dtype=bool)
    # What the leaves below have lost and learned; a leaf has itself below.
    lost, learned = squares * weight, n_weights.astype(np.float64)
    below, weights_below = np.zeros(len(structure)), np.zeros(len(structure))
    for nodes in reversed(list(structure.levels())):
        inner = nodes[structure.kind[nodes] != LEAF]
        # The split is one more thing to learn.
        weights_below[inner] += 1
        as_leaf = np.sqrt(squares[inner]) * penalty(n_rows[inner], n_weights[inner])
        as_subtree = np.sqrt(below[inner] / weight[inner])
        as_subtree *= penalty(n_rows[inner], weights_below[inner])
        to_leaf[inner] = (as_leaf <= as_subtree + slack) | (squares[inner] < threshold)
        split = inner[~to_leaf[inner]]
        lost[split], learned[split] = below[split], weights_below[split]
        if nodes[0]:
            np.add.at(below, structure.parent[nodes], lost[nodes])
            np.add.at(weights_below, structure.parent[nodes], learned[nodes])
    return to_leaf


def penalty(n_rows: NDArray[Any], n_weights: NDArray[Any]) -> NDArray[np.float64]:
    """Return (n + v) / (n - v): v weights learned from n rows look better than they are."""
    left = np.maximum(n_rows - n_weights, 1)
    return np.where(n_rows > n_weights, (n_rows + n_weights) / left, LARGEST_PENALTY)
