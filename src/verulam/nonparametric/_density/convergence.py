"""Regions that shrink as data grow: the conditions under which estimates converge."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed, generator
from verulam.nonparametric._density.kernel_density import KernelDensity
from verulam.nonparametric._density.nearest_neighbour import NearestNeighbourDensity
from verulam.nonparametric._neighbours.inputs import check_at_least, checked_rows


def region_density(X: ArrayLike, inside: Callable[[np.ndarray], ArrayLike], volume: float) -> float:
    r"""Return the mean density :math:`k / (n V)` over a region.

    Parameters
    ----------
    X
        One row per point.
    inside
        Tells for rows whether they lie in the region.
    volume
        Volume :math:`V` of the region.

    Notes
    -----
    See Bartkowiak 4.1 (4.1)-(4.4).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.1], [0.4], [0.6], [2.0]])
    >>> region_density(X, lambda rows: rows[:, 0] < 0.5, volume=0.5)
    1.0
    """
    if not volume > 0:
        raise DataError(f"volume must be above 0, not {volume}.")
    points = checked_rows(X)
    return float(np.mean(np.asarray(inside(points), dtype=bool))) / volume


def shrinking_width(n_rows: int, first: float = 1.0, n_columns: int = 1) -> float:
    r"""Return the side :math:`h_n` of regions that shrink while the rows in them still grow.

    Parameters
    ----------
    n_rows
        Rows :math:`n`.
    first
        The side :math:`h_1` for one row.
    n_columns
        Dimensions :math:`d`.

    Notes
    -----
    .. math:: V_n = h_n^d = \frac{h_1^d}{\sqrt n}

    In one column this is :math:`h_n = h_1 / \sqrt n`. See Bartkowiak 4.2.

    Examples
    --------
    >>> shrinking_width(10_000), round(shrinking_width(10_000, n_columns=2), 3)
    (0.01, 0.1)
    """
    check_at_least(n_rows, 1, "n_rows")
    check_at_least(n_columns, 1, "n_columns")
    return first / float(n_rows) ** (0.5 / n_columns)


def growing_count(n_rows: int) -> int:
    r"""Return :math:`k_n = \sqrt n`, which grows while :math:`k_n / n` still shrinks.

    Parameters
    ----------
    n_rows
        Rows :math:`n`.
    """
    check_at_least(n_rows, 1, "n_rows")
    return round(float(np.sqrt(n_rows)))


@dataclass(frozen=True)
class Convergence:
    r"""Errors of densities whose regions shrink with the number of rows.

    Attributes
    ----------
    n_rows : tuple of int
        Sizes of the samples.
    window_errors : ndarray
        Mean absolute error of windows of width :math:`h_1 / \sqrt n`.
    neighbour_errors : ndarray
        Mean absolute error with :math:`\sqrt n` neighbours.
    """

    n_rows: tuple[int, ...]
    window_errors: np.ndarray
    neighbour_errors: np.ndarray


def convergence(
    n_rows: tuple[int, ...] = (16, 256, 4096, 65536),
    first: float = 2.0,
    random_state: Seed = 0,
) -> Convergence:
    """Return how far both estimates are from a standard normal density, as rows are added.

    Parameters
    ----------
    n_rows
        Sizes of the samples.
    first
        Width for one row.
    random_state
        Seed of the samples.

    Examples
    --------
    >>> convergence((16, 4096)).window_errors.round(2)
    array([0.03, 0.01])
    """
    chance = generator(random_state)
    grid = np.linspace(-3.0, 3.0, 121)[:, None]
    truth = np.exp(-0.5 * grid[:, 0] ** 2) / np.sqrt(2.0 * np.pi)
    errors = np.empty((2, len(n_rows)))
    for place, count in enumerate(n_rows):
        sample = chance.normal(size=(count, 1))
        learners = (
            KernelDensity(bandwidth=shrinking_width(count, first)).fit(sample),
            NearestNeighbourDensity(n_neighbors=growing_count(count)).fit(sample),
        )
        for kind, learner in enumerate(learners):
            errors[kind, place] = np.abs(np.exp(learner.score_samples(grid)) - truth).mean()
    return Convergence(tuple(n_rows), errors[0], errors[1])
