"""Cascades: cheap members first, dearer ones where they are not confident, exceptions last."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    checked_fit_with_parts,
    generator,
    spawn_seeds,
)
from verulam.ensemble._fusion.rules import middle
from verulam.ensemble._members.base import (
    REPEATED_ROWS,
    EnsembleClassifier,
    EnsembleRegressor,
    example_classifiers,
)
from verulam.ensemble._members.members import (
    FloatArray,
    Member,
    check_weighted,
    class_outputs,
    fit_member,
    prepared_members,
)
from verulam.ensemble._members.tables import prepared_member, take_rows
from verulam.ensemble._resampling.bagging import BaggingRegressor
from verulam.nonparametric import KNeighborsClassifier
from verulam.parametric import LeastSquares
from verulam.tree import DecisionTreeRegressor

#: Rows that are worth a stage of their own.
FEWEST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Coverage:
    """What the stages of a cascade did for some rows.

    Attributes
    ----------
    names
        Names of the stages; the last is what was left over.
    shares : ndarray
        Share of the rows that each answered.
    errors : ndarray
        Error among the rows that each answered; NaN where it answered none.
    costs : ndarray
        Mean cost of an answer of each: its own and that of all stages before it.
    """

    names: tuple[str, ...]
    shares: FloatArray
    errors: FloatArray
    costs: FloatArray

    @property
    def cost(self) -> float:
        """Mean cost of a prediction."""
        return float(self.shares @ self.costs)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each stage."""
        columns = {"share": self.shares, "error": self.errors, "cost": self.costs}
        return pd.DataFrame(columns, index=list(self.names))


def check_thresholds(thresholds: Any, n_stages: int, least: float) -> FloatArray:
    """Return the threshold of each stage, which may not fall from one to the next."""
    values = np.asarray(thresholds, dtype=np.float64)
    values = np.full(n_stages, float(values)) if values.ndim == 0 else values
    if values.shape != (n_stages,):
        raise DataError(
            f"thresholds must be one number, or {n_stages}: one for each stage; got {thresholds}."
        )
    if (np.diff(values) < 0).any():
        raise DataError(f"thresholds must not fall from a member to the next; got {thresholds}.")
    if not ((values >= 0) & (values < 1)).all():
        raise DataError(f"thresholds must lie between 0 and 1; got {thresholds}.")
    if ((values > 0) & (values <= least)).any():
        raise DataError(
            f"thresholds must be 0, or above 1 / n_classes = {least:.3g}, which even a guess "
            f"reaches; got {thresholds}."
        )
    return values


