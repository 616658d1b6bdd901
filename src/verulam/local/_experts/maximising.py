r"""Expectation-maximisation for experts and trees of gates, and where it begins."""

import numpy as np
from numpy.typing import NDArray

from verulam.cluster import KMeans
from verulam.local._experts.parts import Branches, HiddenExperts, LinearExperts, TreeGate
from verulam.local._radial.expectation import LEAST_MASS, Maximiser
from verulam.local._radial.mixing import Targets
from verulam.local._radial.placing import distinct_rows
from verulam.local._radial.softmax_fit import fit_softmax
from verulam.local._radial.units import FloatArray

#: Penalty of weights where none is asked for, so that they are determined.
HAIR = 1e-10
#: Share of the other experts in the rows of one, at the start.
SOFTNESS = 0.1
#: A step need not find the best gate, only a better one.
NEWTON_STEPS = 2


def first_leaves(
    tree: Branches, X: FloatArray, weights: FloatArray | None, seed: int
) -> NDArray[np.intp]:
    """Return the leaf that each row begins in: k-means at every node of the tree."""
    leaves = np.zeros(len(X), dtype=np.intp)
    rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
    _divide(tree, X, weights, rows, 0, seed, leaves)
    return leaves


def _divide(
    tree: Branches,
    X: FloatArray,
    weights: FloatArray | None,
    rows: NDArray[np.intp],
    first: int,
    seed: int,
    leaves: NDArray[np.intp],
) -> int:
    """Put rows below a node, whose first leaf has a number; return the next number."""
    if tree is None:
        leaves[rows] = first
        return first + 1
    count = distinct_rows(X[rows], len(tree)) if len(rows) else 0
    branches = np.zeros(len(rows), dtype=np.intp)
    if count > 1:
        mine = None if weights is None else weights[rows]
        clusters = KMeans(count, n_init=2, random_state=seed).fit(X[rows], sample_weight=mine)
        branches = clusters.labels_
    for place, child in enumerate(tree):
        first = _divide(child, X, weights, rows[branches == place], first, seed, leaves)
    return first


def first_posteriors(leaves: NDArray[np.intp], n_units: int) -> FloatArray:
    """Return shares of the experts, most of which belong to one."""
    shares = np.full((len(leaves), n_units), SOFTNESS / n_units)
    shares[np.arange(len(leaves)), leaves] += 1.0 - SOFTNESS
    return shares


def with_ones(X: FloatArray) -> FloatArray:
    """Return rows with a column of ones in front."""
    return np.hstack([np.ones((len(X), 1)), X])


def maximised_planes(
    gate: TreeGate, theta: FloatArray, X: FloatArray, posteriors: FloatArray, alpha: float
) -> FloatArray:
    r"""Return gates that maximise :math:`\sum_t \sum_{ij} f_{ij} \ln g_i g_{j|i}`, node by node.

    Each node is a softmax that is fitted to the posteriors of its branches, by iteratively
    reweighted least squares.

    Parameters
    ----------
    gate, theta
        The gate and where its weights begin.
    X, posteriors
        Rows, and shares of the leaves in them, with the weights of the rows.
    alpha
        Strength of the penalty on weights.
    """
    design, table = with_ones(X), theta.reshape(gate.n_inputs + 1, -1).copy()
    decay = np.full(design.shape[1], alpha + HAIR)
    decay[0] = HAIR
    by_branch = posteriors @ gate.paths.T
    for node in gate.nodes:
        table[:, node] = fit_softmax(
            design, by_branch[:, node], decay, table[:, node], NEWTON_STEPS
        )
    return table.ravel()


