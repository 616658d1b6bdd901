"""A learner that looks for its best setting before it learns, within the rows it is given."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from verulam.base import (
    DataError,
    MetaEstimatorMixin,
    available_if,
    check_is_fitted,
    clone,
    generator,
    is_classifier,
)
from verulam.design import Factor
from verulam.experiment._learning.fitting import fit_learner
from verulam.experiment._learning.outputs import output_scale
from verulam.experiment._resampling.resampling import Resampling, needs_every_class
from verulam.experiment._resampling.rows import Split
from verulam.experiment._tuning.options import TuningRecord
from verulam.experiment._tuning.search import Trial, search
from verulam.experiment._tuning.space import Setting, setting_key
from verulam.measures import Measure, as_measure

#: Fewer rows than this say too little of a setting; shares of the rows are not smaller.
FEWEST_ROWS = 20


def _learner_has(method: str) -> Any:
    def has(tuned: "TunedLearner") -> bool:
        return hasattr(getattr(tuned, "best_estimator_", tuned.estimator), method)

    return available_if(has)


class TunedLearner(MetaEstimatorMixin, BaseEstimator):
    """A learner that tries settings on parts of its training rows, and learns with the best.

    Parameters
    ----------
    estimator
        The learner; a pipeline is fitted as a whole on each part, so that nothing leaks.
    space
        What is tuned.
    method
        "random", "grid", "successive halving" or "response surface".
    budget
        Number of settings on all rows, or what costs as much.
    folds
        Parts of the rows, each of which judges a setting once.
    measure
        What settings are judged by; a learner without the probabilities or scores that it needs
        is judged by its error, one for numbers by its mean squared error.
    prefix
        Where the tuned parameters are, such as "svc__" in a pipeline; they are named without it.
    split_seed
        Seed of the parts: learners that are given the same rows are tuned on the same parts.
    random_state
        Seed of the search.

    Attributes
    ----------
    best_estimator_
        The learner, fitted on all rows with the best setting.
    best_setting_
        The value of each tuned parameter.
    best_score_
        Mean of the measure over the parts.
    measure_
        The measure that was used.
    trials_
        Every setting that was tried.
    n_fits_
        Number of fits, the last one included.
    search_seconds_
        Time that the search took.
    classes_
        Labels of the classes, where there are any.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from verulam.design import Factor
    >>> space = (Factor("n_neighbors", (1, 40), "log", whole=True),)
    >>> tuned = TunedLearner(KNeighborsClassifier(), space, budget=8, random_state=0)
    >>> tuned = tuned.fit(*load_iris(return_X_y=True))
    >>> tuned.best_setting_, round(tuned.best_score_, 4), tuned.n_fits_
    ({'n_neighbors': 15}, 0.0267, 25)
    """

    def __init__(
        self,
        estimator: Any,
        space: Sequence[Factor],
        *,
        method: str = "random",
        budget: int = 20,
        folds: int = 3,
        measure: str | Measure | None = None,
        prefix: str = "",
        split_seed: int = 0,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.method = method
        self.budget = budget
        self.folds = folds
        self.measure = measure
        self.prefix = prefix
        self.split_seed = split_seed
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Search, then learn from all rows with the best setting.

        Parameters
        ----------
        X
            Inputs.
        y
            Targets.
        groups
            The group of each row; equal groups are never both learnt from and judged by.
        sample_weight
            What each row weighs, in learning and in what settings are judged by.
        """
        start = perf_counter()
        judge = _Judge(self, X, np.asarray(y), groups, sample_weight)
        trials = search(
            self.method,
            self.space,
            judge.loss,
            start=self._start(),
            budget=self.budget,
            random=generator(self.random_state),
        )
        try:
            best = trials.best()
        except DataError as error:
            raise DataError(f"{error} The last one: {judge.last_error}") from error
        self.trials_: tuple[Trial, ...] = tuple(trials.made)
        self.best_setting_, self.best_score_ = best.setting, judge.sign * best.loss
        self.measure_ = judge.measure
        self.search_seconds_ = perf_counter() - start
        # The folds learnt from less: the model in use learns from all rows, as one more fit.
        self.best_estimator_ = fit_learner(
            self._with(best.setting), X, y, groups=groups, weights=sample_weight
        )
        self.n_fits_ = judge.fits + 1
        if hasattr(self.best_estimator_, "classes_"):
            self.classes_ = self.best_estimator_.classes_
        return self

    def _start(self) -> Setting:
        parameters = self.estimator.get_params()
        return {factor.name: parameters[self.prefix + factor.name] for factor in self.space}

    def _with(self, setting: Setting) -> Any:
        named = {self.prefix + name: value for name, value in setting.items()}
        return clone(self.estimator).set_params(**named)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions of the tuned learner."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @_learner_has("predict_proba")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @_learner_has("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)


