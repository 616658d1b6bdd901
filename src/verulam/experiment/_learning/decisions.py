"""How labels come about where one class is rare: weights, a tuned threshold, or losses."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.utils import get_tags
from sklearn.utils.class_weight import compute_sample_weight

from verulam.base import (
    DataError,
    MetaEstimatorMixin,
    available_if,
    check_is_fitted,
    clone,
    unknown_name,
)
from verulam.decision import LossTable, MinimumRisk
from verulam.experiment._learning.fitting import takes_weights, weight_argument
from verulam.measures import Measure, as_measure, measure

#: What may stand in brackets behind the name of a learner, and what it does, in words.
DECISIONS = {
    "balanced": "classes weighted to count the same, which makes the rare one look more probable",
    "tuned threshold": "labels by a threshold tuned within the training rows",
    "least risk": "labels of least expected loss",
}
#: By what thresholds are tuned where no measure of the study looks at labels.
THRESHOLD_MEASURE = "balanced_accuracy"
#: Parts of the training rows, each of which is predicted once to tune the threshold.
THRESHOLD_FOLDS = 5
_SUFFIX = re.compile(r"(?P<name>.+?)\s*\((?P<decision>[a-z ]+)\)")


class NamedDecision(NamedTuple):
    """A learner by its name, and how its labels come about; None for as it says itself."""

    learner: str
    decision: str | None


def read_decision(name: str) -> NamedDecision:
    """Return the two parts of a name such as "logistic regression (balanced)".

    Parameters
    ----------
    name
        Name of a learner, perhaps with one of `DECISIONS` in brackets.

    Examples
    --------
    >>> read_decision("logistic regression (balanced)")
    NamedDecision(learner='logistic regression', decision='balanced')
    >>> read_decision("decision tree").decision is None
    True
    """
    match = _SUFFIX.fullmatch(name)
    if match is None:
        return NamedDecision(name, None)
    return NamedDecision(match["name"], checked_decision(match["decision"], "learners"))


def checked_decision(decision: str, key: str) -> str:
    """Return a way to decide, or raise where it is none of `DECISIONS`.

    Parameters
    ----------
    decision
        What was asked for.
    key
        Where it was.
    """
    if decision not in DECISIONS:
        raise DataError(f"{key}: {unknown_name('decision', decision, list(DECISIONS))}")
    return decision


def _learner_has(method: str) -> Any:
    def has(wrapper: Any) -> bool:
        return hasattr(getattr(wrapper, "estimator_", wrapper.estimator), method)

    return available_if(has)


class _AroundClassifier(MetaEstimatorMixin, BaseEstimator):
    """A classifier around another one, whose probabilities and scores it passes on."""

    estimator: Any
    estimator_: Any

    @_learner_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    @_learner_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the classes."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)


class BalancedWeights(_AroundClassifier):
    """A classifier whose training rows weigh so much that all classes count the same.

    Parameters
    ----------
    estimator
        A classifier whose `fit` takes `sample_weight`, perhaps at the end of a pipeline.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    classes_
        Labels of the classes.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit with weights that are inverse to the share of the row's class."""
        weights = compute_sample_weight("balanced", y)
        if sample_weight is not None:
            weights = weights * np.asarray(sample_weight)
        argument = weight_argument(self.estimator, weights)
        self.estimator_ = clone(self.estimator).fit(X, y, **argument)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))


class TunedThreshold(_AroundClassifier):
    """A classifier of two classes that finds the best threshold within its training rows.

    Parameters
    ----------
    estimator
        A classifier with probabilities or scores.
    scoring
        Name of the measure of labels that the threshold is to make best.

    Attributes
    ----------
    estimator_
        The classifier, fitted on all rows.
    threshold_
        From this probability or score on, the second class is predicted.
    classes_
        Labels of the classes.

    Notes
    -----
    The probabilities that a threshold is judged by are those of rows not learnt from:
    scikit-learn's `TunedThresholdClassifierCV` with five parts, whole groups in each. Where a class
    has a single row, or all rows get the same probability, the threshold stays at a half.
    """

    def __init__(self, estimator: Any, scoring: str | Measure = THRESHOLD_MEASURE) -> None:
        self.estimator = estimator
        self.scoring = scoring

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the threshold, then fit to all rows.

        Parameters
        ----------
        X, y
            Inputs and labels.
        groups
            The group of each row; equal groups are never both learnt from and judged by.
        sample_weight
            What each row weighs in learning.
        """
        y = np.asarray(y)
        weights = {} if sample_weight is None else weight_argument(self.estimator, sample_weight)
        classes, counts = np.unique(y, return_counts=True)
        folds = min(THRESHOLD_FOLDS, int(counts.min()))
        tuned = None
        if len(classes) == 2 and folds > 1:
            tuned = self._tuned(X, y, _folds(y, groups, folds), weights)
        if tuned is None:
            self.estimator_ = clone(self.estimator).fit(X, y, **weights)
            self.threshold_ = 0.5 if hasattr(self.estimator_, "predict_proba") else 0.0
        else:
            self.estimator_, self.threshold_ = tuned.estimator_, float(tuned.best_threshold_)
        self.classes_ = self.estimator_.classes_
        return self

    def _tuned(
        self, X: Any, y: NDArray[Any], folds: list[Any], weights: dict[str, Any]
    ) -> TunedThresholdClassifierCV | None:
        """Return what found the threshold; None where all rows get the same probability."""
        judge = as_measure(self.scoring)
        labels = np.unique(y).tolist()
        scorer = make_scorer(judge, greater_is_better=judge.greater_is_better, labels=labels)
        try:
            return TunedThresholdClassifierCV(self.estimator, scoring=scorer, cv=folds).fit(
                X, y, **weights
            )
        except ValueError as error:
            if "constant predictions" in str(error):
                return None
            raise

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the second class where its probability or score reaches the threshold."""
        check_is_fitted(self)
        if len(self.classes_) != 2:
            return np.asarray(self.estimator_.predict(X))
        if hasattr(self.estimator_, "predict_proba"):
            support = self.predict_proba(X)[:, 1]
        else:
            support = self.decision_function(X)
        return self.classes_[(support >= self.threshold_).astype(np.intp)]


