"""The .632 and .632+ bootstrap: between the error on learnt rows and that on rows left out."""

from dataclasses import dataclass

import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.statistics._core.checks import checked_number, label_column, numbers

#: Share of the rows that a bootstrap sample of many rows holds, 1 - 1/e.
DRAWN = 0.632
LEFT = 1.0 - DRAWN
#: Errors that differ by a smaller part are the same.
ROUNDING = 1e-12


@dataclass(frozen=True)
class BootstrapError:
    """An error estimated from bootstrap samples.

    Attributes
    ----------
    value
        The estimate.
    method
        ".632" or ".632+".
    training
        Error on the rows that were learnt from: too small.
    out_of_bag
        Error on the rows that were left out: a little too large.
    no_information
        Error where classes had nothing to do with the inputs; NaN where it was not given.
    overfitting
        Relative overfitting rate, from 0 (none) to 1 (nothing was learnt); NaN without
        `no_information`.

    Examples
    --------
    >>> from verulam.statistics import bootstrap_error
    >>> print(bootstrap_error(0.0, 0.5))
    .632 estimate 0.316 (0 on learnt rows, 0.5 on rows left out)
    """

    value: float
    method: str
    training: float
    out_of_bag: float
    no_information: float = float("nan")
    overfitting: float = float("nan")

    @property
    def weight(self) -> float:
        """Weight of the error on rows left out; the rest is that of the training error."""
        gap = self.out_of_bag - self.training
        return DRAWN if gap == 0 else (self.value - self.training) / gap

    def __str__(self) -> str:
        text = (
            f"{self.method} estimate {self.value:.4g} ({self.training:.4g} on learnt rows, "
            f"{self.out_of_bag:.4g} on rows left out"
        )
        if self.method == ".632":
            return f"{text})"
        return (
            f"{text}, {self.no_information:.4g} without information; "
            f"relative overfitting {self.overfitting:.4g})"
        )


def bootstrap_error(
    training: float, out_of_bag: float, no_information: float | None = None
) -> BootstrapError:
    r"""Return the .632 estimate of an error, or with `no_information` the .632+ estimate.

    Parameters
    ----------
    training
        Error :math:`\overline{err}` on the rows that were learnt from.
    out_of_bag
        Error :math:`E_1` on the rows that a bootstrap sample left out.
    no_information
        Error :math:`\gamma` that would be found if targets and inputs were independent, as
        `no_information_error` gives it.

    Notes
    -----
    .. math:: E_{.632} = 0.368\,\overline{err} + 0.632\,E_1

    A learner that remembers all of its rows has no training error, so that the estimate is too
    small. With :math:`E'_1 = \min(E_1, \gamma)` and the relative overfitting rate
    :math:`R = (E'_1 - \overline{err}) / (\gamma - \overline{err})`, taken as 0 where
    :math:`E_1` or :math:`\gamma` does not exceed :math:`\overline{err}`,

    .. math:: E_{.632+} = E_{.632} + (E'_1 - \overline{err})
              \frac{0.368 \cdot 0.632\, R}{1 - 0.368\, R}

    [efron1997]_

    References
    ----------
    .. [efron1997] B. Efron and R. Tibshirani, "Improvements on cross-validation: the .632+
       bootstrap method", Journal of the American Statistical Association 92, 1997.

    Examples
    --------
    >>> from verulam.statistics import bootstrap_error
    >>> bootstrap_error(0.1, 0.2).value
    0.1632
    >>> print(bootstrap_error(0.0, 0.5, 0.5))
    .632+ estimate 0.5 (0 on learnt rows, 0.5 on rows left out, 0.5 without information;
    relative overfitting 1)
    """
    names = ("training", "out_of_bag", "no_information")
    for name, error in zip(names, (training, out_of_bag, no_information), strict=True):
        if error is not None:
            checked_number(error, name)
    plain = LEFT * training + DRAWN * out_of_bag
    if no_information is None:
        return BootstrapError(float(plain), ".632", float(training), float(out_of_bag))
    # An error above that of guessing is put down to chance (Efron and Tibshirani 1997).
    bounded = min(out_of_bag, no_information)
    rate = 0.0
    # What differs by rounding alone is equal, and its quotient would be of chance.
    if bounded - training > ROUNDING * max(abs(training), abs(no_information)):
        rate = (bounded - training) / (no_information - training)
    value = plain + (bounded - training) * LEFT * DRAWN * rate / (1.0 - LEFT * rate)
    return BootstrapError(
        float(value),
        ".632+",
        float(training),
        float(out_of_bag),
        float(no_information),
        float(rate),
    )


