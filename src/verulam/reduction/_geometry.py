"""Geometry of many dimensions: where volume lies, and how distances and angles concentrate."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy.special import gammaln
from scipy.stats import chi2

from verulam.base import (
    FUNCTION,
    NONE,
    NUMBER,
    SEED,
    VECTOR,
    WHOLE,
    DataError,
    Seed,
    checked_arguments,
    generator,
)

Sampler = Callable[[int, int, np.random.Generator], np.ndarray]


@checked_arguments(n_dimensions=WHOLE, radius=NUMBER)
def ball_volume(n_dimensions: int, radius: float = 1.0) -> float:
    r"""Return the volume of a ball.

    Parameters
    ----------
    n_dimensions
        Number :math:`d` of dimensions.
    radius
        Its radius :math:`r`.

    Notes
    -----
    .. math:: V_d(r) = \frac{\pi^{d/2}}{\Gamma(d/2 + 1)}\, r^d

    It grows up to five dimensions and then falls towards zero. See Bartkowiak 8.2.

    Examples
    --------
    >>> from verulam.reduction import ball_volume
    >>> [round(ball_volume(d), 3) for d in (1, 2, 3, 5, 20)]
    [2.0, 3.142, 4.189, 5.264, 0.026]
    """
    _check_dimensions(n_dimensions)
    if not radius >= 0.0:
        raise DataError(f"radius={radius}: it must be at least 0.")
    if radius == 0.0:
        return 0.0
    half = 0.5 * n_dimensions
    # In logarithms: gamma functions overflow at 171, the volume itself hardly ever.
    return float(np.exp(half * np.log(np.pi) - gammaln(half + 1.0) + n_dimensions * np.log(radius)))


@checked_arguments(n_dimensions=WHOLE)
def cube_share(n_dimensions: int) -> float:
    """Return the share of a cube that the ball inside of it fills.

    Parameters
    ----------
    n_dimensions
        Number of dimensions.

    Notes
    -----
    Nearly all of a cube of many dimensions is in its corners. See Bartkowiak 8.2.

    Examples
    --------
    >>> from verulam.reduction import cube_share
    >>> [round(cube_share(d), 4) for d in (2, 3, 10)]
    [0.7854, 0.5236, 0.0025]
    """
    return ball_volume(n_dimensions, 0.5)


@checked_arguments(n_dimensions=WHOLE, thickness=NUMBER)
def shell_share(n_dimensions: int, thickness: float) -> float:
    """Return the share of a ball's volume that lies in its outermost shell.

    Parameters
    ----------
    n_dimensions
        Number of dimensions.
    thickness
        Thickness of the shell, as a share of the radius.

    Examples
    --------
    >>> from verulam.reduction import shell_share
    >>> [round(shell_share(d, 0.1), 3) for d in (1, 2, 10, 50)]
    [0.1, 0.19, 0.651, 0.995]
    """
    _check_dimensions(n_dimensions)
    if not 0.0 <= thickness <= 1.0:
        raise DataError(f"thickness={thickness}: accepted are shares from 0 to 1.")
    return float(-np.expm1(n_dimensions * np.log1p(-thickness))) if thickness < 1.0 else 1.0


@checked_arguments(n_dimensions=WHOLE, radius=NUMBER)
def gaussian_share(n_dimensions: int, radius: float) -> float:
    r"""Return the probability that a standard Gaussian falls within some distance of its mean.

    Parameters
    ----------
    n_dimensions
        Number of dimensions.
    radius
        The distance, in standard deviations of a column.

    Notes
    -----
    The density is highest at the mean, yet in many dimensions hardly anything falls near it: the
    space there is empty, and points lie at distances about :math:`\sqrt d`. See Bartkowiak 8.2.

    Examples
    --------
    >>> from verulam.reduction import gaussian_share
    >>> [round(gaussian_share(d, 1.65), 3) for d in (1, 2, 10)]
    [0.901, 0.744, 0.013]
    """
    _check_dimensions(n_dimensions)
    if not radius >= 0.0:
        raise DataError(f"radius={radius}: it must be at least 0.")
    return float(chi2.cdf(radius**2, n_dimensions))


@checked_arguments(dimensions=VECTOR, n_samples=WHOLE, sampler=FUNCTION | NONE, random_state=SEED)
def distance_concentration(
    dimensions: Sequence[int] = (1, 2, 5, 10, 20, 50, 100),
    *,
    n_samples: int = 200,
    sampler: Sampler | None = None,
    random_state: Seed = 0,
) -> pd.DataFrame:
    r"""Simulate how distances and angles become alike as dimensions grow.

    Parameters
    ----------
    dimensions
        Numbers of dimensions.
    n_samples
        Points drawn for each.
    sampler
        Takes the number of points, that of dimensions and a generator, and returns the points;
        None for standard Gaussians.
    random_state
        Seed.

    Returns
    -------
    DataFrame
        For each number of dimensions the mean and standard deviation of the lengths of points,
        their ratio, the contrast :math:`(d_{max} - d_{min}) / d_{min}` of the distances from the
        first point, and the standard deviation of the angles between points, in degrees.

    Notes
    -----
    For standard Gaussians lengths are about :math:`\sqrt{d - 1/2}` with a standard deviation that
    stays at :math:`1/\sqrt2`, and angles are 90 degrees with a standard deviation of about
    :math:`1/\sqrt d` radians: the farthest point is hardly farther than the nearest one, and all
    are perpendicular to one another. See Bartkowiak 8.2.

    Examples
    --------
    >>> from verulam.reduction import distance_concentration
    >>> table = distance_concentration([2, 100], n_samples=500)
    >>> table[["relative_spread", "contrast", "angle_spread"]].round(2)
                  relative_spread  contrast  angle_spread
    n_dimensions
    2                        0.53     32.79         51.93
    100                      0.07      0.36          5.75
    """
    random = generator(random_state)
    if n_samples < 3:
        raise DataError(f"n_samples={n_samples}: at least 3 points are needed.")
    rows = []
    for count in dimensions:
        _check_dimensions(count)
        draw = _gaussian_points if sampler is None else sampler
        points = np.asarray(draw(n_samples, count, random), dtype=np.float64)
        if points.shape != (n_samples, count):
            raise DataError(
                f"sampler returned shape {points.shape}; expected ({n_samples}, {count})."
            )
        lengths = np.linalg.norm(points, axis=1)
        gaps = np.linalg.norm(points[1:] - points[0], axis=1)
        units = points / lengths[:, None]
        upper = np.triu_indices(n_samples, 1)
        angles = np.degrees(np.arccos(np.clip((units @ units.T)[upper], -1.0, 1.0)))
        rows.append(
            {
                "n_dimensions": count,
                "mean_length": lengths.mean(),
                "length_spread": lengths.std(),
                "relative_spread": lengths.std() / lengths.mean(),
                "contrast": (gaps.max() - gaps.min()) / gaps.min(),
                "angle_spread": angles.std(),
            }
        )
    return pd.DataFrame(rows).set_index("n_dimensions")


def _gaussian_points(n_points: int, n_dimensions: int, random: np.random.Generator) -> np.ndarray:
    return random.normal(size=(n_points, n_dimensions))


def _check_dimensions(n_dimensions: int) -> None:
    if n_dimensions < 1 or int(n_dimensions) != n_dimensions:
        raise DataError(f"n_dimensions={n_dimensions}: expected a whole number of at least 1.")
