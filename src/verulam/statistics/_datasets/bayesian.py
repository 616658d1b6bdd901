"""Bayesian correlated t and signed rank tests, with a region of practical equivalence."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import checked_level, pair, varying
from verulam.statistics._core.distributions import Student


@dataclass(frozen=True)
class BayesianComparison:
    """Posterior probabilities of three verdicts about first minus second.

    Parameters
    ----------
    name
        Name of the method.
    left
        Probability that the difference is below the region of practical equivalence.
    rope
        Probability that it lies inside.
    right
        Probability that it is above.
    width
        Half width of the region.
    """

    name: str
    left: float
    rope: float
    right: float
    width: float

    def verdict(self, certainty: float = 0.95) -> str:
        """Return the verdict that has at least the probability `certainty`, or that none has."""
        checked_level(certainty, "certainty")
        if self.left >= certainty:
            return "the first learner's values are smaller"
        if self.right >= certainty:
            return "the first learner's values are larger"
        if self.rope >= certainty:
            return "practically equivalent"
        return "no verdict"

    def __str__(self) -> str:
        return (
            f"{self.name}: P(first smaller) = {self.left:.3f}, P(difference within "
            f"{self.width:g}) = {self.rope:.3f}, P(first larger) = {self.right:.3f}."
        )


def checked_width(rope: float) -> float:
    """Return the half width of a region of practical equivalence."""
    if not (np.isfinite(rope) and rope >= 0):
        raise DataError(f"rope must be a number, not negative, but is {rope}.")
    return float(rope)


def bayesian_correlated_t(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rope: float = 0.01,
    test_share: float | None = None,
) -> BayesianComparison:
    r"""Compare two learners over the splits of one data set.

    Parameters
    ----------
    first, second
        Results of either learner in the same splits.
    rope
        Differences up to this size do not matter.
    test_share
        Share of the data in each test part, taken as the correlation of two splits; one over the
        number of splits when not given.

    Notes
    -----
    The posterior of the mean difference is a t distribution with n - 1 degrees of freedom, the
    mean of the differences as its centre and :math:`\sqrt{(1/n + \rho/(1-\rho))\, S^2}` as its
    scale [benavoli2017]_; with no region it mirrors `corrected_t_test`.

    References
    ----------
    .. [benavoli2017] A. Benavoli, G. Corani, J. Demsar and M. Zaffalon, "Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis", JMLR 18, 2017.

    Examples
    --------
    >>> from verulam.statistics import bayesian_correlated_t
    >>> first = [0.11, 0.13, 0.10, 0.12, 0.14, 0.11, 0.12, 0.13, 0.10, 0.12]
    >>> second = [0.12, 0.15, 0.11, 0.12, 0.17, 0.12, 0.12, 0.15, 0.12, 0.13]
    >>> print(bayesian_correlated_t(first, second))
    Correlated t: P(first smaller) = 0.746, P(difference within 0.01) = 0.254,
    P(first larger) = 0.000.
    """
    width = checked_width(rope)
    one, other = pair(first, second, what="splits")
    differences = one - other
    varying(differences, "differences")
    share = checked_level(1.0 / len(one) if test_share is None else test_share, "test_share")
    # Nadeau and Bengio's variance: splits that share training rows are correlated by about the
    # share of the test part.
    scale = differences.std(ddof=1) * np.sqrt(1.0 / len(one) + share / (1 - share))
    posterior, mean = Student(len(one) - 1), differences.mean()
    left = float(posterior.cdf((-width - mean) / scale))
    right = float(posterior.sf((width - mean) / scale))
    return BayesianComparison("Correlated t", left, 1.0 - left - right, right, width)


def bayesian_signed_rank(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rope: float = 0.01,
    prior_strength: float = 0.5,
    draws: int = 20_000,
    random_state: Seed = None,
) -> BayesianComparison:
    """Compare two learners over several data sets.

    Parameters
    ----------
    first, second
        Result of either learner on each data set.
    rope
        Differences up to this size do not matter.
    prior_strength
        Weight of one imagined data set without a difference.
    draws
        Number of draws from the posterior.
    random_state
        Seed.

    Notes
    -----
    The data sets get random weights from a Dirichlet process; each draw asks where most means
    of two weighted differences fall, the Bayesian form of the signed rank test.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import bayesian_signed_rank
    >>> rng = np.random.default_rng(0)
    >>> found = bayesian_signed_rank(rng.normal(0.2, 0.02, 20), rng.normal(0.25, 0.02, 20),
    ...                              random_state=0)
    >>> found.verdict()
    "the first learner's values are smaller"
    """
    width = checked_width(rope)
    one, other = pair(first, second, what="data sets")
    if not prior_strength > 0:
        raise DataError(f"prior_strength must be positive, but is {prior_strength}.")
    # The prior acts as one more data set, on which the learners do not differ.
    differences = np.r_[0.0, one - other]
    # The signed rank statistic asks for the sign of Walsh averages: sums of two differences, hence
    # the limit of twice the width.
    sums = differences[:, None] + differences[None, :]
    weights = generator(random_state).dirichlet(
        np.r_[prior_strength, np.ones(len(one))], size=draws
    )
    # A quadratic form per draw of Dirichlet weights, for all draws in one product.
    below = np.einsum("di,di->d", weights @ (sums < -2 * width), weights)
    above = np.einsum("di,di->d", weights @ (sums > 2 * width), weights)
    inside = 1.0 - below - above
    region = np.argmax(np.column_stack([below, inside, above]), axis=1)
    left, within, right = (float(np.mean(region == place)) for place in range(3))
    return BayesianComparison("Signed rank", left, within, right, width)
