"""Rule evaluation measures: Foil gain of a condition, and the rule value metric."""

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError


def foil_gain(
    positives: ArrayLike, negatives: ArrayLike, new_positives: ArrayLike, new_negatives: ArrayLike
) -> np.ndarray | float:
    r"""Return the bits that a condition saves in pointing out the positives that it keeps.

    Parameters
    ----------
    positives, negatives
        Weight of the instances that the rule covers, by class.
    new_positives, new_negatives
        The same once the condition is added.

    Notes
    -----
    .. math:: s \left( \log_2 \frac{N'_+}{N'} - \log_2 \frac{N_+}{N} \right)

    where :math:`s = N'_+`, since a condition can only take positives away. A condition that keeps
    none gains 0. See Alpaydin 9.5 (9.17).

    Examples
    --------
    From 5 of 10 to 4 of 4:

    >>> from verulam.rule import foil_gain
    >>> foil_gain(5, 5, 4, 0)
    4.0
    """
    p, n, new_p, new_n = np.broadcast_arrays(
        *(
            np.asarray(counts, dtype=np.float64)
            for counts in (positives, negatives, new_positives, new_negatives)
        )
    )
    if min(p.min(initial=0), n.min(initial=0), new_p.min(initial=0), new_n.min(initial=0)) < 0:
        raise DataError("foil_gain takes counts or weights of at least 0.")
    gain = np.zeros(p.shape)
    some = new_p > 0
    new_share, share = new_p[some] / (new_p + new_n)[some], p[some] / (p + n)[some]
    gain[some] = new_p[some] * (np.log2(new_share) - np.log2(share))
    return float(gain) if gain.ndim == 0 else gain


def rule_value(true_positives: ArrayLike, false_positives: ArrayLike) -> np.ndarray | float:
    r"""Return the rule value metric :math:`(p - n) / (p + n)`; -1 for a rule that covers nothing.

    Parameters
    ----------
    true_positives
        Weight :math:`p` of the rows covered that belong to the rule's class.
    false_positives
        Weight :math:`n` of the rows covered that do not.

    Notes
    -----
    See Alpaydin 9.5 (9.18).

    Examples
    --------
    >>> from verulam.rule import rule_value
    >>> rule_value(8, 2)
    0.6
    """
    p, n = np.broadcast_arrays(
        np.asarray(true_positives, dtype=np.float64), np.asarray(false_positives, dtype=np.float64)
    )
    covered = p + n
    value = np.full(p.shape, -1.0)
    np.divide(p - n, covered, out=value, where=covered > 0)
    return float(value) if value.ndim == 0 else value
