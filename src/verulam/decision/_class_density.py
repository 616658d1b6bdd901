"""One face for the many ways to give a density: SciPy distributions, functions, logarithms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

from verulam.base import DataError

Vector = NDArray[np.float64]

#: Nodes and weights of a quadrature rule on (0, 1), exact for polynomials of degree 15.
_nodes, _weights = np.polynomial.legendre.leggauss(8)
NODES, WEIGHTS = (_nodes + 1) / 2, _weights / 2

# Beyond these many standard deviations a normal density has a mass below 1e-18.
NORMAL_REACH = 9.0
# A density whose integral misses one by more is refused.
MASS_TOLERANCE = 1e-4
QUANTILES = np.union1d(expit(np.linspace(-28, 28, 281)), np.linspace(0, 1, 2001)[1:-1])


@dataclass(frozen=True, eq=False)
class ClassDensity:
    """The distribution of the inputs of one class.

    Parameters
    ----------
    log_density
        Logarithm of the density (or of the probability, if discrete). Takes an array of values,
        or of rows where there are several dimensions.
    support
        Lowest and highest value; with several dimensions, one such pair for each. Integrals
        over two dimensions need finite ones.
    dimensions
        Number of inputs.
    discrete
        The values are integers and the density is a probability.
    cdf
        Probability of a value not above the argument; found by quadrature if not given.
    quantile
        Inverse of `cdf`; tells where to look for the bulk of the distribution.
    sample
        Takes a size and a NumPy generator and returns so many values or rows.

    Examples
    --------
    A density known by its logarithm only:

    >>> import numpy as np
    >>> triangle = ClassDensity(lambda x: np.log(2 * x), support=(0, 1))
    >>> round(triangle.mass(0.0, 0.5), 6)
    0.25
    """

    log_density: Callable[[Vector], Vector]
    support: Any = (-np.inf, np.inf)
    dimensions: int = 1
    discrete: bool = False
    cdf: Callable[[Vector], Vector] | None = None
    quantile: Callable[[Vector], Vector] | None = None
    sample: Callable[[int, np.random.Generator], NDArray[Any]] | None = None

    @property
    def box(self) -> Vector:
        """Lowest and highest value of each dimension, one row for each."""
        return np.asarray(self.support, dtype=np.float64).reshape(self.dimensions, 2)

    def log_at(self, x: Vector) -> Vector:
        """Return the logarithm of the density, minus infinity outside the support."""
        values = x[..., np.newaxis] if self.dimensions == 1 else x
        inside = ((values >= self.box[:, 0]) & (values <= self.box[:, 1])).all(axis=-1)
        logs = np.full(inside.shape, -np.inf)
        with np.errstate(divide="ignore"):
            logs[inside] = self.log_density(x[inside])
        if np.isnan(logs).any():
            raise DataError("A class density returned NaN inside its support.")
        return logs

    def grid(self) -> Vector:
        """Return values of a continuous input, dense where the distribution is."""
        low, high = self.box[0]
        if self.quantile is not None:
            return np.unique(self.quantile(QUANTILES))
        if np.isfinite([low, high]).all():
            return np.linspace(low, high, 2001)
        # Steps that grow with the distance: fine around the anchor, yet reaching 1e8 away.
        steps = np.sinh(np.linspace(-20, 20, 8001))
        anchor = low if np.isfinite(low) else high if np.isfinite(high) else 0.0
        return np.unique(np.clip(anchor + steps, low, high))

    def mass(self, low: float, high: float) -> float:
        """Return the probability of a value in the interval."""
        if self.cdf is not None:
            return float(np.diff(self.cdf(np.array([low, high])))[0])
        tails = self.upper_tail(np.array([low, high]))
        return float(tails[0] - tails[1])

    def upper_tail(self, thresholds: Vector) -> Vector:
        """Return the probability of a value at or above each threshold."""
        if self.cdf is not None:
            # A tail includes its threshold, which the cdf of integers would count below it.
            return 1.0 - np.asarray(self.cdf(thresholds - 0.5 if self.discrete else thresholds))
        if self.discrete:
            values = self.integers()
            cells = np.exp(self.log_at(values))
            places = np.searchsorted(values, thresholds)
        else:
            values = self.grid()
            # Thresholds become edges of cells, so that every tail is a sum of whole cells.
            inside = np.clip(thresholds, values[0], values[-1])
            values = np.union1d(values, inside)
            widths = np.diff(values)
            nodes = values[:-1, np.newaxis] + widths[:, np.newaxis] * NODES
            cells = widths * (np.exp(self.log_at(nodes)) @ WEIGHTS)
            places = np.searchsorted(values, inside)
        # Summed from the far end, small tails keep their digits.
        return np.append(np.cumsum(cells[::-1])[::-1], 0.0)[places]

    def integers(self) -> Vector:
        """Return the values of a discrete distribution that carry all but 1e-15 of its mass."""
        if self.quantile is None:
            ends = self.box[0]
        else:
            ends = np.asarray(self.quantile(np.array([1e-15, 1 - 1e-15])))
        if not np.isfinite(ends).all():
            raise DataError("A discrete class density without quantiles needs a finite support.")
        return np.arange(ends[0], ends[1] + 1)


def as_class_density(density: Any) -> ClassDensity:
    """Return a class density from a SciPy distribution, a density function, or itself."""
    if isinstance(density, ClassDensity):
        return density
    if hasattr(density, "dim"):
        return _multivariate(density)
    if hasattr(density, "logpmf") and hasattr(density, "ppf"):
        return _univariate(density, density.logpmf, discrete=True)
    if hasattr(density, "logpdf") and hasattr(density, "support"):
        return _univariate(density, density.logpdf, discrete=False)
    if callable(density):
        return _of_function(density)
    raise DataError(
        "A density must be a frozen scipy.stats distribution, a function that returns the "
        f"density, or a ClassDensity, but got {density!r}."
    )


def _univariate(
    distribution: Any, log_density: Callable[[Vector], Vector], *, discrete: bool
) -> ClassDensity:
    # SciPy's newer distributions call the same things by other names.
    newer = hasattr(distribution, "icdf")

    def sample(size: int, rng: np.random.Generator) -> NDArray[Any]:
        if newer:
            return distribution.sample(size, rng=rng)
        return distribution.rvs(size, random_state=rng)

    low, high = distribution.support()
    return ClassDensity(
        log_density,
        support=(float(low), float(high)),
        discrete=discrete,
        cdf=distribution.cdf,
        quantile=distribution.icdf if newer else distribution.ppf,
        sample=sample,
    )


def _multivariate(distribution: Any) -> ClassDensity:
    if distribution.dim == 1 and hasattr(distribution, "cov"):
        single = stats.norm(distribution.mean[0], np.sqrt(distribution.cov[0, 0]))
        return _univariate(single, single.logpdf, discrete=False)
    box = [(-np.inf, np.inf)] * distribution.dim
    if hasattr(distribution, "cov"):
        reach = NORMAL_REACH * np.sqrt(np.diag(distribution.cov))
        box = list(zip(distribution.mean - reach, distribution.mean + reach, strict=True))
    return ClassDensity(
        # SciPy drops the axis of a single row.
        lambda x: np.atleast_1d(distribution.logpdf(x)),
        support=box,
        dimensions=distribution.dim,
        sample=lambda size, rng: distribution.rvs(size, random_state=rng).reshape(size, -1),
    )


def _of_function(function: Callable[[Vector], Vector]) -> ClassDensity:
    def log_density(x: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return np.log(function(x))

    density = ClassDensity(log_density)
    total = density.mass(-np.inf, np.inf)
    if abs(total - 1.0) > MASS_TOLERANCE:
        raise DataError(
            f"A density must integrate to one, but the function {function!r} gives {total:.6g}: "
            "normalise it, or say where it lives with ClassDensity(log_density, support=...)."
        )
    return density


def check_alike(densities: Sequence[ClassDensity]) -> None:
    """Raise unless all classes describe the same kind of input."""
    dimensions = sorted({density.dimensions for density in densities})
    if len(dimensions) > 1:
        raise DataError(f"densities must have the same number of dimensions, but got {dimensions}.")
    if len({density.discrete for density in densities}) > 1:
        raise DataError("densities must be all continuous or all discrete.")
