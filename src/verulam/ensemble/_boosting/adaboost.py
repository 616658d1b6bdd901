"""AdaBoost of any classifier, by reweighting or by resampling, and of stumps in closed form."""

from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    RANDOM_STATE,
    DataError,
    DataWarning,
    HasMethods,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    check_weights,
    checked_fit_with_parts,
    generator,
    warn_caller,
)
from verulam.ensemble._boosting.stumps import SortedColumns, Stump
from verulam.ensemble._members.base import EnsembleClassifier, unit_rows
from verulam.ensemble._members.members import (
    FloatArray,
    class_outputs,
    fit_member,
    seeded,
    takes_weights,
)
from verulam.ensemble._members.tables import prepared_member, take_rows
from verulam.numerics import announced
from verulam.tree import DecisionTreeClassifier

#: An error of 0 would give an infinite vote.
LEAST_ERROR = 1e-10
#: Draws of rows that are made until there are two classes among them.
MOST_DRAWS = 20


def vote_of(error: float, n_classes: int, kind: str) -> float:
    r"""Return the vote of a member, :math:`\log (1 / \beta)`; SAMME adds :math:`\log (K - 1)`."""
    bounded = min(max(error, LEAST_ERROR), 1.0 - LEAST_ERROR)
    extra = np.log(n_classes - 1.0) if kind == "samme" else 0.0
    return float(np.log((1.0 - bounded) / bounded) + extra)


def reweighted(weights: FloatArray, right: NDArray[np.bool_], vote: float) -> FloatArray:
    """Return the weights for the next round: rows that were right lose by the member's vote."""
    # Dividing what is right, as in the text, or multiplying what is wrong: they are normalised.
    factors = np.exp(-vote) if vote > 0 else 1.0, 1.0 if vote > 0 else np.exp(vote)
    changed = weights * np.where(right, *factors)
    return changed / changed.sum()


class _Tally:
    """Votes for each class that are added up member by member."""

    def __init__(self, n_rows: int, n_classes: int) -> None:
        self.is_pair = n_classes == 2
        self._total = 0.0
        # Of two classes it is enough to know the votes for the second.
        self._sums = np.zeros((1 if self.is_pair else n_classes, n_rows))

    def add(self, codes: NDArray[np.intp], vote: float) -> NDArray[np.intp]:
        """Add the vote of a member, and return the class that leads in each row."""
        self._total += vote
        if self.is_pair:
            self._sums[0] += vote * codes
            # Of equal votes the first class wins, whatever the last digit says.
            return (self._sums[0] > 0.5 * self._total + 1e-12 * abs(self._total)).astype(np.intp)
        for code, sums in enumerate(self._sums):
            sums[codes == code] += vote
        return self._sums.argmax(axis=0)

    @property
    def votes(self) -> FloatArray:
        """Votes for each class, of shape (n_rows, n_classes)."""
        if self.is_pair:
            return np.column_stack([self._total - self._sums[0], self._sums[0]])
        return np.ascontiguousarray(self._sums.T)


