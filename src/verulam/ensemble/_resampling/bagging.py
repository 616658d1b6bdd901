"""Bagging: the same learner on other rows and columns, by bootstrap, subsets or folds."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import make_pipeline

from verulam.base import (
    RANDOM_STATE,
    DataError,
    HasMethods,
    Interval,
    Options,
    Seed,
    StrOptions,
    checked_fit_with_parts,
    generator,
    is_classifier,
    spawn_seeds,
    thread_map,
)
from verulam.ensemble._fusion.diversity import diversity
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
    "n_jobs": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1}), None],
    "random_state": RANDOM_STATE,
}


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows and columns of one member, and its seed."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp] | None
    seed: int


class _Bags:
    """What bags of classifiers and of regressors share."""

    estimator: Any
    n_estimators: int
    sampling: str
    max_samples: int | float
    max_features: int | float
    n_jobs: int | None
    random_state: Seed

    @classmethod
    def _example_learners(cls) -> list[Any]:
        learner: Any = cls
        return [
            learner(n_estimators=5),
            learner(n_estimators=3, sampling="folds", max_features=0.7),
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

    def _teach(self, table: Any, targets: NDArray[Any], draws: list[Draw], base: Any) -> list[Any]:
        """Return a fitted member for each draw; neither order nor threads change any of them."""

        def taught(draw: Draw) -> Any:
            if draw.columns is None:
                copy = prepared_member(base, table)
            else:
                view = prepared_member(base, take_columns(table, draw.columns))
                copy = make_pipeline(ColumnSubset(draw.columns), view)
            part = take_rows(table, draw.rows)
            member = (type(base).__name__, seeded(copy, draw.seed, all_of_them=True))
            return fit_member(member, part, targets[draw.rows])

        n_jobs = 1 if self.n_jobs is None else max(self.n_jobs, 0)
        return thread_map(taught, draws, threads=n_jobs)


def _count(size: float, total: int) -> int:
    return max(1, round(size * total)) if isinstance(size, float) else int(size)


def _drawn_rows(
    random: np.random.Generator, codes: NDArray[Any] | None, n_rows: int, count: int, sampling: str
) -> NDArray[np.intp]:
    """Draw rows with or without replacement; again where all are of one class."""
    for _ in range(20):
        if sampling == "bootstrap":
            rows = random.integers(0, n_rows, size=count)
        else:
            rows = random.permutation(n_rows)[:count]
        if codes is None or count < 2 or np.ptp(codes[rows]):
            break
    return np.sort(rows)


class BaggingClassifier(_Bags, EnsembleClassifier):
    r"""Let copies of one classifier vote, each taught with other rows or columns.

    Parameters
    ----------
    estimator
        Classifier; None takes a tree, grown in full. Unstable learners gain most.
    n_estimators
        Number of members.
    sampling
        "bootstrap" draws rows with replacement; "subsets" without; "folds" leaves out one of
        `n_estimators` folds for each member, a committee by cross-validation.
    max_samples
        Rows that are drawn for a member: a number, or a share of all.
    max_features
        Columns of a member: a number, or a share of all; below all of them, with
        ``sampling="subsets"``, members are of random subspaces.
    rule
        "sum" of probabilities, or "plurality" of whole votes.
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
        Accuracy on rows by the members that were not taught with them; NaN without such rows.
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
    >>> bag = BaggingClassifier(n_estimators=30, random_state=0)
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
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.max_samples = max_samples
        self.max_features = max_features
        self.rule = rule
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Draw rows and columns, and teach the members."""
        table, codes = self._read(X, y)
        draws = self._draws(codes, len(codes), table.shape[1])
        base = DecisionTreeClassifier() if self.estimator is None else self.estimator
        self.estimators_ = self._teach(table, self.classes_[codes], draws, base)
        self.rows_ = [draw.rows for draw in draws]
        votes = np.zeros((len(codes), len(self.classes_)))
        for learner, draw in zip(self.estimators_, draws, strict=True):
            fresh = np.setdiff1d(np.arange(len(codes)), draw.rows)
            if len(fresh):
                responses = class_outputs(
                    learner, take_rows(table, fresh), self.classes_, self._kind()
                )
                votes[fresh] += responses
        judged = votes.sum(axis=1) > 0
        right = votes[judged].argmax(axis=1) == codes[judged]
        self.oob_score_ = float(right.mean()) if judged.any() else float("nan")
        self.evaluations_ = float(len(draws))
        return self

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
        "bootstrap" draws rows with replacement; "subsets" without; "folds" leaves out one of
        `n_estimators` folds for each member, a committee by cross-validation.
    max_samples
        Rows that are drawn for a member: a number, or a share of all.
    max_features
        Columns of a member: a number, or a share of all.
    rule
        "mean", or "median", which a few wild members do not move.
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
        :math:`R^2` on rows by the members that were not taught with them; NaN without such rows.
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
    >>> bag = BaggingRegressor(n_estimators=30, rule="median", random_state=0)
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
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.max_samples = max_samples
        self.max_features = max_features
        self.rule = rule
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Draw rows and columns, and teach the members."""
        table, targets = self._read(X, y)
        draws = self._draws(None, len(targets), table.shape[1])
        base = DecisionTreeRegressor() if self.estimator is None else self.estimator
        self.estimators_ = self._teach(table, targets, draws, base)
        self.rows_ = [draw.rows for draw in draws]
        values = np.full((len(draws), len(targets)), np.nan)
        for place, (learner, draw) in enumerate(zip(self.estimators_, draws, strict=True)):
            fresh = np.setdiff1d(np.arange(len(targets)), draw.rows)
            if len(fresh):
                values[place, fresh] = learner.predict(take_rows(table, fresh))
        judged = ~np.isnan(values).all(axis=0)
        self.oob_score_ = float("nan")
        if judged.sum() > 1 and np.ptp(targets[judged]):
            together = (np.nanmean if self.rule == "mean" else np.nanmedian)(
                values[:, judged], axis=0
            )
            rest = np.sum((targets[judged] - together) ** 2)
            total = np.sum((targets[judged] - targets[judged].mean()) ** 2)
            self.oob_score_ = float(1.0 - rest / total)
        self.evaluations_ = float(len(draws))
        return self

    def member_outputs(self, X: Any) -> MemberOutputs:
        """Return what each member says about each row."""
        table = self._checked(X)
        members = [(f"member {n + 1}", part) for n, part in enumerate(self.estimators_)]
        return outputs_of(members, table, None)

    def predict(self, X: Any) -> FloatArray:
        """Return the mean or median of the members' predictions."""
        return combine(self.member_outputs(X), "sum" if self.rule == "mean" else "median")[:, 0]


