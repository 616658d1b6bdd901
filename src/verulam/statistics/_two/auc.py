"""Areas under ROC curves: DeLong's interval and test, and a band around a curve."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import (
    Vector,
    checked_alternative,
    checked_count,
    checked_level,
    counted,
    label_column,
    numbers,
)
from verulam.statistics._core.distributions import NORMAL
from verulam.statistics._core.hypotheses import paired_hypotheses
from verulam.statistics._core.intervals import rate_interval
from verulam.statistics._core.result import (
    Alternative,
    Assumption,
    ConfidenceInterval,
    EffectSize,
    TestResult,
)
from verulam.statistics._core.tails import symmetric_interval, symmetric_tail


@dataclass(frozen=True, eq=False)
class AreaComponents:
    """Areas and their covariance.

    Parameters
    ----------
    areas
        Area under each curve.
    covariance
        Covariance of the areas.
    """

    areas: Vector
    covariance: Vector


def area_components(scores: Vector, is_positive: NDArray[np.bool_]) -> AreaComponents:
    """Return areas and covariance of classifiers in rows, by midranks; leading axes are kept.

    The placement of a positive is the share of negatives below it, ties counting one half;
    the covariance of the areas is that of the placements.
    """
    positives, negatives = scores[..., is_positive], scores[..., ~is_positive]
    count, rest = positives.shape[-1], negatives.shape[-1]
    # DeLong by midranks (Sun and Xu): the rank among all, less the rank among its own class, counts
    # the members of the other class below. That is n log n instead of all pairs.
    ranks = stats.rankdata(np.concatenate([positives, negatives], axis=-1), axis=-1)
    above = (ranks[..., :count] - stats.rankdata(positives, axis=-1)) / rest
    below = 1.0 - (ranks[..., count:] - stats.rankdata(negatives, axis=-1)) / count
    # The area is a U-statistic of two samples: each contributes the variance of its placements.
    covariance = row_covariance(above) / count + row_covariance(below) / rest
    return AreaComponents(above.mean(axis=-1), covariance)


def row_covariance(rows: Vector) -> Vector:
    """Return the covariance matrices of rows in the last two axes."""
    centred = rows - rows.mean(axis=-1, keepdims=True)
    return centred @ np.swapaxes(centred, -1, -2) / (rows.shape[-1] - 1)


def area_differences(components: AreaComponents) -> tuple[Vector, Vector]:
    """Return first minus second area, and the variance of that difference."""
    covariance = components.covariance
    variance = covariance[..., 0, 0] + covariance[..., 1, 1] - 2 * covariance[..., 0, 1]
    return components.areas[..., 0] - components.areas[..., 1], variance


def positive_mask(y_true: ArrayLike, positive: object) -> NDArray[np.bool_]:
    """Return which instances are positive; the larger of two labels unless named."""
    true = label_column(y_true, "y_true")
    missing = pd.isna(true)
    if missing.any():
        raise DataError(f"y_true has a missing value in row {int(np.argmax(missing))}.")
    labels = np.unique(true)
    if positive is None and len(labels) > 2:
        raise DataError(f"y_true has {len(labels)} labels: say which is `positive`.")
    if positive is not None and not (true == positive).any():
        raise DataError(f"positive={positive!r} is none of the labels {labels.tolist()}.")
    mask = true == (labels[-1] if positive is None else positive)
    if mask.sum() < 2 or (~mask).sum() < 2:
        raise DataError(
            f"y_true has {counted(int(mask.sum()), 'positives')} and "
            f"{counted(int((~mask).sum()), 'negatives')}: "
            "at least 2 of each are needed."
        )
    return mask


def score_rows(mask: NDArray[np.bool_], *columns: ArrayLike) -> Vector:
    """Return columns of scores as rows of one array, checked against the labels."""
    rows = []
    for column in columns:
        score = numbers(column, "scores")
        if score.shape != mask.shape:
            raise DataError(f"scores have shape {score.shape}, but y_true has {mask.shape}.")
        rows.append(score)
    return np.vstack(rows)


def auc_interval(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    confidence: float = 0.95,
) -> ConfidenceInterval:
    """Return the area under a ROC curve with DeLong's interval, cut at 0 and 1.

    Where all positives score above all negatives, or below, that interval has no width. Then as
    many pairs as the rarer class has rows, no row in two of them, are counted instead: each is
    in order with a chance equal to the area, which Clopper and Pearson's interval bounds.

    Parameters
    ----------
    y_true
        True labels of two classes.
    scores
        Score of the positive class.
    positive
        Positive label; the larger when not given.
    confidence
        Coverage.

    Examples
    --------
    >>> from verulam.statistics import auc_interval
    >>> print(auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]))
    95% interval [0.5809, 1]
    """
    checked_level(confidence, "confidence")
    mask = positive_mask(y_true, positive)
    components = area_components(score_rows(mask, scores), mask)
    area, error = float(components.areas[0]), float(np.sqrt(components.covariance[0, 0]))
    if area in (0.0, 1.0):
        return _interval_of_a_perfect_order(area, mask, confidence)
    whole = symmetric_interval(area, error, NORMAL, "two-sided", confidence, "DeLong")
    return ConfidenceInterval(
        max(0.0, whole.low), min(1.0, whole.high), confidence, area, whole.method
    )


def _interval_of_a_perfect_order(
    area: float, mask: NDArray[np.bool_], confidence: float
) -> ConfidenceInterval:
    # A perfect order has variance zero by DeLong; the rarer class bounds how many independent pairs
    # stand behind it.
    pairs = int(min(mask.sum(), (~mask).sum()))
    interval = rate_interval(
        int(area) * pairs, pairs, confidence=confidence, method="clopper-pearson"
    )
    return replace(interval, method="Clopper-Pearson, pairs of the rarer class")


def delong_test(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    positive: object = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    """Compare the areas under the ROC curves of two classifiers on the same instances.

    Parameters
    ----------
    y_true
        True labels of two classes.
    first, second
        Scores of the positive class by either classifier.
    positive
        Positive label; the larger when not given.
    alternative
        Claim about the first area.
    alpha
        Level of significance.

    Notes
    -----
    The difference is divided by its standard error, estimated from the placements of positives
    among negatives and the reverse [delong1988]_, by the fast midrank form [sun2014]_.

    References
    ----------
    .. [delong1988] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas
       under two or more correlated receiver operating characteristic curves", Biometrics 44, 1988.
    .. [sun2014] X. Sun and W. Xu, "Fast implementation of DeLong's algorithm", IEEE Signal
       Processing Letters 21, 2014.

    Examples
    --------
    >>> from verulam.statistics import delong_test
    >>> truth = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> result = delong_test(truth, [1, 2, 3, 6, 4, 5, 7, 8], [2, 5, 1, 7, 3, 8, 4, 6])
    >>> print(result.headline())
    z = 0.9487, p = 0.343
    """
    checked_alternative(alternative)
    checked_level(alpha)
    mask = positive_mask(y_true, positive)
    components = area_components(score_rows(mask, first, second), mask)
    difference, variance = (float(value) for value in area_differences(components))
    if variance <= 1e-15:
        raise DataError(
            "The placements of both classifiers are the same: with zero variance the statistic is "
            "undefined."
        )
    error = float(np.sqrt(variance))
    tail = symmetric_tail(difference / error, NORMAL, alternative, alpha)
    return TestResult(
        name="DeLong's test",
        **paired_hypotheses("AUC", alternative),
        statistic=difference / error,
        statistic_name="z",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        tail=alternative,
        estimate_name="difference of the areas",
        interval=symmetric_interval(difference, error, NORMAL, alternative, 1 - alpha, "DeLong"),
        effect_size=EffectSize("difference of the areas", difference),
        assumptions=(
            Assumption("instances are independent"),
            Assumption("enough of both classes for the normal approximation"),
        ),
        caveats=("one training set: nothing is said about the learners on others",),
        details={"areas": components.areas, "covariance": components.covariance},
        source="companion of Alpaydin 19.7",
    )


@dataclass(frozen=True, eq=False)
class RocBand:
    """A ROC curve with pointwise limits.

    Parameters
    ----------
    table
        Columns fp_rate, tp_rate, low and high.
    confidence
        Coverage at each fp-rate.
    """

    table: pd.DataFrame
    confidence: float


def roc_band(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    confidence: float = 0.95,
    points: int = 101,
    resamples: int = 1000,
    random_state: Seed = None,
) -> RocBand:
    """Return a ROC curve with a bootstrap band of the tp-rate at each fp-rate.

    Parameters
    ----------
    y_true
        True labels of two classes.
    scores
        Score of the positive class.
    positive
        Positive label; the larger when not given.
    confidence
        Coverage at each fp-rate.
    points
        Number of fp-rates.
    resamples
        Number of resamples, drawn within each class.
    random_state
        Seed.

    Examples
    --------
    >>> from verulam.statistics import roc_band
    >>> band = roc_band([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], points=3, random_state=0)
    >>> band.table.round(2)
       fp_rate  tp_rate   low  high
    0      0.0     0.67  0.00   1.0
    1      0.5     1.00  0.83   1.0
    2      1.0     1.00  1.00   1.0
    """
    checked_level(confidence, "confidence")
    mask = positive_mask(y_true, positive)
    score = score_rows(mask, scores)[0]
    rng = generator(random_state)
    grid = np.linspace(0.0, 1.0, points)
    whole = tp_rates_at(grid, score, mask.astype(float), (~mask).astype(float))
    resamples = checked_count(resamples, "resamples", 1)
    curves = np.empty((resamples, points))
    for repeat in range(resamples):
        drawn = np.zeros((2, len(mask)))
        for row, part in enumerate((mask, ~mask)):
            count = int(part.sum())
            # Drawing with replacement within a class, as counts: the class sizes stay what they
            # are.
            drawn[row, part] = rng.multinomial(count, np.full(count, 1.0 / count))
        curves[repeat] = tp_rates_at(grid, score, *drawn)
    share = (1 - confidence) / 2
    low, high = np.quantile(curves, [share, 1 - share], axis=0)
    return RocBand(
        pd.DataFrame({"fp_rate": grid, "tp_rate": whole, "low": low, "high": high}), confidence
    )


def tp_rates_at(grid: Vector, scores: Vector, positives: Vector, negatives: Vector) -> Vector:
    """Return the tp-rate at given fp-rates, for instances counted with weights."""
    order = np.argsort(-scores)
    # Rows with the same score pass the threshold together, so a curve has corners only after the
    # last of them.
    last = np.r_[np.flatnonzero(np.diff(scores[order])), len(scores) - 1]
    tp = np.r_[0.0, np.cumsum(positives[order])[last]] / positives.sum()
    fp = np.r_[0.0, np.cumsum(negatives[order])[last]] / negatives.sum()
    # At a jump the larger tp-rate is reached: keep the last point of each fp-rate.
    keep = np.r_[np.diff(fp) > 0, True]
    return np.interp(grid, fp[keep], tp[keep])