def maximised_linear(
    experts: LinearExperts,
    theta: FloatArray,
    X: FloatArray,
    targets: Targets,
    posteriors: FloatArray,
    alpha: float,
    noise: float,
) -> FloatArray:
    """Return the linear experts that are best for their shares of the rows.

    Numbers are fitted by weighted least squares, classes by weighted softmax.

    Parameters
    ----------
    experts, theta
        The experts and where their weights begin.
    X, targets, posteriors
        Rows, what is to be predicted, and shares of the experts, with the weights of the rows.
    alpha
        Strength of the penalty on weights.
    noise
        Standard deviation of numbers, beside which the penalty counts.
    """
    design = with_ones(X)
    table = theta.reshape(experts.n_inputs + 1, experts.n_units, experts.n_outputs).copy()
    decay = np.full(design.shape[1], alpha + HAIR)
    decay[0] = HAIR
    for unit in range(experts.n_units):
        shares = posteriors[:, unit]
        if shares.sum() <= LEAST_MASS:
            continue
        if targets.classes:
            table[:, unit] = fit_softmax(
                design, targets.values * shares[:, None], decay, table[:, unit], NEWTON_STEPS
            )
            continue
        weighted = design * shares[:, None]
        matrix = design.T @ weighted + np.diag(decay * noise**2)
        # Columns that are sums of others leave many solutions; the shortest is taken.
        table[:, unit] = np.linalg.lstsq(matrix, weighted.T @ targets.values, rcond=1e-13)[0]
    return table.ravel()


def reduced_experts(
    experts: HiddenExperts, linear: FloatArray, X: FloatArray, shares: FloatArray, local_pca: bool
) -> FloatArray:
    """Return experts of a few directions that come near linear ones.

    Parameters
    ----------
    experts
        The experts to make.
    linear
        Weights of linear experts: inputs with a one in front, experts, outputs.
    X, shares
        Rows and shares of the experts in them.
    local_pca
        Whether directions are those of largest variance among the rows of an expert, instead of
        those that matter most to its outputs.
    """
    first = np.zeros((experts.n_inputs + 1, experts.n_units, experts.n_hidden))
    second = np.zeros((experts.n_units, experts.n_hidden, experts.n_outputs))
    intercepts = linear[0].copy()
    for unit in range(experts.n_units):
        weights = shares[:, unit] / max(float(shares[:, unit].sum()), 1e-300)
        center = weights @ X
        deviations = X - center
        covariance = deviations.T @ (weights[:, None] * deviations)
        if local_pca:
            directions = np.linalg.eigh(covariance)[1][:, ::-1][:, : experts.n_hidden]
        else:
            directions = np.linalg.svd(linear[1:, unit], full_matrices=True)[0][
                :, : experts.n_hidden
            ]
        first[1:, unit], first[0, unit] = directions, -center @ directions
        # Regression of the plane on what the directions show of the rows.
        seen = directions.T @ covariance @ directions
        across = directions.T @ covariance @ linear[1:, unit]
        second[unit] = np.linalg.lstsq(seen, across, rcond=None)[0]
        intercepts[unit] = linear[0, unit] + center @ linear[1:, unit]
    return np.concatenate([first.ravel(), second.ravel(), intercepts.ravel()])


class ExpertMaximiser(Maximiser):
    """Steps of expectation-maximisation for gates of planes and linear experts."""

    def penalty(self, theta: FloatArray) -> float:
        """Return the penalty on all weights but intercepts."""
        of_gate, of_experts, _, _ = self.model.split(theta)
        total = 0.0
        if isinstance(self.model.gate, TreeGate):
            table = of_gate.reshape(self.model.n_inputs + 1, -1)
            total += 0.5 * self.alpha * float((table[1:] ** 2).sum())
        if isinstance(self.model.experts, LinearExperts):
            table = of_experts.reshape(self.model.n_inputs + 1, -1)
            total += 0.5 * self.alpha * float((table[1:] ** 2).sum())
        return total

    def maximise_gate(self, theta: FloatArray, posteriors: FloatArray) -> FloatArray:
        """Return a better gate for such posteriors."""
        if isinstance(self.model.gate, TreeGate):
            return maximised_planes(self.model.gate, theta, self.X, posteriors, self.alpha)
        return super().maximise_gate(theta, posteriors)

    def maximise_experts(
        self, theta: FloatArray, posteriors: FloatArray, noise: float
    ) -> FloatArray:
        """Return better experts for such posteriors."""
        experts = self.model.experts
        if isinstance(experts, LinearExperts):
            return maximised_linear(
                experts, theta, self.X, self.targets, posteriors, self.alpha, noise
            )
        return super().maximise_experts(theta, posteriors, noise)
