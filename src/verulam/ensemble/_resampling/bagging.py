"""Bagging: the same learner on other rows and columns, by bootstrap, subsets or folds."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import make_pipeline

from verulam.base import (
    RANDOM_STATE,
    DataError,
    HasMethods,
    InSteps,
    Interval,
    Options,
    Seed,
    StrOptions,
    check_weights,
    checked_fit_with_parts,
    generator,
    iterate_in_threads,
    spawn_seeds,
)
from verulam.ensemble._fusion.rules import combine
from verulam.ensemble._members.base import EnsembleClassifier, EnsembleRegressor, unit_rows
from verulam.ensemble._members.members import (
    FloatArray,
    MemberOutputs,
    class_outputs,
    fit_member,
    fold_numbers,
    outputs_of,
    seeded,
    takes_weights,
)
from verulam.ensemble._members.tables import ColumnSubset, prepared_member, take_columns, take_rows
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

_SHARED: dict[str, Any] = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "sampling": [StrOptions({"bootstrap", "subsets", "folds"})],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="right"),
    ],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="right"),
    ],
    "oob_score": ["boolean"],
    "n_jobs": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1}), None],
    "random_state": RANDOM_STATE,
}


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows and columns of one member, and its seed."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp] | None
    seed: int


class _Bags(InSteps):
    """What bags of classifiers and of regressors share."""

    estimator: Any
    n_estimators: int
    sampling: str
    max_samples: int | float
    max_features: int | float
    oob_score: bool
    n_jobs: int | None
    random_state: Seed
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "a row that is there twice is drawn otherwise than one of twice the weight"
        )
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        learner: Any = cls
        return [
            learner(n_estimators=5),
            learner(n_estimators=3, sampling="folds", max_features=0.7, oob_score=True),
        ]

    def _draws(self, codes: NDArray[Any] | None, n_rows: int, n_columns: int) -> list[Draw]:
        """Return rows and columns of all members, drawn before any is taught."""
        random = generator(self.random_state)
        n_drawn = _count(self.max_samples, n_rows)
        n_features = _count(self.max_features, n_columns)
        if n_features > n_columns:
            raise DataError(f"max_features={self.max_features}: the table has {n_columns} columns.")
        if self.sampling != "bootstrap" and n_drawn > n_rows:
            raise DataError(f"max_samples={self.max_samples}: the table has {n_rows} rows.")
        folds = None
        if self.sampling == "folds":
            if not 2 <= self.n_estimators <= n_rows:
                raise DataError(
                    f"n_estimators={self.n_estimators}: sampling='folds' leaves one fold out for "
                    f"each member, which takes between 2 and n_samples={n_rows} of them."
                )
            folds = fold_numbers(codes, n_rows, self.n_estimators, random)
        draws = []
        for number, seed in enumerate(spawn_seeds(random, self.n_estimators)):
            own_random = generator(seed)
            if folds is not None:
                rows = np.flatnonzero(folds != number)
            else:
                rows = _drawn_rows(own_random, codes, n_rows, n_drawn, self.sampling)
            columns = None
            if n_features < n_columns:
                columns = np.sort(own_random.permutation(n_columns)[:n_features])
            draws.append(Draw(rows, columns, seed))
        return draws

    def _weights(self, sample_weight: Any, table: Any, base: Any) -> FloatArray | None:
        """Return the weights of the rows, if there are any and members can use them."""
        weights = check_weights(sample_weight, table)
        if weights is None:
            return None
        if not takes_weights(base):
            raise DataError(
                f"sample_weight: the estimator {type(base).__name__} takes no weights; take one "
                "whose fit does, or leave them out."
            )
        if not weights.any():
            raise DataError("sample_weight is zero for every row; at least one must be positive.")
        return weights

    def _teach(
        self,
        table: Any,
        targets: NDArray[Any],
        draws: list[Draw],
        base: Any,
        weights: FloatArray | None,
    ) -> list[Any]:
        """Return a fitted member for each draw; neither order nor threads change any of them."""
        counts_rows = takes_weights(base)

        def taught(draw: Draw) -> Any:
            if draw.columns is None:
                copy = prepared_member(base, table)
            else:
                view = prepared_member(base, take_columns(table, draw.columns))
                copy = make_pipeline(ColumnSubset(draw.columns), view)
            member = (type(base).__name__, seeded(copy, draw.seed, all_of_them=True))
            rows, shares = draw.rows, None if weights is None else weights[draw.rows]
            if self.sampling == "bootstrap" and counts_rows:
                # A row that was drawn twice is quicker learned once, with twice the weight.
                counts = np.bincount(draw.rows).astype(np.float64)
                rows = np.flatnonzero(counts)
                shares = counts[rows] * (1.0 if weights is None else weights[rows])
            return fit_member(member, take_rows(table, rows), targets[rows], shares)

        n_jobs = 1 if self.n_jobs is None else max(self.n_jobs, 0)
        members = iterate_in_threads(taught, draws, threads=n_jobs)
        return list(self._steps(members, "member", len(draws)))


def _count(size: float, total: int) -> int:
    return max(1, round(size * total)) if isinstance(size, float) else int(size)


def _rows_aside(draw: Draw, n_rows: int) -> NDArray[np.intp]:
    """Return the rows that a member has not seen."""
    return np.flatnonzero(np.bincount(draw.rows, minlength=n_rows) == 0)


def _drawn_rows(
    random: np.random.Generator, codes: NDArray[Any] | None, n_rows: int, count: int, sampling: str
) -> NDArray[np.intp]:
    """Draw rows with or without replacement, in order; again where all are of one class."""
    for _ in range(20):
        if sampling == "bootstrap":
            rows = random.integers(0, n_rows, size=count)
        else:
            rows = random.permutation(n_rows)[:count]
        if codes is None or count < 2 or np.ptp(codes[rows]):
            break
    # Counting sorts whole numbers eight times as fast as comparing them.
    return np.repeat(np.arange(n_rows), np.bincount(rows, minlength=n_rows))


class BaggingClassifier(_Bags, EnsembleClassifier):
    r"""Let copies of one classifier vote, each taught with other rows or columns.

    Parameters
    ----------
    estimator
        Classifier; None takes a tree, grown in full. Unstable learners gain most.
    n_estimators
        Number of members.
    sampling
        "bootstrap" draws rows with replacement (learners that take weights meet each row once,
        with a weight); "subsets" without; "folds" leaves out one of `n_estimators` folds for each
        member, a committee by cross-validation.
    max_samples
        Rows that are drawn for a member: a number, or a share of all.
    max_features
        Columns of a member: a number, or a share of all; below all of them, with
        ``sampling="subsets"``, members are of random subspaces.
    rule
        "sum" of probabilities, or "plurality" of whole votes.
    oob_score
        Whether to judge the bag by the rows that members have not seen.
    n_jobs
        Threads that teach members; None for one, -1 for all cores. They do not change the result.
    random_state
        Seed of the draws and of the members.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list
        Fitted members.
    rows_ : list of ndarray
        Rows that each was taught with, repetitions included.
    oob_score_ : float
        Only with `oob_score`, the accuracy on rows by the members that were not taught with them;
        NaN without such rows.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    Of :math:`N` rows drawn with replacement about :math:`1 - e^{-1} = 63.2\%` are different. Two
    members of a committee of :math:`L` folds share :math:`(L - 2) / (L - 1)` of their rows, and are
    less diverse. See Alpaydin 17.6, 17.2 and exercise 2 of 17.13; Bartkowiak 7.4.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import BaggingClassifier
    >>> titanic = dataset("titanic")
    >>> bag = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0)
    >>> round(bag.fit(titanic.inputs, titanic.target_values).oob_score_, 3)
    0.818
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "rule": [StrOptions({"sum", "plurality"})],
    }
    estimators = None

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        sampling: str = "bootstrap",
        max_samples: int | float = 1.0,
        max_features: int | float = 1.0,
        rule: str = "sum",
        oob_score: bool = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.max_samples = max_samples
        self.max_features = max_features
        self.rule = rule
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draw rows and columns, and teach the members, with the weights of their rows if any."""
        table, codes = self._read(X, y)
        draws = self._draws(codes, len(codes), table.shape[1])
        base = DecisionTreeClassifier() if self.estimator is None else self.estimator
        weights = self._weights(sample_weight, table, base)
        self.estimators_ = self._teach(table, self.classes_[codes], draws, base, weights)
        self.rows_ = [draw.rows for draw in draws]
        if self.oob_score:
            self.oob_score_ = self._out_of_bag(table, codes, draws)
        self.evaluations_ = float(len(draws))
        return self

    def _out_of_bag(self, table: Any, codes: NDArray[np.intp], draws: list[Draw]) -> float:
        """Return the accuracy of the votes of members on rows that they have not seen."""
        votes = np.zeros((len(codes), len(self.classes_)))
        for learner, draw in zip(self.estimators_, draws, strict=True):
            fresh = _rows_aside(draw, len(codes))
            if len(fresh):
                rows = take_rows(table, fresh)
                votes[fresh] += class_outputs(learner, rows, self.classes_, self._kind())
        judged = votes.sum(axis=1) > 0
        right = votes[judged].argmax(axis=1) == codes[judged]
        return float(right.mean()) if judged.any() else float("nan")

    def _kind(self) -> str:
        return "probabilities" if self.rule == "sum" else "labels"

    def member_outputs(self, X: Any) -> MemberOutputs:
        """Return what each member says about each row."""
        table = self._checked(X)
        members = [(f"member {n + 1}", part) for n, part in enumerate(self.estimators_)]
        return outputs_of(members, table, self.classes_, self._kind())

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the mean probabilities, or the shares of the votes."""
        table = self._checked(X)
        total = np.zeros((len(table), len(self.classes_)))
        for learner in self.estimators_:
            total += class_outputs(learner, table, self.classes_, self._kind())
        return unit_rows(total)


