"""Subspace acceleration of the dual solver: a joint step along its last moves."""

import numpy as np

from verulam.kernel._solvers.dual_problems import BoxProblem
from verulam.kernel._solvers.row_cache import RowCache
from verulam.kernel._tuning import ACCELERATED_MOVES, SUM_BEARERS

#: Relative weight that keeps the small system of the moves regular.
RIDGE = 1e-6


class SubspaceAcceleration:
    r"""Minimise the program over the span of the last moves after each of them.

    Working sets are solved one after another, so that a direction in which all of them must move
    takes many rounds. The last moves span it, as in conjugate gradients. Their products with the
    Gram matrix are known, so that the best combination costs no kernel row; only coefficients that
    it would carry over a bound are put back, one row each.
    """

    def __init__(self, box: BoxProblem, cache: RowCache) -> None:
        self._box, self._cache = box, cache
        self._moves: list[np.ndarray] = []
        self._K_moves: list[np.ndarray] = []

    def joint_step(
        self, move: np.ndarray, K_move: np.ndarray, beta: np.ndarray, K_beta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Return coefficients and products after a joint step, or as they were if none helps.

        Parameters
        ----------
        move, K_move
            Last change of the coefficients, and its product with the Gram matrix.
        beta, K_beta
            Coefficients after it, and their product.
        """
        self._moves = [*self._moves[1 - ACCELERATED_MOVES :], move]
        self._K_moves = [*self._K_moves[1 - ACCELERATED_MOVES :], K_move]
        if len(self._moves) < 2:
            return beta, K_beta
        accelerated = self._minimise(beta, K_beta)
        if accelerated is None:
            return beta, K_beta
        # The joint step becomes part of the last move, so that the next one can go on with it.
        self._moves[-1] = move + accelerated[0] - beta
        self._K_moves[-1] = K_move + accelerated[1] - K_beta
        return accelerated

    def _minimise(
        self, beta: np.ndarray, K_beta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        box, cache = self._box, self._cache
        moves, K_moves = np.array(self._moves), np.array(self._K_moves)
        gradient = -box.linear - K_beta[box.row_of]
        # The program along the moves has the curvature M K M^T, a row and a column for each.
        curvature = moves @ K_moves[:, box.row_of].T
        if (np.diagonal(curvature) < 0.0).any():
            return None  # the kernel is indefinite: there is no bottom to step to
        scales = np.sqrt(np.maximum(np.diagonal(curvature), np.finfo(float).tiny))
        curvature = 0.5 * (curvature + curvature.T) / np.outer(scales, scales)
        curvature[np.diag_indices_from(curvature)] += RIDGE
        steps = np.linalg.solve(curvature, moves @ gradient / scales) / scales
        target = beta + steps @ moves
        clipped = np.clip(target, box.lower, box.upper)
        if box.groups is not None and not restore_sums(clipped, beta, box):
            return None
        repair = clipped - target
        repaired = np.flatnonzero(repair)
        if len(repaired) > cache.capacity:
            return None
        K_clipped = K_beta + steps @ K_moves
        cache.add_products(box.row_of[repaired], repair[repaired], K_clipped)
        change = clipped - beta
        gain = change @ gradient - 0.5 * change @ (K_clipped - K_beta)[box.row_of]
        return (clipped, K_clipped) if gain > 0 else None


def restore_sums(clipped: np.ndarray, beta: np.ndarray, box: BoxProblem) -> bool:
    """Give back what clipping took from the sum of each group; say whether there was room."""
    for group in range(box.n_sums):
        members = box.members(group)
        lack = float(beta[members].sum() - clipped[members].sum())
        room = box.upper - clipped if lack > 0 else clipped - box.lower
        free = np.flatnonzero(members & (clipped > box.lower) & (clipped < box.upper))
        if not len(free):
            if lack:
                return False
            continue
        bearers = free[np.argsort(-room[free], kind="stable")[:SUM_BEARERS]]
        share = lack / len(bearers)
        if (np.abs(share) >= room[bearers]).any():
            return False
        clipped[bearers] += share
    return True