class CascadeClassifier(EnsembleClassifier):
    r"""Ask cheap classifiers first, and dearer ones only where those are not confident.

    Parameters
    ----------
    estimators
        Classifiers in the order in which they are asked, or pairs of name and classifier; None
        takes naive Bayes, a tree and nearest neighbours.
    thresholds
        Confidence that a member's answer must exceed, one number or one for each stage in the order
        in which they are asked; 0 takes every answer of the first.
    costs
        Cost of each member; members are sorted by it. None for 1 each, in the order given.
    remainder
        What happens to rows of which nobody is confident: the "last" member answers, the rows are
        refused ("reject"), or the nearest stored exceptions answer ("exceptions").
    n_neighbors
        Stored exceptions that answer together.
    reject_label
        What `predict` answers for refused rows.
    validation_fraction
        Share of the rows of a stage that its member is not taught with, and of which those that it
        is not confident of teach the next.
    random_state
        Seed of the division of rows, and of members that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list of tuple
        Name and fitted learner of each stage; stages for which no rows were left are missing.
    thresholds_ : ndarray
        Threshold of each.
    costs_ : ndarray
        Cost of each.
    exceptions_ : tuple or None
        Inputs and labels of the stored exceptions.
    exception_learner_ : learner or None
        Nearest neighbours among the exceptions.
    n_taught_ : list of int
        Rows that each stage was taught with.
    evaluations_ : float
        Members that the prediction of a training row asks, in the mean.

    Notes
    -----
    .. math:: y_i = d_{ji} \text{ if } w_j > \theta_j \text{ and } w_k \le \theta_k
              \text{ for all } k < j, \qquad w_j = \max_i d_{ji}

    A confidence that equals its threshold passes the row on. Simple rules explain most rows, and
    the few exceptions are stored as they are. See Alpaydin 17.11 (17.9; fig. 17.5).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import CascadeClassifier
    >>> digits = dataset("digits")
    >>> cascade = CascadeClassifier(thresholds=0.9, remainder="exceptions", random_state=0)
    >>> cascade = cascade.fit(digits.inputs, digits.target_values)
    >>> cascade.coverage(digits.inputs, digits.target_values).shares.round(2)
    array([0.96, 0.01, 0.03])
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": [list, tuple, None],
        "thresholds": ["array-like", Real],
        "costs": ["array-like", None],
        "remainder": [StrOptions({"last", "reject", "exceptions"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "reject_label": "no_validation",
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": RANDOM_STATE,
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_classifiers())]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        thresholds: ArrayLike | float = 0.9,
        costs: ArrayLike | None = None,
        remainder: str = "last",
        n_neighbors: int = 1,
        reject_label: Any = "reject",
        validation_fraction: float = 0.3,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.thresholds = thresholds
        self.costs = costs
        self.remainder = remainder
        self.n_neighbors = n_neighbors
        self.reject_label = reject_label
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach each stage with what the one before was not confident of.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        labels = self.classes_[codes]
        seeds = spawn_seeds(self.random_state, 2)
        random = generator(seeds[0])
        members, thresholds, costs = self._stages(
            prepared_members(self._members(), table, seeds[1], weights)
        )
        rows = np.arange(len(codes))
        self.estimators_: list[Member] = []
        self.n_taught_: list[int] = []
        fresh = rows
        for place, member in enumerate(members):
            is_last = place == len(members) - 1 and self.remainder == "last"
            train, fresh = (rows, rows[:0]) if is_last else self._divided(rows, codes, random)
            shares = None if weights is None else weights[train]
            learner = fit_member(member, take_rows(table, train), labels[train], shares)
            self.estimators_.append((member[0], learner))
            self.n_taught_.append(len(train))
            if len(fresh):
                votes = class_outputs(learner, take_rows(table, fresh), self.classes_)
                fresh = fresh[votes.max(axis=1) <= thresholds[place]]
            # Few rows are exceptions, and rows of one class leave nothing to tell apart.
            if len(fresh) < FEWEST_ROWS or not np.ptp(codes[fresh]):
                break
            rows = fresh
        used = len(self.estimators_)
        self.thresholds_, self.costs_ = thresholds[:used], costs[:used]
        self._store_exceptions(table, labels, fresh)
        self.evaluations_ = float(np.average(self.evaluations(table), weights=weights))
        return self

    def _stages(self, members: list[Member]) -> tuple[list[Member], FloatArray, FloatArray]:
        thresholds = check_thresholds(self.thresholds, len(members), 1.0 / len(self.classes_))
        if self.costs is None:
            return members, thresholds, np.ones(len(members))
        costs = np.asarray(self.costs, dtype=np.float64)
        if costs.shape != (len(members),) or not (costs >= 0).all():
            raise DataError(f"costs must be {len(members)} numbers of 0 or more; got {self.costs}.")
        order = np.argsort(costs, kind="stable")
        return [members[place] for place in order], thresholds, costs[order]

    def _divided(
        self, rows: NDArray[np.intp], codes: NDArray[Any], random: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows that teach a stage, and those that test its confidence."""
        order = random.permutation(rows)
        order = order[np.argsort(codes[order], kind="stable")]
        is_fresh = np.diff(np.floor(np.arange(len(order) + 1) * self.validation_fraction)) > 0
        train, fresh = np.sort(order[~is_fresh]), np.sort(order[is_fresh])
        if np.ptp(codes[train]):
            return train, fresh
        return rows, rows[:0]

    def _store_exceptions(self, table: Any, labels: NDArray[Any], rows: NDArray[np.intp]) -> None:
        self.exceptions_ = self.exception_learner_ = None
        if self.remainder != "exceptions" or not len(rows):
            return
        part = take_rows(table, rows)
        self.exceptions_ = (part, labels[rows])
        if len(np.unique(labels[rows])) < 2:
            return
        neighbours = KNeighborsClassifier(n_neighbors=min(self.n_neighbors, len(rows)))
        store = prepared_member(neighbours, table)
        self.exception_learner_ = fit_member(("exceptions", store), part, labels[rows])

    def stages(self, X: Any) -> NDArray[np.intp]:
        """Return the number of the stage that answers each row, counted from 0.

        Rows of which no stage is confident have the number of stages.
        """
        return self._walk(self._checked(X))[0]

    def _walk(self, table: Any) -> tuple[NDArray[np.intp], FloatArray, NDArray[np.intp]]:
        """Return stage, votes and number of members asked, of each row."""
        n_stages = len(self.estimators_)
        answered = np.full(len(table), n_stages, dtype=np.intp)
        asked = np.zeros(len(table), dtype=np.intp)
        votes = np.zeros((len(table), len(self.classes_)))
        rows = np.arange(len(table))
        for place, (_, learner) in enumerate(self.estimators_):
            responses = class_outputs(learner, take_rows(table, rows), self.classes_)
            votes[rows] = responses
            asked[rows] += 1
            sure = responses.max(axis=1) > self.thresholds_[place]
            answered[rows[sure]] = place
            rows = rows[~sure]
            if not len(rows):
                break
        if len(rows) and self.exception_learner_ is not None:
            votes[rows] = class_outputs(
                self.exception_learner_, take_rows(table, rows), self.classes_
            )
            asked[rows] += 1
        elif self.remainder == "last":
            answered[rows] = n_stages - 1
        return answered, votes, asked

    def evaluations(self, X: Any) -> NDArray[np.intp]:
        """Return how many members the prediction of each row asks."""
        return self._walk(self._checked(X))[2]

    def coverage(self, X: Any, y: ArrayLike) -> Coverage:
        """Return how many rows each stage answers, how well and at what cost."""
        answered, votes, _ = self._walk(self._checked(X))
        wrong = self.classes_[votes.argmax(axis=1)] != np.asarray(y)
        names = tuple(name for name, _ in self.estimators_)
        left = "exceptions" if self.exception_learner_ is not None else "left over"
        groups = [answered == place for place in range(len(names) + 1)]
        errors = [float(wrong[group].mean()) if group.any() else np.nan for group in groups]
        spent = np.cumsum(self.costs_)
        return Coverage(
            (*names, left), np.array([group.mean() for group in groups]), np.array(errors),
            np.append(spent, spent[-1]),
        )  # fmt: skip

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the stage that answers."""
        return self._walk(self._checked(X))[1]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the answer of the first stage that is confident."""
        answered, votes, _ = self._walk(self._checked(X))
        labels = self.classes_[votes.argmax(axis=1)]
        refused = (answered == len(self.estimators_)) & (self.remainder == "reject")
        if self.remainder != "reject":
            return labels
        # Labels of any type beside that of refused rows, whether there are such or not.
        return np.where(refused, self.reject_label, labels.astype(object))