class AdaBoostClassifier(InSteps, EnsembleClassifier):
    r"""Teach one weak classifier after another, each with more weight on what was wrong before.

    Parameters
    ----------
    estimator
        Weak classifier; None takes stumps, found in closed form (on tables with categories or gaps
        trees of one level).
    n_estimators
        Most members.
    method
        "reweighting", which needs members that take `sample_weight`; or "resampling", which draws
        as many rows as there are by their weights, and works with any.
    kind
        "m1", whose members must be right more often than not; or "samme", where it is enough to be
        better than chance among all classes.
    at_half
        Whether a member that is not good enough ends the training ("stop"), or votes with its
        negative weight and the training goes on ("continue").
    random_state
        Seed of the draws, and of members that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list
        The members: fitted learners, or records `Stump`.
    votes_ : ndarray of shape (n_members,)
        Vote of each.
    errors_ : ndarray of shape (n_rounds,)
        Weighted error of each member in its round; with one more entry than members where the last
        was not good enough.
    member_errors_ : ndarray of shape (n_rounds,)
        Share of the training rows that each gets wrong, without weights.
    training_errors_ : ndarray of shape (n_members,)
        Share of the training rows that the members up to each get wrong together.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    .. math:: \epsilon_j = \sum_t p_j^t\, 1(y_j^t \ne r^t), \quad
              \beta_j = \frac{\epsilon_j}{1 - \epsilon_j}, \quad
              p_{j+1}^t \propto p_j^t \beta_j^{1(y_j^t = r^t)}, \quad
              y_i = \sum_j \log\frac{1}{\beta_j} d_{ji}

    After each round the member has a weighted error of one half, so that the next must find
    something new. Training ends where :math:`\epsilon \ge 1/2` (the figure has :math:`>`, the text
    asks for less than one half), or where it is 0, which is taken for :math:`10^{-10}`. See
    Alpaydin 17.7 (fig. 17.2) and Bartkowiak 7.7 (table 7.1); SAMME is that of Zhu et al. (2009).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import AdaBoostClassifier
    >>> cancer = dataset("breast_cancer")
    >>> boost = AdaBoostClassifier(n_estimators=20).fit(cancer.inputs, cancer.target_values)
    >>> boost.training_errors_[[0, 4, 19]].round(3)
    array([0.077, 0.032, 0.009])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"reweighting", "resampling"})],
        "kind": [StrOptions({"m1", "samme"})],
        "at_half": [StrOptions({"stop", "continue"})],
        "random_state": RANDOM_STATE,
    }
    estimators = None

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(n_estimators=20), cls(n_estimators=8, method="resampling", kind="samme")]

    def _takes_weights(self) -> bool:
        # Rows are drawn by their weight, or handed on with it.
        return self.method == "resampling" or super()._takes_weights()

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        method: str = "reweighting",
        kind: str = "m1",
        at_half: str = "stop",
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.method = method
        self.kind = kind
        self.at_half = at_half
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach the members one after another."""
        table, codes = self._read(X, y)
        weights = check_weights(sample_weight, codes)
        if weights is None:
            weights = np.ones(len(codes))
        if not weights.sum() > 0:
            raise DataError("sample_weight is zero in all rows; one row or more must count.")
        if not weights.all():
            # Rows of no weight take no part, not even as neighbours of a threshold.
            rows = np.flatnonzero(weights)
            table, codes, weights = take_rows(table, rows), codes[rows], weights[rows]
        self.estimators_: list[Any] = []
        votes: list[float] = []
        errors: list[float] = []
        member_errors: list[float] = []
        together: list[float] = []
        shares = weights / weights.sum()
        tally = _Tally(len(codes), len(self.classes_))
        limit = 0.5 if self.kind == "m1" else 1.0 - 1.0 / len(self.classes_)
        with announced("verulam.ensemble"):
            teach = self._teacher(table, codes)
            weights = shares
            for _ in self._steps(range(self.n_estimators), "member", self.n_estimators):
                learner, answers = teach(weights)
                right = answers == codes
                error = float(weights @ ~right)
                errors.append(error)
                member_errors.append(float(shares @ ~right))
                ends = error >= limit - 1e-12 and self.at_half == "stop"
                if ends and votes:
                    break
                # A first member that is too weak is better than none.
                vote = 1.0 if ends else vote_of(error, len(self.classes_), self.kind)
                self.estimators_.append(learner)
                votes.append(vote)
                together.append(float(shares @ (tally.add(answers, vote) != codes)))
                if ends or error <= 0:
                    break
                weights = reweighted(weights, right, vote)
        if ends and len(errors) == 1:
            warn_caller(
                f"The first member errs on {100 * errors[0]:.0f} % of the weighted rows, not below "
                f"the {100 * limit:.0f} % that kind={self.kind!r} needs, so that training ended "
                "with it. Take a stronger estimator, or kind='samme' for several classes.",
                DataWarning,
            )
        self.votes_ = np.array(votes)
        self.errors_ = np.array(errors)
        self.member_errors_ = np.array(member_errors)
        self.evaluations_ = float(len(votes))
        self._is_plain = isinstance(self.estimators_[0], Stump)
        self.training_errors_ = np.array(together)
        return self

    def _teacher(
        self, table: Any, codes: NDArray[Any]
    ) -> Callable[[FloatArray], tuple[Any, NDArray[np.intp]]]:
        """Return what teaches one member with weights, and gives its answers about all rows."""
        random = generator(self.random_state)
        labels = self.classes_[codes]
        n_rows = len(codes)
        inputs = _numbers(table)
        if self.estimator is None and inputs is not None and self.method == "reweighting":
            columns = SortedColumns(inputs, codes, len(self.classes_))

            def best_stump(weights: FloatArray) -> tuple[Any, NDArray[np.intp]]:
                stump = columns.best(weights)
                return stump, stump.codes(inputs)

            return best_stump
        base = DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator
        model = prepared_member(base, table)
        if self.method == "reweighting" and not takes_weights(model):
            raise DataError(
                f"method='reweighting' needs an estimator whose fit takes sample_weight, and that "
                f"of {type(base).__name__} does not; take method='resampling'."
            )

        def taught(weights: FloatArray) -> tuple[Any, NDArray[np.intp]]:
            copy = seeded(prepared_member(base, table), int(random.integers(2**31 - 1)))
            member = (type(base).__name__, copy)
            if self.method == "reweighting":
                ready = fit_member(member, table, labels, weights * n_rows)
            else:
                rows = _drawn(weights, codes, random)
                ready = fit_member(member, take_rows(table, rows), labels[rows])
            return ready, class_outputs(ready, table, self.classes_, "labels").argmax(axis=1)

        return taught

    def _codes(self, learner: Any, table: Any) -> NDArray[np.intp]:
        if self._is_plain:
            return learner.codes(table)
        return class_outputs(learner, table, self.classes_, "labels").argmax(axis=1)

    def _stages(self, table: Any) -> Iterator["_Tally"]:
        """Yield the votes for each class after each member."""
        if self._is_plain:
            table = np.asarray(table, dtype=np.float64)
        tally = _Tally(len(table), len(self.classes_))
        for learner, vote in zip(self.estimators_, self.votes_, strict=True):
            tally.add(self._codes(learner, table), vote)
            yield tally

    def staged_votes(self, X: Any) -> Iterator[FloatArray]:
        """Yield the votes for each class after each member, divided by the sum of all votes."""
        table = self._checked(X)
        sizes = np.cumsum(np.abs(self.votes_))
        for tally, size in zip(self._stages(table), sizes, strict=True):
            yield tally.votes / max(size, LEAST_ERROR)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return each class's share of the votes."""
        table = self._checked(X)
        *_, tally = self._stages(table)
        votes = tally.votes
        return unit_rows(votes - np.minimum(votes.min(axis=1, keepdims=True), 0.0))


def _numbers(table: Any) -> FloatArray | None:
    """Return the table as numbers if it has nothing but complete ones."""
    if isinstance(table, pd.DataFrame):
        if not all(getattr(kind, "kind", "O") in "iuf" for kind in table.dtypes):
            return None
        table = table.to_numpy(dtype=np.float64)
    return None if np.isnan(table).any() else table


def _drawn(weights: FloatArray, codes: NDArray[Any], random: np.random.Generator) -> NDArray[Any]:
    """Draw as many rows as there are, by weight, and again where they are all of one class."""
    for _ in range(MOST_DRAWS):
        rows = random.choice(len(weights), size=len(weights), p=weights)
        if np.ptp(codes[rows]):
            break
    return rows
