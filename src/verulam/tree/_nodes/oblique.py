"""Hyperplanes by search: one coefficient at a time (CART), and with random jumps (OC1).

Scores are ``base + inputs @ weights + intercept``. With `base` zero their sign tells the sides of
a hyperplane; with minus the squared length of the row, the inside of a sphere from its outside.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verulam.tree._nodes.problem import NodeProblem, find_step, find_threshold, first_least

Numbers = NDArray[np.float64]

#: Constants added to an input before its coefficient is tuned, which turns the hyperplane around
#: different points (Breiman et al. 1984).
SHIFTS = (-0.25, 0.0, 0.25)
#: Searches end when a round over all coefficients gains less, as a share of the node's impurity.
SMALLEST_GAIN = 1e-3
#: And after so many rounds.
MOST_ROUNDS = 30
#: Smaller differences of impurities are rounding.
SMALLEST_DIFFERENCE = 1e-9


@dataclass(frozen=True, eq=False)
class Hyperplane:
    """Coefficients and the impurity of the split that they make.

    Attributes
    ----------
    weights : ndarray of shape (n_inputs,)
        Weight of each input.
    intercept
        Constant term.
    impurity
        Impurity after the split.
    """

    weights: Numbers
    intercept: float
    impurity: float

    def scores(self, base: Numbers, inputs: Numbers) -> Numbers:
        """Return the score of each row."""
        return base + inputs @ self.weights + self.intercept

    def moved(self, weights: Numbers, intercept: float, impurity: float) -> "Hyperplane":
        """Return the hyperplane with something added to its coefficients."""
        return Hyperplane(self.weights + weights, self.intercept + intercept, impurity)


def along(problem: NodeProblem, weights: Numbers, base: Numbers | None = None) -> Hyperplane:
    """Return the best hyperplane along some weights; of infinite impurity if there is none."""
    scores = problem.inputs @ weights
    step = find_threshold(problem, scores if base is None else scores + base)
    return Hyperplane(weights, step.length, step.impurity)


def best_input(problem: NodeProblem) -> tuple[int, Hyperplane]:
    """Return the input whose best threshold leaves the least impurity, and that split."""
    planes = along_inputs(problem)
    column = first_least([plane.impurity for plane in planes])
    return column, planes[column]


def along_inputs(problem: NodeProblem) -> list[Hyperplane]:
    """Return the best threshold on each input by itself."""
    return [along(problem, row) for row in np.eye(problem.inputs.shape[1])]


def tune_coefficients(
    problem: NodeProblem,
    start: Hyperplane,
    base: Numbers | None = None,
    history: list[float] | None = None,
) -> Hyperplane:
    """Return the hyperplane after cyclic search of one coefficient at a time.

    Parameters
    ----------
    problem
        The node's rows.
    start
        Where to start.
    base
        Part of the scores that stays as it is; none by default.
    history
        If given, the impurity after each change is appended to it.
    """
    plane = start
    fixed = np.zeros(len(problem.inputs)) if base is None else base
    least = SMALLEST_GAIN * problem.impurity
    for _ in range(MOST_ROUNDS):
        before = plane.impurity
        scores = plane.scores(fixed, problem.inputs)
        for column in range(problem.inputs.shape[1]):
            for shift in SHIFTS:
                direction = problem.inputs[:, column] + shift
                step = find_step(problem, scores, direction)
                if step.impurity < plane.impurity - SMALLEST_DIFFERENCE:
                    change = np.zeros(problem.inputs.shape[1])
                    change[column] = step.length
                    plane = plane.moved(change, step.length * shift, step.impurity)
                    # One coefficient has changed: no product with all inputs is needed.
                    scores = scores + step.length * direction
                    if history is not None:
                        history.append(plane.impurity)
        # Once all weights have moved, the intercept by itself.
        step = find_threshold(problem, scores)
        if step.impurity < plane.impurity - SMALLEST_DIFFERENCE:
            plane = plane.moved(0.0 * plane.weights, step.length, step.impurity)
        if before - plane.impurity <= least:
            break
    return plane


def jump(problem: NodeProblem, start: Hyperplane) -> Hyperplane:
    """Return the hyperplane after random jumps, each followed by tuning where it helped.

    A random direction in the space of all coefficients is tried with its best step; the search
    ends after several in vain.
    """
    plane, in_vain = tune_coefficients(problem, start), 0
    zero = np.zeros(len(problem.inputs))
    while in_vain < problem.options.n_jumps and plane.impurity > 0.0:
        # All coefficients at once: a way out of minima that no single one can leave.
        draw = problem.random.normal(size=problem.inputs.shape[1] + 1)
        direction = problem.inputs @ draw[:-1] + draw[-1]
        step = find_step(problem, plane.scores(zero, problem.inputs), direction)
        if step.impurity < plane.impurity - SMALLEST_DIFFERENCE:
            moved = plane.moved(step.length * draw[:-1], step.length * draw[-1], step.impurity)
            plane, in_vain = tune_coefficients(problem, moved), 0
        else:
            in_vain += 1
    return plane


def best_of_starts(problem: NodeProblem, start: Hyperplane) -> Hyperplane:
    """Return the best of searches with jumps from `start` and from random hyperplanes."""
    best = jump(problem, start)
    for _ in range(problem.options.n_init - 1):
        if best.impurity <= 0.0:
            break
        # A random direction, which cyclic search then leaves for the nearest local minimum.
        draw: Numbers = problem.random.normal(size=problem.inputs.shape[1:])
        plane = along(problem, draw)
        if np.isfinite(plane.impurity):
            plane = jump(problem, plane)
            best = plane if plane.impurity < best.impurity - SMALLEST_DIFFERENCE else best
    return best
