"""Choosing a subset of the members: forward, backward, floating, with costs and correlations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    BOOLEAN,
    NUMBER,
    RANDOM_STATE,
    TEXT,
    DataError,
    Interval,
    Seed,
    StrOptions,
    checked_arguments,
    checked_fit_with_parts,
    spawn_seeds,
)
from verulam.ensemble._fusion.analysis import (
    effective_members,
    member_errors,
    row_counts,
)
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
    OUTPUTS,
    TARGETS,
    WEIGHTS,
    FloatArray,
    MemberOutputs,
    cross_outputs,
    fit_members,
    fold_numbers,
    outputs_of,
    prepared_members,
)
from verulam.ensemble._stacking.stacking import simplex_weights

DIRECTIONS = ("forward", "backward", "floating")
Judge = Callable[[tuple[int, ...]], float]


@dataclass(frozen=True, eq=False)
class MemberSelection:
    """A subset of the members, and the steps that led to it.

    Attributes
    ----------
    members
        Positions of the members, in order; with replacement some come twice.
    names
        Their names.
    score
        Score of the subset where it was selected: accuracy, or minus the mean squared error, less
        what its members cost.
    steps
        All subsets on the way, each with its score.
    """

    members: tuple[int, ...]
    names: tuple[str, ...]
    score: float
    steps: tuple[tuple[tuple[int, ...], float], ...]


@checked_arguments(
    outputs=OUTPUTS,
    targets=TARGETS,
    direction=TEXT,
    combiner=TEXT,
    costs=WEIGHTS,
    cost_weight=NUMBER,
    replace=BOOLEAN,
    sample_weight=WEIGHTS,
)
def select_members(
    outputs: MemberOutputs,
    targets: ArrayLike,
    *,
    direction: str = "forward",
    combiner: str = "vote",
    costs: ArrayLike | None = None,
    cost_weight: float = 0.0,
    replace: bool = False,
    sample_weight: ArrayLike | None = None,
) -> MemberSelection:
    r"""Search for the members that do best together.

    Parameters
    ----------
    outputs
        What the members said about rows that they were not taught with.
    targets
        What was true.
    direction
        "forward" adds the member that helps most, "backward" leaves out the one whose absence does,
        "floating" adds and then leaves out as long as that helps.
    combiner
        "vote" for the mean of the outputs, "simplex" for weights that are 0 or more and sum to 1.
    costs
        Cost of each member; None for 1 each.
    cost_weight
        How much of the score a unit of cost is worth; 0 looks at the score alone.
    replace
        Whether a member may be added again, which gives it more weight (forward only).
    sample_weight
        How often each row counts; None for once each.

    Notes
    -----
    Forward search ends where nothing improves the score, backward search where every absence harms;
    of equal subsets the smaller is taken. The result is never worse than the best single member
    (forward) or all members (backward) on the same rows. See Alpaydin 17.10.1 (Caruana et al. 2004,
    Demir and Alpaydin 2005) and SIT1305 V.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import out_of_fold_outputs, select_members
    >>> from verulam.parametric import NaiveBayes, NearestMean
    >>> from verulam.tree import DecisionTreeClassifier
    >>> wine = dataset("wine")
    >>> members = [NaiveBayes(), NearestMean(), DecisionTreeClassifier()]
    >>> said = out_of_fold_outputs(members, wine.inputs, wine.target_values, random_state=0)
    >>> select_members(said, wine.target_values).names
    ('NaiveBayes',)
    """
    if direction not in DIRECTIONS:
        raise DataError(f"direction={direction!r}: take one of {', '.join(DIRECTIONS)}.")
    if combiner not in ("vote", "simplex"):
        raise DataError(f"combiner={combiner!r}: take 'vote' or 'simplex'.")
    if replace and direction != "forward":
        raise DataError("replace=True goes with direction='forward' alone.")
    n_members = len(outputs.values)
    prices = np.ones(n_members) if costs is None else np.asarray(costs, dtype=np.float64)
    if prices.shape != (n_members,) or not (prices >= 0).all():
        raise DataError(f"costs must be {n_members} numbers of 0 or more; got {costs!r}.")
    judge = _judge(outputs, targets, combiner, cost_weight * prices, sample_weight)
    steps: list[tuple[tuple[int, ...], float]] = []
    if direction == "backward":
        start = tuple(range(n_members))
        members, score = _shrink(start, judge(start), judge, steps)
    else:
        floating = direction == "floating"
        members, score = _grow(n_members, judge, steps, floating=floating, replace=replace)
    names = tuple(outputs.names[place] for place in members)
    return MemberSelection(members, names, score, tuple(steps))


def _judge(
    outputs: MemberOutputs,
    targets: ArrayLike,
    combiner: str,
    prices: FloatArray,
    sample_weight: ArrayLike | None,
) -> Judge:
    """Return the score of a subset: accuracy or minus squared error, less the price."""
    errors = member_errors(outputs, targets)
    truth = np.asarray(targets)
    counts = row_counts(sample_weight, len(truth))
    codes = None
    if outputs.classes is not None:
        codes = pd.Index(outputs.classes).get_indexer(pd.Index(truth))

    def score(members: tuple[int, ...]) -> float:
        part = outputs.of(members)
        weights = None if combiner == "vote" else simplex_weights(part, truth, counts)
        # A member that votes twice is still asked, and paid for, once.
        price = float(prices[sorted(set(members))].sum())
        if codes is not None:
            answers = combine(part, weights=weights).argmax(axis=1)
            return float(np.average(answers == codes, weights=counts)) - price
        shares = np.full(len(members), 1.0 / len(members)) if weights is None else weights
        squares = (shares @ errors[list(members)]) ** 2
        return -float(np.average(squares, weights=counts)) - price

    return score


def _grow(
    n_members: int, judge: Judge, steps: list[Any], *, floating: bool, replace: bool
) -> tuple[tuple[int, ...], float]:
    members: tuple[int, ...] = ()
    score = -np.inf
    while True:
        free = range(n_members) if replace else [m for m in range(n_members) if m not in members]
        trials = [tuple(sorted((*members, member))) for member in free]
        scores = [judge(trial) for trial in trials]
        # A step must gain more than rounding; with members that may come again, nothing else ends
        # a search that goes on weighing them ever more finely.
        if not trials or max(scores) <= score + 1e-12 or len(members) > 10 * n_members:
            return members, score
        members, score = trials[int(np.argmax(scores))], max(scores)
        steps.append((members, score))
        if floating and len(members) > 2:
            members, score = _shrink(members, score, judge, steps, strictly=True)


def _shrink(
    members: tuple[int, ...],
    score: float,
    judge: Judge,
    steps: list[Any],
    *,
    strictly: bool = False,
) -> tuple[tuple[int, ...], float]:
    if not strictly:
        steps.append((members, score))
    while len(members) > 1:
        trials = [members[:place] + members[place + 1 :] for place in range(len(members))]
        scores = [judge(trial) for trial in trials]
        best = max(scores)
        # Backward, equal is good enough: the smaller subset is asked less. After a step forward it
        # must be better, or the two would take turns for ever.
        if best < score - 1e-12 or (strictly and best <= score + 1e-12):
            break
        members, score = trials[int(np.argmax(scores))], best
        steps.append((members, score))
    return members, score


@dataclass(frozen=True, eq=False)
class CorrelationPruning:
    """Members that are left after the nearly equal ones are gone.

    Attributes
    ----------
    members
        Positions of the members that stay.
    dropped
        Positions of those that go, in order.
    correlations : ndarray of shape (n_members, n_members)
        Correlations of the errors of all members.
    effective_before, effective_after
        Independent learners that all members, and those that stay, are worth.
    """

    members: tuple[int, ...]
    dropped: tuple[int, ...]
    correlations: FloatArray
    effective_before: float
    effective_after: float


@checked_arguments(outputs=OUTPUT_NUMBERS, targets=TARGETS, threshold=NUMBER)
def prune_correlated(
    outputs: MemberOutputs, targets: ArrayLike, *, threshold: float = 0.9
) -> CorrelationPruning:
    r"""Drop one of each pair of members whose errors are highly correlated, the worse one.

    Parameters
    ----------
    outputs
        What the members said about rows that they were not taught with.
    targets
        What was true.
    threshold
        Correlation from which on a pair is too much alike.

    Notes
    -----
    Of two highly correlated learners one is not needed. :math:`L` dependent learners are worth
    :math:`L' \le L` independent ones, see `effective_members`. See Alpaydin 17.10.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.ensemble import MemberOutputs, prune_correlated
    >>> noise = np.random.default_rng(0).normal(size=(2, 200))
    >>> said = np.stack([noise[0], 1.1 * noise[0], noise[1]])[:, :, None]
    >>> prune_correlated(MemberOutputs(said, ("a", "b", "c")), np.zeros(200)).members
    (0, 2)
    """
    errors = member_errors(outputs, targets)
    sizes = (errors**2).mean(axis=1)
    centred = errors - errors.mean(axis=1, keepdims=True)
    lengths = np.sqrt((centred**2).sum(axis=1))
    scale = np.outer(lengths, lengths)
    correlations = np.divide(centred @ centred.T, scale, out=np.eye(len(errors)), where=scale > 0)
    left, dropped = list(range(len(errors))), []
    while len(left) > 1:
        part = correlations[np.ix_(left, left)] - np.eye(len(left))
        first, second = divmod(int(part.argmax()), len(left))
        if part[first, second] < threshold:
            break
        worse = max(left[first], left[second], key=lambda member: (sizes[member], member))
        left.remove(worse)
        dropped.append(worse)
    after = correlations[np.ix_(left, left)]
    return CorrelationPruning(
        tuple(left), tuple(dropped), correlations,
        effective_members(correlations), effective_members(after),
    )  # fmt: skip


_SHARED: dict[str, Any] = {
    "estimators": [list, tuple, None],
    "direction": [StrOptions(set(DIRECTIONS))],
    "combiner": [StrOptions({"vote", "simplex"})],
    "costs": ["array-like", None],
    "cost_weight": [Interval(Real, 0, None, closed="left")],
    "replace": ["boolean"],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "random_state": RANDOM_STATE,
}


class EnsembleSelectionClassifier(EnsembleClassifier):
    r"""Let those classifiers vote that do best together on held-out rows.

    Parameters
    ----------
    estimators
        Classifiers, or pairs of name and classifier; None takes naive Bayes, a tree and nearest
        neighbours.
    direction
        "forward", "backward" or "floating", as of `select_members`.
    combiner
        "vote" for the mean of the outputs, "simplex" for weights found on held-out rows.
    costs
        Cost of each member; None for 1 each.
    cost_weight
        How much accuracy a unit of cost is worth; 0 looks at the accuracy alone.
    replace
        Whether a member may be added again, which gives it more weight (forward only).
    folds
        Folds in which members speak about rows that they were not taught with.
    random_state
        Seed of the folds, and of learners that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list of tuple
        Name and learner of each member that was selected, taught with all rows.
    weights_ : ndarray
        Weight of each of them.
    selection_ : MemberSelection
        The search.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    See Alpaydin 17.10.1.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import EnsembleSelectionClassifier
    >>> titanic = dataset("titanic")
    >>> selected = EnsembleSelectionClassifier(random_state=0)
    >>> selected = selected.fit(titanic.inputs, titanic.target_values)
    >>> [name for name, _ in selected.estimators_]
    ['tree', 'neighbours']
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = _SHARED

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_classifiers())]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        direction: str = "forward",
        combiner: str = "vote",
        costs: ArrayLike | None = None,
        cost_weight: float = 0.0,
        replace: bool = False,
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.direction = direction
        self.combiner = combiner
        self.costs = costs
        self.cost_weight = cost_weight
        self.replace = replace
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Select members on held-out rows, and teach them with all.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        labels = self.classes_[codes]
        seeds = spawn_seeds(self.random_state, 2)
        members = prepared_members(self._members(), table, seeds[1], weights)
        numbers = fold_numbers(codes, len(codes), self.folds, seeds[0])
        responses = cross_outputs(members, table, labels, numbers, self.classes_, weights=weights)
        self.selection_, self.weights_, places = _selected(self, responses, labels, weights)
        self.estimators_ = fit_members([members[k] for k in places], table, labels, weights)
        self.evaluations_ = float(len(places))
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the weighted mean of the selected members' outputs."""
        table = self._checked(X)
        responses = outputs_of(self.estimators_, table, self.classes_)
        return unit_rows(combine(responses, weights=self.weights_))


