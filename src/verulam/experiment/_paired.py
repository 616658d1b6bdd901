"""Scores of learners on the same splits, tested against those of the best."""

from collections.abc import Mapping

import numpy as np

from verulam.statistics import adjust_p_values, corrected_t_test


def equality_p_values(
    best: np.ndarray, others: Mapping[str, np.ndarray], *, folds: int
) -> dict[str, float]:
    """Return the p-value of equal means for each learner, adjusted for their number by Holm.

    Parameters
    ----------
    best
        Scores of the best learner, split by split.
    others
        Scores of each other learner on the same splits.
    folds
        Folds per repeat, which tell how much the training sets overlap.

    Examples
    --------
    >>> best = np.array([0.10, 0.12, 0.08, 0.10])
    >>> others = {"close": best[::-1], "far": best + [0.5, 0.6, 0.5, 0.4]}
    >>> found = equality_p_values(best, others, folds=4)
    >>> {name: round(p_value, 4) for name, p_value in found.items()}
    {'close': 1.0, 'far': 0.0081}
    """
    plain = [_p_value(best, scores, folds) for scores in others.values()]
    if not plain:
        return {}
    return dict(zip(others, adjust_p_values(plain, "holm").tolist(), strict=True))


def _p_value(best: np.ndarray, scores: np.ndarray, folds: int) -> float:
    differences = scores - best
    # Without variance there is no statistic: equal everywhere, or different everywhere alike.
    if np.ptp(differences) <= 1e-12 * np.abs(differences).max(initial=1e-12):
        return 1.0 if np.allclose(differences, 0.0, atol=1e-12) else 0.0
    return corrected_t_test(scores, best, test_share=1 / folds).p_value
