"""Values over beliefs as the largest of linear functions: sums, backups and pruning."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from verulam.base import DataError
from verulam.reinforcement._checks import check_array, check_distribution, check_type
from verulam.reinforcement._partial.process import PartiallyObservableProcess

#: Vectors that are nowhere better by more than this are left out.
MARGIN = 1e-10


@dataclass(frozen=True, eq=False)
class AlphaVectors:
    r"""A value function over beliefs, :math:`V(b) = \max_i \alpha_i^T b`.

    Attributes
    ----------
    vectors : ndarray of shape (n_vectors, n_states)
        One linear function in each row.
    actions : ndarray of shape (n_vectors,)
        First action of the plan behind each of them; -1 where there is none.

    Examples
    --------
    >>> from verulam.reinforcement import AlphaVectors
    >>> lines = AlphaVectors.of([[-100.0, 80.0], [90.0, -100.0], [-50.0, -60.0]], [0, 1, 2])
    >>> lines.value([0.5, 0.5]), lines.action([0.5, 0.5]), len(lines.pruned())
    (-5.0, 1, 2)
    """

    vectors: NDArray[np.float64]
    actions: NDArray[np.int64]

    @classmethod
    def of(cls, vectors: ArrayLike, actions: ArrayLike | None = None) -> "AlphaVectors":
        """Return the largest of some linear functions, with the actions that belong to them."""
        rows = check_array("vectors", vectors, (None, None))
        if not len(rows):
            raise DataError("vectors is empty; expected at least one.")
        codes = np.full(len(rows), -1) if actions is None else np.asarray(actions)
        if codes.shape != (len(rows),):
            raise DataError(f"actions has shape {codes.shape}; expected one for each vector.")
        return cls(rows, codes.astype(np.int64))

    def __len__(self) -> int:
        return len(self.vectors)

    def value(self, belief: ArrayLike) -> float:
        """Return the value of a belief."""
        shares = check_distribution("belief", belief, self.vectors.shape[1])
        return float((self.vectors @ shares).max())

    def values(self, beliefs: ArrayLike) -> NDArray[np.float64]:
        """Return the values of beliefs, one in each row."""
        rows = check_array("beliefs", beliefs, (None, self.vectors.shape[1]))
        return (rows @ self.vectors.T).max(axis=1)

    def action(self, belief: ArrayLike) -> int:
        """Return the action that is best for a belief."""
        shares = check_distribution("belief", belief, self.vectors.shape[1])
        return int(self.actions[np.argmax(self.vectors @ shares)])

    def pruned(self) -> "AlphaVectors":
        """Return those that are best for some belief, in order of their first state's value."""
        rows = undominated(self.vectors)
        order = rows[np.lexsort(self.vectors[rows].T[::-1])]
        return AlphaVectors(self.vectors[order], self.actions[order])

    def breaks(self) -> NDArray[np.float64]:
        """Return where one line gives way to the next, by the first of two states' share."""
        if self.vectors.shape[1] != 2:
            raise DataError(
                f"breaks are of two states; these vectors have {self.vectors.shape[1]}."
            )
        return _breaks(self.vectors[undominated(self.vectors)])