class EnsembleSelectionRegressor(EnsembleRegressor):
    r"""Average those regressors that do best together on held-out rows.

    Parameters
    ----------
    estimators
        Regressors, or pairs of name and regressor; None takes least squares, a tree and a
        nearest-neighbour smoother.
    direction
        "forward", "backward" or "floating", as of `select_members`.
    combiner
        "vote" for the mean of the outputs, "simplex" for weights found on held-out rows.
    costs
        Cost of each member; None for 1 each.
    cost_weight
        How much mean squared error a unit of cost is worth; 0 looks at the error alone.
    replace
        Whether a member may be added again, which gives it more weight (forward only).
    folds
        Folds in which members speak about rows that they were not taught with.
    random_state
        Seed of the folds, and of learners that have none.

    Attributes
    ----------
    estimators_ : list of tuple
        Name and learner of each member that was selected, taught with all rows.
    weights_ : ndarray
        Weight of each of them.
    selection_ : MemberSelection
        The search.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    See Alpaydin 17.10.1.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import EnsembleSelectionRegressor
    >>> mpg = dataset("auto_mpg")
    >>> selected = EnsembleSelectionRegressor(replace=True, random_state=0)
    >>> selected = selected.fit(mpg.inputs, mpg.target_values)
    >>> dict(zip([name for name, _ in selected.estimators_], selected.weights_.round(2).tolist()))
    {'linear': 0.25, 'tree': 0.25, 'neighbours': 0.5}
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = _SHARED

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_regressors())]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        direction: str = "forward",
        combiner: str = "vote",
        costs: ArrayLike | None = None,
        cost_weight: float = 0.0,
        replace: bool = False,
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.direction = direction
        self.combiner = combiner
        self.costs = costs
        self.cost_weight = cost_weight
        self.replace = replace
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Select members on held-out rows, and teach them with all.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, targets, weights = self._read_weighted(X, y, sample_weight)
        seeds = spawn_seeds(self.random_state, 2)
        members = prepared_members(self._members(), table, seeds[1], weights)
        numbers = fold_numbers(None, len(targets), self.folds, seeds[0])
        responses = cross_outputs(members, table, targets, numbers, None, weights=weights)
        self.selection_, self.weights_, places = _selected(self, responses, targets, weights)
        self.estimators_ = fit_members([members[k] for k in places], table, targets, weights)
        self.evaluations_ = float(len(places))
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the weighted mean of the selected members' predictions."""
        table = self._checked(X)
        return combine(outputs_of(self.estimators_, table, None), weights=self.weights_)[:, 0]


def _selected(
    learner: Any, responses: MemberOutputs, targets: NDArray[Any], weights: FloatArray | None
) -> tuple[MemberSelection, FloatArray, Sequence[int]]:
    """Return the search, and weights and places of the members that were selected."""
    selection = select_members(
        responses, targets, direction=learner.direction, combiner=learner.combiner,
        costs=learner.costs, cost_weight=learner.cost_weight, replace=learner.replace,
        sample_weight=weights,
    )  # fmt: skip
    # One that was taken several times has so many votes.
    places, counts = np.unique(selection.members, return_counts=True)
    shares = counts / counts.sum()
    if learner.combiner == "simplex":
        shares = simplex_weights(responses.of(places), targets, weights)
    return selection, shares, places.tolist()