def _folds(y: NDArray[Any], groups: ArrayLike | None, count: int) -> list[Any]:
    """Return parts of the rows with the classes in their shares, whole groups in each."""
    place = np.zeros(len(y))
    if groups is None:
        return list(StratifiedKFold(count, shuffle=True, random_state=0).split(place, y))
    count = min(count, len(np.unique(np.asarray(groups))))
    with warnings.catch_warnings():
        # That a class is in fewer groups than parts, which leaves some parts without it.
        warnings.simplefilter("ignore", UserWarning)
        parts = StratifiedGroupKFold(count, shuffle=True, random_state=0)
        drawn = list(parts.split(place, y, groups))
    whole = [(train, test) for train, test in drawn if len(np.unique(y[train])) == 2]
    return whole or list(StratifiedKFold(2, shuffle=True, random_state=0).split(place, y))


def decided(
    ready: Any,
    decision: str,
    classes: NDArray[Any],
    name: str,
    *,
    measures: Sequence[str | Measure],
    losses: LossTable | None,
) -> Any:
    """Return a prepared learner whose labels come about in another way.

    Parameters
    ----------
    ready
        The learner behind its preparation: a record with estimator, prefix and words.
    decision
        One of `DECISIONS`.
    classes
        Labels of the data set.
    name
        What the learner is called, for messages.
    measures, losses
        What the study measures, and what wrong decisions cost.
    """
    learner = ready.estimator
    wrapper: Any
    if decision == "balanced":
        weighted = f"{ready.prefix}class_weight"
        if weighted in learner.get_params():
            balanced = clone(learner).set_params(**{weighted: "balanced"})
            return replace(ready, estimator=balanced, words=_words(ready, decision))
        if not takes_weights(learner):
            raise DataError(
                f"learners: {name!r} cannot be balanced, because it takes neither class weights "
                "nor weights of rows."
            )
        wrapper = BalancedWeights(learner)
    elif decision == "tuned threshold":
        if len(classes) != 2 or not _has_support(learner):
            raise DataError(
                f"learners: {name!r} can have no tuned threshold; that needs two classes (here "
                f"{len(classes)}) and a learner with probabilities or scores."
            )
        wrapper = TunedThreshold(learner, _threshold_measure(measures))
    else:
        wrapper = _least_risk(learner, losses, classes, name)
    return replace(
        ready,
        estimator=wrapper,
        words=_words(ready, decision),
        prefix=f"estimator__{ready.prefix}",
    )


def _has_support(learner: Any) -> bool:
    return hasattr(learner, "predict_proba") or hasattr(learner, "decision_function")


def _words(ready: Any, decision: str) -> str:
    return f"{ready.words}; {DECISIONS[decision]}"


def _threshold_measure(measures: Sequence[str | Measure]) -> str | Measure:
    """Return the first measure of labels, by its name where it has one."""
    for candidate in map(as_measure, measures):
        if candidate.needs == "labels":
            known = candidate.name if not candidate.options else None
            return candidate.name if known and measure(known) == candidate else candidate
    return THRESHOLD_MEASURE


def _least_risk(
    learner: Any, losses: LossTable | None, classes: NDArray[Any], name: str
) -> MinimumRisk:
    if losses is None:
        raise DataError(
            f"learners: {name!r} by least risk needs to know what wrong decisions cost; give the "
            "study losses (a row per decision, a column per class)."
        )
    if not {*losses.actions.tolist()} <= {*classes.tolist()}:
        raise DataError(
            f"learners: {name!r} by least risk needs losses whose decisions are the classes "
            f"{', '.join(map(str, classes))}."
        )
    if not hasattr(learner, "predict_proba"):
        raise DataError(f"learners: {name!r} gives no probabilities, which least risk needs.")
    return MinimumRisk(learner, losses.matrix.tolist(), actions=losses.actions.tolist())