def _breaks(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where lines of an upper envelope meet."""
    # Sorted by slope in p: the envelope meets lines in that order.
    lines = lines[np.argsort(lines[:, 0] - lines[:, 1])]
    gaps = lines[1:] - lines[:-1]
    return -gaps[:, 1] / (gaps[:, 0] - gaps[:, 1])


def undominated(vectors: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the numbers of the vectors that are the best for some belief.

    Parameters
    ----------
    vectors
        One in each row.
    """
    scale = max(1.0, float(np.abs(vectors).max()))
    rows = _first_of_equals(np.round(vectors / scale, 12))
    if vectors.shape[1] == 1:
        return rows[[int(np.argmax(vectors[rows, 0]))]]
    # Of two states beliefs are a line, and the best vectors an envelope above it; of more, a linear
    # program asks for each vector where it is the best.
    if vectors.shape[1] == 2:
        return rows[_envelope(vectors[rows], MARGIN * scale)]
    rows = rows[_not_below_one(vectors[rows])]
    return rows[_lark(vectors[rows], MARGIN * scale)]


def _first_of_equals(vectors: NDArray[np.float64]) -> NDArray[np.int64]:
    _, first = np.unique(vectors, axis=0, return_index=True)
    return np.sort(first)


def _not_below_one(vectors: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return those that no single other one is above of in all states."""
    below: Any = (vectors[:, None] <= vectors[None]).all(axis=2)
    np.fill_diagonal(below, False)
    return np.flatnonzero(~below.any(axis=1))


def _envelope(lines: NDArray[np.float64], margin: float) -> NDArray[np.int64]:
    """Return the lines of the upper envelope over p from 0 to 1, in order of their slopes."""
    slopes = lines[:, 0] - lines[:, 1]
    # Of parallel lines the highest counts; it comes last.
    order = np.lexsort((lines[:, 1], slopes))
    hull: list[int] = []
    for row in order:
        while hull and slopes[row] - slopes[hull[-1]] <= margin:
            if lines[row, 1] < lines[hull[-1], 1]:
                break
            hull.pop()
        else:
            while (
                len(hull) > 1
                and _crossing(lines, hull[-1], row) <= _crossing(lines, hull[-2], hull[-1]) + 1e-12
            ):
                hull.pop()
            hull.append(int(row))
    # Lines whose stretch lies outside of 0 to 1 are best for no belief.
    while len(hull) > 1 and _crossing(lines, hull[0], hull[1]) <= 0.0:
        hull.pop(0)
    while len(hull) > 1 and _crossing(lines, hull[-2], hull[-1]) >= 1.0:
        hull.pop()
    return np.asarray(hull, dtype=np.int64)


def _crossing(lines: NDArray[np.float64], first: int, second: int) -> float:
    gap = lines[second] - lines[first]
    return float(-gap[1] / (gap[0] - gap[1]))


def _lark(vectors: NDArray[np.float64], margin: float) -> NDArray[np.int64]:
    """Return the best vectors by Lark's method: one program for each, corners first."""
    n_states = vectors.shape[1]
    accepted = sorted({int(np.argmax(vectors[:, state])) for state in range(n_states)})
    waiting = [row for row in range(len(vectors)) if row not in accepted]
    while waiting:
        row = waiting[-1]
        belief = _witness(vectors[row], vectors[accepted], margin)
        if belief is None:
            waiting.pop()
            continue
        best = max(waiting, key=lambda other: float(vectors[other] @ belief))
        accepted.append(best)
        waiting.remove(best)
    return np.asarray(sorted(accepted), dtype=np.int64)


def _witness(
    vector: NDArray[np.float64], others: NDArray[np.float64], margin: float
) -> NDArray[np.float64] | None:
    """Return a belief for which a vector is better than all others, None if there is none."""
    n_states = len(vector)
    program: Any = linprog(
        np.append(np.zeros(n_states), -1.0),
        A_ub=np.column_stack([others - vector, np.ones(len(others))]),
        b_ub=np.zeros(len(others)),
        A_eq=np.append(np.ones(n_states), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * n_states + [(None, None)],
    )
    if program.x is None or program.x[-1] <= margin:
        return None
    return program.x[:-1]


def _crosswise(
    first: NDArray[np.float64], second: NDArray[np.float64], max_vectors: int
) -> NDArray[np.float64]:
    """Return the sums of vectors of two pruned sets that are the best for some belief."""
    if first.shape[1] == 2 and len(first) > 1 and len(second) > 1:
        # The sum of two convex functions of p breaks only where one of them does.
        edges = np.sort(np.concatenate([[0.0], _breaks(first), _breaks(second), [1.0]]))
        middles = (edges[1:] + edges[:-1])[np.diff(edges) > 1e-12] / 2.0
        beliefs = np.column_stack([middles, 1.0 - middles])
        rows = first[(beliefs @ first.T).argmax(axis=1)]
        return _without_doubles(rows + second[(beliefs @ second.T).argmax(axis=1)])
    count = len(first) * len(second)
    if count > max_vectors:
        raise DataError(
            f"the exact backup would have {count:,} vectors, more than {max_vectors:,}; take a "
            "shorter horizon, a larger max_vectors, or point_based_values."
        )
    sums = (first[:, None] + second[None]).reshape(count, -1)
    return sums[undominated(sums)]


def _without_doubles(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    fresh = np.append(True, (np.diff(lines, axis=0) != 0).any(axis=1))
    return lines[fresh]


def after_action(
    process: PartiallyObservableProcess,
    vectors: AlphaVectors,
    action: Any,
    observation: Any = None,
    *,
    max_vectors: int = 100_000,
) -> AlphaVectors:
    r"""Return what a belief is worth after an action and its observation, before its reward.

    Parameters
    ----------
    process
        The process.
    vectors
        Values of the beliefs that follow.
    action
        Name or number.
    observation
        Name or number of what is seen: the part of the sum that belongs to it, each line for one
        of `vectors`, with its action. None for the sum over all that may be seen.
    max_vectors
        Most vectors of a sum.

    Notes
    -----
    :math:`V'(b) = \sum_o P(o \mid b, a) \max_i \alpha_i^T b_o`, which is linear for each choice of
    i by o: the vectors are projected by every observation, added crosswise and pruned after each
    addition. The reward of the action is not in it: for the tiger, this is what sensing is worth
    before it is paid for. See Alpaydin 18.7.2, equation 18.25.

    Examples
    --------
    >>> from verulam.reinforcement import AlphaVectors, after_action, tiger
    >>> doors = AlphaVectors.of([[-100.0, 80.0], [90.0, -100.0]])
    >>> after_action(tiger(), doors, "sense").vectors.round(6).tolist()
    [[-100.0, 80.0], [33.0, 26.0], [90.0, -100.0]]
    """
    check_type("process", process, PartiallyObservableProcess)
    check_type("vectors", vectors, AlphaVectors)
    joint = process.joint[process.action_code(action)]
    if observation is not None:
        table = joint[process.observation_code(observation)]
        return AlphaVectors(vectors.vectors @ table.T, vectors.actions)
    total: NDArray[np.float64] | None = None
    for table in joint:
        if not table.any():
            continue
        part = vectors.vectors @ table.T
        part = part[undominated(part)]
        if total is None:
            total = part
            continue
        total = _crosswise(total, part, max_vectors)
    assert total is not None
    code = process.action_code(action)
    return AlphaVectors(total, np.full(len(total), code, dtype=np.int64)).pruned()
