"""States have no names: put those of one fit in the order of another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from verulam.base import DataError


@dataclass(frozen=True)
class Alignment:
    """Which state of one path stands for which state of another.

    Attributes
    ----------
    order : ndarray of shape (n_states,)
        ``order[k]`` is the state of the second that agrees best with state k of the first.
    agreement
        Share of the steps on which both agree after renaming.
    """

    order: np.ndarray
    agreement: float

    def rename(self, states: Any) -> np.ndarray:
        """Return the second's states under the first's names."""
        places = np.empty(len(self.order), dtype=np.int64)
        places[self.order] = np.arange(len(self.order))
        return places[np.asarray(states)]


def align_states(first: Any, second: Any) -> Alignment:
    """Match the states of two paths over the same steps, so that they agree most often.

    Parameters
    ----------
    first, second
        States as whole numbers, one per step; several sequences may be concatenated.

    Examples
    --------
    >>> from verulam.sequence import align_states
    >>> alignment = align_states([0, 0, 1, 2], [2, 2, 0, 1])
    >>> alignment.order
    array([2, 0, 1])
    >>> alignment.agreement
    1.0
    """
    one, two = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    if one.shape != two.shape or one.ndim != 1 or not len(one):
        raise DataError("first and second need one state per step, over the same steps.")
    n_states = int(max(one.max(), two.max())) + 1
    together = np.zeros((n_states, n_states))
    np.add.at(together, (one, two), 1.0)
    rows, columns = linear_sum_assignment(-together)
    return Alignment(columns, float(together[rows, columns].sum() / len(one)))
