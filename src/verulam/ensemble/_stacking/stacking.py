"""Stacked generalisation with any combiner, weights on the simplex, or a tree that selects."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from verulam.base import (
    RANDOM_STATE,
    HasMethods,
    Interval,
    Seed,
    StrOptions,
    checked_arguments,
    checked_fit_with_parts,
    spawn_seeds,
)
from verulam.ensemble._fusion.analysis import member_errors, row_counts, shares_of_errors
from verulam.ensemble._fusion.rules import combine
from verulam.ensemble._members.base import (
    REPEATED_ROWS,
    EnsembleClassifier,
    EnsembleRegressor,
    example_classifiers,
    example_regressors,
    unit_rows,
)
from verulam.ensemble._members.members import (
    OUTPUT_NUMBERS,
    TARGETS,
    WEIGHTS,
    FloatArray,
    Member,
    MemberOutputs,
    check_weighted,
    class_outputs,
    cross_outputs,
    fit_member,
    fit_members,
    fold_numbers,
    outputs_of,
    prepared_members,
    seeded,
)
from verulam.ensemble._members.tables import prepared_member, take_rows
from verulam.linear import LogisticDiscriminant
from verulam.parametric import LeastSquares
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

_SHARED: dict[str, Any] = {
    "estimators": [list, tuple, None],
    "final_estimator": [StrOptions({"simplex"}), HasMethods(["fit", "predict"]), None],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
    "random_state": RANDOM_STATE,
}


@checked_arguments(outputs=OUTPUT_NUMBERS, targets=TARGETS, sample_weight=WEIGHTS)
def simplex_weights(
    outputs: MemberOutputs | ArrayLike,
    targets: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> FloatArray:
    r"""Return the weights of least squared error that are 0 or more and sum to 1.

    Parameters
    ----------
    outputs
        What the members said: `MemberOutputs`, or an array (n_members, n_rows).
    targets
        What was true.
    sample_weight
        How often each row counts; None for once each.

    Notes
    -----
    .. math:: \min_w \sum_t \Bigl( r^t - \sum_j w_j d_j^t \Bigr)^2, \quad w_j \ge 0, \;
              \sum_j w_j = 1

    With weights that sum to 1 the sum of squares is :math:`w^T M w` in the products of errors, and
    the least of :math:`u^T M u + (1 - 1^T u)^2` over :math:`u \ge 0` has the same direction, so
    that one problem of nonnegative least squares solves it exactly. See Alpaydin 17.9 (17.8).

    Examples
    --------
    >>> from verulam.ensemble import simplex_weights
    >>> said = [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0], [9.0, 1.0, 1.0]]
    >>> simplex_weights(said, [1.5, 2.5, 3.5]).round(3)
    array([0.75, 0.25, 0.  ])
    """
    errors = member_errors(outputs, targets)
    counts = row_counts(sample_weight, len(np.asarray(targets)))
    products = (errors * shares_of_errors(counts, errors)) @ errors.T
    scale = float(np.trace(products)) / len(products)
    if not scale > 0:
        return np.full(len(products), 1.0 / len(products))
    # The least of w'Pw + (1'w - 1)^2 among w >= 0 points where that on the simplex does: its sum
    # alone is short of 1. A root of P makes it a problem that SciPy solves exactly.
    values, vectors = np.linalg.eigh(products / scale)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    design = np.vstack([root, np.ones((1, len(products)))])
    solution = nnls(design, np.append(np.zeros(len(products)), 1.0))[0]
    return solution / solution.sum()


class _Stack:
    """What stacks of classifiers and of regressors share."""

    folds: int
    validation_fraction: float | None
    random_state: Seed
    final_estimator: Any
    final_estimator_: Any
    weights_: FloatArray | None
    estimators_: list[Member]

    def _stack_outputs(
        self,
        members: list[Member],
        table: Any,
        targets: NDArray[Any],
        codes: NDArray[Any] | None,
        classes: NDArray[Any] | None,
        kind: str,
        seed: int,
        weights: FloatArray | None,
    ) -> tuple[MemberOutputs, NDArray[np.intp]]:
        """Return what members say about rows they were not taught with, and which rows."""
        n_rows = len(targets)
        if self.validation_fraction is None:
            numbers = fold_numbers(codes, n_rows, self.folds, seed)
            outputs = cross_outputs(members, table, targets, numbers, classes, kind, weights)
            return outputs, np.arange(n_rows)
        parts = fold_numbers(codes, n_rows, n_rows, seed)
        # Folds of single rows run through the classes in turn, so their order is stratified.
        order = np.argsort(parts, kind="stable")
        n_fresh = min(max(round(self.validation_fraction * n_rows), 1), n_rows - 1)
        spaced = np.floor((np.arange(n_fresh) + 0.5) * n_rows / n_fresh).astype(np.intp)
        fresh = np.sort(order[spaced])
        rest = np.setdiff1d(np.arange(n_rows), fresh)
        part = take_rows(table, rest)
        shares = None if weights is None else weights[rest]
        copies = [(name, prepared_member(learner, part)) for name, learner in members]
        ready = fit_members(copies, part, targets[rest], shares)
        return outputs_of(ready, take_rows(table, fresh), classes, kind), fresh

    def _taught_combiner(
        self,
        default: Any,
        outputs: MemberOutputs,
        targets: NDArray[Any],
        seed: int,
        weights: FloatArray | None,
    ) -> Any:
        base = default if self.final_estimator is None else self.final_estimator
        copy = seeded(prepared_member(base, outputs.features), seed)
        if weights is not None:
            check_weighted([("final_estimator", base)])
        return fit_member(("final_estimator", copy), outputs.features, targets, weights)


def walk_lazily(
    tree: Any, members: list[Member], table: Any, classes: NDArray[Any] | None, kind: str
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the leaf of each row, and which members it took to find it.

    A member is asked only about rows that reach a test of its outputs.
    """
    n_rows = len(table)
    width = 1 if classes is None else len(classes)
    nodes = np.zeros(n_rows, dtype=np.intp)
    asked = np.zeros((n_rows, len(members)), dtype=bool)
    responses = np.full((n_rows, len(members), width), np.nan)
    open_nodes = [0] if tree.n_children[0] else []
    while open_nodes:
        node = open_nodes.pop()
        rows = np.flatnonzero(nodes == node)
        if not len(rows):
            continue
        member, output = divmod(int(tree.column[node]), width)
        # A tree may ask of a member twice on a path; it answers a row once.
        new = rows[~asked[rows, member]]
        if len(new):
            part = outputs_of([members[member]], take_rows(table, new), classes, kind)
            responses[new, member] = part.values[0]
            asked[new, member] = True
        first = int(tree.first_child[node])
        nodes[rows] = first + (responses[rows, member, output] > tree.threshold[node])
        open_nodes += [child for child in (first, first + 1) if tree.n_children[child]]
    return nodes, asked