class CascadeRegressor(EnsembleRegressor):
    r"""Ask cheap regressors first, and dearer ones where those are not sure.

    Parameters
    ----------
    estimators
        Regressors in the order in which they are asked, or pairs of name and regressor. How sure
        one is comes from `predict` with ``return_std=True``, or from the spread of the members of a
        bag of it. None takes bags of lines and of trees.
    thresholds
        Largest standard deviation of an answer, in units of the target, one number or one for each
        stage but the last; None for the median over the rows of each stage.
    n_estimators
        Members of a bag that is made of a regressor without standard deviations.
    random_state
        Seed of bags, and of members that have none.

    Attributes
    ----------
    estimators_ : list of tuple
        Name and fitted learner of each stage.
    thresholds_ : ndarray
        Largest standard deviation of each stage but the last.
    evaluations_ : float
        Stages that the prediction of a training row asks, in the mean.

    Notes
    -----
    The confidence of a regressor is its predictive deviation: a Gaussian process has one, and a bag
    has the deviation of its members. See Alpaydin 17.11 and exercise 8 of 17.13.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import CascadeRegressor
    >>> mpg = dataset("auto_mpg")
    >>> cascade = CascadeRegressor(thresholds=0.5, random_state=0)
    >>> round(cascade.fit(mpg.inputs, mpg.target_values).evaluations_, 2)
    1.48
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": [list, tuple, None],
        "thresholds": ["array-like", Interval(Real, 0, None, closed="left"), None],
        "n_estimators": [Interval(Integral, 2, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(n_estimators=3)]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        thresholds: ArrayLike | float | None = None,
        n_estimators: int = 10,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.thresholds = thresholds
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _members(self) -> list[Member]:
        if self.estimators is None:
            return [("lines", LeastSquares()), ("trees", DecisionTreeRegressor(min_samples_leaf=3))]
        return super()._members()

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach all stages, and find thresholds where none are given.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, targets, weights = self._read_weighted(X, y, sample_weight)
        members = self._members()
        if weights is not None:
            check_weighted(members)
        is_set = self.thresholds is not None
        limits = np.asarray(self.thresholds if is_set else np.nan, dtype=np.float64)
        limits = np.full(len(members) - 1, float(limits)) if limits.ndim == 0 else limits
        if limits.shape != (len(members) - 1,) or (is_set and not (limits >= 0).all()):
            raise DataError(
                f"thresholds must be {len(members) - 1} deviations of 0 or more, one for each "
                f"stage but the last; got {self.thresholds!r}."
            )
        self.estimators_: list[Member] = []
        rows = np.arange(len(targets))
        limits_used = limits.copy()
        for place, (name, learner) in enumerate(members):
            base = learner if tells_deviation(learner) else self._bag(learner, place)
            ready = fit_member((name, prepared_member(base, table)), table, targets, weights)
            self.estimators_.append((name, ready))
            if place < len(limits) and len(rows):
                deviations = _with_deviation(ready, take_rows(table, rows))[1]
                shares = None if weights is None else weights[rows]
                limits_used[place] = limits[place] if is_set else float(middle(deviations, shares))
                rows = rows[deviations >= limits_used[place]]
        self.thresholds_ = np.nan_to_num(limits_used, nan=0.0)
        self.evaluations_ = float(np.average(self.evaluations(table), weights=weights))
        return self

    def _bag(self, learner: Any, place: int) -> Any:
        seed = spawn_seeds(self.random_state, place + 1)[-1]
        return BaggingRegressor(learner, n_estimators=self.n_estimators, random_state=seed)

    def _walk(self, table: Any) -> tuple[FloatArray, NDArray[np.intp]]:
        values = np.zeros(len(table))
        asked = np.zeros(len(table), dtype=np.intp)
        rows = np.arange(len(table))
        for place, (_, learner) in enumerate(self.estimators_):
            if not len(rows):
                break
            responses, deviations = _with_deviation(learner, take_rows(table, rows))
            values[rows] = responses
            asked[rows] += 1
            if place < len(self.thresholds_):
                # A deviation that equals the threshold passes the row on, as in classification.
                rows = rows[deviations >= self.thresholds_[place]]
        return values, asked

    def evaluations(self, X: Any) -> NDArray[np.intp]:
        """Return how many stages the prediction of each row asks."""
        table = self._checked(X)
        return self._walk(table)[1]

    def predict(self, X: Any) -> FloatArray:
        """Return the answer of the first stage that is sure."""
        table = self._checked(X)
        return self._walk(table)[0]


def tells_deviation(learner: Any) -> bool:
    """Tell whether a regressor, or the bag that it is, says how sure it is."""
    if isinstance(learner, BaggingRegressor):
        return True
    code = getattr(getattr(type(learner), "predict", None), "__code__", None)
    return code is not None and "return_std" in code.co_varnames[: code.co_argcount]


def _with_deviation(learner: Any, table: Any) -> tuple[FloatArray, FloatArray]:
    """Return predictions and their standard deviations."""
    if isinstance(learner, BaggingRegressor):
        responses = learner.member_outputs(table).values[:, :, 0]
        return responses.mean(axis=0), responses.std(axis=0)
    if tells_deviation(learner):
        values, deviations = learner.predict(table, return_std=True)
        return np.asarray(values, dtype=np.float64), np.asarray(deviations, dtype=np.float64)
    # Behind a preparation, the last step says it.
    step = learner.steps[-1][1]
    return _with_deviation(step, learner[:-1].transform(table))
