"""Integrals under the upper envelope of weighted normal densities."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]


def envelope_mass(heights: Floats, means: Floats, deviations: Floats) -> Floats:
    """Return the integral of the largest of several weighted normal densities, for each row.

    It is exact: between two neighbouring crossings one density is the largest throughout, and its
    mass there is a difference of two values of the normal distribution function.

    Parameters
    ----------
    heights, means : ndarray of shape (n_rows, n_densities)
        Weight and mean of each density.
    deviations : ndarray of shape (n_densities,)
        Standard deviations.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(heights / deviations)
        pairs = list(combinations(range(len(deviations)), 2))
        roots = [_crossings(logs, means, deviations, one, other) for one, other in pairs]
    cuts = np.sort(np.concatenate(roots, axis=1), axis=1)
    ends = np.full((len(heights), 1), np.inf)
    edges = np.concatenate([-ends, cuts, ends], axis=1)
    # A point inside of each interval: beyond the outermost cuts any point will do.
    finite = np.where(np.isfinite(cuts), cuts, means.mean(axis=1, keepdims=True))
    low = np.minimum(finite, means.min(axis=1, keepdims=True)).min(axis=1, keepdims=True)
    high = np.maximum(finite, means.max(axis=1, keepdims=True)).max(axis=1, keepdims=True)
    inner = np.clip(edges, low - 1, high + 1)
    points = ((inner[:, :-1] + inner[:, 1:]) / 2)[:, :, None]
    scaled = (points - means[:, None, :]) / deviations
    largest = (logs[:, None, :] - scaled**2 / 2).argmax(axis=2)
    centres = np.take_along_axis(means, largest, axis=1)
    spreads = deviations[largest]
    masses = ndtr((edges[:, 1:] - centres) / spreads) - ndtr((edges[:, :-1] - centres) / spreads)
    return (np.take_along_axis(heights, largest, axis=1) * masses).sum(axis=1)


def quadrature_nodes(centres: Floats, deviations: Floats) -> tuple[Floats, Floats]:
    """Return nodes and weights of composite Gauss-Legendre over all that has any mass."""
    low = (centres - 9 * deviations).min()
    high = (centres + 9 * deviations).max()
    n_panels = int(np.clip(8 * (high - low) / deviations.min(), 200, 4000))
    nodes, weights = np.polynomial.legendre.leggauss(5)
    edges = np.linspace(low, high, n_panels + 1)
    half = (edges[1] - edges[0]) / 2
    middles = (edges[:-1] + edges[1:]) / 2
    return (middles[:, None] + half * nodes).ravel(), np.tile(half * weights, n_panels)


def _crossings(logs: Floats, means: Floats, deviations: Floats, one: int, other: int) -> Floats:
    """Return where two weighted densities are equal: up to two points per row, else infinity."""
    precision, other_precision = deviations[[one, other]] ** -2.0
    mean, other_mean = means[:, one], means[:, other]
    square = (other_precision - precision) / 2
    linear = precision * mean - other_precision * other_mean
    constant = logs[:, one] - logs[:, other]
    constant = constant - (precision * mean**2 - other_precision * other_mean**2) / 2
    if abs(square) < 1e-12 * precision:
        roots = [-constant / linear, np.full(len(mean), np.inf)]
    else:
        # The form of the quadratic formula that does not subtract nearly equal numbers.
        root = np.sqrt(linear**2 - 4 * square * constant)
        half = -(linear + np.copysign(root, linear)) / 2
        roots = [half / square, constant / half]
    found = np.stack(roots, axis=1)
    return np.where(np.isfinite(found), found, np.inf)
