"""Curved nodes (quadratic, sphere, ellipsoid, small network), and a branch for each class."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from verulam.numerics import sigmoid
from verulam.tree._nodes.class_grouping import two_groups
from verulam.tree._nodes.linear import logistic_weights
from verulam.tree._nodes.oblique import along, tune_coefficients
from verulam.tree._nodes.problem import NodeProblem, find_threshold, first_least
from verulam.tree._nodes.splits import ClasswiseTest, NetworkTest, QuadraticTest, SphereTest

Numbers = NDArray[np.float64]

#: Penalty on the squared weights of a network.
WEIGHT_DECAY = 1e-4
#: Iterations of its training.
NETWORK_STEPS = 200
#: With more inputs, classes are grouped for curved nodes as for linear ones.
MOST_SQUARED = 30
#: Share of the spread of all rows that is mixed into the covariance of a class.
SHRINKAGE = 0.05


def fit_quadratic(problem: NodeProblem) -> QuadraticTest | None:
    """Return the quadric of a logistic discriminant on the inputs and their products."""
    n_inputs = problem.inputs.shape[1]
    features, scale = _products(problem)
    groups = _curved_groups(problem)
    weights = logistic_weights(features, groups, problem.weights)
    step = find_threshold(problem, features @ weights)
    if not np.isfinite(step.impurity):
        return None
    # Back from features of mean square 1 to those of the inputs.
    weights = weights / scale
    matrix = np.zeros((n_inputs, n_inputs))
    matrix[np.triu_indices(n_inputs)] = weights[n_inputs:]
    # The weight of a product stands in the upper triangle: half of it in either place gives the
    # same quadratic form by a symmetric matrix.
    matrix = 0.5 * (matrix + matrix.T)
    return QuadraticTest(matrix, weights[:n_inputs], step.length, np.zeros(n_inputs))


def _products(problem: NodeProblem) -> tuple[Numbers, Numbers]:
    """Return the inputs and their products, scaled to mean square 1, and the scale."""
    first, second = np.triu_indices(problem.inputs.shape[1])
    features = np.hstack([problem.inputs, problem.inputs[:, first] * problem.inputs[:, second]])
    scale = np.sqrt(np.average(features**2, axis=0, weights=problem.weights))
    scale[scale == 0.0] = 1.0
    return features / scale, scale


def _curved_groups(problem: NodeProblem) -> NDArray[np.int64]:
    """Return two groups of classes that a curved surface separates well."""
    if len(problem.present) == 2 or problem.inputs.shape[1] > MOST_SQUARED:
        return two_groups(problem)
    return two_groups(replace(problem, inputs=_products(problem)[0]))


def fit_sphere(problem: NodeProblem) -> SphereTest | None:
    """Return the sphere of least impurity found from the class means, its centre then tuned."""
    return _best_sphere(problem, [np.eye(problem.inputs.shape[1])])


def fit_ellipsoid(problem: NodeProblem) -> SphereTest | None:
    """Return the best of the spheres in the coordinates in which a class has equal spread."""
    deviations = problem.inputs - np.average(problem.inputs, axis=0, weights=problem.weights)
    overall = np.average(deviations**2, axis=0, weights=problem.weights)
    roots = []
    for code in problem.present:
        rows, weights = (
            problem.inputs[problem.codes == code],
            problem.weights[problem.codes == code],
        )
        moved = rows - np.average(rows, axis=0, weights=weights)
        covariance = (moved * weights[:, None]).T @ moved / weights.sum()
        covariance = (1.0 - SHRINKAGE) * covariance + SHRINKAGE * np.diag(overall + 1e-9)
        # With L L' the covariance, inv(L) makes Mahalanobis distances Euclidean ones.
        roots.append(np.linalg.inv(np.linalg.cholesky(covariance)))
    return _best_sphere(problem, roots)


def _best_sphere(problem: NodeProblem, roots: list[Numbers]) -> SphereTest | None:
    """Return the best sphere around a class mean after multiplication by one of the roots."""
    best, sphere = np.inf, None
    for root in roots:
        turned = replace(problem, inputs=np.ascontiguousarray(problem.inputs @ root.T))
        # The inside of a sphere, |x - c|^2 <= r^2, is -|x|^2 + 2 c'x + r^2 - |c|^2 >= 0: linear in
        # 2 c but for -|x|^2, so that centres are tuned as hyperplanes are.
        base = -(turned.inputs**2).sum(axis=1)
        starts = [along(turned, 2.0 * mean, base) for mean in turned.class_means()]
        start = starts[first_least([plane.impurity for plane in starts])]
        if not np.isfinite(start.impurity):
            continue
        plane = tune_coefficients(turned, start, base)
        centre = 0.5 * plane.weights
        radius = max(plane.intercept + float(centre @ centre), 0.0) ** 0.5
        if plane.impurity < best - 1e-9 and radius > 0.0:
            best, sphere = plane.impurity, SphereTest(_solve(root, centre), root, radius)
    return sphere


def _solve(matrix: Numbers, right: Numbers) -> Numbers:
    return np.linalg.solve(matrix, right).astype(np.float64)


def fit_network(problem: NodeProblem) -> NetworkTest | None:
    """Return the best of some small networks that tell two groups of classes apart."""
    groups = _curved_groups(problem)
    n_inputs, n_hidden = problem.inputs.shape[1], problem.options.hidden_units
    shares = problem.weights / problem.weights.sum()
    least_loss, flat = np.inf, np.empty(0)
    for _ in range(problem.options.n_init):
        start = problem.random.normal(size=(n_inputs + 2) * n_hidden + 1)
        # Sums of standardised inputs then have spread 1, where tanh is not yet flat.
        start[: n_inputs * n_hidden] /= np.sqrt(n_inputs)
        optimum = minimize(
            _network_loss,
            start,
            (problem.inputs, groups, shares, n_hidden),
            method="L-BFGS-B",
            jac=True,
            options={"maxiter": NETWORK_STEPS},
        )
        if optimum.fun < least_loss:
            least_loss, flat = float(optimum.fun), optimum.x
    test = _as_network(flat, n_inputs, n_hidden)
    step = find_threshold(problem, test.scores(problem.inputs))
    if not np.isfinite(step.impurity):
        return None
    return NetworkTest(
        test.hidden_weights, test.hidden_intercepts, test.weights, test.intercept + step.length
    )


def _as_network(flat: Numbers, n_inputs: int, n_hidden: int) -> NetworkTest:
    ends = np.cumsum([n_inputs * n_hidden, n_hidden, n_hidden])
    hidden, intercepts, weights, last = np.split(flat, ends)
    return NetworkTest(hidden.reshape(n_inputs, n_hidden), intercepts, weights, float(last[0]))


def _network_loss(
    flat: Numbers, inputs: Numbers, groups: NDArray[np.int64], shares: Numbers, n_hidden: int
) -> tuple[float, Numbers]:
    """Return the cross-entropy with weight decay, and its gradient."""
    network = _as_network(flat, inputs.shape[1], n_hidden)
    hidden = np.tanh(inputs @ network.hidden_weights + network.hidden_intercepts)
    scores = hidden @ network.weights + network.intercept
    loss = shares @ np.logaddexp(0.0, np.where(groups == 1, -scores, scores))
    # Backpropagation: the error at the output, then at the hidden units, where tanh' = 1 - tanh^2.
    at_output = shares * (sigmoid(scores) - groups)
    at_hidden = np.outer(at_output, network.weights) * (1.0 - hidden**2)
    gradient = np.concatenate(
        [
            (inputs.T @ at_hidden).ravel(),
            at_hidden.sum(axis=0),
            hidden.T @ at_output,
            [at_output.sum()],
        ]
    )
    return float(loss + 0.5 * WEIGHT_DECAY * flat @ flat), gradient + WEIGHT_DECAY * flat


def fit_gaussian(problem: NodeProblem) -> ClasswiseTest | None:
    """Return linear discriminants of Gaussian classes with a common covariance, a branch each.

    Classes for which no training row of the node is decided have no branch.
    """
    present, means = problem.present, problem.class_means()
    place = np.zeros(problem.n_classes, dtype=np.intp)
    place[present] = np.arange(len(present))
    deviations = problem.inputs - means[place[problem.codes]]
    within = (deviations * problem.weights[:, None]).T @ deviations / problem.weights.sum()
    # Without spread within classes every direction is as good as another.
    within[np.diag_indices_from(within)] += 1e-9
    weights = np.linalg.solve(within, means.T).T
    priors = problem.class_weights[present] / problem.weights.sum()
    intercepts = np.log(priors) - 0.5 * (weights * means).sum(axis=1)
    test = ClasswiseTest(weights, intercepts, present)
    # Leaving a class out moves its rows to others: counted anew until all branches are filled.
    while True:
        used, counts = np.unique(test.branches(problem.inputs), return_counts=True)
        enough = used[counts >= problem.options.min_rows]
        if len(enough) < 2:
            return None
        if len(enough) == test.n_branches:
            return test
        test = ClasswiseTest(test.weights[enough], test.intercepts[enough], test.classes[enough])
