"""Bouckaert's calibrated t test: degrees of freedom that suit repeated cross-validation."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from verulam.base import DataError
from verulam.statistics._core.checks import checked_count, checked_level, pair
from verulam.statistics._core.distributions import Student
from verulam.statistics._core.result import Alternative, Assumption, TestResult
from verulam.statistics._two.paired_tests import paired_t


def calibrated_degrees(splits: int, test_share: float, *, alpha: float = 0.05) -> int:
    r"""Return the degrees of freedom that make a t test over dependent splits keep its level.

    Parameters
    ----------
    splits
        Number of splits over all repeats.
    test_share
        Share of the data in each test part.
    alpha
        Level at which the test is calibrated.

    Notes
    -----
    Splits that share rows tell less than as many independent ones. The number :math:`f` is such
    that :math:`m \sqrt{f + 1} / S` exceeds the quantile of :math:`t_f` with probability
    :math:`\alpha` if any two differences are correlated by the share of the test part:
    :math:`\sqrt{(f + 1)(1/n + n_2/n_1)}\; t_{\alpha/2, n-1} = t_{\alpha/2, f}`, rounded. For ten
    times tenfold that is 10, the number that Bouckaert found by simulation [bouckaert2003]_.

    References
    ----------
    .. [bouckaert2003] R. R. Bouckaert, "Choosing between two learning algorithms based on
       calibrated tests", International Conference on Machine Learning, 2003.

    Examples
    --------
    >>> from verulam.statistics import calibrated_degrees
    >>> calibrated_degrees(100, 0.1), calibrated_degrees(10, 0.1)
    (10, 5)
    """
    count = checked_count(splits, "splits")
    if count < 2:
        raise DataError(f"splits={splits}: at least 2 are needed.")
    share = checked_level(test_share, "test_share")
    level = checked_level(alpha) / 2
    factor = 1.0 / count + share / (1.0 - share)
    limit = float(Student(count - 1).isf(level))

    # How far the variance-corrected critical difference exceeds that of f degrees of freedom, both
    # in units of the spread; where they agree, the tests reject alike.
    def excess(freedom: float) -> float:
        return float(np.sqrt((freedom + 1.0) * factor) * limit - Student(freedom).isf(level))

    if excess(1.0) >= 0.0:
        return 1
    return round(optimize.brentq(excess, 1.0, float(max(count, 2))))


def calibrated_t_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    test_share: float,
    degrees_of_freedom: int | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    r"""Compare two learners over repeated cross-validation, with calibrated degrees of freedom.

    Parameters
    ----------
    first, second
        Error (or any other measure) of either learner in each split, in the same order.
    test_share
        Share of the data in each test part: 0.1 for tenfold.
    degrees_of_freedom
        Degrees of freedom; those of `calibrated_degrees` when not given.
    alternative, alpha
        As in `cv_t_test`.

    Notes
    -----
    All :math:`n` differences give mean and variance, and :math:`t = m \sqrt{f + 1} / S` has
    :math:`f` degrees of freedom (Alpaydin 19.6.1, after Bouckaert).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import calibrated_t_test
    >>> scores = np.random.default_rng(0).normal(size=(2, 100)) / 50 + [[0.10], [0.13]]
    >>> print(calibrated_t_test(*scores, test_share=0.1).headline())
    t(10) = -3.426, p = 0.00648
    """
    one, other = pair(first, second, what="splits")
    freedom = (
        calibrated_degrees(len(one), test_share, alpha=alpha)
        if degrees_of_freedom is None
        else checked_count(degrees_of_freedom, "degrees_of_freedom")
    )
    if freedom < 1:
        raise DataError(f"degrees_of_freedom={degrees_of_freedom}: at least 1 is needed.")
    return paired_t(
        one - other,
        # As if there were freedom + 1 independent splits.
        1.0 / (freedom + 1),
        alternative,
        alpha,
        name="Calibrated t test",
        assumptions=(Assumption("any two splits are about equally correlated"),),
        caveats=("the degrees of freedom are calibrated for the level of the test, not exact",),
        source="Alpaydin 19.6.1, after Bouckaert",
        freedom=freedom,
    )
