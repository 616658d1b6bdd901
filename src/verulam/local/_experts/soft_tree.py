r"""Soft decision trees: every leaf answers, by the product of the gates on its path."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from verulam.base import Classifier, Interval, Regressor, Seed
from verulam.local._experts.learner import ExpertsLearner
from verulam.local._experts.outputs import ClassExperts, NumberExperts
from verulam.local._experts.parts import Branches, even_tree
from verulam.local._radial.mixing import Targets
from verulam.local._radial.placing import say_if_fewer_rows
from verulam.local._radial.training import TrainingRows
from verulam.numerics import AdaptiveRate, Epoch, Schedule

#: Rows of a leaf below which it is not split.
FEWEST_ROWS = 4


def split_leaves(tree: Branches, rows: TrainingRows) -> NDArray[np.intp]:
    """Return the leaf that each row begins in: the best threshold on a column at every node."""
    leaves = np.zeros(len(rows.inputs), dtype=np.intp)
    used = np.arange(len(leaves)) if rows.weights is None else np.flatnonzero(rows.weights)
    _split(tree, rows, used, 0, leaves)
    return leaves


def _split(
    tree: Branches,
    rows: TrainingRows,
    members: NDArray[np.intp],
    first: int,
    leaves: NDArray[np.intp],
) -> int:
    """Put rows below a node, whose first leaf has a number; return the next number."""
    if tree is None:
        leaves[members] = first
        return first + 1
    branches = np.zeros(len(members), dtype=np.intp)
    if len(members) > 1:
        stump = DecisionTreeRegressor(max_depth=1, random_state=0)
        weights = None if rows.weights is None else rows.weights[members]
        inputs = rows.inputs[members]
        stump.fit(inputs, rows.targets.values[members], sample_weight=weights)
        branches = (stump.apply(inputs) > 1).astype(np.intp)
    for place, child in enumerate(tree):
        first = _split(child, rows, members[branches == place], first, leaves)
    return first


def split_tree(tree: Branches, leaf: int) -> Branches:
    """Return the tree with one leaf, by its number, split into two.

    Examples
    --------
    >>> split_tree((None, None), 1)
    (None, (None, None))
    """
    return _split_tree(tree, leaf)[0]


def _split_tree(tree: Branches, leaf: int) -> tuple[Branches, int]:
    if tree is None:
        return ((None, None) if leaf == 0 else None), leaf - 1
    children = []
    for child in tree:
        child, leaf = _split_tree(child, leaf)
        children.append(child)
    return tuple(children), leaf


def leaf_depths(tree: Branches) -> list[int]:
    """Return the depth of every leaf, in order."""
    if tree is None:
        return [0]
    return [1 + depth for child in tree for depth in leaf_depths(child)]


class SoftTree(ExpertsLearner):
    """What soft trees for numbers and for classes have in common."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_depth": [Interval(Integral, 1, 12, closed="both")],
        "growing": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        **{
            name: constraint
            for name, constraint in ExpertsLearner._training_constraints.items()
            if name != "noise_scale"
        },
    }

    max_depth: int
    growing: bool
    validation_fraction: float
    #: Leaves add up, and have no noise of their own.
    combination = "cooperative"
    training = "gradient"
    noise_scale = "learned"
    _constant = True

    def __init__(
        self,
        max_depth: int = 3,
        *,
        growing: bool = False,
        validation_fraction: float = 0.2,
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
        self.max_depth = max_depth
        self.growing = growing
        self.validation_fraction = validation_fraction
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

    def _epochs_of(self, rows: TrainingRows, seed: int) -> Iterator[Epoch]:
        depth = int(self.max_depth)
        if self.growing:
            tree = self._grown(rows, seed)
        else:
            say_if_fewer_rows(rows.inputs, 2**depth, f"max_depth={depth} makes", "leaves")
            tree = even_tree((2,) * depth)
        yield from self._trained(tree, split_leaves(tree, rows), rows, seed)

    def _grown(self, rows: TrainingRows, seed: int) -> Branches:
        """Return the tree that grows while rows set aside are predicted better."""
        random = np.random.default_rng(seed)
        held_out = random.random(len(rows.inputs)) < self.validation_fraction
        if held_out.all() or held_out.sum() < 2:
            return even_tree((2,))
        taught, unseen = part_of(rows, ~held_out), part_of(rows, held_out)
        tree: Branches = (None, None)
        error = self._validated(tree, taught, unseen, seed)
        waiting = [0, 1]
        while waiting:
            leaf = waiting.pop(0)
            if leaf_depths(tree)[leaf] >= int(self.max_depth):
                continue
            if (split_leaves(tree, taught) == leaf).sum() < FEWEST_ROWS:
                continue
            larger = split_tree(tree, leaf)
            new_error = self._validated(larger, taught, unseen, seed)
            if new_error < error:
                tree, error = larger, new_error
                # The new leaves have its number and the next; all later ones move up.
                waiting = [number + (number > leaf) for number in waiting] + [leaf, leaf + 1]
        return tree

    def _validated(
        self, tree: Branches, taught: TrainingRows, unseen: TrainingRows, seed: int
    ) -> float:
        for _ in self._trained(tree, split_leaves(tree, taught), taught, seed):
            pass
        mixed, _ = self.model_.mixed(
            self.parameters_, unseen.inputs, unseen.targets, unseen.weights
        )
        return float(mixed.errors.mean())

    @property
    def tree_(self) -> Branches:
        """The tree: leaves are None, nodes are tuples of their branches."""
        return self.model_.gate.tree  # type: ignore[attr-defined]

    @property
    def leaf_depths_(self) -> list[int]:
        """Depth of every leaf."""
        return leaf_depths(self.tree_)


def part_of(rows: TrainingRows, which: NDArray[np.bool_]) -> TrainingRows:
    """Return some of the training rows."""
    weights = None if rows.weights is None else rows.weights[which]
    targets = Targets(rows.targets.values[which], rows.targets.classes)
    return TrainingRows(rows.inputs[which], targets, weights)


class SoftDecisionTreeRegressor(SoftTree, NumberExperts, Regressor):
    r"""Soft decision tree for regression: all leaves answer, each by the gates on its path.

    .. math:: y = \sum_\ell w_\ell \prod_{\mathrm{nodes\ on\ path}} g_{\mathrm{branch}}(x)

    Parameters
    ----------
    max_depth
        Gates on the path to a leaf; where the tree grows, most of them.
    growing
        Whether the tree begins with two leaves and splits one wherever that lowers the error on
        rows set aside; otherwise all leaves have the same depth.
    validation_fraction
        Share of the rows that is set aside while the tree grows.
    alpha
        Strength of the penalty on squared weights of gates and leaves, for columns and targets of
        deviation 1.
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
        Most epochs.
    tol, n_iter_no_change
        Training ends when the error has not fallen by `tol` for so many epochs; solvers that use
        all rows compare `tol` with the gradient.
    n_init
        Starts, of which the best is taken.
    random_state
        Seed of orders and of rows set aside.

    Attributes
    ----------
    n_experts_ : int
        Number of leaves.
    intercept_ : ndarray
        Outputs of the leaves.
    gate_coef_, gate_intercept_ : ndarray
        The gates' linear functions of the columns, a row for each branch.
    history_ : DataFrame
        A row for each epoch of descent.
    n_parameters_ : int
        Numbers that training has chosen.
    n_iter_ : int
        Epochs and steps.
    loss_ : float
        Mean training error, for targets of deviation 1.
    tree_ : tuple
        Branches of the nodes; leaves are None.
    leaf_depths_ : list of int
        Depth of every leaf.

    Notes
    -----
    See Alpaydin 12.9 and Irsoy, Yildiz and Alpaydin (2012). Gates begin at the best thresholds of
    a hard tree; the steeper they are, the harder the tree is. With linear experts at the leaves
    this is `verulam.local.HierarchicalExpertsRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import SoftDecisionTreeRegressor
    >>> x = np.linspace(-3, 3, 200)[:, None]
    >>> tree = SoftDecisionTreeRegressor(2).fit(x, np.tanh(x[:, 0]))
    >>> tree.n_experts_, bool(tree.score(x, np.tanh(x[:, 0])) > 0.999)
    (4, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SoftTree._parameter_constraints

    @classmethod
    def _example_learners(cls) -> list["SoftDecisionTreeRegressor"]:
        return [cls(2, tol=1e-3)]


class SoftDecisionTreeClassifier(SoftTree, ClassExperts, Classifier):
    r"""Soft decision tree for classification: all leaves answer, each by the gates on its path.

    .. math:: y = \mathrm{softmax}\Bigl(\sum_\ell w_\ell
              \prod_{\mathrm{nodes\ on\ path}} g_{\mathrm{branch}}(x)\Bigr)

    Parameters
    ----------
    max_depth
        Gates on the path to a leaf; where the tree grows, most of them.
    growing
        Whether the tree begins with two leaves and splits one wherever that lowers the error on
        rows set aside; otherwise all leaves have the same depth.
    validation_fraction
        Share of the rows that is set aside while the tree grows.
    alpha
        Strength of the penalty on squared weights of gates and leaves, for columns of deviation 1.
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
        Most epochs.
    tol, n_iter_no_change
        Training ends when the error has not fallen by `tol` for so many epochs; solvers that use
        all rows compare `tol` with the gradient.
    n_init
        Starts, of which the best is taken.
    random_state
        Seed of orders and of rows set aside.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    n_experts_ : int
        Number of leaves.
    intercept_ : ndarray
        Outputs of the leaves.
    gate_coef_, gate_intercept_ : ndarray
        The gates' linear functions of the columns, a row for each branch.
    history_ : DataFrame
        A row for each epoch of descent.
    n_parameters_ : int
        Numbers that training has chosen.
    n_iter_ : int
        Epochs and steps.
    loss_ : float
        Mean training error.
    tree_ : tuple
        Branches of the nodes; leaves are None.
    leaf_depths_ : list of int
        Depth of every leaf.

    Notes
    -----
    See Alpaydin 12.9 and Irsoy, Yildiz and Alpaydin (2012). Gates begin at the best thresholds of
    a hard tree; the steeper they are, the harder the tree is. With linear experts at the leaves
    this is `verulam.local.HierarchicalExpertsClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.local import SoftDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = SoftDecisionTreeClassifier(2, alpha=0.1).fit(X, y)
    >>> bool(tree.score(X, y) > 0.97)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SoftTree._parameter_constraints

    @classmethod
    def _example_learners(cls) -> list["SoftDecisionTreeClassifier"]:
        return [cls(2, tol=1e-3)]