class BaggingRegressor(_Bags, EnsembleRegressor):
    r"""Average copies of one regressor, each taught with other rows or columns.

    Parameters
    ----------
    estimator
        Regressor; None takes a tree, grown in full. Unstable learners gain most.
    n_estimators
        Number of members.
    sampling
        "bootstrap" draws rows with replacement (learners that take weights meet each row once,
        with a weight); "subsets" without; "folds" leaves out one of `n_estimators` folds for each
        member, a committee by cross-validation.
    max_samples
        Rows that are drawn for a member: a number, or a share of all.
    max_features
        Columns of a member: a number, or a share of all.
    rule
        "mean", or "median", which a few wild members do not move.
    oob_score
        Whether to judge the bag by the rows that members have not seen.
    n_jobs
        Threads that teach members; None for one, -1 for all cores. They do not change the result.
    random_state
        Seed of the draws and of the members.

    Attributes
    ----------
    estimators_ : list
        Fitted members.
    rows_ : list of ndarray
        Rows that each was taught with, repetitions included.
    oob_score_ : float
        Only with `oob_score`, :math:`R^2` on rows by the members that were not taught with them;
        NaN without such rows.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    See Alpaydin 17.6 and Bartkowiak 7.4.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import BaggingRegressor
    >>> mpg = dataset("auto_mpg")
    >>> bag = BaggingRegressor(n_estimators=30, rule="median", oob_score=True, random_state=0)
    >>> round(bag.fit(mpg.inputs, mpg.target_values).oob_score_, 2)
    0.84
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "rule": [StrOptions({"mean", "median"})],
    }
    estimators = None

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        sampling: str = "bootstrap",
        max_samples: int | float = 1.0,
        max_features: int | float = 1.0,
        rule: str = "mean",
        oob_score: bool = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.max_samples = max_samples
        self.max_features = max_features
        self.rule = rule
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draw rows and columns, and teach the members, with the weights of their rows if any."""
        table, targets = self._read(X, y)
        draws = self._draws(None, len(targets), table.shape[1])
        base = DecisionTreeRegressor() if self.estimator is None else self.estimator
        weights = self._weights(sample_weight, table, base)
        self.estimators_ = self._teach(table, targets, draws, base, weights)
        self.rows_ = [draw.rows for draw in draws]
        if self.oob_score:
            self.oob_score_ = self._out_of_bag(table, targets, draws)
        self.evaluations_ = float(len(draws))
        return self

    def _out_of_bag(self, table: Any, targets: FloatArray, draws: list[Draw]) -> float:
        """Return the share of variance that members explain on rows they have not seen."""
        values = np.full((len(draws), len(targets)), np.nan)
        for place, (learner, draw) in enumerate(zip(self.estimators_, draws, strict=True)):
            fresh = _rows_aside(draw, len(targets))
            if len(fresh):
                values[place, fresh] = learner.predict(take_rows(table, fresh))
        judged = ~np.isnan(values).all(axis=0)
        if judged.sum() < 2 or not np.ptp(targets[judged]):
            return float("nan")
        middle = np.nanmean if self.rule == "mean" else np.nanmedian
        rest = np.sum((targets[judged] - middle(values[:, judged], axis=0)) ** 2)
        total = np.sum((targets[judged] - targets[judged].mean()) ** 2)
        return float(1.0 - rest / total)

    def member_outputs(self, X: Any) -> MemberOutputs:
        """Return what each member says about each row."""
        table = self._checked(X)
        members = [(f"member {n + 1}", part) for n, part in enumerate(self.estimators_)]
        return outputs_of(members, table, None)

    def predict(self, X: Any) -> FloatArray:
        """Return the mean or median of the members' predictions."""
        return combine(self.member_outputs(X), "sum" if self.rule == "mean" else "median")[:, 0]