class StackingClassifier(_Stack, EnsembleClassifier):
    r"""Train a classifier on what other classifiers say.

    Parameters
    ----------
    estimators
        Classifiers, or pairs of name and classifier; None takes naive Bayes, a tree and nearest
        neighbours. Each gets the table as it can use it.
    final_estimator
        The combiner, any classifier; None for logistic discrimination, "simplex" for weights that
        are 0 or more and sum to 1. A `DecisionTreeClassifier` selects as well: members that are
        not on a row's path are not asked.
    outputs
        "probabilities" where members have them, or "labels".
    folds
        Folds in which members speak about rows that they were not taught with.
    validation_fraction
        Share of the rows that is held out for the combiner, instead of folds; None for folds.
    random_state
        Seed of the folds, and of learners that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list of tuple
        Name and learner of each member, taught with all rows.
    final_estimator_ : learner or None
        The combiner; None with "simplex".
    weights_ : ndarray of shape (n_members,) or None
        Weights of "simplex".
    used_members_ : list of str
        Members that the combiner looks at.
    evaluations_ : float
        Members that the prediction of a training row asks, in the mean.

    Notes
    -----
    .. math:: y = f(d_1, \ldots, d_L \mid \Phi)

    The combiner is trained on data unseen by the members, or it would learn whom to trust where
    they have memorised. See Alpaydin 17.9 (17.8; fig. 17.4), 17.10.1; Bartkowiak 7.5.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import StackingClassifier
    >>> from verulam.tree import DecisionTreeClassifier
    >>> titanic = dataset("titanic")
    >>> selector = DecisionTreeClassifier(max_leaf_nodes=4)
    >>> stack = StackingClassifier(final_estimator=selector, random_state=0)
    >>> stack = stack.fit(titanic.inputs, titanic.target_values)
    >>> stack.used_members_, round(stack.evaluations_, 2)
    (['naive_bayes', 'tree', 'neighbours'], 2.0)
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "outputs": [StrOptions({"probabilities", "labels"})],
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        members, tree = example_classifiers(), DecisionTreeClassifier(max_leaf_nodes=4)
        return [cls(members, "simplex", folds=2), cls(members, tree), cls(members, folds=2)]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        final_estimator: Any = None,
        *,
        outputs: str = "probabilities",
        folds: int = 5,
        validation_fraction: float | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.outputs = outputs
        self.folds = folds
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Let members speak about rows they have not seen, train the combiner, teach them all.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        labels = self.classes_[codes]
        seeds = spawn_seeds(self.random_state, 3)
        members = prepared_members(self._members(), table, seeds[1], weights)
        responses, rows = self._stack_outputs(
            members, table, labels, codes, self.classes_, self.outputs, seeds[0], weights
        )
        shares = None if weights is None else weights[rows]
        self.weights_ = self.final_estimator_ = None
        if isinstance(self.final_estimator, str):
            self.weights_ = simplex_weights(responses, labels[rows], shares)
        else:
            # On held-out outputs that separate the classes, likelihood alone has no maximum.
            default = LogisticDiscriminant(alpha=1e-3)
            self.final_estimator_ = self._taught_combiner(
                default, responses, labels[rows], seeds[2], shares
            )
        self.estimators_ = fit_members(members, table, labels, weights)
        self.used_members_ = self._used()
        self.evaluations_ = float(np.average(self.evaluations(table), weights=weights))
        return self

    def _used(self) -> list[str]:
        names = [name for name, _ in self.estimators_]
        if self.weights_ is not None:
            return [name for name, weight in zip(names, self.weights_, strict=True) if weight > 0]
        if not self._selects:
            return names
        columns = self.final_estimator_.used_features_ // len(self.classes_)
        return [names[place] for place in sorted(set(columns.tolist()))]

    @property
    def _selects(self) -> bool:
        return isinstance(self.final_estimator_, DecisionTreeClassifier)

    def evaluations(self, X: Any) -> NDArray[np.intp]:
        """Return how many members the prediction of each row asks."""
        table = self._checked(X)
        if not self._selects:
            return np.full(len(table), len(self.used_members_), dtype=np.intp)
        tree = self.final_estimator_.tree_
        return walk_lazily(tree, self.estimators_, table, self.classes_, self.outputs)[1].sum(
            axis=1
        )

    def member_outputs(self, X: Any) -> MemberOutputs:
        """Return what each member says about each row."""
        table = self._checked(X)
        return outputs_of(self.estimators_, table, self.classes_, self.outputs)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return what the combiner makes of the members' outputs."""
        table = self._checked(X)
        if self._selects:
            tree = self.final_estimator_.tree_
            leaves, _ = walk_lazily(tree, self.estimators_, table, self.classes_, self.outputs)
            return _leaf_votes(self.final_estimator_, leaves, self.classes_)
        responses = outputs_of(self.estimators_, table, self.classes_, self.outputs)
        if self.weights_ is not None:
            return unit_rows(combine(responses, weights=self.weights_))
        return class_outputs(self.final_estimator_, responses.features, self.classes_)


