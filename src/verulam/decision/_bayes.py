"""Bayes' rule for a finite number of hypotheses."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from verulam.base import DataError

#: A number per class: in the order of the classes, or by the name of each class.
PerClass = ArrayLike | Mapping[Any, float] | pd.Series

# Priors typed by hand (0.333, 0.333, 0.334) or stored as float32 do not sum to one exactly.
SUM_TOLERANCE = 1e-6


def posterior(
    priors: PerClass | None, likelihoods: ArrayLike, *, log: bool = False
) -> NDArray[np.float64]:
    r"""Return the probability of each hypothesis after the data was seen.

    Parameters
    ----------
    priors
        Probability of each hypothesis before the data; None is the vague prior, all equal.
    likelihoods
        Probability (or density) of the data under each hypothesis, along the last axis.
    log
        The likelihoods are logarithms: use this where they are products of many factors.

    Notes
    -----
    .. math:: P(H_i \mid x) = \frac{p(x \mid H_i)\, P(H_i)}{\sum_k p(x \mid H_k)\, P(H_k)}

    (SIT1305 II; Bartkowiak 2.2).

    Examples
    --------
    A test that finds 99% of the ill and alarms 5% of the healthy, for an illness of 1%:

    >>> posterior([0.01, 0.99], [0.99, 0.05]).round(3)
    array([0.167, 0.833])
    """
    scores = _log_likelihoods(likelihoods, log)
    return normalise(scores + log_priors(priors, scores.shape[-1]))


def sequential_posteriors(
    priors: PerClass | None, likelihoods: ArrayLike, *, log: bool = False
) -> NDArray[np.float64]:
    """Return the posterior after each of several independent observations.

    Each posterior is the prior of the next observation, so that the order does not matter for
    the last row, and any prior without zeros is outweighed in the end (SIT1305 II).

    Parameters
    ----------
    priors
        Probability of each hypothesis before the first observation; None makes all equal.
    likelihoods
        One row per observation, one column per hypothesis.
    log
        The likelihoods are logarithms.

    Returns
    -------
    ndarray of shape (n_observations + 1, n_hypotheses)
        The first row is the prior.

    Examples
    --------
    Is the coin fair, or does it show heads nine times in ten? After one, two, three heads:

    >>> sequential_posteriors([0.9, 0.1], [[0.5, 0.9]] * 3)[:, 1].round(3)
    array([0.1  , 0.167, 0.265, 0.393])
    """
    scores = _log_likelihoods(likelihoods, log)
    if scores.ndim != 2:
        raise DataError(
            "likelihoods must have a row per observation and a column per hypothesis, "
            f"but its shape is {scores.shape}."
        )
    log_prior = log_priors(priors, scores.shape[1])
    # Independent observations: the logarithms of their likelihoods add up.
    return normalise(np.vstack([log_prior, log_prior + np.cumsum(scores, axis=0)]))


def normalise(log_joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return posteriors from the logarithms of prior times likelihood."""
    # In logarithms, for likelihoods of many factors underflow.
    log_evidence = logsumexp(log_joint, axis=-1, keepdims=True)
    if (impossible := np.isneginf(log_evidence)).any():
        place = tuple(int(i) for i in np.argwhere(impossible)[0][:-1])
        where = f" at position {place}" if place else ""
        raise DataError(
            f"The evidence{where} is zero: no hypothesis with a positive prior can have "
            "produced this observation."
        )
    return np.exp(log_joint - log_evidence)


def check_priors(
    priors: PerClass | None, classes: Sequence[Any] | NDArray[Any], name: str = "priors"
) -> NDArray[np.float64]:
    """Return a probability per class, in the order of `classes`; equal where none is given."""
    if priors is None:
        return np.full(len(classes), 1.0 / len(classes))
    values = per_class(priors, classes, name)
    if (values < 0).any():
        raise DataError(f"{name} must not be negative, but got {values.tolist()}.")
    if abs(values.sum() - 1.0) > SUM_TOLERANCE:
        raise DataError(
            f"{name} must sum to one, but {values.tolist()} sums to {values.sum():.6g}."
        )
    return values / values.sum()


def per_class(
    values: PerClass, classes: Sequence[Any] | NDArray[Any], name: str
) -> NDArray[np.float64]:
    """Return one finite number per class from a list in class order, or a mapping by class."""
    if isinstance(values, Mapping | pd.Series):
        by_label = dict(values.items())
        if set(by_label) != set(classes):
            raise DataError(
                f"{name} must name each class once: the classes are {list(classes)}, "
                f"but got {list(by_label)}."
            )
        values = [by_label[label] for label in classes]
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(classes),):
        raise DataError(
            f"{name} must hold one number for each of the {len(classes)} classes "
            f"{list(classes)}, but its shape is {array.shape}."
        )
    if not np.isfinite(array).all():
        raise DataError(f"{name} must be finite, but got {array.tolist()}.")
    return array


def log_priors(priors: PerClass | None, count: int) -> NDArray[np.float64]:
    """Return the logarithms of checked priors of `count` hypotheses."""
    with np.errstate(divide="ignore"):
        return np.log(check_priors(priors, range(count)))


def _log_likelihoods(likelihoods: ArrayLike, log: bool) -> NDArray[np.float64]:
    values = np.asarray(likelihoods, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] < 2:
        raise DataError(
            "likelihoods needs at least two hypotheses along its last axis, "
            f"but its shape is {values.shape}."
        )
    if np.isnan(values).any():
        raise DataError("likelihoods must not contain NaN.")
    if log:
        return values
    if (values < 0).any():
        raise DataError("likelihoods must not be negative; set log=True if they are logarithms.")
    with np.errstate(divide="ignore"):
        return np.log(values)