def tuning_record(tuned: TunedLearner) -> TuningRecord:
    """Return what a fitted learner did to tune itself."""
    sign = -1.0 if tuned.measure_.greater_is_better else 1.0
    trials = tuple(
        (trial.setting, trial.share, sign * trial.loss if np.isfinite(trial.loss) else None)
        for trial in tuned.trials_
    )
    return TuningRecord(
        tuned.best_setting_,
        tuned.best_score_,
        tuned.measure_.name,
        len({setting_key(trial.setting) for trial in tuned.trials_}),
        tuned.n_fits_,
        tuned.search_seconds_,
        trials,
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows to learn from, in an order whose every beginning has the classes in their shares."""

    train: np.ndarray
    test: np.ndarray

    def first(self, share: float) -> np.ndarray:
        """Return a share of the rows to learn from; a smaller one is a part of a larger one."""
        count = max(round(share * len(self.train)), min(FEWEST_ROWS, len(self.train)))
        return np.sort(self.train[:count])


class _Judge:
    """Gives settings their loss, on the same parts of the rows for all of them."""

    def __init__(
        self, tuned: TunedLearner, X: Any, y: np.ndarray, groups: Any, weights: Any = None
    ) -> None:
        self._tuned, self._X, self._y = tuned, X, y
        # Rows of numbers are dealt alike, whatever the numbers: one of several outputs will do.
        self._dealt = y if y.ndim == 1 else y[:, 0]
        self._groups, self._weights = groups, weights
        self._task = "classification" if is_classifier(tuned.estimator) else "regression"
        self._labels = np.unique(y).tolist() if self._task == "classification" else None
        self.measure = self._usable_measure()
        self.sign = -1.0 if self.measure.greater_is_better else 1.0
        self.fits = 0
        self.last_error = ""
        random = generator(tuned.split_seed)
        self._parts = [
            _Part(split.train[_balanced_order(self._codes(split.train), random)], split.test)
            for split in self._splits(groups)
        ]

    def loss(self, setting: Setting, share: float) -> float:
        """Return the mean loss of a setting; NaN where the learner fails on some part."""
        # Every part is fitted also after a failure, so that all learners get as many fits.
        return float(np.mean([self._caught_loss(part, setting, share) for part in self._parts]))

    def _caught_loss(self, part: _Part, setting: Setting, share: float) -> float:
        try:
            return self._loss_on(part, setting, share)
        # Whatever a setting makes a learner raise, the other settings go on.
        except Exception as error:
            self.last_error = f"{type(error).__name__}: {' '.join(str(error).split())}"
            return float("nan")

    def _loss_on(self, part: _Part, setting: Setting, share: float) -> float:
        train = part.first(share)
        self.fits += 1
        fitted = fit_learner(
            self._tuned._with(setting),
            _rows(self._X, train),
            self._y[train],
            groups=None if self._groups is None else np.asarray(self._groups)[train],
            weights=None if self._weights is None else np.asarray(self._weights)[train],
        )
        method = {"probabilities": "predict_proba", "scores": _score_method(fitted)}
        predicted = getattr(fitted, method.get(self.measure.needs, "predict"))(
            _rows(self._X, part.test)
        )
        if method.get(self.measure.needs) == "predict_proba":
            predicted = _all_columns(predicted, fitted.classes_, self._labels)
        weights = None if self._weights is None else np.asarray(self._weights)[part.test]
        if weights is not None and not weights.any():
            weights = None  # a part in which nothing weighs must not fail every setting
        true = self._y[part.test]
        if true.ndim == 2:
            scale = output_scale(self._y)
            true, predicted = true / scale, predicted / scale
        return self.sign * self.measure.weighted(true, predicted, weights, labels=self._labels)

    def _usable_measure(self) -> Measure:
        # Rather judged by its labels than not at all: a study may compare learners of both kinds.
        plain = "error" if self._task == "classification" else "mean_squared_error"
        measure = as_measure(self._tuned.measure or plain)
        learner = self._tuned.estimator
        lacks = {
            "probabilities": not hasattr(learner, "predict_proba"),
            "scores": _score_method(learner) == "",
        }
        unusable = measure.task != self._task or lacks.get(measure.needs, False)
        return as_measure(plain) if unusable else measure

    def _splits(self, groups: Any) -> Sequence[Split]:
        asked = Resampling("k-fold", self._tuned.folds)
        try:
            usable = asked.usable(
                self._dealt,
                task=self._task,
                groups=groups,
                every_class=needs_every_class([self.measure]),
            )
            return usable.draw(self._tuned.split_seed)
        except DataError:
            # A class with a single row cannot be in every part: the parts do without.
            usable = asked.usable(self._dealt, task="regression", groups=groups)
            return usable.draw(self._tuned.split_seed)

    def _codes(self, rows: np.ndarray) -> np.ndarray:
        if self._labels is None:
            return np.zeros(len(rows), dtype=np.int64)
        return pd.factorize(self._y[rows])[0]


def _rows(table: Any, rows: np.ndarray) -> Any:
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def _score_method(learner: Any) -> str:
    known = ("predict_proba", "decision_function")
    return next((method for method in known if hasattr(learner, method)), "")


def _all_columns(probabilities: np.ndarray, classes: np.ndarray, labels: Any) -> np.ndarray:
    """Return probabilities with a column for every class, also those a part has no row of."""
    complete = np.zeros((len(probabilities), len(labels)))
    complete[:, np.searchsorted(labels, classes)] = probabilities
    return complete


def _balanced_order(codes: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return row numbers in an order whose every beginning has the classes in their shares."""
    order = random.permutation(len(codes))
    shuffled = codes[order]
    place = pd.Series(shuffled).groupby(shuffled).cumcount().to_numpy()
    # The rows of a class are spread evenly over 0 to 1; sorted, all classes advance in step.
    return order[np.argsort((place + 0.5) / np.bincount(codes)[shuffled], kind="stable")]
