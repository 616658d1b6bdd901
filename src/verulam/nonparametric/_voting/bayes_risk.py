"""The risk of the nearest-neighbour rule beside that of Bayes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from verulam.base import Seed, generator
from verulam.nonparametric._neighbours.inputs import check_at_least
from verulam.nonparametric._voting.k_neighbours import KNeighborsClassifier


@dataclass(frozen=True)
class NeighbourRisk:
    r"""Simulated errors of k-nearest-neighbour rules on two Gaussians.

    Attributes
    ----------
    bayes : float
        Least possible error :math:`e_B`.
    limit : float
        Error of one neighbour with infinitely many rows, :math:`E[2 \eta (1 - \eta)]`.
    bound : float
        The upper bound :math:`2 e_B (1 - e_B)` on that limit.
    counts : tuple of int
        Numbers of neighbours.
    sizes : tuple of int
        Numbers of training rows.
    errors : ndarray of shape (n_sizes, n_counts)
        Mean error of each number of neighbours at each size; NaN where there are fewer rows.
    """

    bayes: float
    limit: float
    bound: float
    counts: tuple[int, ...]
    sizes: tuple[int, ...]
    errors: np.ndarray


def neighbour_risk(
    distance: float = 2.0,
    counts: Sequence[int] = (1, 5, 25),
    sizes: Sequence[int] = (100, 1000, 10_000),
    *,
    n_repeats: int = 5,
    n_test: int = 20_000,
    random_state: Seed = 0,
) -> NeighbourRisk:
    r"""Return the errors of neighbours that tell two equally likely Gaussians apart.

    Parameters
    ----------
    distance
        Distance of the two means, in standard deviations.
    counts
        Numbers of neighbours.
    sizes
        Numbers of training rows.
    n_repeats
        Training sets of each size.
    n_test
        Test rows of each repeat.
    random_state
        Seed of the samples.

    Notes
    -----
    With rows without end one neighbour errs at most twice as often as Bayes' rule, and many, out
    of ever more, no more often. See Alpaydin 8.10, Bartkowiak 4.4 [cover1967]_.

    References
    ----------
    .. [cover1967] T. M. Cover, P. E. Hart, "Nearest neighbor pattern classification", IEEE
       Transactions on Information Theory 13, 1967.

    Examples
    --------
    >>> risk = neighbour_risk(sizes=(10_000,), n_repeats=1)
    >>> print(f"Bayes {risk.bayes:.3f}, one neighbour {risk.limit:.3f} of {risk.bound:.3f} at most")
    Bayes 0.159, one neighbour 0.225 of 0.267 at most
    >>> risk.errors.round(2)
    array([[0.23, 0.18, 0.17]])
    """
    check_at_least(distance, 0.0, "distance")
    check_at_least(n_repeats, 1, "n_repeats")
    check_at_least(n_test, 1, "n_test")
    check_at_least(min(counts), 1, "counts")
    check_at_least(min(sizes), 1, "sizes")
    chance = generator(random_state)
    errors = np.full((len(sizes), len(counts)), np.nan)
    for place, size in enumerate(sizes):
        repeats = [_errors(distance, counts, size, n_test, chance) for _ in range(n_repeats)]
        errors[place] = np.mean(repeats, axis=0)
    bayes = float(norm.cdf(-0.5 * distance))
    limit = nearest_neighbour_limit(distance)
    return NeighbourRisk(
        bayes, limit, 2.0 * bayes * (1.0 - bayes), tuple(counts), tuple(sizes), errors
    )


def _errors(
    distance: float, counts: Sequence[int], size: int, n_test: int, chance: np.random.Generator
) -> list[float]:
    def draw(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        labels = chance.integers(2, size=n_rows)
        return chance.normal(size=(n_rows, 1)) + distance * labels[:, None], labels

    train, test = draw(size), draw(n_test)
    return [
        1.0 - KNeighborsClassifier(n_neighbors=count).fit(*train).score(*test)
        if count <= size
        else np.nan
        for count in counts
    ]


def nearest_neighbour_limit(distance: float) -> float:
    """Return the error of one neighbour among infinitely many rows of two Gaussians."""
    grid = np.linspace(-12.0, 12.0 + distance, 20_001)
    first, second = norm.pdf(grid), norm.pdf(grid - distance)
    # 2 eta (1 - eta) times the density (f + g) / 2, with eta = f / (f + g), is f g / (f + g).
    return float(np.trapezoid(first * second / np.maximum(first + second, 1e-300), grid))