@dataclass(frozen=True)
class ResampledLosses:
    """Mean losses of learners that were each fitted to a bootstrap sample.

    Attributes
    ----------
    training
        Over the rows of the samples, each as often as it was drawn.
    out_of_bag
        Over the rows, of the mean loss by the learners that had not drawn the row.
    always_drawn
        Number of rows that every sample held, which therefore do not count out of bag.
    """

    training: float
    out_of_bag: float
    always_drawn: int


def resampled_losses(losses: ArrayLike, draws: ArrayLike) -> ResampledLosses:
    """Return the mean loss on learnt rows and on rows left out, over bootstrap samples.

    Parameters
    ----------
    losses
        Loss of every row, in columns, by the learner of every sample, in rows.
    draws
        How often each sample drew each row.

    Notes
    -----
    Out of bag the mean is taken row by row first (the leave-one-out bootstrap), so that each
    row counts alike (Efron and Tibshirani, 1997).

    Examples
    --------
    >>> from verulam.statistics import resampled_losses
    >>> found = resampled_losses([[0, 1, 1], [0, 0, 1]], [[2, 1, 0], [0, 1, 2]])
    >>> round(found.training, 3), found.out_of_bag, found.always_drawn
    (0.5, 0.5, 1)
    """
    table, times = numbers(losses, "losses"), numbers(draws, "draws")
    if table.ndim != 2 or table.shape != times.shape or table.size == 0:
        raise DataError(
            f"losses has shape {table.shape} and draws {times.shape}: both need a row for each "
            "sample and a column for each row of the data."
        )
    if (times < 0).any() or not times.any(axis=1).all():
        raise DataError("draws must count how often rows were drawn, at least one in each sample.")
    left = times == 0
    seen = left.sum(axis=0)
    if not seen.any():
        raise DataError("Every row was drawn by every sample: nothing is left to test on.")
    some = seen > 0
    # The leave-one-out bootstrap: a mean over the samples that left a row out, then over rows.
    by_row = (table * left).sum(axis=0)[some] / seen[some]
    learnt = (table * times).sum(axis=1) / times.sum(axis=1)
    return ResampledLosses(float(learnt.mean()), float(by_row.mean()), int((~some).sum()))


def no_information_error(y_true: ArrayLike, prediction: ArrayLike) -> float:
    r"""Return the error of predictions that have nothing to do with the classes.

    Parameters
    ----------
    y_true, prediction
        True and predicted classes.

    Notes
    -----
    :math:`\gamma = \sum_k p_k (1 - q_k)`, where :math:`p_k` is the share of class k and
    :math:`q_k` the share of rows that are predicted to be of it (Efron and Tibshirani, 1997).

    Examples
    --------
    >>> from verulam.statistics import no_information_error
    >>> no_information_error(["a", "a", "a", "b"], ["a", "a", "b", "b"])
    0.5
    """
    true, predicted = label_column(y_true, "y_true"), label_column(prediction, "prediction")
    if true.ndim != 1 or true.shape != predicted.shape or not len(true):
        raise DataError(
            f"y_true has shape {true.shape} and the prediction {predicted.shape}: both need one "
            "class for each row."
        )
    return 1.0 - float(
        sum((true == label).mean() * (predicted == label).mean() for label in pd.unique(true))
    )