def _leaf_votes(tree: Any, leaves: NDArray[np.intp], classes: NDArray[Any]) -> FloatArray:
    """Return the class shares of leaves among all classes, of which the tree may lack some."""
    votes = np.zeros((len(leaves), len(classes)))
    votes[:, np.searchsorted(classes, tree.classes_)] = tree.tree_.values[leaves]
    return unit_rows(votes)


class StackingRegressor(_Stack, EnsembleRegressor):
    r"""Train a regressor on what other regressors say.

    Parameters
    ----------
    estimators
        Regressors, or pairs of name and regressor; None takes least squares, a tree and a
        nearest-neighbour smoother. Each gets the table as it can use it.
    final_estimator
        The combiner, any regressor; None for least squares with an intercept and weights of any
        sign, "simplex" for weights that are 0 or more and sum to 1. A `DecisionTreeRegressor`
        selects as well: members that are not on a row's path are not asked.
    folds
        Folds in which members speak about rows that they were not taught with.
    validation_fraction
        Share of the rows that is held out for the combiner, instead of folds; None for folds.
    random_state
        Seed of the folds, and of learners that have none.

    Attributes
    ----------
    estimators_ : list of tuple
        Name and learner of each member, taught with all rows.
    final_estimator_ : learner or None
        The combiner; None with "simplex".
    weights_ : ndarray of shape (n_members,) or None
        Weights of "simplex".
    evaluations_ : float
        Members that the prediction of a training row asks, in the mean.

    Notes
    -----
    A bias and weights of any sign can correct members that err in the same direction. See Alpaydin
    17.9 (17.8) and exercise 6 of 17.13.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import StackingRegressor
    >>> mpg = dataset("auto_mpg")
    >>> stack = StackingRegressor(final_estimator="simplex", random_state=0)
    >>> stack.fit(mpg.inputs, mpg.target_values).weights_.round(2)
    array([0.2 , 0.28, 0.52])
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = _SHARED

    @classmethod
    def _example_learners(cls) -> list[Any]:
        members, tree = example_regressors(), DecisionTreeRegressor(max_depth=3)
        return [cls(members, folds=2), cls(members, tree, folds=2)]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        final_estimator: Any = None,
        *,
        folds: int = 5,
        validation_fraction: float | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.folds = folds
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Let members speak about rows they have not seen, train the combiner, teach them all.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, targets, weights = self._read_weighted(X, y, sample_weight)
        seeds = spawn_seeds(self.random_state, 3)
        members = prepared_members(self._members(), table, seeds[1], weights)
        responses, rows = self._stack_outputs(
            members, table, targets, None, None, "numbers", seeds[0], weights
        )
        shares = None if weights is None else weights[rows]
        self.weights_ = self.final_estimator_ = None
        if isinstance(self.final_estimator, str):
            self.weights_ = simplex_weights(responses, targets[rows], shares)
        else:
            self.final_estimator_ = self._taught_combiner(
                LeastSquares(), responses, targets[rows], seeds[2], shares
            )
        self.estimators_ = fit_members(members, table, targets, weights)
        self.evaluations_ = float(np.average(self.evaluations(table), weights=weights))
        return self

    @property
    def _selects(self) -> bool:
        return isinstance(self.final_estimator_, DecisionTreeRegressor)

    def evaluations(self, X: Any) -> NDArray[np.intp]:
        """Return how many members the prediction of each row asks."""
        table = self._checked(X)
        if self._selects:
            tree = self.final_estimator_.tree_
            return walk_lazily(tree, self.estimators_, table, None, "numbers")[1].sum(axis=1)
        used = len(self.estimators_) if self.weights_ is None else int((self.weights_ > 0).sum())
        return np.full(len(table), used, dtype=np.intp)

    def member_outputs(self, X: Any) -> MemberOutputs:
        """Return what each member says about each row."""
        table = self._checked(X)
        return outputs_of(self.estimators_, table, None)

    def predict(self, X: Any) -> FloatArray:
        """Return what the combiner makes of the members' outputs."""
        table = self._checked(X)
        if self._selects:
            tree = self.final_estimator_.tree_
            leaves, _ = walk_lazily(tree, self.estimators_, table, None, "numbers")
            return tree.values[leaves, 0]
        responses = outputs_of(self.estimators_, table, None)
        if self.weights_ is not None:
            return combine(responses, weights=self.weights_)[:, 0]
        return np.asarray(self.final_estimator_.predict(responses.features), dtype=np.float64)
