"""Trees of gates with experts at their leaves."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from verulam.base import Classifier, DataError, Regressor, Seed
from verulam.local._experts.learner import ExpertsLearner
from verulam.local._experts.outputs import ClassExperts, NumberExperts
from verulam.local._experts.parts import Branches, even_tree
from verulam.local._radial.placing import say_if_fewer_rows
from verulam.local._radial.units import FloatArray
from verulam.numerics import AdaptiveRate, Schedule

#: More experts than this are a mistake.
MOST_LEAVES = 4096


def checked_branching(branching: Sequence[int]) -> tuple[int, ...]:
    """Return the branches of each level as whole numbers."""
    numbers = np.asarray(branching)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise DataError(f"branching must be whole numbers, one for each level; got {branching!r}.")
    if (numbers < 1).any() or np.prod(numbers.astype(float)) > MOST_LEAVES:
        raise DataError(
            f"branching must be at least 1 at each level and make at most {MOST_LEAVES} leaves; "
            f"got {branching!r}."
        )
    return tuple(int(number) for number in numbers)


def tree_of(branching: Sequence[int], X: FloatArray) -> Branches:
    """Return the tree of so many branches, with a word where rows are fewer than its leaves."""
    numbers = checked_branching(branching)
    say_if_fewer_rows(X, int(np.prod(numbers)), f"branching={branching!r} makes", "experts")
    return even_tree(numbers)


class HierarchicalExpertsRegressor(NumberExperts, Regressor):
    r"""Hierarchical mixture of experts for regression: gates of gates, experts at the leaves.

    .. math:: y = \sum_i g_i \sum_j g_{j|i}\, v_{ij}^T x

    Parameters
    ----------
    branching : sequence of int
        Branches of every node, level by level from the root; any depth.
    hidden_units
        Hidden units of each expert, which is then a perceptron; 0 for linear experts.
    n_directions
        Directions that each expert looks along, for linear experts of a low rank; None for all.
    reduction
        Whether these directions are "learned" with the rest, or those of largest variance among
        the rows that an expert begins with ("pca").
    combination
        "competitive" experts each stand for the target alone, and the likelihood of their mixture
        is maximised; "cooperative" ones add up to one output.
    training
        "em" is expectation-maximisation, "gradient" descent on the error, "em-gradient" both, one
        after the other; experts that cooperate have descent alone.
    noise_scale : "learned" or float
        Standard deviation of the targets around a competing expert.
    alpha
        Strength of the penalty on squared weights, for columns and targets of deviation 1.
    solver
        For descent: "lbfgs", "cg" and "newton-cg" use all rows at once; "adam" and "sgd" step after
        each batch.
    learning_rate : float, Schedule or AdaptiveRate
        Rate of the steps of "adam" and "sgd".
    momentum
        Share of the last change in the next ("sgd").
    batch_size : int or "all"
        Rows of a step; 1 is online learning.
    max_iter
        Most epochs, or steps of expectation-maximisation.
    tol, n_iter_no_change
        Training ends when the error has not fallen by `tol` for so many epochs; solvers that use
        all rows compare `tol` with the gradient, expectation-maximisation with the gain per row.
    n_init
        Starts, of which the best is taken.
    random_state
        Seed of the start and of orders.

    Attributes
    ----------
    n_experts_ : int
        Number of experts.
    coef_, intercept_ : ndarray
        The experts' linear functions of the columns.
    gate_coef_, gate_intercept_ : ndarray
        The gates' linear functions of the columns, a row for each branch.
    history_ : DataFrame
        A row for each epoch of descent.
    log_likelihoods_ : ndarray
        What each step of expectation-maximisation reached; it never falls.
    n_parameters_ : int
        Numbers that training has chosen.
    n_iter_ : int
        Epochs and steps.
    loss_ : float
        Mean training error, for targets of deviation 1.

    Notes
    -----
    See Alpaydin 12.9 and ex. 9, and Jordan and Jacobs (1994). The printed step of an expert has
    :math:`r - y`; the gradient of the likelihood that is stated has :math:`r - y_{ij}`, which is
    what is used. A tree of depth one is `verulam.local.MixtureOfExpertsRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import HierarchicalExpertsRegressor
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.abs(np.abs(x[:, 0]) - 0.5)
    >>> tree = HierarchicalExpertsRegressor((2, 2), random_state=0).fit(x, y)
    >>> tree.n_experts_, bool(tree.score(x, y) > 0.98)
    (4, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "branching": ["array-like"],
        **ExpertsLearner._shape_constraints,
        **ExpertsLearner._expert_constraints,
    }

    def __init__(
        self,
        branching: Sequence[int] = (2, 2),
        *,
        hidden_units: int = 0,
        n_directions: int | None = None,
        reduction: str = "learned",
        combination: str = "competitive",
        training: str = "em",
        noise_scale: float | str = "learned",
        alpha: float = 0.1,
        solver: str = "lbfgs",
        learning_rate: float | Schedule | AdaptiveRate = 0.01,
        momentum: float = 0.9,
        batch_size: int | str = 32,
        max_iter: int = 500,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.branching = branching
        self.hidden_units = hidden_units
        self.n_directions = n_directions
        self.reduction = reduction
        self.combination = combination
        self.training = training
        self.noise_scale = noise_scale
        self.alpha = alpha
        self.solver = solver
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.n_init = n_init
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["HierarchicalExpertsRegressor"]:
        return [cls((2, 2), tol=0.01)]

    def _tree(self, X: FloatArray) -> Branches:
        return tree_of(self.branching, X)


class HierarchicalExpertsClassifier(ClassExperts, Classifier):
    r"""Hierarchical mixture of experts for classification: gates of gates, experts at the leaves.

    .. math:: y = \sum_i g_i \sum_j g_{j|i}\, \mathrm{softmax}(V_{ij} x)

    Parameters
    ----------
    branching : sequence of int
        Branches of every node, level by level from the root; any depth.
    hidden_units
        Hidden units of each expert, which is then a perceptron; 0 for linear experts.
    n_directions
        Directions that each expert looks along, for linear experts of a low rank; None for all.
    reduction
        Whether these directions are "learned" with the rest, or those of largest variance among
        the rows that an expert begins with ("pca").
    combination
        "competitive" experts each stand for the target alone, and the likelihood of their mixture
        is maximised; "cooperative" ones add up to one output.
    training
        "em" is expectation-maximisation, "gradient" descent on the error, "em-gradient" both, one
        after the other; experts that cooperate have descent alone.
    alpha
        Strength of the penalty on squared weights, for columns of deviation 1.
    solver
        For descent: "lbfgs", "cg" and "newton-cg" use all rows at once; "adam" and "sgd" step after
        each batch.
    learning_rate : float, Schedule or AdaptiveRate
        Rate of the steps of "adam" and "sgd".
    momentum
        Share of the last change in the next ("sgd").
    batch_size : int or "all"
        Rows of a step; 1 is online learning.
    max_iter
        Most epochs, or steps of expectation-maximisation.
    tol, n_iter_no_change
        Training ends when the error has not fallen by `tol` for so many epochs; solvers that use
        all rows compare `tol` with the gradient, expectation-maximisation with the gain per row.
    n_init
        Starts, of which the best is taken.
    random_state
        Seed of the start and of orders.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    n_experts_ : int
        Number of experts.
    coef_, intercept_ : ndarray
        The experts' linear functions of the columns.
    gate_coef_, gate_intercept_ : ndarray
        The gates' linear functions of the columns, a row for each branch.
    history_ : DataFrame
        A row for each epoch of descent.
    log_likelihoods_ : ndarray
        What each step of expectation-maximisation reached; it never falls.
    n_parameters_ : int
        Numbers that training has chosen.
    n_iter_ : int
        Epochs and steps.
    loss_ : float
        Mean training error.

    Notes
    -----
    See Alpaydin 12.9 and ex. 9, and Jordan and Jacobs (1994): one tree with softmax experts
    of all classes (Waterhouse and Robinson, 1994); the likelihood that is printed for a tree of
    its own for each class does not depend on the gates. A tree of depth one is
    `verulam.local.MixtureOfExpertsClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.local import HierarchicalExpertsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = HierarchicalExpertsClassifier((2, 2), alpha=0.1, random_state=0).fit(X, y)
    >>> bool(tree.score(X, y) > 0.97)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "branching": ["array-like"],
        **ExpertsLearner._shape_constraints,
        **{
            name: constraint
            for name, constraint in ExpertsLearner._expert_constraints.items()
            if name != "noise_scale"
        },
    }

    def __init__(
        self,
        branching: Sequence[int] = (2, 2),
        *,
        hidden_units: int = 0,
        n_directions: int | None = None,
        reduction: str = "learned",
        combination: str = "competitive",
        training: str = "em",
        alpha: float = 0.1,
        solver: str = "lbfgs",
        learning_rate: float | Schedule | AdaptiveRate = 0.01,
        momentum: float = 0.9,
        batch_size: int | str = 32,
        max_iter: int = 500,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.branching = branching
        self.hidden_units = hidden_units
        self.n_directions = n_directions
        self.reduction = reduction
        self.combination = combination
        self.training = training
        self.alpha = alpha
        self.solver = solver
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.n_init = n_init
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["HierarchicalExpertsClassifier"]:
        return [cls((2, 2), tol=0.01)]

    def _tree(self, X: FloatArray) -> Branches:
        return tree_of(self.branching, X)
