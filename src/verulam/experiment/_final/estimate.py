"""How good a final model is, with intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from verulam.base import DataError
from verulam.decision import LossTable
from verulam.experiment._final.card import ResponseCard
from verulam.experiment._store.responses import Responses
from verulam.experiment._study.cost_matrix import decision_risk
from verulam.measures import Measure, accuracy, error
from verulam.statistics import corrected_t_test, rate_interval

if TYPE_CHECKING:
    from verulam.experiment._evidence.evidence import Evidence

LOCKED, RESAMPLED = "locked test part", "cross-validation"
#: Of the interval that a card gives.
CONFIDENCE = 0.95
#: Samples of the bootstrap.
RESAMPLES = 500


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
    weights
        What each row counts in the measures; None where all count the same.
    """

    __test__ = False

    targets: NDArray[Any]
    predicted: NDArray[Any]
    classes: tuple[Any, ...] = ()
    probabilities: NDArray[np.float64] | None = None
    scores: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class FigureInterval:
    """Limits of a figure, None where there are none, and how they were found."""

    low: float | None
    high: float | None
    method: str


def predictions_of(
    estimator: Any,
    inputs: Any,
    targets: NDArray[Any],
    classes: Sequence[Any],
    groups: NDArray[Any] | None = None,
    weights: NDArray[np.float64] | None = None,
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
    groups, weights
        The group of each row, and what it counts, where rows differ in that.
    """
    predicted = np.asarray(estimator.predict(inputs))
    if not len(classes):
        values = predicted.astype(np.float64)
        return TestPredictions(targets, values, groups=groups, weights=weights)
    labels, probabilities, scores = np.asarray(classes), None, None
    if hasattr(estimator, "predict_proba"):
        probabilities = np.zeros((len(targets), len(labels)))
        known = np.searchsorted(labels, estimator.classes_)
        probabilities[:, known] = estimator.predict_proba(inputs)
    elif hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(inputs), dtype=np.float64)
    return TestPredictions(
        targets, predicted, tuple(classes), probabilities, scores, groups, weights
    )


def locked_response(
    measure: Measure, predictions: TestPredictions, *, seed: int
) -> ResponseCard | None:
    """Return one measure on the locked test part, with its interval; None where it has no value.

    Parameters
    ----------
    measure
        What is measured.
    predictions
        The predictions.
    seed
        Seed of the bootstrap.
    """
    alike = predictions.weights is None
    if alike and measure.function in (error, accuracy) and not measure.options:
        hits = predictions.predicted == predictions.targets
        counted = hits if measure.function is accuracy else ~hits
        interval = rate_in_groups(counted, predictions.groups)
        return _card(measure, float(counted.mean()), (interval.low, interval.high), interval.method)
    if _prediction_for(measure, predictions) is None:
        return None
    value = _score(measure, predictions, np.arange(len(predictions.targets)))
    if np.isnan(value):
        return None
    interval = bootstrap_in_groups(
        lambda rows: _score(measure, predictions, rows),
        len(predictions.targets),
        predictions.groups,
        seed=seed,
    )
    return _card(measure, value, (interval.low, interval.high), interval.method)


def decision_response(
    losses: LossTable, predictions: TestPredictions, *, seed: int
) -> ResponseCard:
    """Return the mean loss of the decisions of least risk on the locked test part.

    Parameters
    ----------
    losses
        What decisions cost.
    predictions
        The predictions, with probabilities.
    seed
        Seed of the bootstrap.
    """
    assert predictions.probabilities is not None
    decided = losses.best(predictions.probabilities)
    truth = np.searchsorted(np.asarray(predictions.classes), predictions.targets)
    costs = losses.matrix[decided, truth]
    interval = bootstrap_in_groups(
        lambda rows: _weighted_mean(costs, rows, predictions.weights),
        len(costs),
        predictions.groups,
        seed=seed,
    )
    rejected = float((decided == len(losses.actions) - 1).mean()) if losses.can_reject else 0.0
    words = f", {rejected:.1%} rejected" if losses.can_reject else ""
    return ResponseCard(
        "risk",
        f"Mean loss of decisions{words}",
        _weighted_mean(costs, np.arange(len(costs)), predictions.weights),
        interval.low,
        interval.high,
        CONFIDENCE,
        interval.method,
        LOCKED,
    )


def resampled_response(
    responses: Responses, data: str, contestant: str, evidence: "Evidence | None" = None
) -> ResponseCard:
    """Return the mean response of a study's runs, with an interval that allows for their overlap.

    Parameters
    ----------
    responses
        The scores.
    data
        Label of the data set.
    contestant
        Name of the contestant.
    evidence
        What the study tells of all contestants, whose figures the report prints; None where it
        tells nothing.
    """
    if evidence is not None and contestant in evidence.names:
        place = evidence.names.index(contestant)
        return ResponseCard(
            responses.measure.name,
            responses.measure.title,
            float(evidence.posterior.means[place]),
            *evidence.interval(contestant),
            CONFIDENCE,
            "over the validated rows and how they were split, as in the report",
            RESAMPLED,
        )
    scores = responses.by_split(data)[contestant].dropna().to_numpy()
    measure, value = responses.measure, float(scores.mean())
    limits: tuple[float | None, float | None] = (None, None)
    method = ""
    if len(scores) > 1 and np.ptp(scores) > 0:
        # The interval of a mean is that of its difference from zero.
        interval = corrected_t_test(
            scores, np.zeros(len(scores)), test_share=responses.test_shares[data]
        ).interval
        assert interval is not None
        low, high = measure.range
        limits = (max(interval.low, low), min(interval.high, high))
        method = "t interval, corrected for the overlap of training parts"
    return ResponseCard(measure.name, measure.title, value, *limits, CONFIDENCE, method, RESAMPLED)


def rate_in_groups(counted: NDArray[np.bool_], groups: NDArray[np.intp] | None) -> FigureInterval:
    r"""Return the interval of the share of rows that count.

    Parameters
    ----------
    counted
        Whether each row counts.
    groups
        The group of each row; None where each row is by itself.

    Notes
    -----
    With groups the rate is a ratio of two sums over the :math:`G` groups, of what counts,
    :math:`e_g`, and of rows, :math:`n_g`, and its t interval has :math:`G - 1` degrees of freedom:

    .. math:: s^2 = \frac{G}{G - 1} \frac{\sum_g (e_g - p\, n_g)^2}{(\sum_g n_g)^2}

    Where the groups do not vary, each counts as one row, since no error in a few groups does not
    make the rate certain.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.repeat([True, False, False, False, False], 20)
    >>> interval = rate_in_groups(errors, np.repeat(np.arange(5), 20))
    >>> round(interval.low, 3), round(interval.high, 3), interval.method
    (0.0, 0.755, 't interval over 5 groups')
    """
    if groups is None:
        interval = rate_interval(int(counted.sum()), len(counted), confidence=CONFIDENCE)
        method = f"{interval.method.capitalize()} interval of a rate"
        return FigureInterval(interval.low, interval.high, method)
    codes = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(codes)
    n_groups, rate = len(sizes), float(counted.mean())
    if n_groups < 2:
        return FigureInterval(None, None, "")
    gaps = np.bincount(codes, weights=counted) - rate * sizes
    # No variation between groups would give an interval of no width.
    if np.allclose(gaps, 0.0):
        interval = rate_interval(round(rate * n_groups), n_groups, confidence=CONFIDENCE)
        method = f"{interval.method.capitalize()} interval of a rate, a group as one row"
        return FigureInterval(min(interval.low, rate), max(interval.high, rate), method)
    # Linearised: to the first order a ratio varies as its sums do, less the ratio times the rows.
    variance = n_groups / (n_groups - 1) * np.sum(gaps**2) / sizes.sum() ** 2
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, n_groups - 1) * np.sqrt(variance))
    method = f"t interval over {n_groups} groups"
    return FigureInterval(max(0.0, rate - half), min(1.0, rate + half), method)


def bootstrap_in_groups(
    statistic: Callable[[NDArray[np.intp]], float],
    n_rows: int,
    groups: NDArray[np.intp] | None,
    *,
    seed: int,
) -> FigureInterval:
    """Return the interval of a figure by drawing rows, or whole groups, with replacement.

    Parameters
    ----------
    statistic
        From row numbers to the figure; NaN where it has none.
    n_rows
        Number of rows.
    groups
        The group of each row; None where each row is by itself.
    seed
        Seed of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.repeat([0.0, 1.0, 2.0, 3.0], 10)
    >>> mean = lambda rows: float(values[rows].mean())
    >>> by_rows = bootstrap_in_groups(mean, 40, None, seed=0)
    >>> by_groups = bootstrap_in_groups(mean, 40, np.repeat(np.arange(4), 10), seed=0)
    >>> by_groups.high - by_groups.low > 2 * (by_rows.high - by_rows.low)
    True
    """
    rng = np.random.default_rng(seed)
    if groups is None:
        members, method = None, "bootstrap of the rows, percentiles"
        n_drawn = n_rows
    else:
        members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        method, n_drawn = f"bootstrap of {len(members)} groups, percentiles", len(members)
    draws = np.empty(RESAMPLES)
    for number in range(RESAMPLES):
        drawn = rng.integers(n_drawn, size=n_drawn)
        # Whole groups are drawn, since rows of one group do not vary independently.
        rows = drawn if members is None else np.concatenate([members[place] for place in drawn])
        draws[number] = statistic(rows)
    draws = draws[~np.isnan(draws)]
    if n_drawn < 2 or len(draws) < RESAMPLES // 2:
        return FigureInterval(None, None, "")
    # Half of what the interval leaves out is on either side, in percent.
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(draws, [tail, 100.0 - tail])
    return FigureInterval(float(low), float(high), method)


def _card(
    measure: Measure, value: float, limits: tuple[float | None, float | None], method: str
) -> ResponseCard:
    return ResponseCard(
        measure.name, measure.title, float(value), *limits, CONFIDENCE, method, LOCKED
    )


def _weighted_mean(
    values: NDArray[np.float64], rows: NDArray[np.intp], weights: NDArray[np.float64] | None
) -> float:
    """Return the mean over some rows; NaN where none of them weighs anything."""
    if weights is None:
        return float(values[rows].mean())
    total = weights[rows].sum()
    return float(values[rows] @ weights[rows] / total) if total > 0 else float("nan")


def _prediction_for(measure: Measure, predictions: TestPredictions) -> NDArray[Any] | None:
    if measure.needs in ("labels", "values"):
        return predictions.predicted
    if predictions.probabilities is not None:
        return predictions.probabilities
    if measure.function is decision_risk:
        # A learner without probabilities is taken at its word: its class has probability 1.
        labels = np.asarray(predictions.predicted)
        return (labels[:, None] == np.asarray(predictions.classes)).astype(np.float64)
    return predictions.scores if measure.needs == "scores" else None


def _score(measure: Measure, predictions: TestPredictions, rows: NDArray[np.intp]) -> float:
    prediction = _prediction_for(measure, predictions)
    assert prediction is not None
    labels = list(predictions.classes) if predictions.classes else None
    try:
        weights = None if predictions.weights is None else predictions.weights[rows]
        return measure.weighted(predictions.targets[rows], prediction[rows], weights, labels=labels)
    # Rows drawn with replacement may lack a class, without which the measure has no value.
    except DataError:
        return float("nan")
