"""Measures of predicted classes and of predicted probabilities, as plain functions.

For two classes a rate is that of the positive class, the last of the sorted labels unless named.
For more classes it is averaged over the classes, each against the rest. Where a denominator is
zero, `zero_division` decides: ``"warn"`` gives NaN with a `DataWarning`, a number gives that
number. A class whose rate is undefined is left out of an average.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.measures._checks import (
    coded_labels,
    codes,
    column,
    label_list,
    positive_code,
    probabilities,
    ratio,
    refuse_missing,
    same_length,
    weights,
)
from verulam.measures._confusion import TwoClassCounts, count_table, one_against_rest

RATE_AVERAGES = ("binary", "macro", "weighted", "micro")


def cells_of(
    y_true: ArrayLike,
    prediction: ArrayLike,
    labels: Sequence[Any] | None,
    sample_weight: ArrayLike | None,
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the table of true against predicted classes and its labels."""
    coded = coded_labels(y_true, prediction, labels)
    weight = weights(sample_weight, len(coded.true))
    return count_table(coded.true, coded.predicted, len(coded.labels), weight), coded.labels


def error(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Return the share of wrong predictions."""
    return 1.0 - accuracy(y_true, prediction, sample_weight=sample_weight, labels=labels)


def accuracy(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Return the share of correct predictions."""
    rows = hits(y_true, prediction, labels=labels)
    return float(np.average(rows, weights=weights(sample_weight, len(rows))))


def hits(
    y_true: ArrayLike, prediction: ArrayLike, *, labels: Sequence[Any] | None = None
) -> NDArray[np.float64]:
    """Return 1 for each row whose class is predicted rightly, 0 for others."""
    coded = coded_labels(y_true, prediction, labels)
    return (coded.true == coded.predicted).astype(np.float64)


def misses(
    y_true: ArrayLike, prediction: ArrayLike, *, labels: Sequence[Any] | None = None
) -> NDArray[np.float64]:
    """Return 1 for each row whose class is predicted wrongly, 0 for others."""
    return 1.0 - hits(y_true, prediction, labels=labels)


def balanced_accuracy(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    zero_division: float | str = "warn",
) -> float:
    """Return the mean over the classes of the share of each that is recognised."""
    return tp_rate(
        y_true,
        prediction,
        sample_weight=sample_weight,
        labels=labels,
        average="macro",
        zero_division=zero_division,
    )


def averaged_rate(
    title: str,
    numerator: Callable[[TwoClassCounts], Any],
    denominator: Callable[[TwoClassCounts], Any],
    doc: str,
) -> Callable[..., float]:
    """Return the measure `numerator / denominator` for two classes and for averages over more."""

    def rate(
        y_true: ArrayLike,
        prediction: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        labels: Sequence[Any] | None = None,
        positive: Any = None,
        average: str | None = None,
        zero_division: float | str = "warn",
    ) -> float:
        cells, names = cells_of(y_true, prediction, labels, sample_weight)
        counts, shares = averaging(cells, names, positive, average)
        rates = ratio(numerator(counts), denominator(counts), title, zero_division)
        return defined_mean(rates, shares)

    rate.__name__ = rate.__qualname__ = title
    rate.__doc__ = doc
    return rate


def averaging(
    cells: NDArray[np.float64], labels: NDArray[Any], positive: Any, average: str | None
) -> tuple[TwoClassCounts, NDArray[np.float64]]:
    """Return the two-class problems to average over and their shares."""
    if average is None:
        average = "binary" if positive is not None or len(labels) <= 2 else "macro"
    if average not in RATE_AVERAGES:
        raise ValueError(f"average must be one of {', '.join(RATE_AVERAGES)}, got {average!r}.")
    every = one_against_rest(cells)
    if average == "binary":
        code = positive_code(labels, positive)
        one = TwoClassCounts(every.tp[code], every.fn[code], every.fp[code], every.tn[code])
        return one, np.ones(1)
    if average == "micro":
        return every.pooled(), np.ones(1)
    # Weighted by how often a class truly occurs; macro counts each class alike, however rare.
    shares = every.p if average == "weighted" else np.ones(len(labels))
    return every, shares


def defined_mean(rates: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
    """Return the weighted mean of the defined values, NaN when there is none."""
    rates = np.atleast_1d(rates)
    # A class without rows has no rate; a mean over the others says more than NaN.
    defined = ~np.isnan(rates) & (shares > 0)
    if not defined.any():
        return float("nan")
    return float(np.average(rates[defined], weights=shares[defined]))


tp_rate = averaged_rate(
    "tp_rate",
    lambda counts: counts.tp,
    lambda counts: counts.p,
    "Return the share of the positives that are recognised: hit rate, recall, sensitivity.",
)
fp_rate = averaged_rate(
    "fp_rate",
    lambda counts: counts.fp,
    lambda counts: counts.n,
    "Return the share of the negatives that are called positive: false alarm rate.",
)
precision = averaged_rate(
    "precision",
    lambda counts: counts.tp,
    lambda counts: counts.predicted_p,
    "Return the share of the predicted positives that are positive.",
)
specificity = averaged_rate(
    "specificity",
    lambda counts: counts.tn,
    lambda counts: counts.n,
    "Return the share of the negatives that are recognised.",
)


def f_score(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    positive: Any = None,
    average: str | None = None,
    zero_division: float | str = "warn",
    beta: float = 1.0,
) -> float:
    """Return the weighted harmonic mean of precision and recall, recall counting `beta` times."""
    if not beta > 0:
        raise DataError(f"beta must be positive, but is {beta}.")
    square = beta**2
    of_beta = averaged_rate(
        "f_score",
        lambda counts: (1 + square) * counts.tp,
        # Counts instead of precision and recall: the harmonic mean is then defined where one of
        # them is not.
        lambda counts: (1 + square) * counts.tp + square * counts.fn + counts.fp,
        "",
    )
    return of_beta(
        y_true,
        prediction,
        sample_weight=sample_weight,
        labels=labels,
        positive=positive,
        average=average,
        zero_division=zero_division,
    )


def kappa(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    zero_division: float | str = "warn",
) -> float:
    """Return Cohen's kappa: agreement beyond that of chance with the same margins."""
    cells, _ = cells_of(y_true, prediction, labels, sample_weight)
    shares = cells / cells.sum()
    chance = float(shares.sum(axis=1) @ shares.sum(axis=0))
    # Margins of a single class agree by chance for certain, up to rounding.
    left = 0.0 if np.isclose(chance, 1.0, rtol=0, atol=1e-14) else 1.0 - chance
    return float(ratio(np.trace(shares) - chance, left, "kappa", zero_division))


def matthews(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    zero_division: float | str = "warn",
) -> float:
    """Return the Matthews correlation of true and predicted classes."""
    cells, _ = cells_of(y_true, prediction, labels, sample_weight)
    shares = cells / cells.sum()
    true, predicted = shares.sum(axis=1), shares.sum(axis=0)
    # The R_k statistic of Gorodkin, which for two classes is the Matthews correlation.
    spread = (1.0 - true @ true) * (1.0 - predicted @ predicted)
    # One class alone has no variance; by rounding the product might be a tiny number instead of
    # zero.
    if (cells.sum(axis=1) > 0).sum() == 1 or (cells.sum(axis=0) > 0).sum() == 1:
        spread = 0.0
    together = np.trace(shares) - true @ predicted
    return float(ratio(together, np.sqrt(spread), "The Matthews correlation", zero_division))


def risk(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    loss: ArrayLike | pd.DataFrame,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    actions: Sequence[Any] | None = None,
) -> float:
    r"""Return the mean loss of the actions taken.

    Parameters
    ----------
    y_true
        True class of each instance.
    prediction
        Action taken for each instance.
    loss
        :math:`\lambda_{ik}`, the loss of action `i` when the class is `k`: rows are actions,
        columns true classes. A DataFrame names them itself.
    sample_weight
        Weight of each instance.
    labels
        Classes of the columns; the sorted classes of `y_true` when not given.
    actions
        Actions of the rows; the labels when not given, followed by ``"reject"`` when the table
        has one row more.

    Examples
    --------
    >>> from verulam.measures import risk
    >>> loss = [[0, 5], [1, 0], [0.5, 0.5]]
    >>> risk(["a", "b", "b"], ["a", "a", "reject"], loss=loss)
    1.8333333333333333
    """
    rows = losses_of_actions(y_true, prediction, loss=loss, labels=labels, actions=actions)
    return float(np.average(rows, weights=weights(sample_weight, len(rows))))


def losses_of_actions(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    loss: ArrayLike | pd.DataFrame,
    labels: Sequence[Any] | None = None,
    actions: Sequence[Any] | None = None,
) -> NDArray[np.float64]:
    """Return the loss of the action taken for each row; the arguments are those of `risk`."""
    true, taken = column(y_true, "y_true"), column(prediction, "prediction")
    same_length(true, taken)
    if isinstance(loss, pd.DataFrame):
        # Its names count, whatever the order of the labels elsewhere.
        actions = list(loss.index) if actions is None else actions
        labels = list(loss.columns)
    classes = np.unique(true) if labels is None else label_list(labels)
    table = checked_loss(loss, len(classes))
    rows = action_list(table, classes, actions)
    return table[codes(taken, rows, "prediction"), codes(true, classes, "y_true")]


def checked_loss(loss: ArrayLike | pd.DataFrame, classes: int) -> NDArray[np.float64]:
    """Return the loss matrix, refusing a wrong number of columns and missing entries."""
    table = np.asarray(loss, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != classes:
        raise DataError(
            f"loss has shape {table.shape}, but needs one row per action and one column for each "
            f"of the {classes} classes."
        )
    refuse_missing(table, "loss")
    return table


def action_list(
    table: NDArray[np.float64], classes: NDArray[Any], actions: Sequence[Any] | None
) -> NDArray[Any]:
    """Return the names of the rows of a loss matrix."""
    if actions is None:
        extra = len(table) - len(classes)
        if extra not in (0, 1):
            raise DataError(
                f"loss has {len(table)} rows for {len(classes)} classes: name them with `actions`."
            )
        return np.array([*classes.tolist(), "reject"][: len(table)], dtype=object)
    names = np.empty(len(actions), dtype=object)
    names[:] = list(actions)
    if len(names) != len(table):
        raise DataError(f"actions has {len(names)} names, but loss has {len(table)} rows.")
    return label_list(names, "actions")


def log_loss(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Return the mean negative log probability of the true class.

    A probability of zero counts as the smallest relative step of a double, as in scikit-learn.
    """
    rows = negative_logs(y_true, prediction, labels=labels)
    return float(np.average(rows, weights=weights(sample_weight, len(rows))))


def negative_logs(
    y_true: ArrayLike, prediction: ArrayLike, *, labels: Sequence[Any] | None = None
) -> NDArray[np.float64]:
    """Return the negative log probability of the true class of each row."""
    true, table, _ = probabilities(y_true, prediction, labels)
    likelihoods = table[np.arange(len(true)), true]
    # As scikit-learn does: a class declared impossible that occurs would otherwise cost infinitely
    # much.
    step = np.finfo(np.float64).eps
    return -np.log(np.clip(likelihoods, step, 1.0 - step))


def brier(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Return the mean squared distance of the probabilities from the true class, 0 to 2.

    It sums over all classes; for two classes it is twice the form that looks at one column.
    """
    rows = squared_distances(y_true, prediction, labels=labels)
    return float(np.average(rows, weights=weights(sample_weight, len(rows))))


def squared_distances(
    y_true: ArrayLike, prediction: ArrayLike, *, labels: Sequence[Any] | None = None
) -> NDArray[np.float64]:
    """Return the squared distance of the probabilities of each row from its class."""
    true, table, labels_of_columns = probabilities(y_true, prediction, labels)
    return ((table - np.eye(len(labels_of_columns))[true]) ** 2).sum(axis=1)
