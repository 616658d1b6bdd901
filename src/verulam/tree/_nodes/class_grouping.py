"""Two groups out of several classes, so that one discriminant can divide them."""

import numpy as np
from numpy.typing import NDArray

from verulam.tree._nodes.problem import NodeProblem, find_threshold

Numbers = NDArray[np.float64]

GROUPINGS = ("exchange", "two_means")
#: Rounds of 2-means; means of a few classes settle long before.
MOST_ROUNDS = 100


def scatter_inverse(problem: NodeProblem) -> Numbers:
    """Return the pseudo-inverse of the covariance of all rows of a node."""
    deviations = problem.inputs - np.average(problem.inputs, axis=0, weights=problem.weights)
    total = (deviations * problem.weights[:, None]).T @ deviations / problem.weights.sum()
    return np.linalg.pinv(total, rcond=1e-10, hermitian=True)


def fisher_direction(
    problem: NodeProblem, in_second: NDArray[np.bool_], inverse: Numbers | None = None
) -> Numbers:
    r"""Return the direction that separates two groups of rows best for their spread within.

    The inverse of the *total* covariance gives the same direction as that within the groups,
    :math:`S_W^{-1}(m_2 - m_1)`, because both differ by a multiple of the outer product of
    :math:`m_2 - m_1`; it does not change with the groups, and where a group has no spread at all
    it still knows a direction.

    Parameters
    ----------
    problem
        The node's rows.
    in_second
        Which rows are of the second group.
    inverse
        What `scatter_inverse` returns, if known.

    Notes
    -----
    Alpaydin 6.8 and 9.6.
    """
    inverse = scatter_inverse(problem) if inverse is None else inverse
    means = [
        np.average(problem.inputs[part], axis=0, weights=problem.weights[part])
        for part in (~in_second, in_second)
    ]
    return inverse @ (means[1] - means[0])


def two_means(means: Numbers, weights: Numbers) -> NDArray[np.bool_]:
    """Return which points are in the second of two clusters, started at the two furthest apart.

    Parameters
    ----------
    means
        One point in each row, such as the mean of a class.
    weights
        Weight of each point.

    Examples
    --------
    >>> import numpy as np
    >>> two_means(np.array([[0.0], [1.0], [9.0], [8.0]]), np.ones(4))
    array([False, False,  True,  True])
    """
    distances = ((means[:, None] - means[None]) ** 2).sum(axis=2)
    # The furthest pair, in the order of the classes, so that equal data give equal groups.
    first, second = sorted(divmod(int(np.argmax(distances)), len(means)))
    in_second = distances[second] < distances[first]
    in_second[[first, second]] = False, True
    for _ in range(MOST_ROUNDS):
        centres = [
            np.average(means[part], axis=0, weights=weights[part])
            for part in (~in_second, in_second)
        ]
        nearer = ((means - centres[1]) ** 2).sum(axis=1) < ((means - centres[0]) ** 2).sum(axis=1)
        if nearer.all() or not nearer.any() or (nearer == in_second).all():
            break
        in_second = nearer
    return in_second


def group_by_exchange(problem: NodeProblem, start: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which classes are in the second group after moving one at a time, while it helps.

    A grouping is worth what the best threshold on its Fisher direction leaves of the impurity.

    Parameters
    ----------
    problem
        The node's rows.
    start
        For each class that is present, whether it starts in the second group.
    """
    present = problem.present
    # The total covariance is the same for every grouping, and so is inverted once.
    inverse = scatter_inverse(problem)
    place = np.zeros(problem.n_classes, dtype=np.intp)
    place[present] = np.arange(len(present))
    class_place = place[problem.codes]

    def worth(in_second: NDArray[np.bool_]) -> float:
        direction = fisher_direction(problem, in_second[class_place], inverse)
        return find_threshold(problem, problem.inputs @ direction).impurity

    groups, best, improved = start.copy(), worth(start), True
    while improved:
        improved = False
        for moved in range(len(present)):
            trial = groups.copy()
            trial[moved] = not trial[moved]
            # Neither group may run out of classes.
            if trial.all() or not trial.any():
                continue
            impurity = worth(trial)
            if impurity < best - 1e-9:
                groups, best, improved = trial, impurity, True
    return groups


def two_groups(problem: NodeProblem) -> NDArray[np.int64]:
    """Return for each row 1 if its class is in the second of two groups, otherwise 0.

    Both groups have at least one class; two classes are a group each.
    """
    present = problem.present
    if len(present) == 2:
        return (problem.codes == present[1]).astype(np.int64)
    in_second = two_means(problem.class_means(), problem.class_weights[present])
    if problem.options.grouping == "exchange":
        in_second = group_by_exchange(problem, in_second)
    group_of_class = np.zeros(problem.n_classes, dtype=np.int64)
    group_of_class[present] = in_second
    return group_of_class[problem.codes]
