"""Linear models in the leaves of regression trees."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.tree._assemble import Growth
from verulam.tree._prune import no_better_than_leaves
from verulam.tree._structure import surviving


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

    The error of a model of v weights on n rows is its mean absolute residual times
    ``(n + v) / (n - v)``, as in Quinlan's M5; a node whose mean squared residual is below
    `threshold` is a leaf as well.

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
    with np.errstate(invalid="ignore"):
        present = ~np.isnan(rows[:, columns])
        means = np.where(present, rows[:, columns], 0.0).sum(axis=0) / np.maximum(
            present.sum(axis=0), 1
        )
    inputs = _filled(rows[:, columns], means)
    structure = growth.structure
    models: list[dict[str, Any]] = []
    for node in range(len(structure)):
        chosen = growth.node_rows(node)
        # A branch that no row took has the model of its parent, which comes before it.
        models.append(
            _fit_node(inputs, targets, weights, chosen, columns)
            if len(chosen)
            else models[structure.parent[node]]
        )
    errors = np.array([model["error"] for model in models]) * structure.weight
    good = np.array([model["squared"] for model in models]) < threshold
    # Perfect fits differ by rounding alone.
    slack = 1e-9 * float(np.ptp(targets)) * structure.weight
    to_leaf = no_better_than_leaves(structure, errors, tolerance=slack, good_enough=good)
    kept = growth.collapsed(to_leaf)
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
    return kept, leaves


def _filled(inputs: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(inputs), means, inputs)


def _fit_node(
    inputs: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    chosen: NDArray[np.int32],
    columns: NDArray[np.intp],
) -> dict[str, Any]:
    """Return the least-squares model of a node's rows and its errors."""
    own, numbers = inputs[chosen], targets[chosen]
    share = np.ones(len(chosen)) if weights is None else weights[chosen]
    share = share / share.sum()
    centre, mean = share @ own, float(share @ numbers)
    scales = np.sqrt(share @ (own - centre) ** 2)
    usable = scales > 1e-9 * (np.abs(centre) + 1e-300)
    coefficients = np.zeros(len(columns))
    n_weights = 1 + int(usable.sum())
    if usable.any() and len(chosen) > n_weights:
        design = (own[:, usable] - centre[usable]) / scales[usable] * np.sqrt(share)[:, None]
        solution = np.linalg.lstsq(design, (numbers - mean) * np.sqrt(share), rcond=1e-9)[0]
        coefficients[usable] = solution / scales[usable]
    else:
        n_weights = 1
    intercept = mean - centre @ coefficients
    residuals = numbers - own @ coefficients - intercept
    n = len(chosen)
    penalty = (n + n_weights) / (n - n_weights) if n > n_weights else 10.0
    return {
        "weights": coefficients,
        "intercept": intercept,
        "error": float(share @ np.abs(residuals)) * penalty,
        "squared": float(share @ residuals**2),
        "low": numbers.min(),
        "high": numbers.max(),
    }
