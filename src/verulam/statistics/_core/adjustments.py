"""Many tests, one conclusion: p-values adjusted for their number."""

import numpy as np
from numpy.typing import ArrayLike

from verulam.statistics._core.checks import Vector, checked_option, checked_p_values

ADJUSTMENTS = ("none", "bonferroni", "holm", "hochberg", "benjamini-hochberg")


def adjust_p_values(p_values: ArrayLike, method: str = "holm") -> Vector:
    """Return p-values that can be compared with one overall level.

    Parameters
    ----------
    p_values
        p-values of T tests.
    method
        ``"bonferroni"`` (times T), ``"holm"`` (never less powerful), ``"hochberg"`` (needs
        independence or positive dependence), ``"benjamini-hochberg"`` (bounds the share of false
        rejections among all rejections), or ``"none"``.

    Notes
    -----
    With T tests at level alpha the chance of a false rejection is at most T alpha: six 95 %
    intervals hold together with at least 70 % (Alpaydin 19.12). For all pairs of several learners
    `adjust_pairs` rejects more at the same level.

    Examples
    --------
    >>> from verulam.statistics import adjust_p_values
    >>> adjust_p_values([0.01, 0.04, 0.03], "bonferroni")
    array([0.03, 0.12, 0.09])
    >>> adjust_p_values([0.01, 0.04, 0.03], "holm")
    array([0.03, 0.06, 0.06])
    """
    checked_option(method, "method", ADJUSTMENTS)
    values = checked_p_values(p_values)
    count = len(values)
    if method == "none":
        return values.copy()
    if method == "bonferroni":
        return np.minimum(1.0, values * count)
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    remaining = np.arange(count, 0, -1)
    if method == "holm":
        stepped = np.maximum.accumulate(ascending * remaining)
    else:
        factor = remaining if method == "hochberg" else count / np.arange(1, count + 1)
        stepped = np.minimum.accumulate((ascending * factor)[::-1])[::-1]
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted
