"""Fixed rules of combination, scores on one scale, and how often a majority is right."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from verulam.base import (
    BOOLEAN,
    NUMBERS,
    TEXT,
    VECTOR,
    DataError,
    checked_arguments,
)
from verulam.ensemble._members.members import (
    OUTPUT_NUMBERS,
    WEIGHTS,
    MemberOutputs,
)

FloatArray = NDArray[np.float64]

#: Rules that need no training; those that weights can go with come first.
RULES = ("sum", "plurality", "median", "min", "max", "product")
_WEIGHTED = RULES[:3]
#: Ways to bring scores to one scale.
SCALES = ("min_max", "z", "median", "tanh")


@checked_arguments(outputs=OUTPUT_NUMBERS, rule=TEXT, weights=WEIGHTS, normalise=BOOLEAN)
def combine(
    outputs: MemberOutputs | ArrayLike,
    rule: str = "sum",
    *,
    weights: ArrayLike | None = None,
    normalise: bool = False,
) -> FloatArray:
    r"""Combine what several learners say into one output for each row.

    Parameters
    ----------
    outputs
        Outputs of all members, of shape (n_members, n_rows, n_classes), or (n_members, n_rows) for
        numbers.
    rule
        "sum" (the mean), "median", "min", "max", "product", or "plurality", which counts a whole
        vote for the class of a member's largest output.
    weights
        Weight of each member, 0 or more, with the rules "sum", "median" and "plurality"; they are
        divided by their sum.
    normalise
        Whether the outputs of each row are divided by their sum; after most rules they do not sum
        to 1.

    Notes
    -----
    .. math:: y_i = \sum_j w_j d_{ji}, \quad w_j \ge 0, \; \sum_j w_j = 1

    and the median, minimum, maximum and product over :math:`j` in place of the sum. The median
    resists outliers, the minimum is pessimistic and the maximum optimistic, and with the product
    each member has a veto. See Alpaydin 17.4 (17.2; table 17.1; in table 17.2 the median of the
    third class is 0.3 and its product 0.024).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import combine
    >>> table = dataset("learner_outputs").inputs.to_numpy()[:, None, :]
    >>> for rule in ("sum", "median", "min", "max", "product"):
    ...     print(rule, combine(table, rule)[0].round(4))
    sum [0.2 0.5 0.3]
    median [0.2 0.5 0.3]
    min [0.  0.4 0.2]
    max [0.4 0.6 0.4]
    product [0.    0.12  0.024]
    """
    values = np.asarray(
        outputs.values if isinstance(outputs, MemberOutputs) else outputs, dtype=np.float64
    )
    if values.ndim not in (2, 3) or not values.shape[0]:
        raise DataError(
            "outputs must have the shape (members, rows) or (members, rows, classes) with one "
            f"member or more; got {values.shape}."
        )
    if rule not in RULES:
        raise DataError(f"rule={rule!r}: take one of {', '.join(RULES)}.")
    shares = _shares(weights, len(values), rule)
    if rule == "plurality":
        if values.ndim == 2:
            raise DataError("rule='plurality' counts votes for classes; numbers have none.")
        values = _whole_votes(values)
    combined = _combined(values, rule, shares)
    if not normalise or values.ndim == 2:
        return combined
    totals = combined.sum(axis=1, keepdims=True)
    even = np.full_like(combined, 1.0 / combined.shape[1])
    return np.divide(combined, totals, out=even, where=totals > 0)


def _shares(weights: ArrayLike | None, n_members: int, rule: str) -> FloatArray | None:
    if weights is None:
        return None
    shares = np.asarray(weights, dtype=np.float64)
    if rule not in _WEIGHTED:
        raise DataError(f"weights go with the rules {', '.join(_WEIGHTED)}, not with {rule!r}.")
    if shares.shape != (n_members,) or not np.isfinite(shares).all():
        raise DataError(
            f"weights must be {n_members} finite numbers, one for each member; got {weights}."
        )
    if rule != "sum" and (shares < 0).any():
        raise DataError(f"weights must be 0 or more with the rule {rule!r}; got {weights}.")
    if not abs(shares.sum()) > 0:
        raise DataError("weights sum to 0; one member or more must count.")
    return shares / shares.sum()


def _whole_votes(values: FloatArray) -> FloatArray:
    votes = np.zeros_like(values)
    np.put_along_axis(votes, values.argmax(axis=2)[:, :, None], 1.0, axis=2)
    # A member that says nothing at all does not vote.
    return votes * (np.abs(values).max(axis=2, keepdims=True) > 0)


def _combined(values: FloatArray, rule: str, shares: FloatArray | None) -> FloatArray:
    if rule in ("sum", "plurality"):
        return values.mean(axis=0) if shares is None else np.tensordot(shares, values, axes=1)
    if rule == "median":
        return np.median(values, axis=0) if shares is None else weighted_median(values, shares)
    if rule == "product":
        return values.prod(axis=0)
    return values.min(axis=0) if rule == "min" else values.max(axis=0)


@checked_arguments(values=NUMBERS, weights=VECTOR)
def weighted_median(values: ArrayLike, weights: ArrayLike) -> FloatArray:
    """Return the smallest value that half of the weight does not exceed, along the first axis.

    Parameters
    ----------
    values
        Numbers, the members along the first axis.
    weights
        Weight of each member, 0 or more.

    Examples
    --------
    >>> from verulam.ensemble import weighted_median
    >>> float(weighted_median([1.0, 2.0, 10.0], [1.0, 1.0, 3.0]))
    10.0
    """
    numbers, shares = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    order = np.argsort(numbers, axis=0, kind="stable")
    running = np.cumsum(shares[order], axis=0)
    # The last of the sums is exactly the total of its order, so that some place always reaches it.
    place = (running >= 0.5 * running[-1]).argmax(axis=0)
    ranked = np.take_along_axis(numbers, order, axis=0)
    return np.take_along_axis(ranked, place[None], axis=0)[0]


def middle(values: FloatArray, counts: FloatArray | None = None) -> FloatArray:
    """Return the median along the first axis, of values that count so often.

    Between two equal halves it is the mean of the values beside the cut.
    """
    if counts is None:
        return np.median(values, axis=0)
    return 0.5 * (weighted_median(values, counts) - weighted_median(-values, counts))


@dataclass(frozen=True, eq=False)
class ScoreScale:
    """A scale that scores are brought to, found on some rows and used on others.

    Attributes
    ----------
    method
        One of "min_max", "z", "median" and "tanh".
    centre, width : ndarray
        What is taken off, and what the rest is divided by.
    """

    method: str
    centre: FloatArray
    width: FloatArray

    def apply(self, scores: ArrayLike) -> FloatArray:
        """Return the scores on the scale."""
        scaled = (np.asarray(scores, dtype=np.float64) - self.centre) / self.width
        if self.method == "min_max":
            return np.clip(scaled, 0.0, 1.0)
        if self.method == "tanh":
            return 0.5 * (np.tanh(0.01 * scaled) + 1.0)
        return scaled


@checked_arguments(scores=NUMBERS, method=TEXT, sample_weight=WEIGHTS)
def score_scale(
    scores: ArrayLike, method: str = "min_max", sample_weight: ArrayLike | None = None
) -> ScoreScale:
    r"""Find the scale of scores that are no probabilities, so that members can be compared.

    Parameters
    ----------
    scores
        Scores along the first axis; each further place has its own scale.
    method
        "min_max" to between 0 and 1; "z" to mean 0 and deviation 1; "median", the same by median
        and median absolute deviation; "tanh", between 0 and 1 whatever the outliers.
    sample_weight
        How often each score along the first axis counts; None for once each.

    Notes
    -----
    The four normalisations of Jain, Nandakumar and Ross (2005), that of Hampel as
    :math:`\frac{1}{2}(\tanh(0.01\,(s - \mu)/\sigma) + 1)`. See Alpaydin 17.4.

    Examples
    --------
    >>> from verulam.ensemble import score_scale
    >>> score_scale([-4.0, 0.0, 4.0]).apply([-4.0, 2.0, 9.0])
    array([0.  , 0.75, 1.  ])
    """
    numbers = np.asarray(scores, dtype=np.float64)
    if method not in SCALES:
        raise DataError(f"method={method!r}: take one of {', '.join(SCALES)}.")
    if not numbers.size or not np.isfinite(numbers).all():
        raise DataError("scores must be one finite number or more.")
    counts = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if method == "min_max":
        centre, width = numbers.min(axis=0), np.ptp(numbers, axis=0)
    elif method == "median":
        centre = middle(numbers, counts)
        width = middle(np.abs(numbers - centre), counts)
    else:
        centre = np.average(numbers, axis=0, weights=counts)
        width = np.sqrt(np.average((numbers - centre) ** 2, axis=0, weights=counts))
    # Scores that are all alike stay alike.
    return ScoreScale(method, centre, np.where(width > 0, width, 1.0))


@checked_arguments(scores=NUMBERS, method=TEXT)
def normalise_scores(scores: ArrayLike, method: str = "min_max") -> FloatArray:
    """Return scores on one scale, found on themselves.

    Parameters
    ----------
    scores
        Scores along the first axis; each further place has its own scale.
    method
        As of `score_scale`.

    Notes
    -----
    See Alpaydin 17.4.

    Examples
    --------
    >>> from verulam.ensemble import normalise_scores
    >>> normalise_scores([1.0, 2.0, 3.0, 100.0], "median")
    array([-1.5, -0.5,  0.5, 97.5])
    """
    return score_scale(scores, method).apply(scores)


@checked_arguments(p=NUMBERS, n_members=NUMBERS)
def majority_probability(p: ArrayLike, n_members: Any) -> Any:
    r"""Return how probable it is that a majority of independent learners is right.

    Parameters
    ----------
    p
        Probability that one learner is right.
    n_members
        Number of learners; with an even number, one half is no majority.

    Notes
    -----
    .. math:: P = \sum_{i = \lfloor L/2 \rfloor + 1}^{L} \binom{L}{i} p^i (1 - p)^{L - i}

    It rises with :math:`L` only where :math:`p > 1/2`. See Alpaydin 17.13, exercise 1 (fig. 17.6).

    Examples
    --------
    >>> from verulam.ensemble import majority_probability
    >>> majority_probability(0.6, [3, 5, 7, 11, 21]).round(6)
    array([0.648   , 0.68256 , 0.710208, 0.753498, 0.825622])
    """
    chances, counts = np.asarray(p, dtype=np.float64), np.asarray(n_members)
    if (counts < 1).any() or (counts != np.floor(counts)).any():
        raise DataError(f"n_members must be whole numbers of 1 or more; got {n_members}.")
    if not ((chances >= 0) & (chances <= 1)).all():
        raise DataError(f"p must lie between 0 and 1; got {chances.tolist()}.")
    right = binom.sf(counts // 2, counts, chances)
    return right if np.ndim(right) else float(right)
