"""The pocket algorithm: a perceptron that keeps the best weights it came across."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import RANDOM_STATE, DataError, Seed, check_weights, checked_fit, generator
from verulam.linear._training.perceptrons import ITERATIONS, RECORD
from verulam.linear._training.scaling import warn_far_from_optimum
from verulam.linear._training.trainer import LinearTrainer
from verulam.linear._training.two_class_problem import Problem, Training
from verulam.numerics import njit

#: Comparisons of one pass take turns with so many samples.
_SAMPLES = 16
#: Changes of the pocket kept in a trajectory for each pass.
_MOST_CHANGES = 500


class PocketPerceptron(LinearTrainer):
    """Run a perceptron and keep in the pocket the best weights it came across.

    Parameters
    ----------
    max_iter
        Passes over the rows, unless all are right before.
    updates
        Corrections between two comparisons with the pocket.
    sample_size
        Rows of a first comparison; only weights that win there are compared on all rows, and
        only those that win again go into the pocket.
    record
        "passes" or "steps" keeps each content of the pocket in `trajectory_`.
    random_state
        Seed of the orders and samples.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the plane is positive for the second.
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Bias.
    n_iter_ : int
        Passes over the rows.
    converged_ : bool
        Always true: the pocket has the best weights found, whether they separate or not.
    errors_ : float
        Weight of the misclassified training rows.
    trajectory_ : Trajectory or None
        Weights on the way, and as criterion and errors the weight and the number of
        misclassified rows.

    Notes
    -----
    The errors in the pocket never increase, so the classes may overlap. It begins with the heavier
    class for every row, and the last weights are compared with it too. See Bartkowiak 5.7.

    Examples
    --------
    >>> from verulam.linear import PocketPerceptron
    >>> rows, classes = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 0, 1]
    >>> pocket = PocketPerceptron(updates=1, random_state=0).fit(rows, classes)
    >>> pocket.errors_
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_iter": ITERATIONS,
        "updates": ITERATIONS,
        "sample_size": ITERATIONS,
        "record": RECORD,
        "random_state": RANDOM_STATE,
    }
    _accepts_sparse = False
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "weights are chances to be drawn, and the draws are random"
        ),
    }

    def __init__(
        self,
        *,
        max_iter: int = 100,
        updates: int = 10,
        sample_size: int = 200,
        record: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.max_iter = max_iter
        self.updates = updates
        self.sample_size = sample_size
        self.record = record
        self.random_state = random_state

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows `X` of two classes `y`; heavier rows are seen and counted more often."""
        problem = self._read(X, y)
        weights = check_weights(sample_weight, problem.inputs)
        if weights is None:
            weights = np.ones(len(problem.signs))
        if not weights.any():
            raise DataError("sample_weight is zero for every row; at least one must count.")
        training, self.errors_ = pocket_algorithm(
            problem,
            weights,
            max_iter=self.max_iter,
            updates=self.updates,
            sample_size=self.sample_size,
            random=generator(self.random_state),
        )
        self._store_training(
            problem,
            training if self.record else training.without_path(),
            lambda products, _: weights @ (products <= 0),
        )
        warn_far_from_optimum(
            "PocketPerceptron",
            problem.inputs,
            problem.targets(),
            problem.products(training.weights) <= 0,
            remedy="raise max_iter",
        )
        return self


def pocket_algorithm(
    problem: Problem,
    row_weights: np.ndarray,
    *,
    max_iter: int,
    updates: int,
    sample_size: int,
    random: np.random.Generator,
) -> tuple[Training, float]:
    """Return the best weights found, and the weight of the rows they misclassify.

    Parameters
    ----------
    problem
        The inequalities, dense.
    row_weights
        What each row weighs in a comparison.
    max_iter, updates, sample_size
        Passes, corrections between comparisons, rows of a first comparison.
    random
        Draws orders and samples.
    """
    n_rows, n_weights = problem.size
    weights, pocket = np.zeros(n_weights), np.zeros(n_weights)
    rows = (problem.inputs, problem.signs, row_weights)
    # The heavier class for every row is the first in the pocket.
    pocket[0] = 1.0 if row_weights @ problem.signs > 0 else -1.0
    constant = pocket.copy()
    # What the compiled passes carry on: errors in the pocket, corrections since a comparison.
    state = np.array([_weight_of_errors(problem, row_weights, pocket), 0.0])
    history = np.empty((_MOST_CHANGES, n_weights))
    path = [pocket[None, :].copy()]
    size = min(sample_size, n_rows)
    chances = row_weights / row_weights.sum()
    alike = bool((row_weights == row_weights[0]).all())
    n_iter = 0
    while n_iter < max_iter and state[0] > 0:
        n_iter += 1
        # Weights are chances to be presented, as if heavier rows were there more often.
        order = random.permutation(n_rows) if alike else random.choice(n_rows, n_rows, p=chances)
        samples = np.stack([random.choice(n_rows, size, replace=False) for _ in range(_SAMPLES)])
        corrections, changes = pocket_pass(
            *rows, order, samples, updates, weights, pocket, state, history
        )
        path.append(history[: min(changes, _MOST_CHANGES)].copy())
        # A whole pass without a correction: these weights separate, whatever the pocket holds.
        if corrections == 0 and alike:
            pocket, state[0] = weights, 0.0
    candidates = (pocket, weights, constant)
    errors = [_weight_of_errors(problem, row_weights, candidate) for candidate in candidates]
    # The loops add in another order than predictions do, which matters beside a large offset;
    # and the last weights may not have been compared.
    best = int(np.argmin(errors))
    if best > 0:
        pocket = candidates[best]
        path.append(pocket[None, :].copy())
    points = np.concatenate(path)
    return Training(pocket, n_iter, True, np.arange(len(points)), points), errors[best]


def _weight_of_errors(problem: Problem, row_weights: np.ndarray, weights: np.ndarray) -> float:
    return float(row_weights[problem.products(weights) <= 0].sum())


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def weighted_errors(inputs, signs, row_weights, rows, weights):  # pragma: no cover
    """Return the weight of those of some rows that are not on their side."""
    wrong = 0.0
    for place in range(len(rows)):
        row = rows[place]
        value = weights[0]
        for column in range(inputs.shape[1]):
            value += weights[column + 1] * inputs[row, column]
        if signs[row] * value <= 0:
            wrong += row_weights[row]
    return wrong


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def pocket_pass(
    inputs, signs, row_weights, order, samples, updates, weights, pocket, state, history
):  # pragma: no cover
    """Go once through the rows, in place.

    Parameters
    ----------
    inputs, signs, row_weights
        Rows, their signs and what they weigh.
    order
        Positions in the order of presentation.
    samples
        One row of positions for each comparison of this pass, used in turn.
    updates
        Corrections between two comparisons.
    weights, pocket
        Current weights and the best; both change.
    state
        Weight of errors of the pocket, and corrections since the last comparison; both change.
    history
        Contents of the pocket after each change, until it is full.

    Returns
    -------
    Corrections in this pass, and number of changes of the pocket.
    """
    n_columns = inputs.shape[1]
    everything = np.arange(len(signs))
    corrections, changes, comparisons = 0, 0, 0
    for place in range(len(order)):
        row = order[place]
        value = weights[0]
        for column in range(n_columns):
            value += weights[column + 1] * inputs[row, column]
        if signs[row] * value > 0:
            continue
        corrections += 1
        weights[0] += signs[row]
        for column in range(n_columns):
            weights[column + 1] += signs[row] * inputs[row, column]
        state[1] += 1
        if state[1] < updates:
            continue
        state[1] = 0
        sample = samples[comparisons % len(samples)]
        comparisons += 1
        # Most candidates lose on the small sample, which spares the pass over all rows.
        tried = weighted_errors(inputs, signs, row_weights, sample, weights)
        if tried >= weighted_errors(inputs, signs, row_weights, sample, pocket):
            continue
        wrong = weighted_errors(inputs, signs, row_weights, everything, weights)
        if wrong < state[0]:
            state[0] = wrong
            for column in range(n_columns + 1):
                pocket[column] = weights[column]
                if changes < len(history):
                    history[changes, column] = weights[column]
            changes += 1
    return corrections, changes
