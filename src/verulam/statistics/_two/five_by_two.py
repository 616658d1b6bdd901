"""The 5x2 cv tests: Dietterich's paired t and Alpaydin's combined F."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.statistics._core.checks import (
    SMALLEST,
    Vector,
    any_numbers,
    checked_alternative,
    checked_level,
    numbers,
)
from verulam.statistics._core.distributions import Fisher, Student
from verulam.statistics._core.hypotheses import paired_hypotheses
from verulam.statistics._core.result import Alternative, Assumption, EffectSize, TestResult
from verulam.statistics._core.tails import symmetric_tail, upper_tail
from verulam.statistics._two.paired_tests import SAME_SPLITS

REPLICATIONS, FOLDS = 5, 2
ASSUMPTIONS = (
    SAME_SPLITS,
    Assumption("differences are normal", None, "ten dependent values"),
    Assumption("replications are independent", False, "they share the same data"),
)


@dataclass(frozen=True, eq=False)
class FiveByTwo:
    """Both statistics of five-by-two tables of differences.

    Parameters
    ----------
    t
        The ten t statistics of every table.
    f
        The combined F statistic of every table.
    variances
        Sum over the replications of the variances, of every table.
    """

    t: Vector
    f: Vector
    variances: Vector


def five_by_two_statistics(differences: Vector) -> FiveByTwo:
    """Return the statistics of tables in the last two axes."""
    means = differences.mean(axis=-1, keepdims=True)
    # With two folds the variance of a replication has one degree of freedom; five of them add up.
    variances = ((differences - means) ** 2).sum(axis=(-2, -1))
    scale = np.sqrt(variances / REPLICATIONS)
    squares = (differences**2).sum(axis=(-2, -1))
    # Dietterich's t takes one of ten differences as its numerator; Alpaydin's F takes the squares
    # of all ten, over twice the five variances.
    return FiveByTwo(differences / scale[..., None, None], squares / (2 * variances), variances)


def differences_of(first: ArrayLike, second: ArrayLike) -> Vector:
    """Return the five-by-two table of differences, refusing other shapes and zero variance."""
    tables = []
    for errors, name in ((first, "first"), (second, "second")):
        table = any_numbers(errors, name)
        shape = table.shape
        if shape not in ((REPLICATIONS, FOLDS), (REPLICATIONS * FOLDS,)):
            raise DataError(
                f"{name} has shape {shape}: 5 replications of 2 folds are needed, as (5, 2) "
                "or as ten values, the two halves of each replication side by side."
            )
        tables.append(numbers(table, name).reshape(REPLICATIONS, FOLDS))
    differences = tables[0] - tables[1]
    if np.ptp(differences, axis=1).max() <= 1e-12 * max(1e-300, np.abs(differences).max()):
        raise DataError(
            "The two folds of every replication have the same difference: with zero variance the "
            "statistic is undefined."
        )
    if np.ptp(differences) < SMALLEST:
        raise DataError("The differences are too small to be squared: multiply all by a constant.")
    return differences


def five_by_two_t_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    r"""Compare two learners by the 5x2 cv paired t test.

    Parameters
    ----------
    first, second
        Errors of either learner: rows are the five replications, columns the two halves.
    alternative
        Claim about the first error: ``"two-sided"``, ``"less"`` or ``"greater"``.
    alpha
        Level of significance.

    Notes
    -----
    :math:`t = p_1^{(1)} / \sqrt{\sum_i s_i^2 / 5}` with five degrees of freedom (Alpaydin 19.11.3
    (19.15)). The numerator is arbitrary; all ten statistics (19.16) are in
    ``details["statistics"]``, and `five_by_two_f_test` combines them.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import five_by_two_t_test
    >>> first = np.array([[3, 4], [2, 4], [3, 3], [4, 5], [3, 5]]) / 100
    >>> second = np.array([[1, 3], [1, 1], [2, 1], [2, 2], [1, 3]]) / 100
    >>> print(five_by_two_t_test(first, second).headline())
    t(5) = 2.39, p = 0.0624
    """
    checked_alternative(alternative)
    checked_level(alpha)
    differences = differences_of(first, second)
    ten = five_by_two_statistics(differences).t
    # The first fold of the first replication, as the test is defined; the other nine are as good,
    # and are given in the details.
    statistic = float(ten[0, 0])
    tail = symmetric_tail(statistic, Student(REPLICATIONS), alternative, alpha)
    return TestResult(
        name="5x2 cv paired t test",
        **paired_hypotheses("error rate", alternative),
        statistic=statistic,
        statistic_name="t",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        degrees_of_freedom=(REPLICATIONS,),
        tail=alternative,
        effect_size=EffectSize("mean difference", float(differences.mean())),
        assumptions=ASSUMPTIONS,
        caveats=("another order of the same ten results gives another statistic",),
        details={"statistics": ten},
        source="Alpaydin 19.11.3 (19.15)",
    )


def five_by_two_f_test(first: ArrayLike, second: ArrayLike, *, alpha: float = 0.05) -> TestResult:
    r"""Compare two learners by the combined 5x2 cv F test.

    Parameters
    ----------
    first, second, alpha
        As in `five_by_two_t_test`.

    Notes
    -----
    :math:`f = \sum_i \sum_j (p_i^{(j)})^2 / (2 \sum_i s_i^2) \sim F_{10,5}` (Alpaydin 19.11.4
    (19.17)): the mean of the ten squared t statistics, so that their order does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import five_by_two_f_test
    >>> first = np.array([[3, 4], [2, 4], [3, 3], [4, 5], [3, 5]]) / 100
    >>> second = np.array([[1, 3], [1, 1], [2, 1], [2, 2], [1, 3]]) / 100
    >>> print(five_by_two_f_test(first, second).headline())
    F(10, 5) = 5.857, p = 0.0324
    """
    checked_level(alpha)
    differences = differences_of(first, second)
    statistics = five_by_two_statistics(differences)
    freedom = (REPLICATIONS * FOLDS, REPLICATIONS)
    tail = upper_tail(float(statistics.f), Fisher(*freedom), alpha)
    return TestResult(
        name="Combined 5x2 cv F test",
        **paired_hypotheses("error rate", "two-sided"),
        statistic=float(statistics.f),
        statistic_name="F",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        degrees_of_freedom=freedom,
        effect_size=EffectSize("mean difference", float(differences.mean())),
        assumptions=ASSUMPTIONS,
        details={"statistics": statistics.t},
        source="Alpaydin 19.11.4 (19.17)",
    )
