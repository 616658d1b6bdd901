"""The regularisation path of a support vector machine: rising costs, each from a warm start."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, clone, thread_map
from verulam.kernel._solvers.dual import DualSolution
from verulam.kernel._solvers.dual_problems import DualProblem, classification_problem
from verulam.kernel._solvers.row_cache import RowCache
from verulam.kernel._solvers.subspace_acceleration import restore_sums
from verulam.kernel._svm.binary import BinaryMachine, SolverOptions, WarmStart, cost_machine
from verulam.kernel._svm.classifier import SupportVectorClassifier
from verulam.kernel._tuning import CHAINED_ROWS, MOSTLY_BOUNDED

#: Costs from one in a million to a million, one for each power of ten.
COSTS = tuple(10.0**power for power in range(-6, 7))


@dataclass(frozen=True, eq=False)
class CostPath:
    """Classifiers for a sequence of costs.

    Attributes
    ----------
    costs : ndarray of shape (n_costs,)
        The costs, rising.
    classifiers
        A fitted classifier for each.
    n_iter : ndarray of shape (n_costs,)
        Working sets that the solver needed for each.
    """

    costs: np.ndarray
    classifiers: list[SupportVectorClassifier]
    n_iter: np.ndarray

    def scores(self, X: ArrayLike, y: ArrayLike) -> pd.DataFrame:
        """Return accuracy on some rows, and the share of support vectors, for each cost."""
        return pd.DataFrame(
            {
                "accuracy": [classifier.score(X, y) for classifier in self.classifiers],
                "support_share": [classifier.support_share_ for classifier in self.classifiers],
            },
            index=pd.Index(self.costs, name="C"),
        )

    def best(self, X: ArrayLike, y: ArrayLike) -> SupportVectorClassifier:
        """Return the classifier of the smallest cost with the highest accuracy on some rows."""
        return self.classifiers[int(self.scores(X, y)["accuracy"].to_numpy().argmax())]


def cost_path(
    estimator: SupportVectorClassifier,
    X: ArrayLike,
    y: ArrayLike,
    costs: Sequence[float] = COSTS,
    sample_weight: ArrayLike | None = None,
) -> CostPath:
    """Train a classifier for each of several costs, with shared kernel values and warm starts.

    Parameters
    ----------
    estimator
        Classifier of form "cost", without calibration; it is not changed.
    X, y
        Training data.
    costs
        The costs, in any order.
    sample_weight
        Weight of each row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.kernel import SupportVectorClassifier, cost_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = cost_path(SupportVectorClassifier(), X[::2], y[::2], [0.01, 1.0, 100.0])
    >>> path.scores(X[1::2], y[1::2]).round(2)
            accuracy  support_share
    C
    0.01        0.93           1.00
    1.00        0.93           0.53
    100.00      0.96           0.17
    """
    if estimator.form != "cost" or estimator.calibration is not None:
        raise DataError('cost_path needs a classifier of form "cost" without calibration.')
    if not len(costs) or not all(np.isfinite(cost) and cost > 0 for cost in costs):
        raise DataError(f"costs must be finite numbers above 0; got {list(costs)}.")
    # Upwards: few coefficients are free at low costs, and each solution is near the next one.
    rising = sorted(float(cost) for cost in costs)
    classifiers = [clone(estimator).set_params(C=cost) for cost in rising]
    for classifier in classifiers:
        classifier._validate_params()
    # All read the same data; the last one's reading is everyone's.
    reader = classifiers[-1]
    data = reader._read(X, y, sample_weight)
    reader.calibration_ = None
    paths = []
    for column in range(reader.codes_.shape[1]):
        part = data.two_classes(reader.codes_[:, column], reader.cache_size)
        path = cost_machines(part.cache, part.signs, part.weights, rising, reader._solver_options())
        paths.append([part.in_all_rows(machine) for machine in path])
    learned = {
        name: value for name, value in vars(reader).items() if name not in reader.get_params()
    }
    for classifier, machines in zip(classifiers, zip(*paths, strict=True), strict=True):
        vars(classifier).update(learned)
        classifier._store(list(machines), data)
    n_iter = np.array([classifier.n_iter_ for classifier in classifiers])
    return CostPath(np.array(rising), classifiers, n_iter)


def cost_machines(
    cache: RowCache,
    signs: np.ndarray,
    weights: np.ndarray,
    costs: Sequence[float],
    options: SolverOptions,
) -> list[BinaryMachine]:
    """Return the machine for each of several rising costs, each from the solution of the last.

    Where all kernel rows can be held, the largest costs, which take longest, are a chain of their
    own in a second thread. Who belongs to it does not depend on how many threads there are.
    """

    def chain(part: int) -> list[BinaryMachine]:
        machines: list[BinaryMachine] = []
        for place, cost in enumerate(chains[part]):
            start = None
            if machines:
                problem = classification_problem(
                    signs, cost * weights, fit_intercept=options.fit_intercept
                )
                factor = cost / chains[part][place - 1]
                start = warm_start(problem, cache, machines[-1].solution, factor)
            machines.append(cost_machine(cache, signs, cost * weights, options, start))
        return machines

    n_largest = len(costs) // 4
    if n_largest and not (len(signs) >= CHAINED_ROWS and cache.compute_all()):
        n_largest = 0
    chains = [costs[: len(costs) - n_largest], costs[len(costs) - n_largest :]]
    trained = thread_map(chain, range(1 + (n_largest > 0)))
    return [machine for machines in trained for machine in machines]


def warm_start(
    problem: DualProblem, cache: RowCache, solution: DualSolution, factor: float
) -> WarmStart:
    """Return where to begin, from the solution for costs smaller by `factor`.

    Where most coefficients are at their bound, they go with it and free ones stay where they are.
    Where fewer are, many of them will be free at the larger cost, so that all stay.
    """
    last = solution.coefficients
    full = np.where(last > 0.0, problem.upper, problem.lower)
    bounded = (last != 0.0) & np.isclose(factor * last, full, rtol=1e-12, atol=0.0)
    most = bounded.sum() > MOSTLY_BOUNDED * np.count_nonzero(last)
    beta = np.clip(np.where(bounded & most, full, last), problem.lower, problem.upper)
    # What has grown with its bound must be balanced by the free ones, or all of it grows alike.
    if not restore_sums(beta, np.zeros_like(beta), problem.box()):
        beta = np.clip(factor * last, problem.lower, problem.upper)
    # Most kernel rows are saved by scaling the product that is known; the rest is added.
    scale = factor if most else 1.0
    K_beta = scale * solution.K_beta
    change = beta - scale * last
    moved = np.flatnonzero(change)
    cache.add_products(moved, change[moved], K_beta)
    return WarmStart(beta, K_beta)
