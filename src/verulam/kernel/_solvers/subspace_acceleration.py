"""Leaps along the last moves of the dual solver, which save most of its blocks on hard problems."""

from dataclasses import dataclass

import numpy as np

from verulam.kernel._solvers.row_cache import RowCache

#: Moves that a leap combines.
MEMORY = 5
#: Relative weight that keeps their small system regular.
RIDGE = 1e-6
#: Coefficients that share what clipping took from a sum.
BEARERS = 16


@dataclass(frozen=True, eq=False)
class Bounds:
    """Where the coefficients may go.

    Attributes
    ----------
    linear, lower, upper
        Linear part and bounds of the program, see `DualProblem`.
    owners
        Input of each coefficient.
    groups
        Group of each coefficient, whose sum is kept; None where no sum is.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    owners: np.ndarray
    groups: np.ndarray | None


class Leaps:
    r"""Minimise the program over the span of the last moves after each of them.

    Blocks are solved one after another, so that a direction in which all of them must move takes
    many rounds. The last moves span it, as in conjugate gradients. Their products with the Gram
    matrix are known, so that the best combination costs no kernel row; only coefficients that it
    would carry over a bound are put back, one row each.
    """

    def __init__(self, bounds: Bounds, cache: RowCache) -> None:
        self._bounds, self._cache = bounds, cache
        self._moves: list[np.ndarray] = []
        self._products: list[np.ndarray] = []

    def after(
        self, move: np.ndarray, product: np.ndarray, values: np.ndarray, products: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Return coefficients and products after a leap, or as they were where none helps.

        Parameters
        ----------
        move, product
            Last change of the coefficients, and its product with the Gram matrix.
        values, products
            Coefficients after it, and their products.
        """
        self._moves = [*self._moves[1 - MEMORY :], move]
        self._products = [*self._products[1 - MEMORY :], product]
        if len(self._moves) < 2:
            return values, products
        found = self._leap(values, products)
        if found is None:
            return values, products
        self._moves[-1] = move + found[0] - values
        self._products[-1] = product + found[1] - products
        return found

    def _leap(
        self, values: np.ndarray, products: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        bounds, cache = self._bounds, self._cache
        moves, images = np.array(self._moves), np.array(self._products)
        slopes = -bounds.linear - products[bounds.owners]
        system = moves @ images[:, bounds.owners].T
        if (np.diagonal(system) < 0.0).any():
            return None  # the kernel is indefinite: there is no bottom to leap to
        scales = np.sqrt(np.maximum(np.diagonal(system), np.finfo(float).tiny))
        system = 0.5 * (system + system.T) / np.outer(scales, scales)
        system[np.diag_indices_from(system)] += RIDGE
        shares = np.linalg.solve(system, moves @ slopes / scales) / scales
        target = values + shares @ moves
        clipped = np.clip(target, bounds.lower, bounds.upper)
        if bounds.groups is not None and not restore_sums(clipped, values, bounds):
            return None
        repair = clipped - target
        repaired = np.flatnonzero(repair)
        if len(repaired) > cache.most_rows:
            return None
        leapt = products + shares @ images
        cache.add_products(bounds.owners[repaired], repair[repaired], leapt)
        change = clipped - values
        gain = change @ slopes - 0.5 * change @ (leapt - products)[bounds.owners]
        return (clipped, leapt) if gain > 0 else None


def restore_sums(clipped: np.ndarray, values: np.ndarray, bounds: Bounds) -> bool:
    """Give back what clipping took from the sum of each group; say whether there was room."""
    groups = bounds.groups
    if groups is None:
        return True
    for group in range(int(groups.max()) + 1):
        own = groups == group
        lack = float(values[own].sum() - clipped[own].sum())
        room = bounds.upper - clipped if lack > 0 else clipped - bounds.lower
        free = np.flatnonzero(own & (clipped > bounds.lower) & (clipped < bounds.upper))
        if not len(free):
            if lack:
                return False
            continue
        bearers = free[np.argsort(-room[free], kind="stable")[:BEARERS]]
        share = lack / len(bearers)
        if (np.abs(share) >= room[bearers]).any():
            return False
        clipped[bearers] += share
    return True
