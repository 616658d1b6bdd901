"""Model selection rules, such as one standard error: the value of a measure against simplicity."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, Seed
from verulam.statistics._core.checks import Vector, checked_option
from verulam.statistics._several.joint_posterior import JointPosterior

#: Rules of choice by name, and what each takes, in words.
SELECTION_RULES = {
    "half standard error": (
        "the simplest whose mean is behind the best by no more than what matters, nor by more "
        "than half the standard error of that difference"
    ),
    "one standard error": (
        "the simplest whose mean is behind the best by no more than the standard error of that "
        "difference"
    ),
    "best mean": "the one with the best mean",
    "not rejected": "the simplest that the tests do not show to be worse than another",
}
#: Draws behind the agreement with other splits.
AGREEMENT_DRAWS = 1000


@dataclass(frozen=True)
class Selection:
    """The contestant that a rule chooses.

    Attributes
    ----------
    name
        The contestant.
    agreement
        How often other splits of the same rows would lead to the same choice, from the noise of
        the splits.
    settled
        How often more repeats, up to the most that are allowed, would leave the choice as it is.
    shares
        For each contestant how often other splits would lead to it.
    """

    name: str
    agreement: float
    settled: float
    shares: Mapping[str, float]


def select(
    posterior: JointPosterior,
    complexity: ArrayLike,
    *,
    margin: float,
    rule: str = "half standard error",
    max_repeats: int = 10,
    sequential: bool = False,
    eligible: ArrayLike | None = None,
    noise: ArrayLike | None = None,
    random_state: Seed = 0,
) -> Selection:
    r"""Return the contestant that a rule chooses, and how firm that choice is.

    Parameters
    ----------
    posterior
        What is known of the contestants.
    complexity
        Grade of each; less is simpler. Within a grade the better mean decides.
    margin
        Differences up to this size do not matter.
    rule
        "half standard error", "one standard error" or "best mean".
    max_repeats
        Repeats at which the study ends at the latest.
    sequential
        Whether repeats are added until the choice is settled, up to `max_repeats`.
    eligible
        Which contestants may be chosen; None for all.
    noise
        Covariance of the means between studies like this one, where it does not come from the
        splits; None takes that of the splits.
    random_state
        Seed of the draws.

    Notes
    -----
    The default is the simplest contestant with

    .. math:: m_j - m_{\text{best}} \le \min(\text{margin}, s_{j,\text{best}} / 2)

    with the standard error :math:`s` of the difference under the posterior. Over simulated problems
    it loses no more than taking the best mean, and is simpler where contestants are level.
    Agreement draws :math:`m + N(0, 2 \cdot 1.13\,W/R)`, the means of a study with other splits as
    far as this one can tell, and counts how often the rule chooses the same. Where repeats are
    added until the choice is settled, a study that would choose otherwise goes on to its last
    repeat, so that its own noise is :math:`W/R_{\max}` and the factor :math:`1 + R/R_{\max}`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import joint_posterior, select
    >>> random = np.random.default_rng(1)
    >>> losses = (random.random((2, 300, 2)) < [0.21, 0.20]).astype(float)
    >>> posterior = joint_posterior(losses, ["line", "forest"])
    >>> select(posterior, [1, 4], margin=0.01).name
    'line'
    """
    grades = np.asarray(complexity, dtype=np.float64)
    if grades.shape != posterior.means.shape or np.isnan(grades).any():
        raise DataError("complexity: expected one number for each contestant.")
    checked_option(rule, "rule", [name for name in SELECTION_RULES if name != "not rejected"])
    allowed = np.ones(len(grades), bool) if eligible is None else np.asarray(eligible, bool)
    if not allowed.any():
        raise DataError("eligible: no contestant may be chosen.")
    errors = posterior.standard_errors

    def choices(costs: Vector) -> NDArray[np.intp]:
        return _choices(costs, errors, grades, allowed, margin, rule)

    place = int(choices(posterior.costs[None, :])[0])
    between = posterior.split_noise if noise is None else np.asarray(noise, dtype=np.float64)
    # Another study has split noise of its own, as this one has: their difference has twice the
    # variance, or less where the other one goes on until its choice is settled.
    used = min(1.0, float(posterior.repeats.max()) / max_repeats)
    factor = 1.0 + used if sequential and noise is None else 2.0
    others = posterior.other_means(factor * between, AGREEMENT_DRAWS, random_state=random_state)
    # What is left of the noise of the splits at the last repeat cannot be taken away.
    left = 1.0 - used
    later = posterior.other_means(left * between, AGREEMENT_DRAWS, random_state=random_state)
    shares = np.bincount(choices(others), minlength=len(grades)) / AGREEMENT_DRAWS
    return Selection(
        posterior.names[place],
        float(shares[place]),
        float(np.mean(choices(later) == place)),
        dict(zip(posterior.names, shares.tolist(), strict=True)),
    )


def _choices(
    costs: Vector,
    errors: Vector,
    grades: Vector,
    allowed: NDArray[np.bool_],
    margin: float,
    rule: str,
) -> NDArray[np.intp]:
    """Return the place that the rule chooses for each row of means, of which less is better."""
    # Rounding must not decide between means that are the same on paper: the first is taken.
    rounding = 1e-12 * np.abs(costs)
    costs = np.where(allowed, costs, np.inf)
    behind = costs - costs.min(axis=1, keepdims=True)
    best = (behind <= rounding).argmax(axis=1)
    if rule == "best mean":
        return best
    tolerance = errors[best]
    if rule == "half standard error":
        tolerance = np.minimum(margin, 0.5 * tolerance)
    # Of all within the tolerance of the best mean the simplest; of equally simple ones the best
    # mean.
    grade = np.where(behind <= tolerance + rounding, grades, np.inf)
    behind = np.where(grade == grade.min(axis=1, keepdims=True), behind, np.inf)
    return (behind - behind.min(axis=1, keepdims=True) <= rounding).argmax(axis=1)
