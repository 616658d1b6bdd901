"""How good a final model is: on the locked test part, or else by cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.decision import LossTable
from verulam.experiment._final.card import ResponseCard
from verulam.experiment._final.interval import CONFIDENCE, bootstrap_in_groups, rate_in_groups
from verulam.experiment._store.responses import Responses
from verulam.experiment._study.cost_matrix import decision_risk
from verulam.measures import Measure, accuracy, error
from verulam.statistics import corrected_t_test

LOCKED, RESAMPLED = "locked test part", "cross-validation"


@dataclass(frozen=True, eq=False)
class TestPredictions:
    """What a model says of rows that it was not made from.

    Attributes
    ----------
    targets
        True labels or numbers.
    predicted
        What was predicted.
    classes
        Labels; empty where the target is a number.
    probabilities
        One column per class; None where the learner gives none.
    scores
        Where it gives no probabilities: what it decides by.
    groups
        The group of each row, which are alike within; None where each row is by itself.
    """

    __test__ = False

    targets: NDArray[Any]
    predicted: NDArray[Any]
    classes: tuple[Any, ...] = ()
    probabilities: NDArray[np.float64] | None = None
    scores: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None


def predictions_of(
    estimator: Any,
    inputs: Any,
    targets: NDArray[Any],
    classes: Sequence[Any],
    groups: NDArray[Any] | None = None,
) -> TestPredictions:
    """Return what a fitted learner predicts, with probabilities in the order of the classes.

    Parameters
    ----------
    estimator
        The fitted learner.
    inputs, targets
        The rows.
    classes
        All labels; empty where the target is a number.
    groups
        The group of each row, where there are groups.
    """
    predicted = np.asarray(estimator.predict(inputs))
    if not len(classes):
        return TestPredictions(targets, predicted.astype(np.float64), groups=groups)
    labels, probabilities, scores = np.asarray(classes), None, None
    if hasattr(estimator, "predict_proba"):
        probabilities = np.zeros((len(targets), len(labels)))
        known = np.searchsorted(labels, estimator.classes_)
        probabilities[:, known] = estimator.predict_proba(inputs)
    elif hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(inputs), dtype=np.float64)
    return TestPredictions(targets, predicted, tuple(classes), probabilities, scores, groups)


def locked_response(measure: Measure, said: TestPredictions, *, seed: int) -> ResponseCard | None:
    """Return one measure on the locked test part, with its interval; None where it has no value.

    Parameters
    ----------
    measure
        What is measured.
    said
        The predictions.
    seed
        Seed of the bootstrap.
    """
    if measure.function in (error, accuracy) and not measure.options:
        hits = said.predicted == said.targets
        counted = hits if measure.function is accuracy else ~hits
        interval = rate_in_groups(counted, said.groups)
        return _card(measure, float(counted.mean()), (interval.low, interval.high), interval.method)
    if _prediction_for(measure, said) is None:
        return None
    value = _score(measure, said, np.arange(len(said.targets)))
    if np.isnan(value):
        return None
    found = bootstrap_in_groups(
        lambda rows: _score(measure, said, rows), len(said.targets), said.groups, seed=seed
    )
    return _card(measure, value, (found.low, found.high), found.method)


def decision_response(losses: LossTable, said: TestPredictions, *, seed: int) -> ResponseCard:
    """Return the mean loss of the decisions of least risk on the locked test part.

    Parameters
    ----------
    losses
        What decisions cost.
    said
        The predictions, with probabilities.
    seed
        Seed of the bootstrap.
    """
    assert said.probabilities is not None
    decided = losses.best(said.probabilities)
    truth = np.searchsorted(np.asarray(said.classes), said.targets)
    costs = losses.matrix[decided, truth]
    found = bootstrap_in_groups(
        lambda rows: float(costs[rows].mean()), len(costs), said.groups, seed=seed
    )
    rejected = float((decided == len(losses.actions) - 1).mean()) if losses.can_reject else 0.0
    words = f", {rejected:.1%} rejected" if losses.can_reject else ""
    return ResponseCard(
        "risk",
        f"Mean loss of decisions{words}",
        float(costs.mean()),
        found.low,
        found.high,
        CONFIDENCE,
        found.method,
        LOCKED,
    )


def resampled_response(responses: Responses, data: str, contestant: str) -> ResponseCard:
    """Return the mean response of a study's runs, with an interval that allows for their overlap.

    Parameters
    ----------
    responses
        The scores.
    data
        Label of the data set.
    contestant
        Name of the contestant.
    """
    scores = responses.by_split(data)[contestant].dropna().to_numpy()
    measure, value = responses.measure, float(scores.mean())
    limits: tuple[float | None, float | None] = (None, None)
    method = ""
    if len(scores) > 1 and np.ptp(scores) > 0:
        found = corrected_t_test(
            scores, np.zeros(len(scores)), test_share=responses.test_shares[data]
        ).interval
        assert found is not None
        low, high = measure.range
        limits = (max(found.low, low), min(found.high, high))
        method = "t interval, corrected for the overlap of training parts"
    return ResponseCard(measure.name, measure.title, value, *limits, CONFIDENCE, method, RESAMPLED)


def _card(
    measure: Measure, value: float, limits: tuple[float | None, float | None], method: str
) -> ResponseCard:
    return ResponseCard(
        measure.name, measure.title, float(value), *limits, CONFIDENCE, method, LOCKED
    )


def _prediction_for(measure: Measure, said: TestPredictions) -> NDArray[Any] | None:
    if measure.needs in ("labels", "values"):
        return said.predicted
    if said.probabilities is not None:
        return said.probabilities
    if measure.function is decision_risk:
        return (np.asarray(said.predicted)[:, None] == np.asarray(said.classes)).astype(np.float64)
    return said.scores if measure.needs == "scores" else None


def _score(measure: Measure, said: TestPredictions, rows: NDArray[np.intp]) -> float:
    prediction = _prediction_for(measure, said)
    assert prediction is not None
    labels = list(said.classes) if said.classes else None
    try:
        return float(measure(said.targets[rows], prediction[rows], labels=labels))
    # Rows drawn with replacement may lack a class, without which the measure has no value.
    except DataError:
        return float("nan")
