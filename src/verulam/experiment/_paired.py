"""Paired tests of scores that come from overlapping training sets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True)
class PairedTest:
    """Outcome of a paired test of equal means.

    Attributes
    ----------
    difference
        Mean of the paired differences.
    statistic
        Value of t.
    degrees_of_freedom
        Of its distribution under the hypothesis.
    p_value
        Two-sided.
    """

    difference: float
    statistic: float
    degrees_of_freedom: int
    p_value: float


def corrected_resampled_t(differences: ArrayLike, *, test_to_train: float) -> PairedTest:
    r"""Test whether paired scores over resampled splits have the same mean.

    Parameters
    ----------
    differences
        Score of one learner minus score of the other, split by split.
    test_to_train
        Test rows per training row: 1 / (K - 1) in K-fold cross-validation.

    Notes
    -----
    Training sets overlap, so the differences are correlated and the plain paired t test rejects
    too often. Nadeau and Bengio replace its variance by :math:`(1/n + n_2/n_1)\,s^2`, with
    :math:`n` splits, :math:`n_2` test and :math:`n_1` training rows [nadeau2003]_. Differences
    that are all equal have no variance: p is 1 where they are zero, and 0 where they are not.

    References
    ----------
    .. [nadeau2003] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine
       Learning 52, 2003.

    Examples
    --------
    >>> test = corrected_resampled_t([0.02, 0.04, 0.00, 0.06], test_to_train=1 / 3)
    >>> round(test.statistic, 3), round(test.p_value, 3)
    (1.521, 0.226)
    """
    values = np.asarray(differences, dtype=np.float64)
    count = len(values)
    if count < 2:
        raise ValueError(f"differences: {count} value; a paired test needs at least 2.")
    mean = float(values.mean())
    variance = float(values.var(ddof=1)) * (1 / count + test_to_train)
    # Equal differences leave a variance of pure rounding error.
    if variance <= np.finfo(float).eps * max(mean**2, np.finfo(float).tiny):
        p_value = 1.0 if mean == 0 else 0.0
        return PairedTest(mean, float(np.sign(mean)) * np.inf if mean else 0.0, count - 1, p_value)
    statistic = mean / np.sqrt(variance)
    p_value = 2 * float(stats.t.sf(abs(statistic), count - 1))
    return PairedTest(mean, float(statistic), count - 1, p_value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's step-down rule.

    Examples
    --------
    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return adjusted.tolist()