@dataclass(frozen=True, eq=False)
class Stability:
    """How alike learners are that the same algorithm makes of other samples.

    Attributes
    ----------
    correlation
        Mean correlation of their predictions; for classes, of being right.
    disagreement
        Mean share of fresh rows on which two classifiers differ; for numbers, the mean squared
        difference over the variance of the target.
    error
        Their mean error on fresh rows.
    """

    correlation: float
    disagreement: float
    error: float


def stability(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_samples: int = 20,
    test_share: float = 0.3,
    random_state: Seed = None,
) -> Stability:
    """Measure how much a learner changes with its training rows.

    Parameters
    ----------
    estimator
        Classifier or regressor.
    X
        Inputs.
    y
        Labels, or numbers.
    n_samples
        Bootstrap samples that it is taught with.
    test_share
        Share of the rows on which the learners are compared, and which none of them sees.
    random_state
        Seed.

    Notes
    -----
    An algorithm is stable where learners from resampled sets are highly correlated: nearest
    neighbours are, trees and condensed neighbours are not, and gain from bagging. See Alpaydin
    17.6.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import stability
    >>> from verulam.nonparametric import KNeighborsClassifier
    >>> from verulam.tree import DecisionTreeClassifier
    >>> digits = dataset("digits")
    >>> X, y = digits.inputs[:500], digits.target_values[:500]
    >>> for learner in (KNeighborsClassifier(n_neighbors=1), DecisionTreeClassifier()):
    ...     record = stability(learner, X, y, n_samples=5, random_state=0)
    ...     print(type(learner).__name__, round(record.disagreement, 2))
    KNeighborsClassifier 0.03
    DecisionTreeClassifier 0.33
    """
    if n_samples < 2 or not 0 < test_share < 1:
        raise DataError(
            f"n_samples={n_samples}, test_share={test_share}: take two samples or more, and a "
            "share between 0 and 1."
        )
    random = generator(random_state)
    table = X if isinstance(X, pd.DataFrame) else np.asarray(X, dtype=np.float64)
    targets = np.asarray(y)
    order = random.permutation(len(targets))
    n_test = max(1, round(test_share * len(targets)))
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    maker: Any = BaggingClassifier if is_classifier(estimator) else BaggingRegressor
    bag = maker(estimator, n_estimators=n_samples, random_state=random)
    bag.fit(take_rows(table, train), targets[train])
    responses = bag.member_outputs(take_rows(table, test))
    if responses.classes is not None:
        report = diversity(responses, targets[test])
        labels = responses.labels
        apart = np.array([[(a != b).mean() for b in labels] for a in labels])
        return Stability(_off_diagonal(report.correlation), _off_diagonal(apart),
                         float(report.errors.mean()))  # fmt: skip
    values = responses.values[:, :, 0]
    spread = max(float(np.var(targets[test])), 1e-300)
    apart = ((values[:, None] - values[None, :]) ** 2).mean(axis=2) / spread
    moving = values.std(axis=1).min() > 0
    likeness = _off_diagonal(np.corrcoef(values)) if moving else 1.0
    return Stability(
        likeness, _off_diagonal(apart), float(((values - targets[test]) ** 2).mean() / spread)
    )


def _off_diagonal(matrix: NDArray[Any]) -> float:
    return float(matrix[~np.eye(len(matrix), dtype=bool)].mean())
